"""The kernel of a random finite width in the mean-field limit, as a contour integral.

∫ dμ(x)/(x + z) = Σ λ² w*²/(λ + κ̂(z)) and (1/N) Σ_x 1/(x + z) = 1/κ̂(z), where
z = κ̂ (1 − (1/N) Σ λ/(λ + κ̂)). The response is entire in x, so integrals over the spectrum are
integrals along a closed curve around it. Derived in chapter 01.
"""

import numpy as np
from scipy.optimize import brentq

from .reduction import Measure
from .spectrum import SMALLEST

HEIGHT = 0.8  # half-height in log x: well below π/2, where e^(−2xt) would stop decaying
CLOSE = 0.2  # for descent near its largest stable rate, where points outside the spectrum would diverge


class ContourError(RuntimeError):
    """The curve did not stop changing when the nodes were doubled."""


def resolvent_argument(spectrum, width, kappa):
    """z(κ̂) and its derivative."""
    share = spectrum.eigenvalues / (spectrum.eigenvalues + kappa)
    weighted = spectrum.counts * share
    return kappa * (1 - weighted.sum() / width), 1 - (weighted @ share) / width


def ridge(spectrum, width):
    """κ̂(0): the root of Σ λ/(λ + κ) = N; 0 where the modes are no more than N.

    ValueError where it is so small that it lies among the modes lumped together by `power_law`.
    """
    excess = lambda log: resolvent_argument(spectrum, width, np.exp(log))[0] * np.exp(-log)
    last, kappa = spectrum.eigenvalues[-1], 0.0
    if spectrum.counts.sum() > width:
        high = np.log(spectrum.counts @ spectrum.eigenvalues / width)
        kappa = np.exp(brentq(excess, np.log(last) - 60, high + 1e-9, xtol=1e-14))
    if last <= SMALLEST and kappa < 1e3 * SMALLEST:
        raise ValueError(
            f"a width or sample of {width:g} reaches λ = {kappa:.0e}, below the spectrum's 1e-27"
        )
    return kappa


def top_turning(spectrum, width):
    """−κ̂ at the largest eigenvalue of K: the root above λ₁ of Σ λ²/(y − λ)² = N."""
    top = spectrum.eigenvalues[0]
    slope = lambda log: resolvent_argument(spectrum, width, -top * (1 + np.exp(log)))[1]
    return top * (1 + np.exp(brentq(slope, -20, 20, xtol=1e-13)))


def edges(spectrum, width):
    """The smallest and the largest eigenvalue of K, and the κ̂ at which the smallest is reached."""
    upper = -resolvent_argument(spectrum, width, -top_turning(spectrum, width))[0]
    bottom = np.log(ridge(spectrum, width))
    slope = lambda log: resolvent_argument(spectrum, width, np.exp(log))[1]
    turning = np.exp(brentq(slope, bottom - 60, bottom, xtol=1e-13))
    return -resolvent_argument(spectrum, width, turning)[0], upper, turning


def follow(spectrum, width, path, kappa):
    """κ̂ along a path of z by Newton's method, from `kappa` at its start; RuntimeError if it is lost."""
    found = np.empty(len(path), complex)
    z, slope = resolvent_argument(spectrum, width, kappa)
    for j, target in enumerate(path):
        step = (target - z) / slope
        for _ in range(50):
            kappa = kappa + step
            z, slope = resolvent_argument(spectrum, width, kappa)
            step = (target - z) / slope
            if abs(step) < 1e-13 * abs(kappa):
                break
        else:
            raise RuntimeError(f"the resolvent was lost at z = {target} (width {width:g})")
        found[j] = kappa
    return found


def finite_width(spectrum, width, nodes=384, height=HEIGHT):
    """The measure of a random A₀ with `width` rows, on `nodes` points around the spectrum.

    An ellipse in log x, of which the upper half is kept: its conjugate gives the same real part.
    """
    lower, upper, turning = edges(spectrum, width)
    half, middle = np.log(upper / lower) / 2, np.log(upper * lower) / 2
    long = np.hypot(half, height)  # confocal: the map to the unit circle is as regular as it can be
    angle = np.pi - (np.arange(nodes // 2) + 0.5) * 2 * np.pi / nodes
    x = np.exp(middle + long * np.cos(angle) + 1j * height * np.sin(angle))
    velocity = x * (-long * np.sin(angle) + 1j * height * np.cos(angle))
    left = np.exp(middle - long)
    start = brentq(
        lambda kappa: resolvent_argument(spectrum, width, kappa)[0] + left,
        turning,
        ridge(spectrum, width),
        xtol=1e-300,
        rtol=1e-14,
    )
    kappa = follow(spectrum, width, -x, start)
    arc = -2 * velocity / (1j * nodes)  # −dx/(2πi), doubled for the lower half
    eigenvalues = spectrum.eigenvalues
    mass = arc * ((eigenvalues * spectrum.power) / (eigenvalues + kappa[:, None])).sum(axis=1)
    return Measure(x, mass, arc * width / kappa, width_floor(spectrum, width), upper)


def width_floor(spectrum, width):
    """L(t → ∞) at finite width: Σ λ w*² κ̂₀/(λ + κ̂₀)."""
    kappa = ridge(spectrum, width)
    return float(spectrum.power @ (kappa / (spectrum.eigenvalues + kappa)))


def converge(spectrum, width, solve, tolerance=1e-6, nodes=192, most=3072, height=HEIGHT):
    """solve(measure) with the nodes doubled until the *curve* it returns no longer changes.

    Total mass does not see errors of the curve, so the curve itself is the test. ContourError when
    `most` nodes are not enough: there is never a wrong curve in silence.
    """
    previous, change = None, np.inf
    while nodes <= most:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # of curves not yet converged
            result = solve(finite_width(spectrum, width, nodes, height))
            finite = np.isfinite(result.loss)
            if previous is not None and np.array_equal(finite, np.isfinite(previous.loss)):
                change = np.max(np.abs(previous.loss[finite] / result.loss[finite] - 1), initial=0.0)
                if change < tolerance and not np.any(np.isnan(result.loss)):
                    return result
        previous, nodes = result, 2 * nodes
    raise ContourError(
        f"the curve still changes by {change:.1e} (tolerance {tolerance:g}) between {nodes // 4} and "
        f"{nodes // 2} nodes at width {width:g}"
    )
