"""Variable projection on sums whose terms are known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lazyrich.fits import jackknife_interval, power_sum

T = np.logspace(0, 6, 40)


@settings(max_examples=20, deadline=None)
@given(st.floats(-2, -0.2), st.floats(1e-3, 1e3), st.floats(0.01, 10))
def test_power_law_on_a_floor_in_any_units(p, unit, amplitude):
    floor = amplitude * 1e2**p  # the floor takes over inside the data
    fit = power_sum(unit * T, amplitude * T**p + floor, terms=1, fixed=(0.0,))
    assert np.allclose(fit.exponents, [p, 0], atol=1e-5)
    assert np.allclose(fit.amplitudes, [amplitude * unit**-p, floor], rtol=1e-3)
    assert fit.residual < 1e-6


def test_two_power_laws():
    fit = power_sum(T, 3 * T**-1.5 + 0.1 * T**-0.4, terms=2)
    assert np.allclose(fit.exponents, [-1.5, -0.4], atol=1e-5)
    assert np.allclose(fit.amplitudes, [3, 0.1], rtol=1e-4)
    assert np.allclose(fit(T), 3 * T**-1.5 + 0.1 * T**-0.4, rtol=1e-6)


def test_a_slope_alone_would_miss_the_term():
    """The reason to fit sums: a floor biases the slope of the whole curve."""
    y = T[:20] ** -0.5 + 0.02
    assert abs(power_sum(T[:20], y).exponents[0] + 0.5) > 0.03
    assert abs(power_sum(T[:20], y, fixed=(0.0,)).exponents[0] + 0.5) < 1e-6


def test_interval_over_seeds():
    rng = np.random.default_rng(0)
    ys = (T**-0.75 + 1e-3) * (1 + 0.01 * rng.standard_normal((5, 40)))
    of_mean = lambda some: power_sum(T, some.mean(axis=0), fixed=(0.0,)).exponents[0]
    interval = jackknife_interval(ys, of_mean)
    assert interval.low <= -0.75 <= interval.high
    assert interval.half_width < 0.02


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: power_sum(T, T, terms=4), "terms must be 1, 2 or 3, got 4"),
        (lambda: power_sum(T[:4], T[:4], terms=2), "4 unknowns need at least 5 points, got 4"),
        (lambda: power_sum(T, np.full(40, np.inf)), "finite"),
        (lambda: power_sum(T, -T), "positive"),
    ],
)
def test_bad_input_is_named(call, named):
    with pytest.raises(ValueError, match=named):
        call()
