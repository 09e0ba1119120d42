"""The compute-optimal frontier: the best loss at C = N·t, and the width and time that reach it."""

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline

from .checks import require, require_model, require_times
from .curve import learning_curve

COMPUTE = 10.0 ** np.arange(4, 8.01, 0.25)


@dataclass(frozen=True)
class Frontier:
    """The frontier at the computes C = width · time, all of shape (compute,).

    loss: the lowest loss over widths at fixed C; width: N*(C); time: t*(C) = C/N*.
    exponent: −d log loss / d log C by least squares over all computes; width_exponent: d log N* / d log C.
    """

    compute: np.ndarray
    loss: np.ndarray
    width: np.ndarray
    time: np.ndarray

    @property
    def exponent(self):
        return -float(np.polyfit(np.log(self.compute), np.log(self.loss), 1)[0])

    @property
    def width_exponent(self):
        return float(np.polyfit(np.log(self.compute), np.log(self.width), 1)[0])


def compute_frontier(
    alpha,
    beta,
    gamma=0.0,
    compute=COMPUTE,
    batch=None,
    learning_rate=None,
    *,
    widths_per_decade=8,
):
    """The envelope over widths of the learning curves at C = N·t (model and units of `learning_curve`).

    Widths are on a log grid from 1 which grows until no optimum lies at its end; the optimum of each C is
    that of a cubic spline of log L over log N. ValueError for parameters out of range or a `compute` below
    10; RuntimeError if the best width leaves [1, 1e6].

    >>> frontier = compute_frontier(1.5, 0.5, compute=[1e4, 1e5, 1e6])
    >>> print(f"{frontier.exponent:.3f}")
    0.297
    """
    require_model(alpha, beta, gamma, None, batch, learning_rate)
    compute = require_times(compute)
    require("compute[0]", compute[0], 10)
    require("widths_per_decade", widths_per_decade, 2, 64, integer=True)
    step = 1 / widths_per_decade
    rows = {}

    def losses(j):
        """log L of width 10^(j·step) at every compute; computes with t < 1 are left out (nan)."""
        width = 10.0 ** (j * step)
        times = compute / width
        row, late = np.full(len(compute), np.nan), times >= 1
        if late.any():
            curve = learning_curve(alpha, beta, gamma, width, batch, learning_rate, times[late])
            row[late] = np.log(curve.loss)
        return row

    # from the middle of the plane outwards, until every optimum has two widths on either side
    middle = round(np.log10(compute[0] * compute[-1]) / 4 / step)
    low, high = max(middle - 3, 0), middle + 3
    while True:
        rows |= {j: losses(j) for j in range(low, high + 1) if j not in rows}
        table = np.array([rows[j] for j in range(low, high + 1)])
        best = low + np.nanargmin(table, axis=0)
        if np.any(best >= high - 1):
            high += 2
        elif low > 0 and np.any(best <= low + 1):
            low = max(low - 2, 0)
        else:
            break
        if high > round(6 / step):
            raise RuntimeError(f"the best width at C = {compute[best >= high - 3][0]:g} is beyond 1e6")
    log_width = np.arange(low, high + 1) * step * np.log(10)
    width, loss = np.empty(len(compute)), np.empty(len(compute))
    for i, row in enumerate(table.T):
        known = np.isfinite(row)  # a width at which SGD diverges is no candidate
        spline = CubicSpline(log_width[known], row[known])
        stationary = spline.derivative().roots(extrapolate=False)
        if len(stationary) == 0:
            raise RuntimeError(f"no width in [1, C] is best at C = {compute[i]:g}: the compute is too small")
        best = stationary[np.argmin(spline(stationary))]
        width[i], loss[i] = np.exp(best), np.exp(spline(best))
    return Frontier(compute, loss, width, compute / width)
