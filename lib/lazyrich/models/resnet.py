"""Residual networks without biases, whose blocks have one or two matrices."""

from functools import partial

import jax.numpy as jnp
from flax import nnx
from jax import Array
from jax.typing import ArrayLike, DTypeLike

from lazyrich.models.layers import Dense, Tap, activation, at_least_one, identity


class ResNet(nnx.Module):
    r"""h_0 = W_0 x, then D blocks, then a linear output of h_D:

    - two matrices: h_l = h_{l−1} + β W_l φ(V_l h_{l−1}), V with gain √2;
    - one matrix: h_l = h_{l−1} + β W_l φ(h_{l−1}), W with gain √2.

    Args:
        fan_in, width, fan_out: sizes of input, stream and output.
        depth: D, number of blocks; the parametrization sees D + 2 layers.
        branch_scale: β, e.g. D^(−1/2).
        matrices: 1 or 2, of a block.
        activation: φ, a key of ``layers.ACTIVATIONS``.
        parametrization: a key of ``parametrization.RULES``; β comes on top of it.
        rngs: ``nnx.Rngs(params=key)``.

    Raises ValueError for a size below 1, another number of matrices, an unknown name.

    >>> model = ResNet(64, 32, 10, depth=4, branch_scale=0.5, rngs=nnx.Rngs(params=0))
    >>> model(jnp.ones((5, 64), jnp.float32)).shape
    (5, 10)
    """

    def __init__(
        self,
        fan_in: int,
        width: int,
        fan_out: int,
        *,
        depth: int,
        branch_scale: float = 1.0,
        matrices: int = 2,
        activation: str = "relu",
        parametrization: str = "mup",
        rngs: nnx.Rngs,
        dtype: DTypeLike = jnp.float32,
    ):
        at_least_one(fan_in=fan_in, width=width, fan_out=fan_out, depth=depth)
        if matrices not in (1, 2):
            raise ValueError(f"matrices = {matrices}: expected 1 or 2")

        common = dict(width=width, depth=depth + 2, parametrization=parametrization, rngs=rngs, dtype=dtype)
        dense = partial(Dense, **common)
        stack = lambda gain: nnx.List(dense(width, width, kind="hidden", gain=gain) for _ in range(depth))
        self.embedding = dense(fan_in, width, kind="input")
        if matrices == 2:
            self.inner = stack(2**0.5)
        self.outer = stack(1.0 if matrices == 2 else 2**0.5)
        self.readout = dense(width, fan_out, kind="output")
        self.branch_scale = branch_scale
        self.matrices = matrices
        self.activation = _activation(activation)

    def __call__(self, x: ArrayLike, tap: Tap = identity) -> Array:
        """x is (batch, fan_in).

        Feature nodes: the stream ``h0`` … ``hD``, between them the branches' pre-activations ``u1`` … ``uD``
        (two matrices), and ``output``.
        """
        h = tap("h0", self.embedding(x))
        for l, outer in enumerate(self.outer, start=1):
            u = tap(f"u{l}", self.inner[l - 1](h)) if self.matrices == 2 else h
            h = tap(f"h{l}", h + self.branch_scale * outer(self.activation(u)))
        return tap("output", self.readout(h))


_activation = activation  # the argument hides the function's name
