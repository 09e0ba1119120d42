import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from lazyrich.models import TwoLayer
from lazyrich.theory import kernels

jnp64 = jnp.float64


def kernel_at_start(model, x):
    """rate · (gradients)(gradients)ᵀ, the kernel that training at γ → 0 follows, by jacobian."""
    graph, state = nnx.split(model)
    rows = jax.jacobian(lambda s: nnx.merge(graph, s)(x)[:, 0])(state)
    flat = np.concatenate([np.asarray(leaf).reshape(len(x), -1) for leaf in jax.tree.leaves(rows)], axis=1)
    width = model.first.kernel[...].shape[1]
    return width * flat @ flat.T


@pytest.mark.parametrize("power", [1, 2, 3])
def test_starts_at_zero_with_the_infinite_width_kernel(power):
    x = np.random.default_rng(0).normal(size=(5, 3))
    model = TwoLayer(3, 20_000, 1, power=power, rngs=nnx.Rngs(params=0), dtype=jnp64)
    assert np.abs(model(jnp.asarray(x))).max() < 1e-12
    exact = kernels.ntk(x, power=power)
    size = np.sqrt(np.outer(exact.diagonal(), exact.diagonal()))
    assert (np.abs(kernel_at_start(model, jnp.asarray(x)) - exact) / size).max() < 0.08 * power**2


def test_error_of_the_kernel_falls_with_width():
    x = np.random.default_rng(0).normal(size=(5, 3))
    exact = kernels.ntk(x)

    def error(width):
        build = lambda seed: TwoLayer(3, width, 1, rngs=nnx.Rngs(params=seed), dtype=jnp64)
        differences = [kernel_at_start(build(seed), jnp.asarray(x)) - exact for seed in range(8)]
        return np.sqrt(np.mean(np.square(differences)))

    assert error(1024) / error(64) == pytest.approx(1 / 4, rel=0.35)


@pytest.mark.parametrize("power", [1, 2, 3])
def test_equispaced_units_have_the_kernel_of_infinite_width(power):
    model = TwoLayer(2, 2048, 1, power=power, equispaced=True, rngs=nnx.Rngs(params=0), dtype=jnp64)
    angles = (np.arange(16) + 0.3) * 2 * np.pi / 16  # off the kinks
    x = np.sqrt(2) * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    exact = kernels.ntk(x, power=power)
    assert np.abs(kernel_at_start(model, jnp.asarray(x)) - exact).max() < 2e-3 * exact.max()


def test_taps():
    seen = []
    model = TwoLayer(2, 8, 1, rngs=nnx.Rngs(params=0))
    model(jnp.ones((3, 2), jnp.float32), lambda name, value: seen.append((name, value.shape)) or value)
    assert seen == [("h1", (3, 8)), ("h2", (3, 1))]


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((2, 7, 1), {}, "width = 7"),
        ((2, 8, 1), {"power": 4}, "power = 4"),
        ((3, 8, 1), {"equispaced": True}, "fan_in = 2, fan_out = 1, got 3 and 1"),
    ],
)
def test_bad_options(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        TwoLayer(*arguments, rngs=nnx.Rngs(params=0), **options)
