"""Estimators of a portrait's rates, on portraits whose best rates and edges are known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazyrich.fits import portraits

GAMMA = np.array([1e-5, 1e-4, 1e-3, 1e-2, *10 ** np.arange(1, 3.01, 0.25)])
STEP = 0.125


def synthetic(exponent, scatter=(0.0, 0.1, -0.07)):
    """Losses (seeds, γ, η): lowest at a power of γ, 1 at ten times that, infinite from a hundred times on."""
    centre = 10 ** np.asarray(scatter)[:, None] * GAMMA**exponent
    rate = GAMMA[:, None] ** exponent * 10 ** np.arange(-2, 3.001, STEP)
    x = np.log10(rate / centre[..., None])
    return rate, centre, np.where(x < 2 - 1e-9, 10 ** (x * x - 1), np.inf)


@pytest.mark.parametrize("exponent", [2.0, 1.0, 2 / 3, 0.4])
def test_every_estimator_finds_the_slope(exponent):
    rate, centre, loss = synthetic(exponent)
    found = {
        "best": portraits.best(rate, loss),
        "edge": portraits.edge(rate, loss, 1.0),
        "calm": portraits.calm(rate, np.where(rate < centre[..., None], 0.1, loss), 30.0),
        "last finite": portraits.last_finite(rate, np.isinf(loss)),
    }
    window = (10, 1e3)
    error = 2 * portraits.quantisation(GAMMA, window, STEP)
    for name, eta in found.items():
        assert eta.shape == centre.shape
        slope = portraits.slope(GAMMA, eta, window)
        assert slope.n == 3
        assert abs(slope.value - exponent) <= error, name
    # log loss is parabolic, so its linear interpolation is off by at most a part of a step
    assert np.allclose(np.log10(found["edge"] / centre), 1, atol=STEP / 10)
    assert np.all(np.abs(np.log10(found["best"] / centre)) <= STEP / 2 + 1e-9)
    assert np.all(found["last finite"] > 99 * 10**-STEP * centre)
    assert np.all(found["last finite"] < 100 * centre)


@given(st.floats(0.05, 0.95), st.floats(1.1, 50))
def test_edge_is_exact_for_a_power_law(place, power):
    rate = 10 ** np.arange(-3.0, 3.0)
    loss = np.where(rate < 0.5, 1e-9, (rate / 10**place) ** power)
    assert np.isclose(portraits.edge(rate, loss, 1.0), 10**place)


def test_an_edge_beyond_the_grid_or_a_row_that_never_trains_has_no_number():
    rate = np.array([1.0, 2.0, 4.0, 8.0])
    never, always, first = np.full(4, 5.0), np.array([5.0, 1.0, 0.5, 0.1]), np.array([0.1, 5.0, 9.0, 9.0])
    assert np.isnan(portraits.edge(rate, [never, always], 1.0)).all()
    assert np.isnan(portraits.best(rate, [never, always, first, np.full(4, np.inf)])).all()
    assert np.isnan(portraits.calm(rate, [never, np.full(4, 0.1)], 1.0)).all()
    assert np.isnan(portraits.last_finite(rate, [[True] * 4, [False] * 4])).all()


def test_the_edge_is_that_above_the_best_cell_and_islands_beyond_do_not_count():
    rate = 10.0 ** np.arange(7)
    loss = np.array([3.0, 2.0, 0.1, np.inf, 0.5, np.inf, 9.0])
    assert np.isclose(portraits.edge(rate, loss, 1.0), 10**2.5)
    assert portraits.last_finite(rate, np.isinf(loss)) == 100


def test_levels_may_differ_from_row_to_row():
    rate = np.array([1.0, 2.0, 4.0])
    highest = np.array([[1.0, 10.0, 100.0]] * 2)
    assert portraits.calm(rate, highest, [5.0, 50.0]).tolist() == [1.0, 2.0]


def test_slope_leaves_out_rows_without_a_rate_but_not_too_many():
    eta = np.stack([GAMMA**2, GAMMA**2])
    eta[0, 1] = np.nan
    assert np.isclose(portraits.slope(GAMMA, eta, (1e-5, 1e-2)).value, 2)
    eta[0, 2] = np.nan
    assert np.isnan(portraits.slope(GAMMA, eta, (1e-5, 1e-2)).value)


def test_quantisation_is_the_scatter_of_slopes_that_rounding_makes():
    x = np.arange(1, 4.01, 0.5)
    rate = np.random.default_rng(0).uniform(0, 100, (len(x), 4000))
    slopes = np.polyfit(x, 0.25 * (np.round(rate) - rate), 1)[0]
    assert portraits.quantisation(10**x, (10, 1e4), 0.25) == pytest.approx(slopes.std(), rel=0.05)


def test_late_median():
    loss = np.array([[5.0, 5, 5, 5, 5, 5, 5, 5, 1, 3], [1.0, 1, 1, 1, 1, 1, 1, 1, 1, np.inf]])
    assert portraits.late_median(loss).tolist() == [2.0, np.inf]


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: portraits.best([1.0, 2.0, 3.0], [1.0, 2.0]), "shape"),
        (lambda: portraits.best([1.0, 3.0, 2.0], [1.0, 2.0, 3.0]), "increase"),
        (lambda: portraits.edge([1.0, 2.0, 3.0], [1.0, np.nan, 3.0], 1.0), "got nan"),
        (lambda: portraits.slope([1.0, 2.0], [1.0, 2.0], (1, 2)), "shape"),
        (lambda: portraits.quantisation([1.0, 2.0], (3, 4), 0.1), "window"),
        (lambda: portraits.late_median([1.0], 0.0), "share"),
    ],
)
def test_bad_input_is_named(call, named):
    with pytest.raises(ValueError, match=named):
        call()
