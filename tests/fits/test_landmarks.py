"""Crossings and minima of curves whose landmarks are known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazyrich.fits import crossing, optimum

X = np.logspace(-3, 3, 41)


@given(st.floats(-2, 2), st.floats(0.05, 20))
def test_crossing_of_a_power_law(log_place, factor):
    place = 10**log_place
    assert np.isclose(crossing(X, factor * (X / place) ** -1.7, factor), place, rtol=1e-9)


def test_first_and_last_crossing():
    y = np.exp(-(np.log(X) ** 2) / 8)  # a bump of height 1 at x = 1
    assert crossing(X, y, 0.5) < 1 < crossing(X, y, 0.5, last=True)
    assert np.isclose(crossing(X, y, 0.5) * crossing(X, y, 0.5, last=True), 1)


def test_a_point_on_the_level_is_a_crossing_and_a_diverged_neighbour_is_not():
    assert crossing([1.0, 2.0, 4.0], [1.0, 2.0, 3.0], 2.0) == 2
    assert np.isclose(crossing([1.0, 2.0, 4.0, 8.0], [3.0, np.inf, 1.0, 4.0], 2.0), 4 * 2**0.5)


@given(st.floats(-2, 2), st.floats(0.05, 20), st.floats(0.05, 5))
def test_minimum_of_a_log_log_parabola_is_exact(log_place, height, curvature):
    y = height * np.exp(curvature * (np.log(X) - log_place * np.log(10)) ** 2)
    found = optimum(X, y)
    assert np.isclose(found.x, 10**log_place, rtol=1e-6)
    assert np.isclose(found.y, height, rtol=1e-6)


def test_minimum_beside_divergence_far_away():
    y = np.where(X > 100, np.inf, X + 1 / X)
    assert np.isclose(optimum(X, y).x, 1, rtol=1e-9)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: crossing(X, X, 1e9), r"never passes the level 1e\+09: it is in \[0.001, 1000\]"),
        (lambda: crossing(X, X * np.nan, 1.0), "nowhere finite"),
        (lambda: crossing(X, X, 0.0), "level must be positive"),
        (lambda: crossing(X, [X, X], 1.0), "shape"),
        (lambda: optimum(X, X), "no finite neighbour on each side"),
        (lambda: optimum(X, np.where(X > 1, np.inf, 1 / X)), "no finite neighbour"),
        (lambda: optimum(X, [X, X]), "shape"),
    ],
)
def test_bad_input_is_named(call, named):
    with pytest.raises(ValueError, match=named):
        call()
