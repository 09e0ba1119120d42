"""Joint width and batch scaling against two-layer networks in NumPy."""

import numpy as np
import pytest

from lazyrich.theory.angles import joint_batch_cosine, joint_batch_readout, joint_batch_sensitivity


def inputs(rng, n, d, decay):
    """n Gaussian inputs whose covariance has the spectrum k^(−decay) of trace d."""
    spectrum = np.arange(1.0, d + 1) ** -decay
    return rng.standard_normal((n, d)) * np.sqrt(d * spectrum / spectrum.sum())


def measure(rng, x, width, readout, activation, residual):
    """⟨−b, ḟ⟩, |b|² and |ḟ|² of one network f = σ u·φ(W x) on (1/n) Σ r f, at η = 1."""
    n, d = x.shape
    f = x @ rng.standard_normal((d, width)) / np.sqrt(d)
    slope = (f > 0) * 1.0 if activation == "relu" else np.ones_like(f)
    b = readout / n * np.outer(residual, rng.standard_normal(width)) * slope
    velocity = -x @ (x.T @ b) / d
    return -np.sum(b * velocity), np.sum(b**2), np.sum(velocity**2)


@pytest.mark.parametrize("activation", ["linear", "relu"])
@pytest.mark.parametrize("decay", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("n", [16, 256])
def test_angle_and_speed(n, decay, activation):
    """Averages over 100 networks and residuals on one set of inputs, where one strong input rules."""
    x = inputs(np.random.default_rng(0), n, 64, decay)
    gram = x @ x.T / 64
    readout = joint_batch_readout(gram, 128)
    found = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        residual = rng.standard_normal(n)
        residual *= np.sqrt(n) / np.linalg.norm(residual)
        found.append(measure(rng, x, 128, readout, activation, residual))
    flow, backward2, velocity2 = np.mean(found, axis=0)
    assert flow / np.sqrt(backward2 * velocity2) == pytest.approx(joint_batch_cosine(gram), rel=0.08)
    speed = np.sqrt(velocity2 / (n * 128)) / flow
    assert speed == pytest.approx(joint_batch_sensitivity(gram, 128, readout, activation), rel=0.1)
    # corrected: the same speed whatever the inputs and their number
    assert speed == pytest.approx(np.sqrt(2) if activation == "relu" else 1.0, rel=0.1)


def test_isotropic_inputs():
    rng = np.random.default_rng(0)
    x = inputs(rng, 1024, 256, 0.0)
    assert joint_batch_cosine(x @ x.T / 256) == pytest.approx((1 + 4) ** -0.5, rel=0.01)


def test_a_residual_on_the_top_eigenvector_defeats_the_moments():
    rng = np.random.default_rng(0)
    x = inputs(rng, 128, 64, 1.0)
    gram = x @ x.T / 64
    top = np.linalg.eigh(gram)[1][:, -1]
    flow, backward2, velocity2 = measure(rng, x, 128, 1.0, "linear", top)
    cosine = flow / np.sqrt(backward2 * velocity2)
    assert cosine == pytest.approx(1, abs=1e-12)
    assert joint_batch_cosine(gram, top) == pytest.approx(1, abs=1e-12)
    assert cosine > 2 * joint_batch_cosine(gram)


def test_any_residual_of_the_linear_network():
    rng = np.random.default_rng(0)
    x, residual = inputs(rng, 40, 16, 1.0), np.ones(40)
    flow, backward2, velocity2 = measure(rng, x, 64, 0.1, "linear", residual)
    assert flow / np.sqrt(backward2 * velocity2) == pytest.approx(
        joint_batch_cosine(x @ x.T / 16, residual), rel=1e-12
    )


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: joint_batch_cosine(np.ones((2, 3))), "gram has shape"),
        (lambda: joint_batch_cosine(np.eye(2), np.ones(3)), "residual has shape"),
        (lambda: joint_batch_sensitivity(np.eye(2), 8, 1.0, "tanh"), "activation = 'tanh'"),
        (lambda: joint_batch_sensitivity(np.eye(2), 8, 0.0), "readout = 0.0"),
        (lambda: joint_batch_sensitivity(np.eye(2), 8, 1.0, residual_rms=-1.0), "residual_rms = -1.0"),
        (lambda: joint_batch_readout(np.eye(2), 0), "width = 0"),
    ],
)
def test_bad_input_is_named(call, named):
    with pytest.raises(ValueError, match=named):
        call()
