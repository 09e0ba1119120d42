"""The deep ReLU kernel against the two-layer one, wide networks, and its deep limits."""

import numpy as np
import pytest

from lazyrich.theory import kernels
from lazyrich.theory.deep_kernel import correlations, layer_kernels, normalised_ntk, ntk

RNG = np.random.default_rng(0)
INPUTS = RNG.standard_normal((16, 32))
GRAM = INPUTS @ INPUTS.T / 32
UNIT = GRAM / np.sqrt(np.outer(np.diag(GRAM), np.diag(GRAM)))


def test_two_layers():
    """Variance 2 instead of 1 in both terms; written there with correlations, which costs half the digits."""
    np.testing.assert_allclose(ntk(GRAM, 2), 2 * kernels.ntk(INPUTS), rtol=1e-8)


def test_recursion_in_correlations():
    """Straight from the formulas, by a recursion from the input side that knows no products."""
    q = np.diag(GRAM)
    size = np.sqrt(np.outer(q, q))
    s, theta = GRAM.copy(), GRAM.copy()
    for _ in range(5):
        t = np.arccos(np.clip(s / size, -1, 1))
        np.fill_diagonal(t, 0)
        s = size * (np.sin(t) + (np.pi - t) * np.cos(t)) / np.pi
        theta = s + theta * (np.pi - t) / np.pi
    np.testing.assert_allclose(ntk(GRAM, 6), theta, rtol=1e-11)


def test_every_layer_has_the_same_trace():
    traces = np.trace(layer_kernels(GRAM, 6), axis1=1, axis2=2)
    np.testing.assert_allclose(traces / traces.sum(), 1 / 6, rtol=1e-12)


def test_wide_networks():
    """The layers' kernels of networks of width 384 with scalar output, mean of 24, on four inputs.

    One network's entries scatter by √(5(L−1)/m); what is left of the mean is about 6 %.
    """
    depth, width, networks = 5, 384, 24
    x = INPUTS[:4]
    total = np.zeros((depth, 4, 4))
    for seed in range(networks):
        rng = np.random.default_rng(seed)
        acts, slopes, weights = [x / np.sqrt(32)], [], []
        for layer in range(depth):
            rows = 1 if layer == depth - 1 else width
            w = rng.standard_normal((rows, acts[-1].shape[1])) * (2**0.5 / width**0.5 if layer else 1.0)
            f = acts[-1] @ w.T
            weights.append(w)
            slopes.append(f > 0)
            acts.append(np.maximum(f, 0))
        b = np.ones((4, 1))
        for layer in range(depth - 1, -1, -1):
            # the gradient with respect to the standard normal parameter behind the weight
            factor = 2 / width if layer else 1.0
            total[layer] += factor * (acts[layer] @ acts[layer].T) * (b @ b.T) / networks
            b = (b @ weights[layer]) * (slopes[layer - 1] if layer else 1.0)
    expected = layer_kernels(x @ x.T / 32, depth)
    assert np.abs(total - expected).max() / expected.max() < 0.12
    assert np.abs(total.sum(0) - expected.sum(0)).max() / expected.sum(0).max() < 0.08


def test_deep_limits():
    values = np.linalg.eigvalsh(normalised_ntk(UNIT, 4096))
    assert values[0] == pytest.approx(0.749, abs=1e-3)
    assert values[-1] == pytest.approx(4.764, abs=2e-3)
    kernel = normalised_ntk(UNIT, 4096)
    off = kernel[np.triu_indices(16, 1)]
    assert off.mean() == pytest.approx(0.251, abs=1e-3)
    assert off.std() < 1e-4
    # the data no longer matter
    assert np.abs(kernel - normalised_ntk(np.eye(16), 4096)).max() < 1e-3


def test_correlations_approach_one_as_depth_to_the_minus_two():
    """Ratio to 9π²/(2L²) for orthogonal inputs; the approach is slow, log L/L."""
    depths = np.array([4, 16, 64, 256, 1024])
    ratio = (1 - correlations(0.0, 1024)[depths - 1]) * depths**2 / (4.5 * np.pi**2)
    np.testing.assert_allclose(ratio, [0.144, 0.445, 0.753, 0.914, 0.974], atol=2e-3)


def test_equal_and_opposite_inputs():
    assert (correlations(1.0, 50) == 1).all()
    np.testing.assert_allclose(correlations(-1.0, 3), [-1, 0, 1 / np.pi], atol=1e-12)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: correlations(1.5, 3), "correlation = 1.5"),
        (lambda: correlations(0.5, 0), "depth = 0"),
        (lambda: ntk(np.array([[1.0, 0.5], [0.2, 1.0]]), 3), "symmetric"),
        (lambda: ntk(np.diag([1.0, 0.0]), 3), "diagonal entry 0.0"),
        (lambda: ntk(np.eye(2), 0), "depth = 0"),
    ],
)
def test_bad_input_is_named(call, named):
    with pytest.raises(ValueError, match=named):
        call()
