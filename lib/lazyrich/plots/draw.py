"""Theory, measured points and slopes on an axis."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from lazyrich.fits import Interval
from lazyrich.plots.look import LINES, MARKERS, PALETTE


def panels(n: int, columns: int = 2) -> tuple[Figure, list[Axes]]:
    """A figure of n panels, row by row, and its axes; single panels are larger.

    Raises:
        ValueError: n or columns below 1.
    """
    if n < 1 or columns < 1:
        raise ValueError(f"n and columns must be at least 1, got {n} and {columns}")
    columns = min(n, columns)
    rows = -(-n // columns)
    width, height = (5.2, 3.7) if columns == 1 else (3.6, 3.1)
    fig, axes = plt.subplots(rows, columns, figsize=(width * columns, height * rows), squeeze=False)
    for spare in axes.flat[n:]:
        spare.remove()
    return fig, list(axes.flat[:n])


def theory(ax: Axes, x: ArrayLike, y: ArrayLike, label: str | None = None, **line):
    """Draw a theory's curve: dashed black, over the measured points."""
    (drawn,) = ax.plot(
        x, _finite(y), label=label, **{"color": "black", "ls": "--", "lw": 1.4, "zorder": 5} | line
    )
    return drawn


def measured(
    ax: Axes,
    x: ArrayLike,
    y: ArrayLike | Interval,
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
    label: str | None = None,
    *,
    index: int = 0,
    colour: str | None = None,
    line: bool = False,
):
    """Draw measured points with their intervals; what is not finite is left out.

    Args:
        y: values of the shape of x, or an Interval of arrays that brings its own ends.
        low, high: the intervals' ends, both or neither.
        index: which series it is: sets colour, marker and line style together.
        colour: in place of that of the index, as for the shades of an ordered series.
        line: whether to join the points.

    Raises:
        ValueError: one end without the other.
    """
    if isinstance(y, Interval):
        y, low, high = y.value, y.low, y.high
    if (low is None) != (high is None):
        raise ValueError("low and high must be given together")
    y = _finite(y)
    ends = None
    if low is not None:
        # Rounding may put a value outside its own interval, by less than a pixel.
        ends = np.maximum([y - _finite(low), _finite(high) - y], 0)
    return ax.errorbar(
        x, y, yerr=ends, label=label, color=colour or PALETTE[index % len(PALETTE)],
        marker=MARKERS[index % len(MARKERS)], ls=LINES[index % len(LINES)] if line else "none",
        capsize=2.5, elinewidth=1.1, markeredgecolor="white", markeredgewidth=0.6,
    )  # fmt: skip


def guide(ax: Axes, x: ArrayLike, exponent: float, through: tuple[float, float], label: str | None = None):
    """Draw a thin grey power law of the given exponent through a point, to compare slopes with."""
    x0, y0 = through
    y = y0 * (np.asarray(x, float) / x0) ** exponent
    (drawn,) = ax.plot(x, y, label=label, color="#6e6e6e", ls=":", lw=1.3, zorder=1)
    return drawn


def _finite(values: ArrayLike) -> np.ndarray:
    values = np.asarray(values, float)
    return np.where(np.isfinite(values), values, np.nan)
