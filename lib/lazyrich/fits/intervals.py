"""Intervals over seeds, and intervals of solver values that have none."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t as student_t


@dataclass(frozen=True)
class Interval:
    """A value with a lower and an upper end; `n` is the number of seeds, None for a solver's value.

    The three numbers are floats, or arrays of one shape when the samples had more than one axis.

    >>> Interval(1.0, 0.5, 1.5).half_width
    0.5
    """

    value: float | np.ndarray
    low: float | np.ndarray
    high: float | np.ndarray
    n: int | None = None

    @property
    def half_width(self) -> float | np.ndarray:
        """Half of high − low: 0 for a point, even a point at infinity, and NaN where an end is NaN."""
        with np.errstate(invalid="ignore"):
            half = np.where(np.equal(self.low, self.high), 0.0, 0.5 * np.subtract(self.high, self.low))
        return _plain(half)

    def __neg__(self) -> "Interval":
        """The interval of −value, so that a decay exponent can be given positive."""
        return Interval(-self.value, -self.high, -self.low, self.n)

    def __getitem__(self, key) -> "Interval":
        """The interval of one element of an array of intervals.

        >>> mean_interval([[1.0, 5.0], [3.0, 5.0]])[1]
        Interval(value=5.0, low=5.0, high=5.0, n=2)
        """
        value, low, high = (_plain(np.asarray(a)[key]) for a in (self.value, self.low, self.high))
        return Interval(value, low, high, self.n)


def mean_interval(samples: ArrayLike, level: float = 0.95) -> Interval:
    r"""Student-t interval of the mean over seeds, $\bar s \pm t_{n-1}\, \mathrm{sd}(s)/\sqrt n$.

    Args:
        samples: one estimate a seed, shape (seeds,) or (seeds, ...).
        level: probability with which the interval covers the mean of Gaussian samples, in (0, 1).

    One seed says nothing of its own error: its interval is (−∞, ∞). A diverged seed (NaN or ±∞) is an
    outcome and passes through: the interval is then not finite, unless all seeds are the same infinity.

    Raises:
        ValueError: no seed, or a level outside (0, 1).

    >>> interval = mean_interval([1.0, 2.0, 3.0])
    >>> round(interval.low, 3), interval.value, round(interval.high, 3)
    (-0.484, 2.0, 4.484)
    """
    samples = _seeds(samples, level)
    n = len(samples)
    alike = (samples == samples[0]).all(axis=0)
    if n == 1:
        return Interval(_plain(samples[0]), *_plain_pair(samples[0] * 0, np.inf), n)
    with np.errstate(invalid="ignore"):
        mean = np.where(alike, samples[0], samples.mean(axis=0))
        error = np.where(alike, 0.0, samples.std(axis=0, ddof=1) / np.sqrt(n))
    half = student_t.ppf(0.5 + level / 2, n - 1) * error
    return Interval(_plain(mean), *_plain_pair(mean, half), n)


def jackknife_interval(
    samples: ArrayLike, statistic: Callable[[np.ndarray], float], level: float = 0.95
) -> Interval:
    r"""Student-t interval over jackknife pseudo-values, for a quantity that belongs to all seeds at once.

    An exponent of the mean curve is such a quantity. With $T$ the statistic of all seeds and $T_{-i}$
    that without seed $i$, the pseudo-values are $nT - (n-1)T_{-i}$; their mean is the value.

    Args:
        samples: shape (seeds, ...).
        statistic: maps an array of seeds, shape (seeds or fewer, ...), to a number.
        level: as in `mean_interval`.

    Raises:
        ValueError: no seed, or a level outside (0, 1).

    >>> interval = jackknife_interval([1.0, 2.0, 3.0], np.mean)  # of a mean: the interval of the mean
    >>> round(interval.low, 3), round(interval.value, 3), round(interval.high, 3)
    (-0.484, 2.0, 4.484)
    """
    samples = _seeds(samples, level)
    n = len(samples)
    whole = np.asarray(statistic(samples), float)
    if n == 1:
        return mean_interval(whole[None], level)
    rest = np.array([statistic(np.delete(samples, i, axis=0)) for i in range(n)], float)
    with np.errstate(invalid="ignore"):
        return mean_interval(n * whole - (n - 1) * rest, level)


def solver_interval(value: float, *others: float) -> Interval:
    """Interval of a number without seeds: value ± the largest change under the alternatives given.

    `others` are the same number with the solver's resolution doubled and the fit window moved.

    Raises:
        ValueError: no alternative: a solver's number without one has no interval.

    >>> solver_interval(0.5, 0.5625, 0.25)
    Interval(value=0.5, low=0.25, high=0.75, n=None)
    """
    if not others:
        raise ValueError("others must hold at least one alternative value (resolution doubled, window moved)")
    half = max(np.abs(np.subtract(others, value)).tolist(), key=lambda change: (np.isnan(change), change))
    return Interval(float(value), float(value - half), float(value + half))


def _seeds(samples: ArrayLike, level: float) -> np.ndarray:
    samples = np.asarray(samples, float)
    if samples.ndim == 0 or len(samples) == 0:
        raise ValueError(f"samples must have at least one seed on axis 0, got shape {samples.shape}")
    if not 0 < level < 1:
        raise ValueError(f"level must lie in (0, 1), got {level}")
    return samples


def _plain(a: ArrayLike) -> float | np.ndarray:
    return float(a) if np.ndim(a) == 0 else a


def _plain_pair(mean, half):
    return _plain(np.subtract(mean, half)), _plain(np.add(mean, half))
