"""Simulations against each other, against an ODE and against the theory of the moments."""

import numpy as np
import pytest

from lazyrich.theory.scaling import learning_curve, simulate, solve
from lazyrich.theory.scaling.reduction import Measure


def drawn_measure(alpha, beta, width, modes, seed):
    """The kernel that `simulate` draws for this seed."""
    k = np.arange(1.0, modes + 1)
    power = k ** (-alpha * beta - 1)
    features = np.random.default_rng(seed).standard_normal((width, modes)) * k ** (-alpha / 2)
    x, vectors = np.linalg.eigh(features @ features.T / width)
    mass = (vectors.T @ (features @ np.sqrt(power))) ** 2 / width
    return Measure(x, mass, np.ones(width), power.sum() - np.sum(mass / x), x[-1])


@pytest.mark.parametrize(("gamma", "tolerance"), [(0.0, 1e-12), (0.1, 5e-4), (1.0, 3e-3), (10.0, 2e-2)])
def test_reduction_agrees_with_the_weights_of_the_paper(gamma, tolerance):
    setting = {"width": 60, "modes": 400, "learning_rate": 0.02, "times": [1, 10, 60], "seeds": 1}
    setting["dtype"] = "float64"
    direct = simulate(1.5, 0.5, gamma, method="direct", **setting)
    rotated = simulate(1.5, 0.5, gamma, method="rotated", **setting)
    np.testing.assert_allclose(rotated.loss, direct.loss, rtol=1e-10)
    measure = drawn_measure(1.5, 0.5, 60, 400, 0)
    theory = solve(measure, gamma, direct.times, learning_rate=0.02)
    np.testing.assert_allclose(theory.loss, direct.loss[0], rtol=tolerance)
    flow = solve(measure, gamma, direct.times)
    np.testing.assert_allclose(flow.loss, direct.loss[0], rtol=0.03)


def test_methods_agree_in_law():
    setting = {"width": 16, "modes": 128, "learning_rate": 0.1, "times": [0.5, 5, 20], "batch": 8}
    runs = [
        simulate(1.5, 0.5, 0.5, method=m, seeds=200, seed0=s, **setting).loss
        for m, s in (("direct", 0), ("rotated", 200))
    ]
    means = [r.mean(axis=0) for r in runs]
    error = np.sqrt(sum(r.var(axis=0, ddof=1) / len(r) for r in runs))
    assert np.all(np.abs(means[0] - means[1]) < 3.5 * error)
    spread = [r.std(axis=0, ddof=1) for r in runs]
    np.testing.assert_allclose(spread[0], spread[1], rtol=0.35)


@pytest.mark.parametrize(
    ("gamma", "batch", "tolerance"),
    [(0.0, 16, 0.012), (0.5, 256, 0.003), (2.0, 16, 0.015), (2.0, 256, 0.003)],
)
def test_moments_agree_with_sgd_on_the_same_kernel(gamma, batch, tolerance):
    setting = {"width": 64, "modes": 400, "learning_rate": 0.02, "times": [0.4, 2, 10, 40], "batch": batch}
    losses = simulate(1.5, 0.6, gamma, seeds=12, **setting).loss
    measures = [drawn_measure(1.5, 0.6, 64, 400, seed) for seed in range(12)]
    theory = [solve(m, gamma, np.array(setting["times"]), 0.02, batch).loss for m in measures]
    ratio = losses / np.array(theory)
    error = ratio.std(axis=0, ddof=1) / np.sqrt(12)
    assert np.all(np.abs(ratio.mean(axis=0) - 1) < tolerance + 2.5 * error)


def test_finite_width_and_batch_without_sampling():
    steps = np.array([5, 20, 80, 200, 400])
    run = simulate(1.5, 0.5, width=32, batch=8, learning_rate=0.2, times=0.2 * steps, seeds=500)
    theory = learning_curve(1.5, 0.5, 0, 32, 8, 0.2, 0.2 * steps, modes=1024)
    mean, error = run.loss.mean(axis=0), run.loss.std(axis=0, ddof=1) / np.sqrt(500)
    assert np.all(np.abs(theory.loss - mean) < 3 * error + 0.015 * mean)


def test_divergence_is_recorded():
    run = simulate(
        1.5, 0.5, 1.0, width=8, modes=64, batch=2, learning_rate=3.0, times=[3.0, 300.0, 3000.0], seeds=3
    )
    assert np.all(run.diverged_at <= 3000)
    assert np.all(np.isinf(run.loss[:, -1]))
    assert np.all(np.isfinite(run.loss[:, 0]))


def test_seeds_are_shifted_and_repeatable():
    setting = {"width": 8, "modes": 64, "batch": 4, "learning_rate": 0.1, "times": [5.0]}
    first = simulate(1.5, 0.5, seeds=4, **setting).loss
    np.testing.assert_array_equal(first, simulate(1.5, 0.5, seeds=4, **setting).loss)
    np.testing.assert_allclose(first[2:], simulate(1.5, 0.5, seeds=2, seed0=2, **setting).loss, rtol=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "fast"}, "method = 'fast'"),
        ({"width": 65}, "width = 65"),
        ({"seeds": 0}, "seeds = 0"),
        ({"batch": 1.5}, "batch = 1.5"),
        ({"seed0": -1}, "seed0 = -1"),
    ],
)
def test_bad_input_is_named(change, message):
    setting = {"width": 8, "modes": 64, "learning_rate": 0.1, "times": [1.0]} | change
    with pytest.raises(ValueError, match=message):
        simulate(1.5, 0.5, **setting)
