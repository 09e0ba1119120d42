"""Landmarks of one curve: where it passes a level, and where it is lowest."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lazyrich.fits.exponents import curve


def crossing(x: ArrayLike, y: ArrayLike, level: float, *, last: bool = False) -> float:
    """The x at which y first (or last) passes the level, by linear interpolation of log y in log x.

    Args:
        x: positive and increasing, shape (points,).
        y: positive, shape (points,). A passage next to a point that is not finite is not resolved and
            does not count.
        level: positive.

    Raises:
        ValueError: as in `local_exponent`; level not positive; the level is never passed.

    >>> crossing([1.0, 100.0], [1.0, 10000.0], 100.0).__round__(9)
    10.0
    """
    x, y = curve(x, y)
    if y.ndim != 1:
        raise ValueError(f"y must have shape (points,), got {y.shape}")
    if not 0 < level < np.inf:
        raise ValueError(f"level must be positive and finite, got {level}")
    height = np.log(y) - np.log(level)
    left, right = height[:-1], height[1:]
    resolved = np.isfinite(left) & np.isfinite(right)
    passed = np.flatnonzero(resolved & ((left == 0) | (right == 0) | (np.sign(left) != np.sign(right))))
    if len(passed) == 0:
        finite = y[np.isfinite(y)]
        range_ = f"in [{finite.min():g}, {finite.max():g}]" if len(finite) else "nowhere finite"
        raise ValueError(f"y never passes the level {level:g}: it is {range_}")
    i = passed[-1 if last else 0]
    rise = right[i] - left[i]
    if rise == 0:  # the curve lies on the level from one point to the next
        return float(x[i + 1] if last else x[i])
    return float(x[i] * (x[i + 1] / x[i]) ** (-left[i] / rise))


class Optimum(NamedTuple):
    """The place and the height of a curve's lowest point."""

    x: float
    y: float


def optimum(x: ArrayLike, y: ArrayLike) -> Optimum:
    """The minimum of y: vertex of the parabola through the lowest point and its neighbours, in log–log.

    Args:
        x: positive and increasing, shape (points,).
        y: positive, shape (points,); points that are not finite are left out.

    Raises:
        ValueError: as in `local_exponent`; the lowest finite point has no finite neighbour on one side,
            so that the minimum may lie outside.

    >>> x = np.logspace(-2, 2, 30)
    >>> place, height = optimum(x, np.exp((np.log(x) - 1) ** 2))
    >>> round(np.log(place), 9), round(height, 9)
    (np.float64(1.0), 1.0)
    """
    x, y = curve(x, y)
    if y.ndim != 1:
        raise ValueError(f"y must have shape (points,), got {y.shape}")
    log_x, log_y = np.log(x), np.where(np.isfinite(y), np.log(y), np.inf)
    i = int(np.argmin(log_y))
    if i in (0, len(x) - 1) or not np.isfinite(log_y[i - 1 : i + 2]).all():
        raise ValueError(f"the lowest point of y, at x = {x[i]:g}, has no finite neighbour on each side")
    h = log_x[i - 1 : i + 2] - log_x[i]
    curvature, slope, height = np.polyfit(h, log_y[i - 1 : i + 2], 2)
    if curvature <= 0:  # three equal points
        return Optimum(float(x[i]), float(y[i]))
    shift = -slope / (2 * curvature)
    return Optimum(float(np.exp(log_x[i] + shift)), float(np.exp(height + slope * shift / 2)))
