r"""Learning rates read off a portrait: the best one, and where training ends, row by row of γ.

A portrait's losses stand on a grid of rates (…, η), increasing along the last axis; leading axes are
seeds and γ, and each estimator returns one rate for each of them. A rate that the grid does not contain,
because the row never trains or because what is sought lies beyond the grid's ends, is NaN: a boundary
is never taken from the window that one happened to scan.

The estimators do not measure the same thing. `best` moves with the budget of steps where that, and not
stability, limits training (large γ); `edge` and `last_finite` include the catapult, whose band of
rates widens as γ nears 1; `calm` does not, but lies on the grid and so is known to half a step.
"""

import numpy as np
from numpy.typing import ArrayLike

from lazyrich.fits.intervals import Interval, mean_interval

__all__ = ["best", "calm", "edge", "last_finite", "late_median", "quantisation", "slope"]


def late_median(loss: ArrayLike, share: float = 0.2) -> np.ndarray:
    """Median over the last part of the steps (last axis); infinite where that part diverged.

    Raises:
        ValueError: share outside (0, 1].

    >>> late_median([9.0, 9.0, 9.0, 1.0, 3.0], share=0.4)
    array(2.)
    """
    if not 0 < share <= 1:
        raise ValueError(f"share = {share}: expected a number in (0, 1]")
    loss = np.asarray(loss, np.float64)
    last = loss[..., -max(1, round(share * loss.shape[-1])) :]
    return np.where(np.isfinite(last).all(axis=-1), np.median(last, axis=-1), np.inf)


def best(rate: ArrayLike, loss: ArrayLike, within: float = 0.1) -> np.ndarray:
    r"""Geometric mean of the rates whose loss is within a tenth of the row's lowest.

    Args:
        rate: η, shape (…, η).
        loss: late losses of the same shape or one that it broadcasts to; infinite where a run diverged.
        within: which losses count as equal to the lowest, relative.

    NaN where one of these rates is the grid's first or last, since there may then be better ones outside.

    >>> round(float(best([1.0, 10.0, 100.0, 1000.0], [5.0, 1.0, 1.05, np.inf])), 2)
    31.62
    """
    rate, loss = _grid(rate, loss)
    near = loss <= (1 + within) * loss.min(axis=-1, keepdims=True)
    outside = near[..., 0] | near[..., -1]  # all of an untrained row are infinite, so also at the ends
    return np.where(outside, np.nan, np.exp(np.sum(near * np.log(rate), axis=-1) / near.sum(axis=-1)))


def edge(rate: ArrayLike, loss: ArrayLike, level: ArrayLike) -> np.ndarray:
    r"""The rate above the best one at which the loss passes a level, interpolated in log–log.

    Args:
        rate, loss: as in `best`.
        level: of the loss, e.g. nine tenths of the initial one; broadcasts against the rows.

    A step from a trained to a diverged cell is crossed in its middle. NaN where no cell is below the
    level, or the last one still is.

    >>> round(float(edge([1.0, 10.0, 100.0, 1000.0], [5.0, 0.1, 10.0, np.inf], 1.0)), 2)
    31.62
    """
    rate, loss = _grid(rate, loss)
    level = np.broadcast_to(np.asarray(level, np.float64), loss.shape[:-1])
    position = np.arange(loss.shape[-1])
    over = (loss >= level[..., None]) & (position > loss.argmin(axis=-1)[..., None])
    above = np.maximum(over.argmax(axis=-1), 1)
    rows = lambda a, at: np.take_along_axis(a, at[..., None], axis=-1)[..., 0]
    left, right = (np.log(rows(loss, at)) for at in (above - 1, above))
    with np.errstate(invalid="ignore", divide="ignore"):  # rows without an edge
        part = np.where(np.isfinite(right), (np.log(level) - left) / (right - left), 0.5)
    found = rows(rate, above - 1) * (rows(rate, above) / rows(rate, above - 1)) ** part
    return np.where(over.any(axis=-1) & (loss.min(axis=-1) < level), found, np.nan)


def calm(rate: ArrayLike, highest: ArrayLike, level: ArrayLike) -> np.ndarray:
    """The largest rate up to which no run's loss ever rises above a level: the edge without catapults.

    Args:
        rate: as in `best`.
        highest: the largest loss of each run, shape as `loss` in `best`.
        level: e.g. one and a half times the initial loss; broadcasts against the rows.

    NaN where already the first rate does, or the last does not.

    >>> float(calm([1.0, 10.0, 100.0], [1.0, 1.0, 50.0], 1.5))
    10.0
    """
    rate, highest = _grid(rate, highest)
    return _last_before(rate, highest > np.asarray(level, np.float64)[..., None])


def last_finite(rate: ArrayLike, diverged: ArrayLike) -> np.ndarray:
    """The largest rate up to which no run diverges, which under cross-entropy is far above `calm`.

    Args:
        rate: as in `best`.
        diverged: booleans, shape as `loss` in `best`.

    NaN where already the first rate diverges, or the last does not.

    >>> float(last_finite([1.0, 10.0, 100.0], [False, False, True]))
    10.0
    """
    rate, diverged = _grid(rate, diverged)
    return _last_before(rate, diverged != 0)


def slope(strength: ArrayLike, rate: ArrayLike, window: tuple[float, float]) -> Interval:
    r"""d log η / d log γ over a window of γ: the mean over seeds of each seed's least-squares slope.

    Args:
        strength: γ, shape (γ,).
        rate: one rate for each seed and γ, shape (seeds, γ). A γ at which a seed has none (NaN) is left
            out of that seed's fit; a seed with fewer than three is left with no slope (NaN).
        window: (low, high) of γ, ends included.

    >>> gamma = np.logspace(-5, -2, 4)
    >>> found = slope(gamma, [gamma**2, 3 * gamma**2], (1e-5, 1e-2))
    >>> round(found.value, 9), round(found.half_width, 9)
    (2.0, 0.0)
    """
    x, rate = np.log(np.asarray(strength, np.float64)), np.log(np.asarray(rate, np.float64))
    if x.ndim != 1 or rate.ndim != 2 or rate.shape[1:] != x.shape:
        raise ValueError(f"rate has shape {rate.shape}: expected (seeds, {x.size})")
    inside = (x > np.log(window[0]) - 1e-9) & (x < np.log(window[1]) + 1e-9)
    slopes = []
    for row in rate:
        used = inside & np.isfinite(row)
        slopes.append(np.polyfit(x[used], row[used], 1)[0] if used.sum() > 2 else np.nan)
    return mean_interval(slopes)


def quantisation(strength: ArrayLike, window: tuple[float, float], step: float) -> float:
    r"""Standard error of a slope that comes from reading rates on a grid alone.

    With steps of Δ decades and :math:`x = \log_{10}\gamma` it is
    :math:`\Delta\,/\sqrt{12\sum(x - \bar x)^2}`; seeds on one grid share it.

    >>> round(quantisation(np.logspace(1, 4, 7), (10, 1e4), 0.25), 3)
    0.027
    """
    x = np.log10(np.asarray(strength, np.float64))
    x = x[(x > np.log10(window[0]) - 1e-9) & (x < np.log10(window[1]) + 1e-9)]
    if len(x) < 2:
        raise ValueError(f"window = {window}: expected at least two of the strengths inside, got {len(x)}")
    return float(step / np.sqrt(12 * np.sum((x - x.mean()) ** 2)))


def _grid(rate: ArrayLike, values: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Rates and values of one shape, as float64."""
    rate, values = np.asarray(rate, np.float64), np.asarray(values, np.float64)
    if rate.shape[-1:] != values.shape[-1:] or rate.shape[-1] < 3:
        raise ValueError(f"rate has shape {rate.shape}, values {values.shape}: expected (…, η), at least 3")
    if not (np.all(rate > 0) and np.all(np.diff(rate) > 0)):
        raise ValueError("rate: expected positive rates that increase along the last axis")
    if np.isnan(values).any():
        raise ValueError("values: expected inf where a run diverged, got nan")
    return np.broadcast_to(rate, values.shape), values


def _last_before(rate: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """The rate before the first cell of each row that ends it."""
    first = ends.argmax(axis=-1)
    found = np.take_along_axis(rate, np.maximum(first - 1, 0)[..., None], axis=-1)[..., 0]
    return np.where(first > 0, found, np.nan)
