"""`difference` against float64: rule by rule, then whole networks, then training."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax

from lazyrich.models import _increments
from lazyrich.models.centering import centred, difference, functional

EPS = float(np.finfo(np.float32).eps)
single, double = jnp.float32, jnp.float64


def cast(tree, dtype):
    return jax.tree.map(lambda x: jnp.asarray(x, dtype) if jnp.issubdtype(x.dtype, jnp.floating) else x, tree)


def error(got, expected):
    """Largest error relative to the root mean square of what is expected."""
    expected = np.asarray(expected, np.float64)
    return np.abs(np.asarray(got, np.float64) - expected).max() / np.sqrt(np.mean(expected**2))


# ── functions of one number ───────────────────────────────────────────────────────────────────────

UNARY = {
    "exp": (lax.exp, (-20, 20)),
    "expm1": (lax.expm1, (-20, 20)),
    "logistic": (lax.logistic, (-20, 20)),
    "tanh": (lax.tanh, (-8, 8)),
    "log": (lax.log, (1e-3, 1e3)),
    "log1p": (lax.log1p, (-0.9, 1e3)),
    "sqrt": (lax.sqrt, (1e-3, 1e3)),
    "rsqrt": (lax.rsqrt, (1e-3, 1e3)),
    "square": (lax.square, (-5, 5)),
    "cube": (lambda x: lax.integer_pow(x, 3), (-5, 5)),
    "inverse square": (lambda x: lax.integer_pow(x, -2), (1e-2, 5)),
    "pow": (lambda x: x**0.3, (1e-3, 1e3)),
    "sin": (lax.sin, (-6, 6)),
    "cos": (lax.cos, (-6, 6)),
    "erf": (lax.erf, (-3, 3)),
    "erfc": (lax.erfc, (-3, 3)),
    "abs": (lax.abs, (-5, 5)),
    "relu": (jax.nn.relu, (-5, 5)),
    "relu6": (jax.nn.relu6, (-8, 8)),
    "leaky relu": (jax.nn.leaky_relu, (-5, 5)),
    "elu": (jax.nn.elu, (-5, 5)),
    "softplus": (jax.nn.softplus, (-15, 15)),
    "silu": (jax.nn.silu, (-15, 15)),
    "gelu": (jax.nn.gelu, (-3, 3)),
    "exact gelu": (lambda x: jax.nn.gelu(x, approximate=False), (-3, 3)),
}


def points(low, high, seed):
    """Pairs (a, b) in the domain, with d = b − a anywhere between 1e-7 of it and all of it."""
    rng = np.random.default_rng(seed)
    a, b = rng.uniform(low, high, (2, 1500))
    if low > 0:
        a, b = np.exp(rng.uniform(np.log(low), np.log(high), (2, 1500)))
    d = (b - a) * 10.0 ** rng.uniform(-7, 0, 1500)
    return a.astype(np.float32), d.astype(np.float32)


@pytest.mark.parametrize("name", UNARY)
@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_one_number(name, seed):
    f, domain = UNARY[name]
    a, d = points(*domain, seed)
    wide_a, wide_d = jnp.asarray(a, double), jnp.asarray(d, double)
    wide_b = wide_a + wide_d
    expected = f(wide_b) - f(wide_a)
    slope = jax.vmap(jax.grad(f))
    # The change of the result when a and d change by their own rounding, and the result's own.
    slack = abs(expected) + abs(wide_a * (slope(wide_b) - slope(wide_a))) + abs(wide_d * slope(wide_b))
    got = jax.jit(difference(f))(a, d)
    assert got.dtype == single
    bound = 40 if name in ("gelu", "exact gelu", "erf", "erfc", "softplus", "elu") else 12
    np.testing.assert_array_less(abs(np.asarray(got, np.float64) - expected), bound * EPS * slack + 1e-30)


@pytest.mark.parametrize("name", UNARY)
def test_derivative_at_zero_increment_is_the_functions(name):
    f, domain = UNARY[name]
    a, _ = points(*domain, 0)
    zero = jnp.zeros_like(a)
    for dtype, factor in ((single, 30), (double, 30)):
        x, d = jnp.asarray(a, dtype), jnp.asarray(zero, dtype)
        rise = lambda x, d: difference(f)(x, d)
        scale = abs(jax.vmap(jax.grad(f))(x)) + 1
        eps = float(jnp.finfo(dtype).eps)
        first = jax.vmap(jax.grad(rise, 1))(x, d) - jax.vmap(jax.grad(f))(x)
        assert (abs(first) <= factor * eps * scale).all()
        second, own = jax.vmap(jax.grad(jax.grad(rise, 1), 1))(x, d), jax.vmap(jax.grad(jax.grad(f)))(x)
        assert (abs(second - own) <= 100 * factor * eps * (scale + abs(own))).all()


@pytest.mark.parametrize("f", [jax.nn.softmax, jax.nn.sigmoid, jnp.tanh, jax.nn.softplus, jax.nn.silu])
def test_large_increments_neither_overflow_nor_lose(f):
    a, b = np.meshgrid(np.linspace(-200, 200, 17, dtype=np.float32), np.linspace(-190, 210, 17, dtype=np.float32))
    got = difference(f)(a, b - a)
    expected = f(jnp.asarray(b, double)) - f(jnp.asarray(a, double))
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-6)
    assert np.isfinite(jax.grad(lambda d: difference(f)(a, d).sum())(b - a)).all()


@pytest.mark.parametrize("f", [jax.nn.relu, lambda x: jnp.maximum(0, x), jnp.abs, jax.nn.softplus])
def test_kinks_take_the_usual_derivative(f):
    g = jax.grad(difference(f), 1)(jnp.float32(0), jnp.float32(0))
    assert g == {jnp.abs: -1}.get(f, 0.5 if f is jax.nn.softplus else 0)


# ── everything else, on arrays ────────────────────────────────────────────────────────────────────


def window(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (2, 3), (2, 2), ((1, 0), (1, 1)))


def mean_window(x):
    return lax.reduce_window(x, jnp.zeros((), x.dtype), lax.add, (2, 2), (1, 2), "VALID")


def loop(x, y):
    """A carry that only moves from the second step on, a counter, and stacked outputs."""

    def body(carry, row):
        i, still, state = carry
        return (i + 1, state, jnp.tanh(state * row + i.astype(x.dtype))), still

    carry, stacked = lax.scan(body, (jnp.int32(0), jnp.zeros(5, x.dtype), y[0]), x, reverse=True)
    return stacked, carry[1:]


@jax.custom_vjp
def doubled(x):
    return 2 * x


doubled.defvjp(lambda x: (2 * x, None), lambda _, g: (2 * g,))

ARRAYS = {
    "add": lambda x, y: x + y + x,
    "sub": lambda x, y: 1 - x - y,
    "mul": lambda x, y: x * y * x,
    "div": lambda x, y: x / (2 + y * y) + 1 / (3 + x) + y / 7,
    "mean": lambda x, y: jnp.mean(x, axis=0) * y,
    "layer norm": lambda x, y: (x - x.mean(1, keepdims=True)) * lax.rsqrt(x.var(1, keepdims=True) + 1e-5),
    "norm": lambda x, y: jnp.linalg.norm(x) + jnp.std(y),
    "dot": lambda x, y: x @ y.T @ y,
    "conv": lambda x, y: lax.conv(x[None, None], y[None, None, :2, :2], (1, 2), "SAME"),
    "max": lambda x, y: jnp.maximum(x, y) + jnp.maximum(0, y),
    "min": lambda x, y: jnp.minimum(x, y) + jnp.minimum(x, 0.1),
    "clamp": lambda x, y: lax.clamp(-0.3, x, 0.2) + jnp.clip(y, -1, 1),
    "clamp moving": lambda x, y: lax.clamp(-0.3 - y * y, x, y * y),
    "reduce_max": lambda x, y: x.max(1) - y.min(0)[:4],
    "window max": lambda x, y: window(x),
    "window sum": lambda x, y: mean_window(x),
    "softmax": lambda x, y: jax.nn.softmax(x) * jax.nn.log_softmax(y),
    "masked softmax": lambda x, y: jax.nn.softmax(jnp.where(jnp.arange(5) < 3, x, -jnp.inf)),
    "logsumexp": lambda x, y: jax.nn.logsumexp(x, axis=1),
    "logaddexp": lambda x, y: jnp.logaddexp(x, y),
    "cumsum": lambda x, y: jnp.cumsum(x, axis=1),
    "select": lambda x, y: jnp.where(x > y, 2 * x - y, x),
    "select both": lambda x, y: jnp.where((x > 0) & ~(y > x), x * y, -x),
    "count": lambda x, y: (x > y).sum(axis=1).astype(x.dtype) + jnp.sum(x >= 0),
    "compare": lambda x, y: jnp.stack([(x < y), (x <= y), (x == x), (x != y), jnp.isfinite(x)]) * y,
    "logic": lambda x, y: jnp.where((x > 0) ^ (y > 0) | (x > 1), x, 0),
    "sign": lambda x, y: jnp.sign(x) * y,
    "shapes": lambda x, y: jnp.flip(jnp.concatenate([x, y]).reshape(2, -1).T[::3, None], 0).squeeze(1) * 1.5,
    "tile": lambda x, y: jnp.tile(x, (2, 1)) + jnp.repeat(y, 2, axis=0),
    "split": lambda x, y: jnp.split(x * 2, 2)[1] - jnp.unstack(jnp.stack([y, x]))[0][:2],
    "pad": lambda x, y: lax.pad(x, y[0, 0], ((1, 0, 0), (0, 2, 1))),
    "take": lambda x, y: jnp.take(x, jnp.array([3, 1]), axis=0) + y[jnp.array([0, 2])],
    "scatter": lambda x, y: x.at[jnp.array([0, 2])].set(y[:2]).at[1].add(y[3]),
    "slices": lambda x, y: lax.dynamic_update_slice(x, lax.dynamic_slice(y, (1, 1), (2, 3)), (0, 2)),
    "stopped": lambda x, y: lax.stop_gradient(x) * y,
    "checkpoint": lambda x, y: jax.checkpoint(lambda x: jnp.sin(x) @ y.T)(x),
    "custom vjp": lambda x, y: doubled(x) * y,
    "reduce precision": lambda x, y: lax.reduce_precision(x, 11, 52) * y,
    "named": lambda x, y: jax.ad_checkpoint.checkpoint_name(x, "x") * jax.device_put(y),
    "copied": lambda x, y: jnp.copy(x) - jnp.array(y, copy=True),
    "expand": lambda x, y: lax.expand_dims(x, (0,)) * y,
    "scan": loop,
    "fori": lambda x, y: lax.fori_loop(0, 3, lambda i, c: c * x + y, jnp.ones_like(x)),
}


@pytest.mark.parametrize("name", ARRAYS)
@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 10**6), size=st.sampled_from([0.3, 1e-2, 1e-4, 1e-7]))
def test_arrays(name, seed, size):
    f = lambda xy: ARRAYS[name](*xy)
    theta = jax.random.normal(jax.random.key(seed), (2, 4, 5), single)
    delta = size * jax.random.normal(jax.random.key(seed + 1), (2, 4, 5), single)
    wide, small = jnp.asarray(theta, double), jnp.asarray(delta, double)
    got = difference(f)(tuple(theta), tuple(delta))
    expected = jax.tree.map(jnp.subtract, f(tuple(wide + small)), f(tuple(wide)))
    assert jax.tree.structure(got) == jax.tree.structure(expected)
    for g, e in zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True):
        assert g.dtype == single
        assert g.shape == e.shape
        scale = float(abs(e).max())
        np.testing.assert_allclose(g, e, rtol=0, atol=1e-6 * scale + 2e-15, err_msg=f"size {size}")


def test_every_rule_is_tested():
    used = set()

    def collect(jaxpr):
        for eqn in jaxpr.eqns:
            used.add(eqn.primitive.name)
            for inner in jax.extend.core.jaxprs_in_params(eqn.params):
                collect(inner)

    x = jnp.ones((4, 5), single)
    for f in ARRAYS.values():
        collect(jax.make_jaxpr(f)(x, x).jaxpr)
    for f, _ in UNARY.values():
        collect(jax.make_jaxpr(f)(x).jaxpr)
    assert not set(_increments.RULES) - used
