"""`difference` against float64: rule by rule, then whole networks, then training."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from jax import lax
from jax.ad_checkpoint import checkpoint_name
from jax.sharding import SingleDeviceSharding

from lazyrich.models import _increments
from lazyrich.models.centering import centred, difference, functional

EPS = float(np.finfo(np.float32).eps)
quick = settings(deadline=None, phases=(Phase.generate,), derandomize=True)  # a seed does not shrink
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


@cache
def compiled(f):
    return jax.jit(difference(f)), jax.jit(lambda x: (f(x), jax.vmap(jax.grad(f))(x)))


@pytest.mark.parametrize("name", UNARY)
@settings(quick, max_examples=3)
@given(seed=st.integers(0, 10**6))
def test_one_number(name, seed):
    f, domain = UNARY[name]
    a, d = points(*domain, seed)
    wide_a, wide_d = jnp.asarray(a, double), jnp.asarray(d, double)
    wide_b = wide_a + wide_d
    rise, values = compiled(f)
    (start, slope), (end, late) = map(np.asarray, values(wide_a)), map(np.asarray, values(wide_b))
    expected = end - start
    # The change of the result when a and d change by their own rounding, and the result's own.
    slack = abs(expected) + abs(wide_a * (late - slope)) + abs(wide_d * late)
    got = rise(a, d)
    assert got.dtype == single
    cancelled = 4 * np.finfo(np.float64).eps * (abs(start) + abs(end))  # in the reference
    bound = 40 if "gelu" in name or "erf" in name or name in ("softplus", "elu") else 12
    assert (abs(np.asarray(got, np.float64) - expected) <= bound * EPS * slack + cancelled).all()


def test_derivatives_at_zero_increment_are_the_functions():
    def both(f, a):
        rise = lambda d, a: difference(f)(a, d)
        slope, bend = jax.grad(f), jax.grad(jax.grad(f))
        own = jax.vmap(lambda a: (slope(a), bend(a)))(a)
        return own, jax.vmap(lambda d, a: (jax.grad(rise)(d, a), jax.grad(jax.grad(rise))(d, a)))(0 * a, a)

    at = {name: points(*domain, 0)[0] for name, (_, domain) in UNARY.items()}
    found = jax.jit(lambda at: {name: both(UNARY[name][0], a) for name, a in at.items()})(at)
    for name, ((slope, bend), (got_slope, got_bend)) in found.items():
        assert (abs(got_slope - slope) <= 30 * EPS * (1 + abs(slope))).all(), name
        assert (abs(got_bend - bend) <= 3000 * EPS * (1 + abs(slope) + abs(bend))).all(), name


@pytest.mark.parametrize("f", [jax.nn.softmax, jax.nn.sigmoid, jnp.tanh, jax.nn.softplus, jax.nn.silu])
def test_large_increments_neither_overflow_nor_lose(f):
    a, b = np.meshgrid(np.linspace(-200, 200, 17), np.linspace(-190, 210, 17))
    a, b = np.float32(a), np.float32(b)
    rise = jax.jit(lambda d: jax.vjp(lambda d: difference(f)(a, d), d))
    value, pull = rise(b - a)
    expected = f(np.float64(b)) - f(np.float64(a))
    np.testing.assert_allclose(value, expected, rtol=1e-6, atol=1e-6)
    assert np.isfinite(jax.jit(pull)(jnp.ones_like(value))[0]).all()


@pytest.mark.parametrize("f", [jax.nn.relu, lambda x: jnp.maximum(0, x), jnp.abs, jax.nn.softplus])
def test_kinks_take_the_usual_derivative(f):
    g = jax.jit(jax.grad(difference(f), 1))(jnp.float32(0), jnp.float32(0))
    assert g == {jnp.abs: -1}.get(f, 0.5 if f is jax.nn.softplus else 0)


# ── everything else, on arrays ────────────────────────────────────────────────────────────────────


def window(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (2, 3), (2, 2), ((1, 0), (1, 1)))


def mean_window(x):
    return lax.reduce_window(x, np.zeros((), x.dtype), lax.add, (2, 2), (1, 2), "VALID")


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
    "mean": lambda x, y: jnp.mean(x, axis=0, keepdims=True) * y,
    "layer norm": lambda x, y: (x - x.mean(1, keepdims=True)) * lax.rsqrt(x.var(1, keepdims=True) + 1e-5),
    "norm": lambda x, y: jnp.stack([jnp.linalg.norm(x), jnp.std(y)]),
    "dot": lambda x, y: x @ y.T @ y,
    "conv": lambda x, y: lax.conv(x[None, None], y[None, None, :2, :2], (1, 2), "SAME"),
    "max": lambda x, y: jnp.maximum(x, y) + jnp.maximum(0, y),
    "min": lambda x, y: jnp.minimum(x, y) + jnp.minimum(x, 0.1),
    "clip": lambda x, y: jnp.clip(x, -0.3, 0.2),
    "clamp": lambda x, y: lax.clamp(-0.3 - y * y, x, y * y),
    "clamp by scalars": lambda x, y: lax.clamp(x[0, 0], jnp.zeros_like(y), x[0, 0] + 1),
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
    "count": lambda x, y: ((x > y).sum(axis=1) + jnp.sum(x >= 0)).astype(x.dtype),
    "compare": lambda x, y: jnp.stack([x < y, x <= y, x == x, x != y, jnp.isfinite(x)]).astype(x.dtype),
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
    "named": lambda x, y: checkpoint_name(x, "x") * jax.device_put(y),
    "copied": lambda x, y: jnp.copy(x) - jnp.array(y, copy=True),
    "sharded": lambda x, y: lax.with_sharding_constraint(x, SingleDeviceSharding(jax.devices()[0])) * y,
    "a gradient": lambda x, y: jax.grad(lambda x: jnp.sum(x * jnp.sin(x) * y))(x),
    "scan": loop,
    "fori": lambda x, y: lax.fori_loop(0, 3, lambda i, c: c * x + y, jnp.ones_like(x)),
}


@cache
def compiled_arrays(name):
    f = lambda xy: ARRAYS[name](*xy)
    return jax.jit(difference(f)), jax.jit(f)


@pytest.mark.parametrize("name", ARRAYS)
@settings(quick, max_examples=3)
@given(seed=st.integers(0, 10**6), size=st.sampled_from([0.3, 1e-2, 1e-4, 1e-7]))
def test_arrays(name, seed, size):
    rise, value = compiled_arrays(name)
    theta = jax.random.normal(jax.random.key(seed), (2, 4, 5), single)
    delta = size * jax.random.normal(jax.random.key(seed + 1), (2, 4, 5), single)
    wide, small = jnp.asarray(theta, double), jnp.asarray(delta, double)
    got = rise(tuple(theta), tuple(delta))
    expected = jax.tree.map(np.subtract, value(tuple(wide + small)), value(tuple(wide)))
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
    untested = set(_increments.RULES) - used
    assert not untested


# ── networks, unmodified ──────────────────────────────────────────────────────────────────────────


class Perceptron(nnx.Module):
    def __init__(self, activation, norm, rngs):
        self.layers = nnx.List([nnx.Linear(64, 64, rngs=rngs), nnx.Linear(64, 64, rngs=rngs)])
        self.out, self.activation = nnx.Linear(64, 10, rngs=rngs), activation
        self.norm = nnx.LayerNorm(64, rngs=rngs) if norm else lambda x: x

    def __call__(self, x):
        for layer in self.layers:
            x = self.activation(self.norm(layer(x)))
        return self.out(x)


class Residual(nnx.Module):
    def __init__(self, pool, rngs):
        self.first, self.block = nnx.Conv(1, 8, (3, 3), rngs=rngs), nnx.Conv(8, 8, (3, 3), rngs=rngs)
        self.batch, self.group = nnx.BatchNorm(8, rngs=rngs), nnx.GroupNorm(8, num_groups=2, rngs=rngs)
        self.out, self.pool = nnx.Linear(8, 10, rngs=rngs), pool

    def __call__(self, x):
        x = self.pool(self.first(x.reshape(-1, 8, 8, 1)), (2, 2), (2, 2))
        x = x + jax.nn.silu(self.batch(self.block(x)))
        x = x + jax.nn.gelu(self.group(self.block(x)))
        return self.out(x.mean((1, 2)))


class Transformer(nnx.Module):
    def __init__(self, rngs):
        self.embed, self.norm = nnx.Linear(8, 16, rngs=rngs), nnx.LayerNorm(16, rngs=rngs)
        self.attend = nnx.MultiHeadAttention(2, 16, decode=False, rngs=rngs)
        self.mix, self.out = nnx.Linear(16, 16, rngs=rngs), nnx.Linear(16, 10, rngs=rngs)

    def __call__(self, x):
        x = self.embed(x.reshape(-1, 8, 8))
        x = x + self.attend(self.norm(x))
        x = x + jax.nn.gelu(self.mix(self.norm(x)), approximate=False)
        return self.out(x.mean(1))


NETWORKS = {
    "relu": lambda rngs: Perceptron(jax.nn.relu, False, rngs),
    "tanh and layer norm": lambda rngs: Perceptron(jnp.tanh, True, rngs),
    "gelu": lambda rngs: Perceptron(jax.nn.gelu, False, rngs),
    "resnet": lambda rngs: Residual(nnx.avg_pool, rngs),
    "resnet with max pool": lambda rngs: Residual(nnx.max_pool, rngs),
    "transformer": Transformer,
}


def plain_attention(q, k, v, **_):
    """What the layer computes; its own code casts to float32 within."""
    weights = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / q.shape[-1] ** 0.5)
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_are_exact_in_float32_at_every_gamma(name):
    # Flax's own layers mix dtypes and ranks at their defaults, as a reader's model may.
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        model = NETWORKS[name](nnx.Rngs(0))
        apply, theta = functional(model)
        if name == "transformer":
            model.attend.attention_fn = plain_attention
        graph, _, rest = nnx.split(model, nnx.Param, ...)
        rest = cast(rest, double)
        x = jax.random.normal(jax.random.key(1), (16, 64), single)
        leaves, structure = jax.tree.flatten(theta)
        rng = np.random.default_rng(2)
        draws = [0.03 * rng.standard_normal(w.shape) for w in leaves]

        def wide(delta):
            shifted = jax.tree.map(jnp.add, cast(theta, double), cast(delta, double))
            return nnx.merge(graph, shifted, rest, copy=True)(jnp.asarray(x, double))

        wide, narrow = jax.jit(wide), jax.jit(lambda d, gamma: centred(apply, gamma)(theta, d, x))
        start = wide(jax.tree.map(jnp.zeros_like, theta))
        for gamma in (1.0, 1e-2, 1e-5, 1e-8):
            delta = jax.tree.unflatten(structure, [np.float32(gamma * d) for d in draws])
            got, expected = narrow(delta, jnp.asarray(gamma, single)), (wide(delta) - start) / gamma
            assert got.dtype == single
            loose = 1e-4 if name == "relu" and gamma > 1e-5 else 1e-6
            assert np.linalg.norm(got - expected) <= loose * np.linalg.norm(expected), gamma


def layered(theta, x):
    """A ReLU network of depth 4 in muP, for which γ = 1 is rich and small γ lazy."""
    h = x @ theta[0] / 8.0
    for w in theta[1:-1]:
        h = jax.nn.relu(h) @ w / 128**0.5
    return jax.nn.relu(h) @ theta[-1] / 128.0


@pytest.fixture(scope="module")
def network():
    sizes = [(64, 128), (128, 128), (128, 128), (128, 10)]
    theta = [jax.random.normal(jax.random.key(i), s, single) for i, s in enumerate(sizes)]
    x = jax.random.normal(jax.random.key(9), (64, 64), single)
    y = jax.nn.one_hot(jax.random.randint(jax.random.key(8), (64,), 0, 10), 10, dtype=single) - 0.1
    return theta, x, y


def trainer(forward, start, dtype, network):
    """Losses of 300 steps of full-batch descent on w from w = start, where forward(θ₀, w, x) is γ f."""
    theta, x, y = cast(network, dtype)

    @jax.jit
    def train(gamma, rate):
        loss = lambda w: jnp.mean(jnp.square(forward(theta, w, x) / gamma - y))

        def step(w, _):
            value, g = jax.value_and_grad(loss)(w)
            return jax.tree.map(lambda w, g: w - rate * g, w, g), value

        return lax.scan(step, start(theta), length=300)[1]

    return lambda gamma: np.asarray(
        train(jnp.asarray(gamma, dtype), jnp.asarray(128 * 2 * gamma**2 / (1 + gamma), dtype)), np.float64
    )


def test_training_in_float32_follows_float64_where_the_plain_difference_fails(network):
    plain = lambda theta, w, x: layered(w, x) - layered(theta, x)
    reference, naive = (trainer(plain, lambda theta: theta, dtype, network) for dtype in (double, single))
    exact = trainer(difference(layered), lambda theta: jax.tree.map(jnp.zeros_like, theta), single, network)
    for gamma in (1e-3, 1e-5, 1e-8):
        truth = reference(gamma)
        assert truth[-1] < 0.8 * truth[0]
        assert np.max(abs(exact(gamma) / truth - 1)) < 5e-6
        if gamma < 1e-3:
            assert np.max(abs(naive(gamma) / truth - 1)) > 0.1


def test_gradient_and_hessian_product_at_zero_are_the_models(network):
    theta, x, y = network
    zero = jax.tree.map(jnp.zeros_like, theta)
    direction = [jax.random.normal(jax.random.key(i), w.shape, single) for i, w in enumerate(theta)]
    start = layered(theta, x)
    own = lambda w: jnp.mean(jnp.square(layered(w, x) - start - y))
    ours = lambda d: jnp.mean(jnp.square(difference(layered)(theta, d, x) - y))
    both = jax.jit(
        lambda: [jax.jvp(jax.grad(loss), (at,), (direction,)) for loss, at in ((own, theta), (ours, zero))]
    )
    expected, product = both()
    for got, own in zip(product, expected, strict=True):
        assert max(map(error, got, own)) < 1e-5


@pytest.mark.parametrize("gamma", [1e-2, 1e-6])
def test_gradient_and_hessian_product_away_from_zero_follow_float64(gamma, network):
    def products(dtype):
        theta, x, y = cast(network, dtype)
        keys = jax.random.split(jax.random.key(3), 2 * len(theta)).reshape(2, -1)
        draw = lambda keys: [jax.random.normal(k, w.shape, single) for k, w in zip(keys, theta, strict=True)]
        small = [jnp.asarray(jnp.float32(0.3 * gamma) * d, dtype) for d in draw(keys[0])]
        loss = lambda d: jnp.mean(jnp.square(centred(layered, gamma)(theta, d, x) - y))
        return jax.jit(lambda *at: jax.jvp(jax.grad(loss), *at))((small,), (cast(draw(keys[1]), dtype),))

    for got, expected in zip(products(single), products(double), strict=True):
        for one, other in zip(got, expected, strict=True):
            assert one.dtype == single
            loose = 1e-4 if gamma > 1e-5 else 2e-6
            assert np.linalg.norm(np.subtract(one, other)) < loose * np.linalg.norm(other)


def test_cells_share_the_pass_at_theta0(network):
    theta, x, _ = network
    gammas = jnp.asarray([1e-6, 1e-2], single)
    deltas = jax.tree.map(lambda w: gammas.reshape(-1, 1, 1) * jnp.sin(w)[None], theta)
    cells = jax.vmap(lambda gamma, d: centred(layered, gamma)(theta, d, x))
    together = jax.jit(cells)(gammas, deltas)
    for i in range(2):
        alone = centred(layered, gammas[i])(theta, [d[i] for d in deltas], x)
        assert error(together[i], alone) < 1e-5
    products = [e for e in jax.make_jaxpr(cells)(gammas, deltas).eqns if e.primitive.name == "dot_general"]
    shared = [e for e in products if e.outvars[0].aval.shape == (64, 128)]
    assert len(shared) == 3  # once a hidden layer, whatever the number of cells


# ── what is refused ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (jnp.sort, "'sort'"),
        (lambda x: lax.while_loop(lambda x: x[0] < 9, lambda x: 2 * x, x), "'while'"),
        (lambda x: lax.cond(x[0] > 0, jnp.sin, jnp.cos, x), "'cond'"),
        (lambda x: x[jnp.int32(x[0] > 0)], "index that moves"),
        (lambda x: 2.0**x, "'pow'|'exp2'"),
        (lambda x: lax.cummax(x), "'cummax'"),
        (lambda x: jnp.argmax(x).astype(x.dtype), "'argmax'"),
    ],
)
def test_a_primitive_without_rule_is_named(f, message):
    with pytest.raises(NotImplementedError, match=message):
        difference(f)(jnp.ones(3, single), jnp.ones(3, single))


def test_what_does_not_move_may_use_any_primitive():
    f = lambda w, x: (
        w * jnp.sort(jnp.float32(x))[jnp.argmax(x)] + lax.while_loop(lambda i: i < 5, lambda i: i + 2, 0)
    )
    assert difference(f)(jnp.float32(1), jnp.float32(1e-9), jnp.arange(4.0)) == pytest.approx(3e-9)
    tree = {"w": jnp.ones(2, single), "steps": jnp.int32(3), "frozen": jnp.ones(2, single)}
    still = {"w": 1e-9 * jnp.ones(2, single), "steps": None, "frozen": None}
    assert difference(lambda t: (t["w"] @ t["frozen"], t["frozen"]))(tree, still)[0] == pytest.approx(2e-9)


def test_bad_arguments_are_named():
    theta = {"w": jnp.ones(2, single)}
    with pytest.raises(ValueError, match=r"delta at \['w'\]: expected float32\[2\].*float64\[2\]"):
        difference(lambda t: t["w"])(theta, {"w": jnp.ones(2, double)})
    with pytest.raises(ValueError, match=r"expected float32\[2\] as in theta0, got float32\[3\]"):
        difference(lambda t: t["w"])(theta, {"w": jnp.ones(3, single)})
    with pytest.raises(ValueError, match="dtype bool"):
        difference(lambda t: t["w"] > 0)(theta, theta)
    for gamma in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match=f"gamma = {gamma}"):
            centred(jnp.sin, gamma)
