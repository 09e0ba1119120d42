"""Every network that a chapter can choose: its forward map, how its features move, how its rate transfers."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from architectures import compiled
from lazyrich.models import MODELS, build, centred, functional, learning_rates
from lazyrich.tasks import inputs, load, targets

SIDE, CLASSES, DEPTH = 4, 10, {"mlp": 3, "cnn": 3, "resnet": 1, "vit": 1}
SEEDS, STEPS = np.arange(3), 12
RATE = {"mlp": 1.0, "cnn": 4.0, "resnet": 2.0, "vit": 1.0}  # well below the edge, features move by O(0.1)


# ── forward ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("side", "channels"), [(8, 1), (28, 1), (32, 3), (64, 3)])
def test_every_image_that_a_stream_gives_goes_in_flat(name, side, channels):
    shape = dict(side=side, channels=channels, classes=7, width=16, depth=3)
    model = nnx.eval_shape(lambda: build(name, rngs=nnx.Rngs(params=0), **shape))
    x = jax.ShapeDtypeStruct((5, side * side * channels), jnp.float32)
    out = jax.eval_shape(lambda model, x: model(x), model, x)
    assert (out.shape, out.dtype) == ((5, 7), jnp.float32)


@pytest.mark.parametrize("name", MODELS)
def test_forward_is_a_function_of_seed_and_image(name):
    make = lambda seed: build(name, side=8, classes=3, width=16, depth=3, rngs=nnx.Rngs(params=seed))
    x = jnp.asarray(np.random.default_rng(0).normal(size=(4, 64)), jnp.float32)
    one, same, other = (np.asarray(make(seed)(x)) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, same)
    assert np.abs(one - other).max() > 1e-2
    np.testing.assert_allclose(make(0)(x[2:3])[0], one[2], rtol=1e-4, atol=1e-6)  # images do not meet
    assert np.abs(make(0)(jnp.flip(x, 1)) - one).max() > 1e-3


@pytest.mark.parametrize("name", MODELS)
def test_rates_are_the_width_and_outputs_fall_with_it(name):
    x = jnp.asarray(np.random.default_rng(0).normal(size=(8, 16)), jnp.float32)

    def size(width):
        models = [network(name, width)(nnx.Rngs(params=seed)) for seed in range(12)]
        rates = jax.tree.leaves(learning_rates(nnx.state(models[0], nnx.Param)))
        assert set(rates) == {float(width)}
        return np.mean([np.square(model(x)).mean() for model in models])

    assert np.log2(size(128) / size(16)) / 3 == pytest.approx(-1, abs=0.3)  # 1/N in variance


# ── centring ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", MODELS)
def test_centred_is_exact_in_float32_and_so_is_its_gradient(name):
    single, double = jnp.float32, jnp.float64
    model = lambda dtype: build(
        name, side=8, classes=3, width=16, depth=2, rngs=nnx.Rngs(params=0), dtype=dtype
    )
    (apply, theta), (wide_apply, _) = (functional(model(dtype)) for dtype in (single, double))
    widen = lambda tree: jax.tree.map(lambda a: jnp.asarray(a, double), tree)
    rng = np.random.default_rng(0)
    x = jnp.asarray(rng.normal(size=(8, 64)), single)
    draws = jax.tree.map(lambda w: 0.3 * rng.normal(size=w.shape), theta)
    weights = jnp.asarray(rng.normal(size=(8, 3)), single)
    total = lambda f, *args: jnp.sum(f(*args) * jnp.asarray(weights, args[-1].dtype))

    @compiled
    def narrow(delta, gamma):
        f = centred(apply, gamma)
        return f(theta, delta, x), jax.grad(lambda d: gamma * total(f, theta, d, x))(delta)

    @compiled
    def wide(delta, gamma):
        moved = jax.tree.map(jnp.add, widen(theta), widen(delta))
        f = wide_apply(moved, widen(x)) - wide_apply(widen(theta), widen(x))
        return f / gamma, jax.grad(lambda moved: total(wide_apply, moved, widen(x)))(moved)

    for gamma, loose in ((1.0, 1e-4), (1e-2, 1e-4), (1e-6, 2e-6)):
        delta = jax.tree.map(lambda d, gamma=gamma: jnp.asarray(gamma * d, single), draws)
        (f, slope), (f64, slope64) = narrow(delta, jnp.asarray(gamma, single)), wide(delta, gamma)
        assert f.dtype == single
        for got, expected in zip([f, *jax.tree.leaves(slope)], [f64, *jax.tree.leaves(slope64)], strict=True):
            got, expected = np.asarray(got, np.float64), np.asarray(expected)
            assert np.linalg.norm(got - expected) <= loose * np.linalg.norm(expected), gamma


# ── training ──────────────────────────────────────────────────────────────────────────────────────


def network(name, width, **options):
    sizes = dict(side=SIDE, classes=CLASSES, width=width, depth=DEPTH[name]) | options
    return lambda rngs: build(name, rngs=rngs, **sizes)


@cache
def images():
    digits, labels = (part[:16] for part in load("digits"))
    small = digits.reshape(-1, SIDE, 2, SIDE, 2).mean(axis=(2, 4))
    return jnp.asarray(inputs(small)), jnp.asarray(targets(labels))


@cache
def trainer(name, width, parametrization="mup"):
    """Full-batch descent on f = (f̃(θ) − f̃(θ₀))/γ, a function of (seeds, γ, η) with η in function space.

    Per cell and step: the loss, and the root mean square of how far each feature node is from where it was.
    """
    make = network(name, width, parametrization=parametrization)
    graph = nnx.graphdef(nnx.eval_shape(lambda: make(nnx.Rngs(params=0))))
    x, y = images()

    def features(params):
        nodes = {}
        nnx.merge(graph, params)(x, lambda node, value: nodes.setdefault(node, value))
        *_, nodes["f"] = nodes.values()
        return nodes

    def cell(seed_gamma_rate):
        seed, gamma, rate = seed_gamma_rate
        start = nnx.state(make(nnx.Rngs(params=jax.random.key(seed))), nnx.Param)
        at_start, factors = features(start), learning_rates(start)

        def loss(params):
            moved = jax.tree.map(jnp.subtract, features(params), at_start)
            moved["f"] = moved["f"] / gamma
            sizes = jax.tree.map(lambda h: jnp.sqrt(jnp.mean(jnp.square(h))), moved)
            return 0.5 * jnp.mean(jnp.sum(jnp.square(moved["f"] - y), axis=1)), sizes

        def step(params, _):
            out, slope = jax.value_and_grad(loss, has_aux=True)(params)
            rates = jax.tree.map(lambda r: rate * gamma**2 * r, factors)
            return jax.tree.map(lambda w, r, g: w - r * g, params, rates, slope), out

        return jax.lax.scan(step, start, length=STEPS)[1]

    mapped = compiled(lambda *cells: jax.lax.map(cell, cells))

    def train(seeds, gammas, rates):
        seeds, gammas, rates = np.broadcast_arrays(seeds, gammas, rates)
        cells = seeds.astype(np.uint32), gammas.astype(np.float32), rates.astype(np.float32)
        found = mapped(*(a.ravel() for a in cells))
        return jax.tree.map(lambda a: np.asarray(a).reshape(*seeds.shape, STEPS), found)

    return train


@pytest.mark.parametrize("name", MODELS)
def test_features_move_alike_at_every_width_and_in_proportion_to_gamma(name):
    """The coordinate check: after a few steps no node's movement depends on N; in γ it is linear as γ → 0."""
    widths, gammas = [16, 32, 64, 128], np.array([1, 0.1, 0.01])
    runs = [trainer(name, width)(SEEDS[:, None], gammas, RATE[name])[1] for width in widths]
    for node in runs[0]:
        moved = np.array([run[node][..., -1].mean(axis=0) for run in runs])  # width, γ
        with_width = np.polyfit(np.log(widths), np.log(moved[:, 0]), 1)[0]
        assert abs(with_width) < 0.2, node
        with_gamma = np.log10(moved[:, :-1] / moved[:, 1:])
        if node == "f":  # the output of the centred network, in the same time
            np.testing.assert_allclose(with_gamma[:, 1], 0, atol=0.05)
            np.testing.assert_allclose(with_gamma[:, 0], 0, atol=0.2)
        else:
            np.testing.assert_allclose(with_gamma[:, 1], 1, atol=0.05, err_msg=node)
            assert (abs(with_gamma[:, 0] - 1) < 0.2).all(), node
            assert moved[-1, 0] > 0.01, node


def edge(name, width, parametrization):
    """log₂ of the rate at which the loss first comes back to its start, interpolated, mean over seeds."""
    low = 0 if parametrization == "mup" else -6
    exponents = np.arange(low, low + 5.5, 0.5)
    loss = trainer(name, width, parametrization)(np.arange(4)[:, None], 1.0, 2.0**exponents)[0]
    worst = np.nan_to_num(loss[..., 1:].max(axis=-1), nan=np.inf, posinf=1e30)
    rise = np.log(worst / loss[..., 0]).clip(max=3)
    first = (rise > 0).argmax(axis=1)
    assert (first > 0).all()
    before, after = (np.take_along_axis(rise, i[:, None], axis=1)[:, 0] for i in (first - 1, first))
    return np.mean(exponents[first] - 0.5 * after / (after - before))


@pytest.mark.parametrize("name", MODELS)
def test_the_largest_learning_rate_transfers_across_widths(name):
    """At γ = 1, in doublings of the rate a doubling of the width, where the standard one has to move."""
    assert abs(edge(name, 128, "mup") - edge(name, 32, "mup")) / 2 < 0.3
    assert edge(name, 64, "standard") - edge(name, 32, "standard") < -0.4


# ── names and refusals ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("rnn", {}, r"model = 'rnn': expected one of mlp, cnn, resnet, vit"),
        ("mlp", dict(width=0), "width = 0"),
        ("cnn", dict(side=7), "side = 7"),
        ("resnet", dict(depth=0), "depth = 0"),
        ("resnet", dict(activation="swish"), "activation = 'swish'"),
        ("vit", dict(width=12), "width = 12: expected a multiple of head_size = 8"),
        ("vit", dict(side=6), "side = 6: expected a multiple of 4, or give patch"),
        ("vit", dict(patch=3), "side = 8: expected a multiple of patch = 3"),
        ("vit", dict(depth=0), "depth = 0"),
    ],
)
def test_bad_options_are_named(name, options, message):
    options = dict(side=8, classes=3, width=16, depth=3) | options
    with pytest.raises(ValueError, match=message):
        nnx.eval_shape(lambda: build(name, rngs=nnx.Rngs(params=0), **options))
