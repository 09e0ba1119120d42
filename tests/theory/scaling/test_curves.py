"""Learning curves against an ODE solver, published exponents and explicit descent."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from lazyrich.theory.scaling import learning_curve

LATE = 10.0 ** np.arange(6, 8.01, 0.1)


def slope(x, y):
    return np.polyfit(np.log(x), np.log(y), 1)[0]


def explicit_flow(alpha, beta, gamma, modes, times):
    """du/dt = κ(u) g + c(u) u on every single mode (N = ∞), by an implicit solver for stiff equations."""
    k = np.arange(1.0, modes + 1)
    eigenvalues, power = k**-alpha, k ** (-alpha * beta - 1)
    mass = eigenvalues * power

    def velocity(_, h):
        kappa = (1 + np.sqrt(1 + 4 * gamma * (mass @ h**2))) / 2
        error = 1 - eigenvalues * h
        return kappa * error + gamma / kappa * (mass @ (h * error)) * h

    run = solve_ivp(velocity, (0, times[-1]), np.zeros(modes), "LSODA", t_eval=times, rtol=1e-10, atol=1e-12)
    h = run.y.T
    loss = (1 - h * eigenvalues) ** 2 @ power
    return loss, (1 + np.sqrt(1 + 4 * gamma * h**2 @ mass)) / 2


@pytest.mark.parametrize(("beta", "gamma"), [(0.5, 1.0), (0.5, 100.0), (1.25, 1.0)])
def test_infinite_width_agrees_with_a_stiff_solver_of_the_flow(beta, gamma):
    times = np.array([0.01, 0.1, 0.5, 2.0, 8.0])
    loss, kappa = explicit_flow(1.5, beta, gamma, 40, times)
    curve = learning_curve(1.5, beta, gamma, times=times, modes=40)
    np.testing.assert_allclose(curve.loss, loss, rtol=1e-4)
    np.testing.assert_allclose(curve.kernel_growth, kappa, rtol=2e-5)


@pytest.mark.parametrize(
    ("beta", "lazy", "rich", "growth"),
    [
        (0.25, -0.2500, -0.4000, 0.5999),
        (0.5, -0.5000, -0.6661, 0.3324),
        (0.75, -0.7500, -0.8544, 0.1393),
        (1.25, -1.2500, -1.2516, 0.0012),
    ],
)
def test_time_exponents(beta, lazy, rich, growth):
    assert slope(LATE, learning_curve(1.5, beta, times=LATE).loss) == pytest.approx(lazy, abs=2e-4)
    curve = learning_curve(1.5, beta, 1.0, times=LATE)
    assert slope(LATE, curve.loss) == pytest.approx(rich, abs=2e-4)
    assert slope(LATE, curve.kernel_growth) == pytest.approx(growth, abs=2e-4)


@pytest.mark.parametrize(
    ("beta", "lazy", "one", "ten"),
    [
        (0.2, 0.200, 0.336, 0.337),
        (0.5, 0.500, 0.661, 0.666),
        (0.7, 0.700, 0.820, 0.823),
        (0.85, 0.850, 0.920, 0.923),
        (1.0, 1.000, 1.028, 1.030),
        (1.25, 1.250, 1.253, 1.253),
        (1.6, 1.600, 1.600, 1.600),
    ],
)
def test_exponents_of_the_middle_window(beta, lazy, one, ten):
    times = 10.0 ** np.arange(5, 7.01, 0.1)
    for gamma, expected in ((0.0, lazy), (1.0, one), (10.0, ten)):
        measured = -slope(times, learning_curve(1.5, beta, gamma, times=times).loss)
        assert measured == pytest.approx(expected, abs=0.015 if beta == 0.85 else 0.01)


@pytest.mark.parametrize(("beta", "expected"), [(0.25, -0.2000), (0.5, -0.3329), (0.75, -0.4193)])
def test_prefactor_in_feature_strength(beta, expected):
    gamma = np.array([0.5, 1.0, 2.0])
    loss = [learning_curve(1.5, beta, g, times=[1e8]).loss[0] for g in gamma]
    assert slope(gamma, loss) == pytest.approx(expected, abs=1.5e-3)


@pytest.mark.parametrize(("beta", "expected"), [(0.25, -1.333), (0.5, -2.00), (0.75, -3.98)])
def test_crossover_time(beta, expected):
    gamma = np.array([1e-4, 1e-3, 1e-2])
    times = 10.0 ** np.arange(0, 17, 0.1)
    grown = [learning_curve(1.5, beta, g, times=times).kernel_growth for g in gamma]
    crossing = [np.exp(np.interp(np.log(2), np.log(k), np.log(times))) for k in grown]
    assert slope(gamma, crossing) == pytest.approx(expected, abs=0.03)


def test_sgd_noise_is_relevant_in_rich_hard_tasks():
    times = [10.0, 100.0]
    for gamma, expected, tolerance in ((1.0, (0.051, 0.107), 0.002), (0.0, (0.0118, 0.0126), 0.0005)):
        noisy = learning_curve(1.5, 0.5, gamma, batch=1, learning_rate=0.01, times=times).loss
        exact = learning_curve(1.5, 0.5, gamma, learning_rate=0.01, times=times).loss
        np.testing.assert_allclose(noisy / exact - 1, expected, atol=tolerance)


def test_sgd_transient_falls_as_two_minus_one_over_alpha():
    times = 10.0 ** np.arange(1, 6.01, 1)
    noisy = learning_curve(1.5, 2.5, batch=1, learning_rate=0.01, times=times)
    exact = learning_curve(1.5, 2.5, learning_rate=0.01, times=times)
    local = np.diff(np.log(noisy.loss - exact.loss)) / np.diff(np.log(times))
    np.testing.assert_allclose(local, [-1.404, -1.339, -1.334, -1.333, -1.333], atol=2e-3)


def test_small_learning_rate_is_the_flow():
    times = [1.0, 10.0, 100.0]
    flow = learning_curve(1.5, 0.5, 1.0, width=64, times=times)
    steps = learning_curve(1.5, 0.5, 1.0, width=64, learning_rate=1e-3, times=times)
    np.testing.assert_allclose(steps.loss, flow.loss, rtol=2e-3)
    np.testing.assert_allclose(steps.kernel_growth, flow.kernel_growth, rtol=2e-3)


def test_a_rate_beyond_stability_is_a_result():
    curve = learning_curve(1.5, 0.5, learning_rate=2.1, times=[2.1, 21.0, 210.0])
    assert curve.stable_until == 0
    assert np.all(np.isinf(curve.loss))
    # safe at first; the growing kernel carries η κ past 2
    curve = learning_curve(1.5, 0.5, 1.0, learning_rate=0.4, times=[1.0, 10.0, 1e4])
    assert 10 < curve.stable_until < 1e4
    assert np.isfinite(curve.loss[1])
    assert np.isinf(curve.loss[2])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"alpha": 1.0}, "alpha = 1.0"),
        ({"beta": 0}, "beta = 0"),
        ({"gamma": -1}, "gamma = -1"),
        ({"width": 0}, "width = 0"),
        ({"batch": 4}, "needs a learning_rate"),
        ({"batch": 0, "learning_rate": 0.1}, "batch = 0"),
        ({"learning_rate": 0}, "learning_rate = 0"),
        ({"times": [1.0, 1.0]}, "times"),
        ({"times": [-1.0]}, "times"),
        ({"gamma": "large"}, "gamma = 'large'"),
        ({"width": 100, "modes": 100}, "width = 100"),
        ({"modes": 2.5}, "modes = 2.5"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        learning_curve(**({"alpha": 1.5, "beta": 0.5} | arguments))
