"""Intervals: what they cover, and what they do to samples that are not plain numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from lazyrich.fits import Interval, jackknife_interval, mean_interval, solver_interval

REPETITIONS = 2000
SEEDS = (3, 5, 20)
samples_of = lambda n: arrays(float, n, elements=st.floats(-1e3, 1e3, width=32))


def coverage(intervals: Interval, truth: float) -> float:
    return np.mean((intervals.low <= truth) & (truth <= intervals.high))


@pytest.mark.parametrize("n", SEEDS)
def test_mean_interval_covers_95_percent(n):
    samples = 2.5 + 0.7 * np.random.default_rng(n).standard_normal((n, REPETITIONS))
    assert 0.93 <= coverage(mean_interval(samples), 2.5) <= 0.97


@pytest.mark.parametrize("n", SEEDS)
def test_jackknife_covers_95_percent_of_a_ratio_of_means(n):
    rng = np.random.default_rng(100 + n)
    samples = [3.0, 2.0] + 0.1 * rng.standard_normal((REPETITIONS, n, 2))
    ratio = lambda some: some[:, 0].mean() / some[:, 1].mean()
    hits = [coverage(jackknife_interval(pairs, ratio), 1.5) for pairs in samples]
    assert 0.93 <= np.mean(hits) <= 0.97


def test_mean_interval_is_scipys():
    x = np.random.default_rng(0).standard_normal(7)
    low, high = stats.ttest_1samp(x, 0.0).confidence_interval(0.9)
    mine = mean_interval(x, level=0.9)
    assert np.allclose([mine.low, mine.high, mine.n], [low, high, 7], rtol=1e-12)


@given(samples_of(5), st.floats(-50, 50), st.floats(0.1, 10))
def test_mean_interval_follows_shift_and_scale(x, shift, scale):
    one, other = mean_interval(x), mean_interval(shift + scale * x)
    expected = shift + scale * np.array([one.low, one.value, one.high])
    assert np.allclose([other.low, other.value, other.high], expected, rtol=1e-9, atol=1e-6)


@given(samples_of(6), st.permutations(range(6)))
def test_order_of_seeds_is_irrelevant(x, order):
    statistic = lambda s: np.median(s) ** 2
    one, other = (jackknife_interval(s, statistic) for s in (x, x[list(order)]))
    assert np.allclose([one.low, one.high], [other.low, other.high], rtol=1e-9, atol=1e-6)


@given(samples_of(4))
def test_jackknife_of_a_mean_is_the_interval_of_the_mean(x):
    one, other = mean_interval(x), jackknife_interval(x, np.mean)
    assert np.allclose([one.low, one.high], [other.low, other.high], rtol=1e-9, atol=1e-6)


def test_jackknife_removes_the_bias_of_a_square():
    """The mean of pseudo-values of mean² is free of the bias σ²/n, exactly."""
    x = np.array([1.0, 2.0, 4.0, 9.0])
    assert np.isclose(jackknife_interval(x, lambda s: s.mean() ** 2).value, x.mean() ** 2 - x.var(ddof=1) / 4)


def test_arrays_of_intervals_and_their_elements():
    samples = np.arange(12.0).reshape(3, 4) ** 2
    interval = mean_interval(samples)
    assert interval.value.shape == interval.half_width.shape == (4,)
    one = mean_interval(samples[:, 2])
    assert np.allclose([interval[2].low, interval[2].value], [one.low, one.value])
    assert isinstance(interval[2].low, float)


def test_negation_turns_the_interval_over():
    assert -Interval(-1.0, -2.0, 0.5, 3) == Interval(1.0, -0.5, 2.0, 3)


def test_one_seed_has_no_finite_interval():
    assert mean_interval([2.0]) == Interval(2.0, -np.inf, np.inf, 1)
    assert jackknife_interval([2.0], np.mean) == Interval(2.0, -np.inf, np.inf, 1)


def test_diverged_seeds_pass_through():
    assert mean_interval([np.inf] * 3) == Interval(np.inf, np.inf, np.inf, 3)
    assert mean_interval([np.inf] * 3).half_width == 0
    some = mean_interval([1.0, np.inf, 2.0])
    assert some.value == np.inf
    assert np.isnan([some.low, some.high]).all()
    assert np.isnan(mean_interval([1.0, np.nan]).value)


def test_solver_interval_takes_the_largest_change():
    interval = solver_interval(0.5, 0.51, 0.47)
    assert np.allclose([interval.low, interval.high], [0.47, 0.53])
    assert interval.n is None
    assert np.isnan(solver_interval(0.5, 0.51, np.nan).low)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: mean_interval([]), "samples .* at least one seed"),
        (lambda: mean_interval(3.0), "samples .* at least one seed"),
        (lambda: mean_interval([1.0, 2.0], level=95), r"level must lie in \(0, 1\), got 95"),
        (lambda: jackknife_interval([], np.mean), "samples"),
        (lambda: solver_interval(1.0), "others"),
    ],
)
def test_bad_input_is_named(call, named):
    with pytest.raises(ValueError, match=named):
        call()
