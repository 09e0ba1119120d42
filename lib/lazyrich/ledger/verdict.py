"""The rule that turns a measured interval into a verdict."""

import math
from collections.abc import Mapping

from lazyrich.fits import Interval
from lazyrich.ledger.claims import Claim

REPRODUCED = "reproduced"
DIFFERS = "differs"
INCONCLUSIVE = "inconclusive"
MEASURED = "measured"
UNSUPPORTED = "not supported by this preset"
VERDICTS = (REPRODUCED, DIFFERS, INCONCLUSIVE, MEASURED, UNSUPPORTED)


def judge(claim: Claim, interval: Interval, have: Mapping[str, float]) -> str:
    """The verdict on a claim, given the measured interval and the sizes the run had.

    In this order:

    - a size the claim needs is missing: not supported by this preset;
    - nothing is predicted: measured;
    - the measured value is NaN: differs. The experiment gave no number where theory has one;
    - *equals*: an infinite value differs, because divergence is an outcome and not the theory's. A
      half-width above the claim's resolution, or an end that is NaN or infinite, is inconclusive.
      Else the interval widened by the allowance covers the theory (reproduced) or does not (differs);
    - *greater*, *less*, *between*: the whole interval lies inside the bounds (reproduced), outside
      (differs) or neither (inconclusive). Infinity is larger than every bound; an end that is NaN
      lies nowhere. A half-width above a declared resolution is inconclusive.

    >>> claim = Claim("ours.x", "00", "ours", "x is one", "x", "equals", "seeds", 1.0, allowance=0.02)
    >>> judge(claim, Interval(0.98, 0.97, 0.99), {}), judge(claim, Interval(0.95, 0.94, 0.96), {})
    ('reproduced', 'differs')
    >>> judge(claim, Interval(1.0, 0.5, 1.5), {})
    'inconclusive'
    """
    if unmet(claim, have):
        return UNSUPPORTED
    if claim.relation == "measured":
        return MEASURED
    if math.isnan(interval.value):
        return DIFFERS
    if claim.relation == "equals":
        return _equality(claim, interval)
    if claim.resolution is not None and not interval.half_width <= claim.resolution:
        return INCONCLUSIVE
    return _inequality(claim, interval)


def unmet(claim: Claim, have: Mapping[str, float]) -> dict[str, float]:
    """The sizes a claim needs and the run did not reach, by name.

    Raises:
        ValueError: the run does not say how large it was in something the claim needs.
    """
    if silent := [name for name in claim.needs if name not in have]:
        raise ValueError(
            f"claim {claim.id} needs {dict(claim.needs)}; have must also state {', '.join(silent)}"
        )
    return {name: least for name, least in claim.needs.items() if not have[name] >= least}


def bounds(claim: Claim) -> tuple[float, float]:
    """The two ends between which an inequality lets a value lie."""
    low, high = -math.inf, math.inf
    match claim.relation:
        case "greater":
            low = claim.predicted
        case "less":
            high = claim.predicted
        case "between":
            low, high = claim.predicted
    return low, high


def worst(claim: Claim, cells: Mapping[str | None, Interval], have: Mapping[str, float]) -> str | None:
    """The name of the worst of several cells: by verdict, then by how far its interval reaches out.

    >>> claim = Claim("ours.x", "00", "ours", "x is one", "x", "equals", "seeds", 1.0, allowance=0.02)
    >>> worst(claim, {"step 5": Interval(1.0, 0.99, 1.01), "step 80": Interval(0.99, 0.98, 1.0)}, {})
    'step 80'
    """
    if not cells:
        raise ValueError(f"claim {claim.id}: cells must hold at least one interval")
    order = (UNSUPPORTED, MEASURED, REPRODUCED, INCONCLUSIVE, DIFFERS)

    def badness(name: str | None) -> tuple[int, float]:
        reach = _reach(claim, cells[name])
        return order.index(judge(claim, cells[name], have)), math.inf if math.isnan(reach) else reach

    return max(cells, key=badness)


def _equality(claim: Claim, interval: Interval) -> str:
    if math.isinf(interval.value):
        return DIFFERS
    if not interval.half_width <= claim.resolution:
        return INCONCLUSIVE
    covers = interval.low - claim.allowance <= claim.predicted <= interval.high + claim.allowance
    return REPRODUCED if covers else DIFFERS


def _inequality(claim: Claim, interval: Interval) -> str:
    low, high = bounds(claim)
    above = low == -math.inf or interval.low > low
    below = high == math.inf or interval.high < high  # a divergence breaks no bound that is not there
    if above and below:
        return REPRODUCED
    return DIFFERS if interval.high <= low or interval.low >= high else INCONCLUSIVE


def _reach(claim: Claim, interval: Interval) -> float:
    if claim.relation == "measured":
        return float(interval.half_width)
    low, high = (claim.predicted, claim.predicted) if claim.relation == "equals" else bounds(claim)
    return max(low - interval.low, interval.high - high)
