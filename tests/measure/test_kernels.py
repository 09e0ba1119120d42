import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from lazyrich.measure import kernels
from lazyrich.models import MLP, TwoLayer
from lazyrich.theory import kernels as theory

X = np.random.default_rng(0).normal(size=(13, 4))


def make(**options):
    return MLP(4, 8, 3, depth=3, rngs=nnx.Rngs(params=0), dtype=jnp.float64, **options)


def by_jacobian(model, x, rates=True):
    """The definition, through one jacobian of the whole output."""
    graph, state = nnx.split(model)
    full = jax.jacobian(lambda s: nnx.merge(graph, s)(jnp.asarray(x)))(state)
    factor = 8.0 if rates else 1.0  # mup at width 8, the same for every layer
    return factor * sum(
        np.einsum("icab,jcab->ij", leaf, leaf) / 3 for leaf in map(np.asarray, jax.tree.leaves(full))
    )


@pytest.mark.parametrize("rates", [True, False])
@pytest.mark.parametrize("block", [1, 5, 100])
def test_kernel_is_the_product_of_jacobians_whatever_the_blocks(rates, block):
    model = make()
    memory = block * kernels.jacobian_bytes(model, outputs=3, inputs=2)
    kernel = kernels.empirical_ntk(model, X, rates=rates, memory=memory)
    assert np.allclose(kernel, by_jacobian(model, X, rates), rtol=1e-12)
    cross = kernels.empirical_ntk(model, X[:4], X, rates=rates, memory=memory)
    assert np.allclose(cross, kernel[:4], rtol=1e-12)


def test_one_output_is_a_part_of_the_average():
    model = make()
    parts = [kernels.empirical_ntk(model, X, outputs=(c,)) for c in range(3)]
    assert np.allclose(np.mean(parts, axis=0), kernels.empirical_ntk(model, X), rtol=1e-12)


def test_layers_with_different_rates():
    model = make(parametrization="standard")
    for layer, rate in zip(model.layers, (1.0, 10.0, 100.0), strict=True):
        layer.kernel = nnx.Param(layer.kernel[...], rate=rate)
    graph, state = nnx.split(model)
    leaves = jax.tree.leaves(jax.jacobian(lambda s: nnx.merge(graph, s)(jnp.asarray(X)))(state))
    expected = sum(
        rate * np.einsum("icab,jcab->ij", leaf, leaf) / 3
        for rate, leaf in zip((1, 10, 100), map(np.asarray, leaves), strict=True)
    )
    assert np.allclose(kernels.empirical_ntk(model, X), expected, rtol=1e-12)


def test_a_wide_network_has_the_infinite_width_kernel():
    model = TwoLayer(4, 20_000, 2, rngs=nnx.Rngs(params=1))
    exact = theory.ntk(X)
    size = np.sqrt(np.outer(exact.diagonal(), exact.diagonal()))
    measured = kernels.empirical_ntk(model, X.astype(np.float32))
    assert measured.dtype == np.float32
    assert (np.abs(measured - exact) / size).max() < 0.06


def test_memory():
    model = make()
    assert kernels.jacobian_bytes(model, 3, inputs=7) == 8 * 7 * 3 * (4 * 8 + 8 * 8 + 8 * 3)
    with pytest.raises(MemoryError, match="memory = 100: two inputs need 5760 bytes"):
        kernels.empirical_ntk(model, X, memory=100)


def test_alignment():
    y = np.random.default_rng(1).normal(size=(13, 3))
    assert kernels.alignment(y @ y.T, y) == pytest.approx(1)
    orthogonal = np.linalg.qr(np.c_[y, np.eye(13)])[0][:, 3:]
    assert kernels.alignment(orthogonal @ orthogonal.T, y) == pytest.approx(0, abs=1e-12)
    k = by_jacobian(make(), X)
    assert kernels.alignment(7 * k, 2 * y) == pytest.approx(kernels.alignment(k, y))
