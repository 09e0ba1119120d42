r"""Centred networks, :math:`f = (\tilde f(\theta) - \tilde f(\theta_0))/\gamma`, exact at any γ.

Subtracting two float32 outputs leaves an error of about :math:`10^{-7}/\gamma`, which at γ = 1e-5 is
already the size of the signal. `difference` instead carries the increment through the program, as
`jax.jvp` carries a tangent, but with *finite* increments: every value is a pair (value at θ₀, increment),
and every primitive has an exact rule, e.g. :math:`dx\,y_0 + (x_0 + dx)\,dy` for a product or
:math:`e^a\,\mathrm{expm1}(d)` for the exponential. The model is not touched. What does not depend on Δ is
computed once, so in a sweep over Δ with θ₀ and the batch shared the pass at θ₀ is shared too.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx
from jax import lax
from jax.extend.core import Literal

from lazyrich.models._increments import Pair, continuous, filled, increments, moves

# Calls are entered: the program inside is walked in place, whatever derivative a custom rule gave it.
CALLS = frozenset(
    "checkpoint closed_call core_call custom_jvp_call custom_vjp_call jit pjit remat remat2".split()
)


def difference(f: Callable) -> Callable:
    r"""Transform f(θ, …) into :math:`(\theta_0, \Delta, …) \mapsto f(\theta_0 + \Delta, …) - f(\theta_0, …)`.

    The increment is accurate to the precision of Δ itself, however small Δ is beside θ₀: there is no
    cancellation. It composes with `jax.jit`, `jax.vmap`, `jax.grad` and Hessian–vector products; at
    Δ = 0 its derivatives are those of f.

    Args:
        f: a function of a pytree θ and further arguments, returning a pytree of floating arrays.

    Returns:
        A function of θ₀, of Δ with the structure, shapes and dtypes of θ₀ (None for a leaf that stays)
        and of the further arguments, which are held fixed.

    Raises:
        NotImplementedError: (when called) the program uses a primitive without an increment rule, which
            is named; `while` and `cond` on values that move are among them, `scan` is not.
        ValueError: (when called) Δ does not match θ₀, or an output is not floating.

    >>> import jax.numpy as jnp
    >>> theta = jnp.array([3.0], jnp.float32)
    >>> small = jnp.array([1e-9], jnp.float32)
    >>> print(f"{difference(jnp.square)(theta, small)[0]:.3g}")
    6e-09
    >>> print((jnp.square(theta + small) - jnp.square(theta))[0])
    0.0
    """

    def increment(theta0, delta, *inputs):
        jaxpr, shape = jax.make_jaxpr(f, return_shape=True)(theta0, *inputs)
        fixed = [Pair(jnp.asarray(x)) for x in jax.tree.leaves(inputs)]
        outs = _walk(jaxpr.jaxpr, jaxpr.consts, _paired(theta0, delta) + fixed)
        for out in outs:
            if not continuous(out.value):
                raise ValueError(f"an output has dtype {out.value.dtype}: expected a floating one")
        return jax.tree.unflatten(jax.tree.structure(shape), [filled(out) for out in outs])

    return increment


def functional(model: nnx.Module) -> tuple[Callable, Any]:
    """An NNX model as (apply, θ₀): `apply(θ, *inputs)` is the model with the parameters θ.

    θ₀ is the state of its `nnx.Param`; all else (batch statistics, random streams) stays as it is in the
    model, and what a call would change of it is dropped.
    """
    graph, theta0, rest = nnx.split(model, nnx.Param, ...)
    return lambda theta, *inputs: nnx.merge(graph, theta, rest, copy=True)(*inputs), theta0


def centred(model: nnx.Module | Callable, gamma: Any) -> Callable:
    r"""The centred network f(θ₀, Δ, x), in which γ → 0 is lazy and γ → ∞ rich (GE's convention):

    .. math:: f = \frac{\tilde f(\theta_0 + \Delta; x) - \tilde f(\theta_0; x)}{\gamma}.

    For a module, θ₀ is the state of its parameters
    (`functional(model)[1]`); a call with another θ₀ is another seed of the same architecture.

    Args:
        model: any NNX module, or a function apply(θ, *inputs).
        gamma: feature-learning strength, a number > 0 or, in a sweep, a traced scalar (not checked).

    Raises:
        ValueError: γ is a number that is not finite and > 0; and as `difference` when called.

    >>> import jax.numpy as jnp
    >>> from flax import nnx
    >>> model = nnx.Linear(2, 1, use_bias=False, rngs=nnx.Rngs(0))
    >>> _, theta0 = functional(model)
    >>> delta = jax.tree.map(lambda w: jnp.full_like(w, 1e-10), theta0)
    >>> print(centred(model, 1e-10)(theta0, delta, jnp.ones((1, 2), jnp.float32)))
    [[2.]]
    """
    if not isinstance(gamma, jax.Array):
        gamma = float(gamma)
        if not 0 < gamma < float("inf"):
            raise ValueError(f"gamma = {gamma}: expected a finite number > 0")
    increment = difference(functional(model)[0] if isinstance(model, nnx.Module) else model)

    def f(theta0, delta, *inputs):
        return jax.tree.map(lambda y: y / jnp.asarray(gamma, y.dtype), increment(theta0, delta, *inputs))

    return f


def _paired(theta0, delta) -> list[Pair]:
    """The leaves of θ₀ with those of Δ, checked against each other."""
    paths, structure = jax.tree.flatten_with_path(theta0)
    pairs = []
    for (path, value), d in zip(paths, structure.flatten_up_to(delta), strict=True):
        if d is not None and (jnp.shape(d), jnp.result_type(d)) != (jnp.shape(value), jnp.result_type(value)):
            name = jax.tree_util.keystr(path) or "delta"
            raise ValueError(
                f"delta at {name}: expected {jnp.result_type(value)}{list(jnp.shape(value))} as in theta0, "
                f"got {jnp.result_type(d)}{list(jnp.shape(d))}"
            )
        pairs.append(Pair(jnp.asarray(value), d))
    return pairs


def _walk(jaxpr, consts, pairs: list[Pair]) -> list[Pair]:
    """Evaluate a program on pairs."""
    known = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*map(Pair, consts), *pairs], strict=True))

    def read(v):
        return Pair(jnp.asarray(v.val, v.aval.dtype)) if isinstance(v, Literal) else known[v]

    for eqn in jaxpr.eqns:
        operands, name = [read(v) for v in eqn.invars], eqn.primitive.name
        moving = moves(*operands)
        with eqn.ctx.manager:
            if moving and name == "scan":
                outs = _scan(operands, **eqn.params)
            elif moving and name in CALLS:
                outs = _enter(eqn.params.get("jaxpr", eqn.params.get("call_jaxpr")), operands)
            else:
                outs = increments(eqn.primitive, eqn.params, operands)
        known.update(zip(eqn.outvars, outs, strict=True))
    return [read(v) for v in jaxpr.outvars]


def _enter(program, pairs: list[Pair]) -> list[Pair]:
    return _walk(getattr(program, "jaxpr", program), getattr(program, "consts", ()), pairs)


def _scan(operands, *, jaxpr, num_consts, num_carry, length, reverse, unroll, **_) -> list[Pair]:
    fixed, rest = operands[:num_consts], operands[num_consts:]
    carry, columns = rest[:num_carry], rest[num_carry:]

    def body(carry, column):
        outs = _enter(jaxpr, [*fixed, *carry, *column])
        new, stacked = outs[:num_carry], outs[num_carry:]
        return [Pair(q.value, filled(q)) if moves(p) else q for p, q in zip(carry, new, strict=True)], stacked

    # What the loop sets in motion needs an increment from the start: widen the carry until it is closed.
    row = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape[1:], x.dtype), columns)
    still = None
    while still != (still := [not moves(p) for p in carry]):
        after = jax.eval_shape(body, carry, row)[0]
        carry = [Pair(p.value, filled(p)) if moves(q) else p for p, q in zip(carry, after, strict=True)]
    carry, stacked = lax.scan(body, carry, columns, length=length, reverse=reverse, unroll=unroll)
    return [*carry, *stacked]
