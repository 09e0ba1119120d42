"""The edges of a simulated portrait, found by scanning upwards and zooming in."""

from collections.abc import Callable

import numpy as np

from lazyrich.theory.deep_linear._checks import whole, within


def first_change(holds: Callable, low, high, *, points: int = 65, resolution: float = 1e-3) -> np.ndarray:
    """Smallest learning rate, row by row, at which `holds` is no longer what it is at `low`.

    Boundaries are ragged where the dynamics is chaotic, so this does not bisect: each round scans `points`
    rates geometrically from below and zooms into the first step that changes.

    Args:
        holds: maps learning rates (γ, points) to booleans of the same shape, e.g. from `portrait`.
        low, high: the window, each (γ,), low < high.
        points: rates in a round, at least 3.
        resolution: relative width of the last bracket, whose geometric middle is returned.

    Raises:
        ValueError: a bad window, or a row without a change in it.

    >>> print(first_change(lambda eta: eta < 3.0, [1.0], [10.0], resolution=1e-6).round(4))
    [3.]
    """
    low, high = np.broadcast_arrays(within("low", low, 0), within("high", high, 0))
    points, resolution = whole("points", points, 3), within("resolution", resolution, 0)
    if low.ndim != 1 or not np.all(low < high):
        raise ValueError(f"low = {low}, high = {high}: expected one axis each, and low < high")
    while np.any(high / low - 1 > resolution):
        rates = np.geomspace(low, high, points, axis=1)
        held = np.asarray(holds(rates))
        changed = held != held[:, :1]
        if not np.all(changed.any(axis=1)):
            row = int(np.flatnonzero(~changed.any(axis=1))[0])
            raise ValueError(f"row {row}: no change between learning rates {low[row]:g} and {high[row]:g}")
        at, rows = changed.argmax(axis=1), np.arange(len(low))
        low, high = rates[rows, at - 1], rates[rows, at]
    return np.sqrt(low * high)
