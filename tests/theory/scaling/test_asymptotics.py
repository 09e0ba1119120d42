"""The closed-form exponents against curves solved to late times."""

import numpy as np
import pytest

from lazyrich import fits
from lazyrich.theory.scaling import asymptotics, learning_curve

TIMES = np.logspace(-1, 8, 181)
LATE = (1e6, 1e8)


@pytest.mark.parametrize("beta", [0.25, 0.5, 1.3])
def test_exponents_are_those_of_the_late_solution(beta):
    for gamma, rich in ((0.0, False), (10.0, True)):
        curve = learning_curve(1.5, beta, gamma, times=TIMES)
        slope = -fits.exponent(TIMES, curve.loss, LATE)
        assert slope == pytest.approx(asymptotics.time_exponent(beta, rich), abs=0.003)
    growth = fits.exponent(TIMES, curve.kernel_growth, LATE)
    assert growth == pytest.approx(asymptotics.growth_exponent(beta), abs=0.003)


@pytest.mark.parametrize("beta", [0.25, 0.5])
def test_the_kernel_doubles_at_a_fixed_part_of_the_crossover_time(beta):
    gammas = np.array([1e-3, 1e-2])
    times = np.logspace(0, 8, 161)
    growth = [learning_curve(1.5, beta, g, times=times).kernel_growth for g in gammas]
    doubled = np.array([fits.crossing(times, one, 2) for one in growth])
    ratio = doubled / asymptotics.crossover_time(1.5, beta, gammas)
    assert ((0.4 < ratio) & (ratio < 0.7)).all()  # growth feeds itself, so doubling comes before the estimate
    assert ratio[0] == pytest.approx(ratio[1], rel=0.02)


def test_crossover_time_is_where_the_lazy_norm_is_large_enough():
    gamma, alpha, beta = 1e-4, 1.5, 0.5
    t = asymptotics.crossover_time(alpha, beta, gamma)
    k = np.arange(1.0, 3e6)
    norm = np.sum(k ** (alpha - alpha * beta - 1) * np.expm1(-t * k**-alpha) ** 2)
    assert gamma * norm == pytest.approx(2, rel=5e-3)


def test_frontier_balances_time_and_width():
    for rich, loss in ((False, 0.3), (True, 1.5 / 4.25)):
        found = asymptotics.frontier_exponents(1.5, 0.5, rich)
        assert found.loss == pytest.approx(loss)
        assert found.loss == pytest.approx(asymptotics.time_exponent(0.5, rich) * found.time)
        assert found.width + found.time == pytest.approx(1)


def test_easy_frontier_balances_time_and_the_transient():
    alpha, beta = 1.5, 1.25
    found = asymptotics.frontier_exponents(alpha, beta)
    assert found.loss == pytest.approx(alpha * beta / (alpha * beta + 1))
    assert found.loss == pytest.approx(found.width + (1 - 1 / alpha) * found.time)
    hard = asymptotics.frontier_exponents(alpha, 1.0, rich=False)
    assert hard == pytest.approx(asymptotics.frontier_exponents(alpha, 1.0 + 1e-9), rel=1e-6)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: asymptotics.time_exponent(0), "beta"),
        (lambda: asymptotics.growth_exponent(-1), "beta"),
        (lambda: asymptotics.crossover_time(1.5, 1.0, 1.0), "beta"),
        (lambda: asymptotics.crossover_time(1.5, 0.5, [1.0, 0.0]), "gamma"),
        (lambda: asymptotics.frontier_exponents(1.0, 0.5), "alpha"),
        (lambda: asymptotics.frontier_exponents(1.5, 0.0), "beta"),
    ],
)
def test_out_of_range_is_refused_by_name(call, name):
    with pytest.raises(ValueError, match=rf"^{name} = "):
        call()
