import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lazyrich.training import losses

F = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)


def test_squares():
    assert losses.half_square(jnp.asarray(F), 0 * F) == pytest.approx(0.5 * (F**2).sum() / 6, rel=1e-6)
    assert losses.mean_square(jnp.asarray(F), 0 * F) == pytest.approx((F**2).mean(), rel=1e-6)


def test_cross_entropy():
    labels = np.array([0, 1, 2, 0, 1, 2], np.int32)
    exact = -np.log(np.exp(F)[np.arange(6), labels] / np.exp(F).sum(axis=1)).mean()
    assert losses.cross_entropy(jnp.asarray(F), labels) == pytest.approx(exact, rel=1e-5)


def test_half_square_drives_each_output_at_its_kernel():
    """The gradient in function space is (f − y)/batch, without a factor 2 or 1/outputs."""
    gradient = jax.grad(losses.half_square)(jnp.asarray(F), 0 * F)
    assert np.allclose(gradient, F / 6, rtol=1e-6)
