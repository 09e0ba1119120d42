"""Sums of power laws by variable projection."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import least_squares

from lazyrich.fits.exponents import curve, local_exponent


@dataclass(frozen=True)
class PowerSum:
    r"""A fitted sum $\sum_i a_i x^{p_i}$.

    exponents: the free ones in increasing order, then the fixed ones in the order given.
    amplitudes: in the same order. residual: root mean square of the relative deviations.
    """

    exponents: np.ndarray
    amplitudes: np.ndarray
    residual: float

    def __call__(self, x: ArrayLike) -> np.ndarray:
        """The fitted curve at x."""
        return _basis(np.asarray(x, float), self.exponents) @ self.amplitudes


def power_sum(x: ArrayLike, y: ArrayLike, terms: int = 1, fixed: tuple[float, ...] = ()) -> PowerSum:
    r"""Fit $y = \sum_i a_i x^{p_i}$ in relative least squares.

    At given exponents the amplitudes are a linear problem; only the exponents are searched for
    (variable projection), from the best point of a coarse grid about the curve's local exponents.

    Args:
        x: positive and increasing, shape (points,).
        y: positive, shape (points,). For an interval over seeds hand this function to
            `jackknife_interval`.
        terms: the number of free exponents, 1 to 3.
        fixed: exponents held, such as (0.,) for a floor.

    Raises:
        ValueError: as in `local_exponent`; y not finite or not of one axis; terms outside 1…3; fewer
            points than unknowns plus one.

    >>> t = np.logspace(0, 4, 30)
    >>> fit = power_sum(t, 2 * t**-0.75 + 0.01, terms=1, fixed=(0.0,))
    >>> fit.exponents.round(6).tolist(), fit.amplitudes.round(6).tolist()
    ([-0.75, 0.0], [2.0, 0.01])
    """
    x, y = curve(x, y)
    if y.ndim != 1 or not np.isfinite(y).all():
        raise ValueError(f"y must be finite and of shape (points,), got shape {y.shape}")
    if terms not in (1, 2, 3):
        raise ValueError(f"terms must be 1, 2 or 3, got {terms}")
    unknowns = 2 * terms + len(fixed)
    if len(x) <= unknowns:
        raise ValueError(f"{unknowns} unknowns need at least {unknowns + 1} points, got {len(x)}")
    scale = np.sqrt(x[0] * x[-1])  # powers of x/scale stay near one: the linear problem is better posed
    z = x / scale

    def project(free):
        basis = _basis(z, [*free, *fixed]) / y[:, None]
        amplitudes = np.linalg.lstsq(basis, np.ones(len(y)))[0]
        return basis @ amplitudes - 1, amplitudes

    slopes = local_exponent(x, y)
    grid = np.linspace(slopes.min() - 0.5, slopes.max() + 0.5, 14)
    start = min(combinations(grid, terms), key=lambda free: np.sum(project(free)[0] ** 2))
    tight = {"xtol": 1e-12, "ftol": 1e-14, "gtol": 1e-14}
    found = least_squares(lambda free: project(free)[0], start, x_scale=0.1, **tight)
    free = np.sort(found.x)
    residual, amplitudes = project(free)
    exponents = np.array([*free, *fixed])
    return PowerSum(exponents, amplitudes * scale**-exponents, float(np.sqrt(np.mean(residual**2))))


def _basis(x: np.ndarray, exponents) -> np.ndarray:
    return x[..., None] ** np.asarray(exponents, float)
