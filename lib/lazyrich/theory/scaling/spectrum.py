"""Power-law spectra with infinitely many modes, as a few hundred nodes."""

from dataclasses import dataclass

import numpy as np
from scipy.special import roots_legendre

from .checks import require, require_exponents

HEAD = 300  # modes kept one by one: the discrete top of the spectrum is felt at every width
PANEL = 2.0  # width of a quadrature panel in log λ
POINTS = 16  # Gauss points a panel: 1e-10 for functions analytic within 0.8 rad of the real axis
SMALLEST = 1e-30  # the eigenvalue below which modes are lumped; 1/λ is beyond any kernel time reached


@dataclass(frozen=True)
class Spectrum:
    """Sums over modes as sums over nodes: Σ_k F(λ_k) = Σ counts·F, Σ_k λ_k (w*_k)² F(λ_k) = Σ power·F.

    All three arrays have the shape (nodes,). `power` is the share of each node in the loss at
    initialisation, L(0) = Σ power, without a factor ½.
    """

    eigenvalues: np.ndarray
    counts: np.ndarray
    power: np.ndarray


def power_law(alpha, beta, modes=None):
    """λ_k = k^(−α) and λ_k (w*_k)² = k^(−αβ−1), k = 1 … modes (None: infinitely many).

    The capacity exponent α and the source exponent β are those of FL (arXiv 2409.17858). The first 300
    modes are nodes of their own; the sum over the others is the integral from k = 300.5 by Gauss
    panels in log k (midpoint rule for sums; relative error of the sum below 1e-8). What lies beyond
    λ = 1e-30 is one node that carries the exact trace and power.

    >>> spectrum = power_law(1.5, 0.5)
    >>> print(f"{spectrum.power.sum():.6f}")  # ζ(1.75)
    1.962320
    """
    alpha, beta, _ = require_exponents(alpha, beta)
    head = HEAD if modes is None else min(HEAD, require("modes", modes, 1, integer=True))
    k = np.arange(1.0, head + 1)
    count = np.ones(head)
    end = SMALLEST ** (-1 / alpha) if modes is None else modes + 0.5
    if modes is None or modes > head:
        edges = np.linspace(np.log(head + 0.5), np.log(end), 2 + int(alpha * np.log(end / head) / PANEL))
        point, weight = roots_legendre(POINTS)
        half = np.diff(edges)[:, None] / 2
        tail = np.exp(edges[:-1, None] + half * (1 + point)).ravel()
        k, count = np.append(k, tail), np.append(count, (half * weight).ravel() * tail)
    eigenvalues, power = k**-alpha, count * k ** (-alpha * beta - 1)
    if modes is None:
        rest = end ** (1 - alpha) / (alpha - 1)  # Σ λ beyond the last panel
        eigenvalues, count = np.append(eigenvalues, SMALLEST), np.append(count, rest / SMALLEST)
        power = np.append(power, end ** (-alpha * beta) / (alpha * beta))
    return Spectrum(eigenvalues, count, power)
