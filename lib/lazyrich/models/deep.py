r"""Deep networks as functions of arrays alone: what scales them may differ within one compiled program.

The matrices carry their scale themselves, so that learning rates are those of the weights as they are used:

- plain: :math:`f_1 = W_1 x, f_\ell = W_\ell \varphi(f_{\ell-1})`, output :math:`\sigma u \cdot \varphi(f)`;
- residual, one matrix a block: :math:`f_\ell = f_{\ell-1} + \beta W_\ell \varphi(f_{\ell-1})`;
- residual, two: :math:`f_\ell = f_{\ell-1} + \beta W_\ell \varphi(V_\ell f_{\ell-1})`; both with output
  :math:`\sigma u \cdot f`.

φ is linear on either side of zero, with slope 1 above and ``slope`` below, or any function.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike, DTypeLike

from lazyrich.models.layers import Tap, at_least_one, identity


def deep(
    params: dict[str, Any],
    x: Array,
    tap: Tap = identity,
    *,
    slope: ArrayLike | Callable[[Array], Array] = 0.0,
    branch_scale: ArrayLike | None = None,
    readout: ArrayLike = 1.0,
) -> Array:
    """The network's output (batch, outputs); nodes ``h1`` … ``hL`` and ``output``, see the module.

    Args:
        params: from `draw_deep`. Hidden matrices in a list are used one by one; in one array they are
            scanned over, which compiles fast at any depth and leaves the nodes ``hL`` and ``output``.
        x: (batch, fan_in).
        slope: of φ below zero, 0 for ReLU and 1 for a linear network; or φ itself.
        branch_scale: β; None is a plain network.
        readout: σ.

    >>> params = draw_deep(jax.random.key(0), 4, 16, depth=3)
    >>> deep(params, jnp.ones((5, 4), jnp.float32)).shape
    (5, 1)
    """
    phi = slope if callable(slope) else lambda z: jnp.maximum(z, 0) + slope * jnp.minimum(z, 0)

    def layer(h, matrices):
        inner, outer = matrices
        new = phi(h if inner is None else h @ inner) @ outer
        return new if branch_scale is None else h + branch_scale * new

    inner, outer = params.get("inner"), params["hidden"]
    h = x @ params["input"]
    if isinstance(outer, list):
        h = tap("h1", h)
        for l, matrices in enumerate(zip(inner or [None] * len(outer), outer, strict=True), start=2):
            h = tap(f"h{l}", layer(h, matrices))
    else:
        h, _ = jax.lax.scan(lambda h, matrices: (layer(h, matrices), None), h, (inner, outer))
        h = tap(f"h{1 + len(outer)}", h)
    return tap("output", readout * ((phi(h) if branch_scale is None else h) @ params["output"]))


def draw_deep(
    key: Array,
    fan_in: int,
    width: int,
    *,
    depth: int,
    variance: ArrayLike = 2.0,
    matrices: int = 1,
    orthogonal: bool | Array = False,
    stacked: bool = False,
    fan_out: int = 1,
    dtype: DTypeLike = jnp.float32,
) -> dict[str, Any]:
    """Parameters of `deep`: matrices of variance 1/fan_in, hidden ones ``variance``/width, outputs N(0, 1).

    Args:
        depth: number of nodes before the output, at least 1: the hidden matrices are one fewer.
        variance: s² of the hidden matrices; of the inner ones where a block has two, whose outer ones have 1.
        matrices: 1 or 2, of a block.
        orthogonal: orthogonal hidden matrices times s in place of independent entries; may be traced.
        stacked: hidden matrices in one array, (depth − 1, width, width).

    Raises ValueError for a size below 1 or another number of matrices.
    """
    at_least_one(fan_in=fan_in, width=width, depth=depth, fan_out=fan_out)
    if matrices not in (1, 2):
        raise ValueError(f"matrices = {matrices}: expected 1 or 2")
    keys = jax.random.split(key, 4)
    normal = lambda key, *shape: jax.random.normal(key, shape, dtype)

    def stack(key, scale):
        square = normal(key, depth - 1, width, width) * jnp.asarray(width**-0.5, dtype)
        if isinstance(orthogonal, Array):
            square = jax.lax.cond(orthogonal, _orthogonal, lambda square: square, square)
        elif orthogonal:
            square = _orthogonal(square)
        square = jnp.sqrt(jnp.asarray(scale, dtype)) * square
        return square if stacked else list(square)

    params = {
        "input": normal(keys[0], fan_in, width) * jnp.asarray(fan_in**-0.5, dtype),
        "hidden": stack(keys[1], variance if matrices == 1 else 1.0),
        "output": normal(keys[2], width, fan_out),
    }
    return params | ({"inner": stack(keys[3], variance)} if matrices == 2 else {})


def _orthogonal(square: Array) -> Array:
    """Orthogonal factors of a stack of matrices, by Gram–Schmidt on the columns, each done twice.

    Not by LAPACK's QR: two host devices that wait for it at once can wait for each other.
    """

    def column(q, i):
        new = square[:, :, i]
        for _ in range(2):
            new = new - jnp.einsum("lab,lb->la", q, jnp.einsum("lab,la->lb", q, new))
        return q.at[:, :, i].set(new / jnp.linalg.norm(new, axis=1, keepdims=True)), None

    return jax.lax.scan(column, jnp.zeros_like(square), jnp.arange(square.shape[-1]))[0]
