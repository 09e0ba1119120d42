"""Exponents: slopes of log y against log x, at a point or over a window."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lazyrich.fits.intervals import Interval, jackknife_interval, mean_interval, solver_interval


def local_exponent(x: ArrayLike, y: ArrayLike) -> np.ndarray:
    r"""Local exponent $d \log y / d \log x$ on the grid of x, along the last axis of y.

    Args:
        x: positive and increasing, shape (points,).
        y: positive, shape (..., points); NaN where there is no value.

    Raises:
        ValueError: fewer than two points, x not positive and increasing, or y not positive.

    >>> local_exponent([1.0, 2.0, 8.0], [1.0, 0.25, 1 / 64]).round(9).tolist()
    [-2.0, -2.0, -2.0]
    """
    x, y = curve(x, y)
    with np.errstate(invalid="ignore"):  # a diverged curve has log y = ∞ and no slope there
        return np.gradient(np.log(y), np.log(x), axis=-1, edge_order=2 if len(x) > 2 else 1)


def exponent(x: ArrayLike, y: ArrayLike, window: Sequence[float] | None = None):
    r"""Least-squares slope of $\log y$ on $\log x$ over the points inside the window.

    The sign is that of $d \log y / d \log x$: a decay has a negative slope.

    Args:
        x: positive and increasing, shape (points,).
        y: positive, shape (..., points).
        window: (low, high) in the units of x, ends included; None takes all points.

    Returns:
        slopes of shape (...): a float for one curve.

    Raises:
        ValueError: as in `local_exponent`, or fewer than two points inside the window.

    >>> t = np.logspace(0, 4, 41)
    >>> round(exponent(t, 3 * t**-0.5, window=(10, 1e3)), 12)
    -0.5
    """
    x, y = curve(x, y)
    inside = _inside(x, window)
    if inside.sum() < 2:
        raise ValueError(
            f"window {window} must hold at least two points of x, got {inside.sum()} "
            f"of the {len(x)} in [{x[0]:g}, {x[-1]:g}]"
        )
    log_x = np.log(x[inside])
    log_x -= log_x.mean()
    with np.errstate(invalid="ignore"):
        slope = np.log(y[..., inside]) @ log_x / (log_x @ log_x)
    return float(slope) if slope.ndim == 0 else slope


def exponent_interval(
    x: ArrayLike,
    ys: ArrayLike,
    window: Sequence[float] | None = None,
    *,
    of: str = "seeds",
    level: float = 0.95,
) -> Interval:
    """Interval over seeds of the exponent, sign as in `exponent`.

    Args:
        x: shape (points,).
        ys: one curve a seed, shape (seeds, points).
        window: as in `exponent`.
        of: "seeds" for the mean of the exponents of the single curves (Student t), "mean" for the
            exponent of the mean curve (Student t over jackknife pseudo-values).

    Raises:
        ValueError: as in `exponent`; ys not of two axes; another value of `of`.

    >>> x = np.array([1.0, 10.0, 100.0])
    >>> exponent_interval(x, [x**0.5, x**0.5, x**0.5]).value.__round__(12)
    0.5
    """
    if np.ndim(ys) != 2:
        raise ValueError(f"ys must have shape (seeds, points), got {np.shape(ys)}")
    if of == "seeds":
        return mean_interval(exponent(x, ys, window), level)
    if of == "mean":
        return jackknife_interval(ys, lambda some: exponent(x, some.mean(axis=0), window), level)
    raise ValueError(f"of must be 'seeds' or 'mean', got {of!r}")


@dataclass(frozen=True)
class WindowScan:
    """Slopes over a fit window (first) and over the windows made from it.

    windows: shape (windows, 2). slopes: shape (windows, ...). spread: largest change against the first.
    """

    windows: np.ndarray
    slopes: np.ndarray
    spread: float | np.ndarray


def window_scan(x: ArrayLike, y: ArrayLike, window: Sequence[float], shrink: float = 0.25) -> WindowScan:
    """How much an exponent depends on its window: shrunk from either end and both, moved down and up.

    Args:
        x, y, window: as in `exponent`.
        shrink: the part of the window's length in log x taken off or moved, in (0, 1/2). A moved window
            that leaves the data is left out.

    Raises:
        ValueError: as in `exponent`; shrink outside (0, 1/2).

    >>> t = np.logspace(0, 6, 61)
    >>> scan = window_scan(t, t**-1.5 + 1e-9, window=(1e2, 1e4))
    >>> len(scan.windows), 1e-4 < scan.spread < 1e-3
    (6, True)
    """
    if not 0 < shrink < 0.5:
        raise ValueError(f"shrink must lie in (0, 1/2), got {shrink}")
    low, high = window
    r = (high / low) ** shrink
    shrunk = [(low, high), (low * r, high), (low, high / r), (low * r, high / r)]
    grid = np.asarray(x, float)
    moved = [w for w in ((low / r, high / r), (low * r, high * r)) if _within(w, grid)]
    windows = shrunk + moved
    slopes = np.array([exponent(x, y, w) for w in windows])
    spread = np.abs(slopes - slopes[0]).max(axis=0)
    return WindowScan(np.array(windows), slopes, float(spread) if spread.ndim == 0 else spread)


def solver_exponent(x: ArrayLike, y: ArrayLike, window: Sequence[float]) -> Interval:
    """The exponent of a solver's curve, which has no seeds: its interval is how far the fit moves.

    It moves with the window (see `window_scan`) and with every second point left out. Sign as in `exponent`.

    Args:
        x: shape (points,).
        y: one curve, shape (points,).
        window: as in `exponent`.

    Raises:
        ValueError: as in `exponent`.

    >>> t = np.logspace(0, 4, 41)
    >>> solver_exponent(t, t**-0.5, (1e1, 1e3)).half_width < 1e-12
    True
    """
    x, y = curve(x, y)
    slopes = window_scan(x, y, window).slopes
    return solver_interval(slopes[0], *slopes[1:], exponent(x[::2], y[::2], window))


def curve(x: ArrayLike, y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """x and y as arrays after the checks that every fit in log–log needs."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    if x.ndim != 1 or len(x) < 2:
        raise ValueError(f"x must have shape (points,) with at least two points, got {x.shape}")
    if y.shape[-1:] != x.shape:
        raise ValueError(f"y must have {len(x)} points on its last axis, as x has, got shape {y.shape}")
    if not (x[0] > 0 and np.isfinite(x[-1]) and (np.diff(x) > 0).all()):
        raise ValueError("x must be positive, finite and increasing")
    if (y <= 0).any():
        raise ValueError(f"y must be positive to have a logarithm, got {y[y <= 0].flat[0]:g}")
    return x, y


ROUNDING = 1e-9  # a grid point that is the window's end up to rounding belongs to the window


def _inside(x: np.ndarray, window) -> np.ndarray:
    if window is None:
        return np.ones(len(x), bool)
    low, high = window
    if not 0 < low < high:
        raise ValueError(f"window must be (low, high) with 0 < low < high, got {window}")
    return (x >= low * (1 - ROUNDING)) & (x <= high * (1 + ROUNDING))


def _within(window, x: np.ndarray) -> bool:
    return bool(x[0] * (1 - ROUNDING) <= window[0] and window[1] <= x[-1] * (1 + ROUNDING))
