"""Exact descent against the weights themselves; tuned rates; stability; measured kernels."""

import numpy as np
import pytest

from lazyrich.theory.scaling import (
    exact_descent,
    kernel_curve,
    learning_curve,
    simulate,
    stability_bound,
    tune_rate,
)
from lazyrich.theory.scaling.discrete import merge
from lazyrich.theory.scaling.reduction import infinite_width
from lazyrich.theory.scaling.spectrum import power_law


def weights(gamma, eta, steps, modes=20):
    """w ← w + ηSg, S ← S + ηγ w gᵀ at N = ∞, where K = Λ (in units of √N)."""
    k = np.arange(1.0, modes + 1)
    x, root = k**-1.5, np.sqrt(k**-1.5 * k**-1.75)
    w, s = np.zeros(modes), np.eye(modes)
    for _ in range(steps):
        g = root - x * (s.T @ w)
        w, s = w + eta * s @ g, s + eta * gamma * np.outer(w, g)
    return np.sum((root - x * (s.T @ w)) ** 2 / x), 1 + gamma * w @ w


@pytest.mark.parametrize(("gamma", "eta"), [(0.0, 1.9), (1.0, 0.1), (1.0, 0.6), (10.0, 0.15)])
def test_recursion_is_exact(gamma, eta):
    measure = infinite_width(power_law(1.5, 0.5, 20))
    run = exact_descent(measure, gamma, eta, [0, 7, 60])
    for j, steps in enumerate((0, 7, 60)):
        loss, growth = weights(gamma, eta, steps)
        assert run.loss[j] == pytest.approx(loss, rel=1e-9)
        if gamma > 0:
            assert run.kernel_growth[j] == pytest.approx(growth, rel=1e-9)


def test_a_diverging_rate_is_a_result():
    run = exact_descent(infinite_width(power_law(1.5, 0.5, 20)), 1.0, 5.0, [1, 100, 200])
    assert np.isfinite(run.loss[0])
    assert np.all(np.isinf(run.loss[1:]))


def test_growth_stops_itself_at_the_edge():
    measure = infinite_width(merge(power_law(1.5, 0.5), 1e-14, 8))
    run = exact_descent(measure, 1.0, 0.4, [1000, 2000])
    np.testing.assert_allclose(0.4 * run.top_growth, 2.01, atol=0.03)


def test_small_rates_are_the_flow():
    measure = infinite_width(merge(power_law(1.5, 0.5), 1e-10, 20))
    run = exact_descent(measure, 1.0, 0.02, [500, 5000])
    curve = learning_curve(1.5, 0.5, 1.0, times=[10.0, 100.0])
    np.testing.assert_allclose(run.loss, curve.loss, rtol=4e-3)
    np.testing.assert_allclose(run.kernel_growth, curve.kernel_growth, rtol=4e-3)


def test_tuned_rates():
    horizons = [100, 300, 1000, 3000]
    lazy, rich = (tune_rate(1.5, 0.5, gamma, horizons) for gamma in (0.0, 1.0))
    np.testing.assert_allclose(lazy.loss, [0.0597, 0.0342, 0.0187, 0.0108], rtol=5e-3)
    np.testing.assert_allclose(rich.loss, [0.0559, 0.0322, 0.0185, 0.0110], rtol=0.02)
    np.testing.assert_allclose(rich.loss / lazy.loss, [0.936, 0.942, 0.991, 1.024], atol=0.02)
    assert abs(rich.exponent - lazy.exponent) < 0.04


@pytest.mark.parametrize("batch", [1, 4, None])
@pytest.mark.parametrize("width", [64, None])
def test_stability_bound_separates_decay_from_growth(width, batch):
    bound = stability_bound(1.5, width, batch)
    below, above = (
        learning_curve(1.5, 0.5, 0.0, width, batch, f * bound, [f * bound * n for n in (1, 400)])
        for f in (0.93, 1.07)
    )
    assert below.loss[1] < below.loss[0]
    assert not above.loss[1] < above.loss[0]


def test_stability_bound_of_simulations():
    bound = stability_bound(1.5, 32, None, modes=256)
    stable, unstable = (
        simulate(
            1.5,
            0.5,
            width=32,
            modes=256,
            learning_rate=f * bound,
            times=[f * bound * 2000],
            seeds=4,
            dtype="float64",
        )
        for f in (0.8, 1.3)
    )
    assert np.all(np.isinf(stable.diverged_at))
    assert np.all(np.isfinite(unstable.diverged_at))


def test_bound_falls_with_kernel_growth():
    assert stability_bound(1.5, 64, kernel_growth=4.0) == pytest.approx(stability_bound(1.5, 64) / 4)


def test_measured_kernel():
    k = np.arange(1.0, 50)
    times = [0.0, 1.0, 10.0]
    expected = learning_curve(1.5, 0.5, times=times, modes=49).loss
    np.testing.assert_allclose(kernel_curve(k**-1.5, k**-1.75, times), expected, rtol=1e-10)
    steps = learning_curve(1.5, 0.5, learning_rate=0.5, times=times, modes=49).loss
    np.testing.assert_allclose(kernel_curve(k**-1.5, k**-1.75, times, 0.5), steps, rtol=1e-9)
    assert np.isinf(kernel_curve([1.0], [1.0], [1e6], 3.0)[0])
    with pytest.raises(ValueError, match="one shape"):
        kernel_curve([1.0, 2.0], [1.0], [1.0])
    with pytest.raises(ValueError, match="power has its least value -1"):
        kernel_curve([1.0], [-1.0], [1.0])
