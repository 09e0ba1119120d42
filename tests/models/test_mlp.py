import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from lazyrich.models import MLP, learning_rates
from lazyrich.models.layers import ACTIVATIONS


def build(seed=0, **options):
    options = dict(fan_in=6, width=10, fan_out=3, depth=3) | options
    sizes = [options.pop(name) for name in ("fan_in", "width", "fan_out")]
    return MLP(*sizes, rngs=nnx.Rngs(params=seed), **options)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_forward_is_the_formula(activation):
    model = build(activation=activation)
    x = np.random.default_rng(0).normal(size=(5, 6)).astype(np.float32)
    w = [np.asarray(layer.kernel[...]) for layer in model.layers]
    phi = lambda u: np.asarray(ACTIVATIONS[activation](jnp.asarray(u)))
    h = x @ w[0] / np.sqrt(6)
    h = phi(h) @ w[1] / np.sqrt(10)
    expected = phi(h) @ w[2] / 10
    assert np.allclose(model(jnp.asarray(x)), expected, rtol=1e-5, atol=1e-5)


def test_taps_come_in_order_and_can_change_the_features():
    seen = []

    def tap(name, value):
        seen.append((name, value.shape))
        return 0 * value if name == "h2" else value

    output = build()(jnp.ones((4, 6), jnp.float32), tap)
    assert seen == [("h1", (4, 10)), ("h2", (4, 10)), ("h3", (4, 3))]
    assert not output.any()


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_depth_counts_weight_matrices(depth):
    assert len(jax.tree.leaves(nnx.state(build(depth=depth), nnx.Param))) == depth


@pytest.mark.parametrize(("parametrization", "exponent"), [("mup", -1.0), ("ntk", 0.0), ("standard", 0.0)])
def test_size_of_the_output_with_width(parametrization, exponent):
    """Mean field: ∝ N^(−1/2) in size, N^(−1) in variance; the others stay of order one."""
    x = jnp.asarray(np.random.default_rng(1).normal(size=(16, 6)), jnp.float32)

    def variance(width):
        seeds = range(24)
        options = dict(width=width, parametrization=parametrization)
        return np.mean([np.square(build(seed, **options)(x)).mean() for seed in seeds])

    assert np.log(variance(256) / variance(16)) / np.log(16) == pytest.approx(exponent, abs=0.2)


def test_gain_keeps_the_size_of_deep_relu_features():
    sizes = {}
    build(width=512, depth=12, gain=2**0.5)(
        jnp.ones((1, 6), jnp.float32), lambda name, h: sizes.setdefault(name, h.std()) * 0 + h
    )
    assert 0.6 < sizes["h11"] / (sizes["h2"] * 1) < 1.6


def test_learning_rates_follow_the_table_and_the_dtype_is_named():
    state = nnx.state(build(width=32), nnx.Param)
    assert jax.tree.leaves(learning_rates(state)) == [32.0] * 3
    assert {leaf.dtype.name for leaf in jax.tree.leaves(state)} == {"float32"}
    wide = nnx.state(build(dtype=jnp.float64), nnx.Param)
    assert {leaf.dtype.name for leaf in jax.tree.leaves(wide)} == {"float64"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width": 0}, "width = 0"),
        ({"depth": 0}, "depth = 0"),
        ({"activation": "swish"}, "activation = 'swish'"),
        ({"parametrization": "sp"}, "parametrization = 'sp'"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        build(**options)
