"""The rule from interval to verdict, case by case."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazyrich.fits import Interval, mean_interval
from lazyrich.ledger import Claim, judge, worst

INF, NAN = math.inf, math.nan
numbers = st.floats(-10, 10)


def claim(relation, predicted=None, **more):
    return Claim("ours.x", "00_test", "ours", "x", "x", relation, "solver", predicted, **more)


EQUALS = claim("equals", 1.0, allowance=0.02)  # resolution 0.05
GREATER, LESS, BETWEEN = claim("greater", 1.0), claim("less", 1.0), claim("between", (1.0, 2.0))


@pytest.mark.parametrize(
    ("which", "ends", "verdict"),
    [
        (EQUALS, (0.99, 1.01), "reproduced"),
        (EQUALS, (0.95, 0.98), "reproduced"),  # thanks to the allowance
        (EQUALS, (0.95, 0.9799), "differs"),
        (EQUALS, (1.0201, 1.03), "differs"),
        (EQUALS, (0.9, 1.1), "inconclusive"),
        (EQUALS, (7.0, 9.0), "inconclusive"),  # too wide, wherever it lies
        (EQUALS, (-INF, INF), "inconclusive"),
        (GREATER, (1.001, 5000.0), "reproduced"),  # any width decides, as long as it is on one side
        (GREATER, (1.0, 2.0), "inconclusive"),
        (GREATER, (0.5, 1.0), "differs"),
        (LESS, (-3.0, 0.999), "reproduced"),
        (LESS, (1.0, 2.0), "differs"),
        (LESS, (0.9, 1.1), "inconclusive"),
        (BETWEEN, (1.1, 1.9), "reproduced"),
        (BETWEEN, (0.9, 1.9), "inconclusive"),
        (BETWEEN, (0.5, 2.5), "inconclusive"),
        (BETWEEN, (2.0, 2.5), "differs"),
        (claim("greater", 1.0, resolution=0.1), (1.5, 2.0), "inconclusive"),
        (claim("measured"), (0.0, 9.0), "measured"),
    ],
)
def test_verdicts(which, ends, verdict):
    assert judge(which, Interval(sum(ends) / 2 if INF not in ends else 1.0, *ends), {}) == verdict


@pytest.mark.parametrize(
    ("which", "interval", "verdict"),
    [
        (EQUALS, Interval(INF, INF, INF), "differs"),  # every seed diverged
        (EQUALS, Interval(INF, NAN, NAN), "differs"),  # some did
        (EQUALS, Interval(NAN, NAN, NAN), "differs"),  # no number came out
        (EQUALS, Interval(1.0, NAN, NAN), "inconclusive"),
        (GREATER, Interval(INF, INF, INF), "reproduced"),  # a loss that diverges is above any bound
        (GREATER, Interval(INF, NAN, NAN), "inconclusive"),
        (LESS, Interval(INF, INF, INF), "differs"),
        (BETWEEN, Interval(INF, INF, INF), "differs"),
        (LESS, Interval(NAN, NAN, NAN), "differs"),
        (GREATER, Interval(2.0, -INF, INF), "inconclusive"),  # one seed
        (claim("measured"), Interval(NAN, NAN, NAN), "measured"),
    ],
)
def test_what_is_not_finite_is_an_outcome(which, interval, verdict):
    assert judge(which, interval, {}) == verdict


def test_needs_come_first_and_must_be_stated():
    needy = claim("equals", 1.0, needs={"width": 64})
    assert judge(needy, Interval(1.0, 1.0, 1.0), {"width": 64}) == "reproduced"
    assert judge(needy, Interval(9.0, 9.0, 9.0), {"width": 63}) == "not supported by this preset"
    with pytest.raises(ValueError, match=r"ours\.x needs .* must also state width"):
        judge(needy, Interval(1.0, 1.0, 1.0), {})


@given(numbers, st.floats(0, 1), numbers, st.floats(0.1, 10))
def test_units_do_not_change_a_verdict(value, half, theory, unit):
    scaled = lambda u: judge(
        claim("equals", theory * u, allowance=0.1 * u),
        Interval(value * u, (value - half) * u, (value + half) * u),
        {},
    )
    power = 2.0 ** round(math.log2(unit))  # exact, so that no rounding at an edge is at stake
    assert scaled(1.0) == scaled(power)


@given(numbers, st.floats(0, 1), numbers)
def test_greater_and_less_are_mirror_images(value, half, bound):
    interval = Interval(value, value - half, value + half)
    assert judge(claim("greater", bound), interval, {}) == judge(claim("less", -bound), -interval, {})


@pytest.mark.parametrize("n", [3, 5, 20])
def test_a_true_claim_is_missed_one_time_in_twenty(n):
    samples = 1 + 0.01 * np.random.default_rng(n).standard_normal((2000, n))
    true = claim("equals", 1.0, resolution=1.0)
    assert 0.03 <= np.mean([judge(true, mean_interval(s), {}) == "differs" for s in samples]) <= 0.07


def test_the_worst_cell_is_the_one_with_the_worst_verdict_then_the_farthest():
    cells = {"a": Interval(1.0, 0.99, 1.01), "b": Interval(0.9, 0.89, 0.91), "c": Interval(1.0, 0.5, 1.5)}
    assert worst(EQUALS, cells, {}) == "b"  # differs
    del cells["b"]
    assert worst(EQUALS, cells, {}) == "c"  # inconclusive
    cells["c"] = Interval(1.0, 0.98, 1.0)
    assert worst(EQUALS, cells, {}) == "c"  # reproduced, farther out
    assert worst(LESS, {"a": Interval(0.2, 0.1, 0.3), "b": Interval(0.2, 0.0, 0.4)}, {}) == "b"
    assert worst(EQUALS, {"a": Interval(1.0, 0.99, 1.01), "b": Interval(NAN, NAN, NAN)}, {}) == "b"
    with pytest.raises(ValueError, match="at least one"):
        worst(EQUALS, {}, {})
