"""The lazy learning curve at finite width by a numerical inverse Laplace transform: a second route."""

import numpy as np

from .checks import require, require_exponents, require_times
from .contour import follow, resolvent_argument, ridge
from .spectrum import power_law


def talbot_curve(alpha, beta, width, times, nodes=24, modes=None):
    """L(t) at γ = 0, B = ∞: the inverse transform of Σ λ w*²/(z + λR(z)), taken at 2t; shape (times,).

    R = 1 − (1/N) Σ λR/(z + λR). Talbot's contour with a fixed number of nodes; with 24 it agrees with the
    contour integral around the spectrum to 1e-9. Model, units and errors as in `learning_curve`; times must
    be positive.

    >>> print(f"{talbot_curve(1.5, 0.5, 512, [1e9])[0]:.5f}")  # the width bottleneck
    0.03744
    """
    require_exponents(alpha, beta)
    times = require_times(times)
    require("times[0]", times[0], 0, low_open=True)
    require("nodes", nodes, 4, 40, integer=True)
    require("width", width, 1, np.inf if modes is None else modes)
    spectrum = power_law(alpha, beta, modes)
    angle = np.arange(1, nodes) * np.pi / nodes
    cot = 1 / np.tan(angle)
    return np.array([_invert(spectrum, width, 2 * t, nodes, angle, cot) for t in times])


def _invert(spectrum, width, time, nodes, angle, cot):
    radius = 2 * nodes / (5 * time)
    z = radius * angle * (cot + 1j)
    slope = 1 + 1j * angle * (1 + cot**2) - 1j * cot
    kappa = _at(spectrum, width, radius)
    along = follow(spectrum, width, np.append(radius, z).astype(complex), kappa)
    transform = (spectrum.power / (spectrum.eigenvalues + along[:, None])).sum(axis=1)
    transform *= along / np.append(radius, z)  # z + λR = z (κ̂ + λ)/κ̂
    terms = np.exp(time * z) * slope * transform[1:]
    first = np.exp(time * radius) * transform[0] / 2
    return radius / nodes * float(first.real + terms.real.sum())


def _at(spectrum, width, z):
    """κ̂ at real z > 0, by bisection between κ̂(0) and z + trΛ/N."""
    low, high = ridge(spectrum, width), z + spectrum.counts @ spectrum.eigenvalues / width
    for _ in range(60):
        middle = (low + high) / 2
        if resolvent_argument(spectrum, width, middle)[0] < z:
            low = middle
        else:
            high = middle
    return high
