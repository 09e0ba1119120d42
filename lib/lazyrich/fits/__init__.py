"""Numbers out of curves, each with an interval: exponents, sums of power laws, crossings, optima.

Seeds are the unit of replication and stand on axis 0; the points of a curve stand on the last axis.
Points of one loss curve are correlated, so the covariance of a least-squares fit is never used as an
interval: intervals come from seeds (Student t) or, for solvers, from changing the solver's resolution
and the fit window.
"""

from lazyrich.fits.exponents import (
    WindowScan,
    exponent,
    exponent_interval,
    local_exponent,
    solver_exponent,
    window_scan,
)
from lazyrich.fits.intervals import Interval, jackknife_interval, mean_interval, solver_interval
from lazyrich.fits.landmarks import Optimum, crossing, optimum
from lazyrich.fits.power_sums import PowerSum, power_sum

__all__ = [
    "Interval",
    "Optimum",
    "PowerSum",
    "WindowScan",
    "crossing",
    "exponent",
    "exponent_interval",
    "jackknife_interval",
    "local_exponent",
    "mean_interval",
    "optimum",
    "power_sum",
    "solver_exponent",
    "solver_interval",
    "window_scan",
]
