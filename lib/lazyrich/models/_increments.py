r"""Exact finite increments, a rule a primitive: given x and d, the value of p(x + d) − p(x).

A rule must not subtract two nearly equal numbers unless both are inputs. What moves is carried as a
`Pair`; the rules are written in it, and `centering` walks the program.
"""

import itertools
import math
from functools import partial, reduce
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.custom_derivatives import SymbolicZero


class Pair(NamedTuple):
    """A value at θ₀ and what Δ adds to it; None where Δ adds nothing.

    A boolean or integer has no increment: there, `delta` is the value at θ₀ + Δ itself.
    """

    value: Any
    delta: Any = None


def continuous(x) -> bool:
    return jnp.issubdtype(jax.typeof(x).dtype, jnp.inexact)


def moves(*pairs: Pair) -> bool:
    return any(p.delta is not None for p in pairs)


def moved(p: Pair):
    """The value at θ₀ + Δ."""
    if p.delta is None:
        return p.value
    return p.value + p.delta if continuous(p.value) else p.delta


def filled(p: Pair):
    """The increment, zeros where there is none."""
    if p.delta is not None:
        return p.delta
    return jnp.zeros_like(p.value) if continuous(p.value) else p.value


RULES = {}


def rule(*names):
    """Register for these primitives a function (bind, params, outs, *pairs) -> increments of outs."""

    def register(function):
        RULES.update(dict.fromkeys(names, function))
        return function

    return register


def unary(*names):
    """The same for a function of one number, as (a, d, value at a) -> increment."""

    def register(function):
        rule(*names)(lambda bind, params, outs, p: [function(*p, outs[0])])
        return function

    return register


# ── linear primitives act on the increment ────────────────────────────────────────────────────────


def _still(*indices):
    if moves(*indices):
        raise NotImplementedError("difference: no increment rule for an index that moves with θ")
    return [p.value for p in indices]


@rule(
    *"broadcast_in_dim copy cumsum device_put dynamic_slice gather name neg".split(),
    *"reduce_precision reduce_sum reduce_window_sum reshape rev sharding_constraint slice".split(),
    *"split squeeze stop_gradient tile transpose unstack".split(),
)
def _linear(bind, params, outs, p, *indices):
    out = bind(p.delta, *_still(*indices), **params)
    return out if isinstance(out, list | tuple) else [out]


@rule("add", "add_any", "concatenate", "pad", "stack", "sub")
def _jointly_linear(bind, params, outs, *pairs):
    return [bind(*map(filled, pairs), **params)]


@rule("scatter", "scatter-add")
def _scatter(bind, params, outs, p, indices, updates):
    return [bind(filled(p), *_still(indices), filled(updates), **params)]


@rule("dynamic_update_slice")
def _update_slice(bind, params, outs, p, update, *indices):
    return [bind(filled(p), filled(update), *_still(*indices), **params)]


@rule("convert_element_type")
def _convert(bind, params, outs, p):
    if continuous(p.value) and continuous(outs[0]):
        return [bind(p.delta, **params)]
    return _recompute(bind, params, outs, p)


# ── products, quotients, powers ───────────────────────────────────────────────────────────────────


@rule("dot_general")
def _dot(bind, params, outs, x, y):
    # Mapped over Δ, two stacks multiply faster than a stack by a shared matrix, which XLA would transpose.
    if not moves(x):
        x = Pair(x.value + 0 * lax.stop_gradient(y.delta.ravel()[0]))
    return _bilinear(bind, params, outs, x, y)


@rule("mul", "conv_general_dilated")
def _bilinear(bind, params, outs, x, y):
    product = partial(bind, **params)
    if y.delta is None:
        return [product(x.delta, y.value)]
    if x.delta is None:
        return [product(x.value, y.delta)]
    return [_rise(product, *x, *y)]


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _rise(product, x, dx, y, dy):
    """(x + dx)(y + dy) − xy; two products forwards and, by the rule below, two backwards instead of three."""
    return product(dx, y) + product(x + dx, dy)


@partial(_rise.defjvp, symbolic_zeros=True)
def _rise_jvp(product, primals, tangents):
    (x, dx, y, dy), (tx, tdx, ty, tdy) = primals, tangents
    terms = [(tx, dy), (tdx, y + dy), (dx, ty), (x + dx, tdy)]
    terms = [product(*pair) for pair in terms if not any(isinstance(t, SymbolicZero) for t in pair)]
    return _rise(product, *primals), reduce(jnp.add, terms)


@unary("square")
def _square(a, d, _):
    return d * (a + (a + d))


@rule("div")
def _div(bind, params, outs, x, y):
    if y.delta is None:
        return [x.delta / y.value]
    rise = -outs[0] * y.delta
    return [(rise if x.delta is None else x.delta + rise) / moved(y)]


@rule("integer_pow")
def _integer_pow(bind, params, outs, p):
    (a, d), n = p, params["y"]
    b, m = a + d, abs(n)
    rise = d * sum(a**i * b ** (m - 1 - i) for i in range(m))  # bᵐ − aᵐ
    return [rise if n > 0 else -rise * outs[0] / b**m]


@rule("pow")
def _pow(bind, params, outs, base, exponent):
    if moves(exponent):
        raise NotImplementedError("difference: no increment rule for 'pow' by an exponent that moves")
    a, d = base
    near = 2 * jnp.abs(d) < jnp.abs(a)
    share = jnp.where(near, d, 0) / jnp.where(near, a, 1)
    close = outs[0] * jnp.expm1(exponent.value.astype(a.dtype) * jnp.log1p(share))
    return [jnp.where(near, close, bind(a + d, exponent.value, **params) - outs[0])]


# ── kinks: always the same branches, so that where two meet in a smooth function they cancel ──────


def _larger(gap, dx, dy):
    """max(x + dx, y + dy) − max(x, y) from gap = x − y; at a tie y is the larger."""
    ends = gap + (dx - dy) > 0
    return jnp.where(gap > 0, jnp.where(ends, dx, dy - gap), jnp.where(ends, dx + gap, dy))


def maximum(x: Pair, y: Pair) -> Pair:
    value = jnp.maximum(x.value, y.value)
    if not moves(x, y):
        return Pair(value)
    if not moves(x):  # relu's derivative at 0 is 0, however its maximum is written
        x, y = y, x
    return Pair(value, _larger(_gap(x.value, y.value), filled(x), filled(y)))


def minimum(x: Pair, y: Pair) -> Pair:
    value, delta = maximum(_negative(x), _negative(y))
    return _negative(Pair(value, delta))


def _negative(p: Pair) -> Pair:
    return Pair(-p.value, None if p.delta is None else -p.delta)


def _gap(x, y):
    """x − y, also where equal infinities meet."""
    return jnp.where(x == y, 0, x - y)


@rule("max")
def _max(bind, params, outs, x, y):
    return [maximum(x, y).delta]


@rule("min")
def _min(bind, params, outs, x, y):
    return [minimum(x, y).delta]


@rule("clamp")
def _clamp(bind, params, outs, low, x, high):
    return [minimum(maximum(x, low), high).delta]


@unary("abs")
def _abs(a, d, _):
    return 2 * _larger(a, d, jnp.zeros_like(d)) - d


@rule("reduce_max", "reduce_min")
def _reduce_extremum(bind, params, outs, p):
    best = jnp.expand_dims(outs[0], params["axes"])
    return [bind(_gap(p.value, best) + p.delta, **params)]


@rule("reduce_window_max")
def _pool_max(bind, params, outs, p):
    best, strides = outs[0], params["window_strides"]
    if any(n != 1 for n in params["base_dilation"]):
        raise NotImplementedError("difference: no increment rule for 'reduce_window_max' with base_dilation")
    edges = [(low, high, 0) for low, high in params["padding"]]
    values = lax.pad(p.value, jnp.array(-jnp.inf, best.dtype), edges)
    deltas = lax.pad(p.delta, jnp.array(0, best.dtype), edges)
    rises = []
    for offset in itertools.product(*map(range, params["window_dimensions"])):
        start = [o * n for o, n in zip(offset, params["window_dilation"], strict=True)]
        stop = [s + (n - 1) * k + 1 for s, n, k in zip(start, best.shape, strides, strict=True)]
        here, d = (lax.slice(x, start, stop, strides) for x in (values, deltas))
        rises.append(_gap(here, best) + d)
    return [reduce(jnp.maximum, rises)]


# ── what jumps is recomputed at θ₀ + Δ ────────────────────────────────────────────────────────────


@rule("is_finite", "sign")
def _recompute(bind, params, outs, *pairs):
    new = bind(*map(moved, pairs), **params)
    return [new - outs[0] if continuous(new) else new]


@rule("eq", "ne", "lt", "le", "gt", "ge")
def _compare(bind, params, outs, x, y):
    # As (x − y) + (dx − dy) against 0, since x + dx may round to x.
    gap = x.value - y.value
    new = bind(gap + (filled(x) - filled(y)), jnp.zeros_like(gap), **params)
    return [jnp.where(jnp.isfinite(gap), new, outs[0])]


@rule("select_n")
def _select(bind, params, outs, which, *cases):
    stay = bind(which.value, *map(filled, cases))
    if not moves(which):
        return [stay]
    jump = bind(which.delta, *map(moved, cases)) - outs[0]
    return [jnp.where(which.value == which.delta, stay, jump)]


# ── smooth functions ──────────────────────────────────────────────────────────────────────────────


def _upwards(d):
    """(d > 0, 1 − exp(−|d|)): from the larger end, where nothing overflows."""
    up = d > 0
    return up, -jnp.expm1(jnp.where(up, -d, d))


@unary("exp", "expm1")
def _exp(a, d, _):
    up, share = _upwards(d)
    return jnp.exp(jnp.where(up, a + d, a)) * jnp.where(up, share, -share)


@unary("logistic")
def _logistic(a, d, _):
    up, share = _upwards(d)  # σ(b) − σ(a) = σ(b) σ(−a) (1 − exp(a − b))
    high, low = jnp.where(up, a + d, a), jnp.where(up, a, a + d)
    return lax.logistic(high) * lax.logistic(-low) * jnp.where(up, share, -share)


@unary("tanh")
def _tanh(a, d, _):
    return 2 * _logistic(2 * a, 2 * d, None)


@unary("log")
def _log(a, d, _):
    near = 2 * jnp.abs(d) < jnp.abs(a)
    share = jnp.where(near, d, 0) / jnp.where(near, a, 1)
    return jnp.where(near, jnp.log1p(share), jnp.log(jnp.where(near, a, a + d) / a))


@unary("log1p")
def _log1p(a, d, _):
    return _log(1 + a, d, None)


@unary("sqrt")
def _sqrt(a, d, root):
    both = root + jnp.sqrt(a + d)
    return d / jnp.where(both == 0, 1, both)


@unary("rsqrt")
def _rsqrt(a, d, inverse):
    other = lax.rsqrt(a + d)
    return -d * (inverse * other) / (a * inverse + (a + d) * other)


@unary("sin")
def _sin(a, d, _):
    return 2 * jnp.cos(a + d / 2) * jnp.sin(d / 2)


@unary("cos")
def _cos(a, d, _):
    return -2 * jnp.sin(a + d / 2) * jnp.sin(d / 2)


@unary("erf")
def _erf(a, d, _):
    # Close by, the even Taylor series about the middle (H₂, H₄ and H₆ are Hermite polynomials); it
    # gives way where its last error, ~h⁸, meets that of subtracting, ε/d. Beyond, the tails subtract.
    near = jnp.abs(d) < float(jnp.finfo(d.dtype).eps) ** (1 / 9)
    h, mid = jnp.where(near, d, 0) / 2, a + d / 2
    s, q = mid * mid, h * h
    h2, h4, h6 = 4 * s - 2, (16 * s - 48) * s + 12, ((64 * s - 480) * s + 720) * s - 120
    series = 4 / math.sqrt(math.pi) * h * jnp.exp(-s) * (1 + q * (h2 / 6 + q * (h4 / 120 + q * h6 / 5040)))
    side = jnp.where(mid > 0, 1, -1).astype(d.dtype)
    tails = side * (lax.erfc(side * a) - lax.erfc(side * (a + d)))
    return jnp.where(near, series, tails)


@unary("erfc")
def _erfc(a, d, _):
    return -_erf(a, d, None)


def increments(primitive: jax.extend.core.Primitive, params: dict, pairs: list[Pair]) -> list[Pair]:
    """The pairs that a primitive makes of its operands' pairs."""

    def bind(*operands, **params):
        out = primitive.bind(*operands, **params)
        return out if primitive.multiple_results else [out]

    outs = bind(*(p.value for p in pairs), **params)
    if not moves(*pairs):
        return [Pair(out) for out in outs]
    if not any(continuous(x) for x in [*outs, *(p.value for p in pairs if moves(p))]):
        return [Pair(*both) for both in zip(outs, bind(*map(moved, pairs), **params), strict=True)]
    if primitive.name not in RULES:
        raise NotImplementedError(
            f"difference: no increment rule for the primitive {primitive.name!r}; there is one for each of "
            + ", ".join(sorted(RULES))
        )
    deltas = RULES[primitive.name](primitive.bind, params, outs, *pairs)
    return [Pair(out, jnp.broadcast_to(d, out.shape)) for out, d in zip(outs, deltas, strict=True)]
