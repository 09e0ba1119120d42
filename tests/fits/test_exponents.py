"""Exponents of curves whose exponent is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from lazyrich.fits import exponent, exponent_interval, local_exponent, solver_exponent, window_scan

T = np.logspace(0, 6, 61)
exponents = st.floats(-4, 4)
factors = st.floats(1e-3, 1e3)


@given(exponents, factors)
def test_a_power_law_has_its_exponent_everywhere(p, factor):
    assert np.allclose(local_exponent(T, factor * T**p), p, atol=1e-9)
    assert np.isclose(exponent(T, factor * T**p, (10, 1e4)), p, atol=1e-9)


@given(exponents, factors, factors)
def test_units_do_not_matter(p, of_x, of_y):
    y = T**p * (2 + np.sin(T))
    elsewhere = exponent(of_x * T, of_y * y, (10 * of_x, 1e4 * of_x))
    assert np.isclose(exponent(T, y, (10, 1e4)), elsewhere, atol=1e-9)


def test_least_squares_is_scipys():
    y = T**-0.7 * np.exp(np.random.default_rng(0).standard_normal(61))
    assert np.isclose(exponent(T, y), stats.linregress(np.log(T), np.log(y)).slope, rtol=1e-12)


def test_local_exponent_of_an_exponential():
    """d log e^{-t} / d log t = −t."""
    t = np.linspace(1, 3, 2001)
    assert np.allclose(local_exponent(t, np.exp(-t)), -t, rtol=1e-5)


def test_leading_axes_are_curves():
    ys = np.stack([T**-0.5, T**-1.5, T**2.0])
    assert np.allclose(exponent(T, ys, (1, 1e3)), [-0.5, -1.5, 2])
    assert local_exponent(T, ys).shape == ys.shape
    assert isinstance(exponent(T, ys[0]), float)


def test_the_ends_of_a_window_belong_to_it_in_spite_of_rounding():
    t = np.array([1.0, 10 * (1 - 1e-13), 100 * (1 + 1e-13), 1e3])
    assert np.isclose(exponent(t, t**2.0, (10, 100)), 2)


@pytest.mark.parametrize("of", ["seeds", "mean"])
@pytest.mark.parametrize("n", [3, 5, 20])
def test_exponent_interval_covers_95_percent(n, of):
    """2,000 experiments whose seeds share an exponent and scatter with noise correlated in time."""
    rng = np.random.default_rng(n)
    t = np.logspace(1, 3, 7)
    walks = rng.standard_normal((2000, n, 7)).cumsum(-1)
    curves = t**-0.8 * (1 + 0.02 * walks)
    hits = [i.low <= -0.8 <= i.high for i in (exponent_interval(t, ys, of=of) for ys in curves)]
    assert 0.93 <= np.mean(hits) <= 0.97


def test_diverged_curves_give_no_exponent_and_no_warning():
    y = np.where(T > 1e3, np.inf, T**-0.5)
    assert not np.isfinite(exponent(T, y))
    assert np.isclose(exponent(T, y, (1, 1e3)), -0.5)
    assert np.isnan(local_exponent(T, np.full(61, np.nan))).all()


def test_window_scan_of_a_pure_power_law_has_no_spread():
    scan = window_scan(T, T**-1.25, (1e2, 1e4))
    assert np.allclose(scan.slopes, -1.25)
    assert scan.spread < 1e-9
    assert np.allclose(scan.windows[0], (1e2, 1e4))
    assert np.allclose(scan.windows[4], (1e2 / 10**0.5, 1e4 / 10**0.5))


def test_window_scan_shows_a_bend_and_leaves_out_windows_without_data():
    bent = T**-0.5 + 1e-2
    scan = window_scan(T, np.stack([bent, T**-0.5]), (1e4, 1e6))
    assert len(scan.windows) == 5  # it cannot move up: the data end at 1e6
    assert scan.spread[0] > 0.01 > scan.spread[1]


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: exponent(T, T, (2e6, 1e7)), "window .* at least two points"),
        (lambda: exponent(T, T, (10, 1)), "0 < low < high"),
        (lambda: exponent(T, -T), "y must be positive"),
        (lambda: exponent(T, T[:-1]), "y must have 61 points"),
        (lambda: exponent(T[::-1], T), "increasing"),
        (lambda: local_exponent([1.0], [1.0]), "at least two points"),
        (lambda: exponent_interval(T, T), "ys must have shape"),
        (lambda: exponent_interval(T, [T, T], of="median"), "of must be 'seeds' or 'mean', got 'median'"),
        (lambda: window_scan(T, T, (10, 100), shrink=0.5), "shrink"),
    ],
)
def test_bad_input_is_named(call, named):
    with pytest.raises(ValueError, match=named):
        call()


def test_a_solver_exponent_is_as_certain_as_its_window():
    """A pure power law has no interval; a second power in it moves the slope by what the interval says."""
    pure = solver_exponent(T, 3 * T**-0.7, (1e2, 1e4))
    assert abs(pure.value + 0.7) < 1e-12
    assert pure.half_width < 1e-12
    curve = T**-0.7 + 5 * T**-1.2
    bent = solver_exponent(T, curve, (1e2, 1e4))
    late = exponent(T, curve, (10**2.5, 1e4))
    assert bent.low <= late <= bent.high
    assert bent.low < late - 0.001  # the moved windows, too
