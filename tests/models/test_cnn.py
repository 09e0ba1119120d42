import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from scipy.signal import correlate

from lazyrich.models.cnn import CNN, Conv, convolution, products


def build(seed=0, **options):
    options = dict(side=8, channels=2, width=6, fan_out=3, depth=4) | options
    sizes = [options.pop(name) for name in ("side", "channels", "width", "fan_out")]
    return CNN(*sizes, rngs=nnx.Rngs(params=seed), **options)


@pytest.mark.parametrize("form", [convolution, products])
def test_convolution_is_scipys(form):
    rng = np.random.default_rng(0)
    x, kernel = rng.normal(size=(2, 5, 5, 2)), rng.normal(size=(3, 3, 2, 3))
    padded = np.pad(x[1], ((1, 1), (1, 1), (0, 0)))
    expected = [correlate(padded, kernel[..., c], mode="valid")[..., 0] for c in range(3)]
    assert np.allclose(form(jnp.asarray(x), jnp.asarray(kernel))[1], np.stack(expected, axis=-1))


def test_a_layer_has_its_multiplier():
    layer = Conv(2, 3, kind="input", width=3, depth=2, parametrization="mup", rngs=nnx.Rngs(params=0))
    x = jnp.asarray(np.random.default_rng(0).normal(size=(1, 5, 5, 2)), jnp.float32)
    assert np.allclose(layer(x), convolution(x, layer.kernel[...]) / 18**0.5, atol=1e-5)


def test_forward_has_its_nodes_in_order():
    seen = []
    output = build()(jnp.ones((4, 128), jnp.float32), lambda name, h: seen.append((name, h.shape)) or h)
    assert seen == [("h1", (4, 8, 8, 6)), ("h2", (4, 4, 4, 6)), ("h3", (4, 2, 2, 6)), ("h4", (4, 3))]
    assert output.dtype == jnp.float32


def test_a_network_of_means_does_not_care_where_a_pattern_is():
    """Away from the border, shifting an image by what the poolings resolve changes nothing."""
    image = np.zeros((1, 16, 16, 1), np.float32)
    image[0, 5:8, 5:8, 0] = np.random.default_rng(0).normal(size=(3, 3))
    model = build(side=16, channels=1, depth=3, activation="relu2")
    shifted = np.roll(image, (2, 4), axis=(1, 2))
    one, other = (model(jnp.asarray(a.reshape(1, -1))) for a in (image, shifted))
    assert np.allclose(one, other, rtol=1e-5)


@pytest.mark.parametrize(("parametrization", "exponent"), [("mup", -1.0), ("ntk", 0.0)])
def test_size_of_the_output_with_width(parametrization, exponent):
    x = jnp.asarray(np.random.default_rng(1).normal(size=(8, 64)), jnp.float32)

    def variance(width):
        options = dict(channels=1, width=width, depth=3, parametrization=parametrization)
        return np.mean([np.square(build(seed, **options)(x)).mean() for seed in range(24)])

    assert np.log(variance(128) / variance(8)) / np.log(16) == pytest.approx(exponent, abs=0.25)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width": 0}, "width = 0"),
        ({"depth": 1}, "depth = 1"),
        ({"depth": 6}, "depth = 6: expected at least 2, with side = 8"),
        ({"activation": "swish"}, "activation = 'swish'"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        build(**options)
