"""Exact gradient descent at any learning rate: where the conservation law of the flow no longer holds.

On a measure of K (real nodes x, weights m = g₀²/N), with p = Sᵀw/√N, g = √m − x p, Q = SᵀS and a = |w|²/N,

    p ← p + ηQg + ηγ(a + η p·g) g,   a ← a + 2η p·g + η² g·Qg,   Q ← Q + ηγ(p gᵀ + g pᵀ) + (ηγ)² a g gᵀ

follows from w ← w + ηSg, S ← S + ηγ w gᵀ/N with no approximation. Derived in chapter 02.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import dsymv, dsyr, dsyr2
from scipy.optimize import minimize_scalar

from .checks import require, require_exponents
from .curve import learning_curve
from .reduction import infinite_width
from .spectrum import Spectrum, power_law

HUGE = 1e30  # the loss of a diverged run


@dataclass(frozen=True)
class Descent:
    """Descent at one learning rate; all of shape (steps,).

    kernel_growth: 1 + γ|w|²/N, that of the bulk. top_growth: that of the kernel on its largest eigenvalue,
    which past the edge settles at 2/η.
    """

    steps: np.ndarray
    loss: np.ndarray
    kernel_growth: np.ndarray
    top_growth: np.ndarray


def exact_descent(measure, gamma, learning_rate, steps):
    """Follow the recursion of the module and record at `steps` (increasing whole numbers, 0 allowed).

    `measure` has real nodes: infinite width, or a drawn kernel. O(nodes²) a step. The loss is inf once it
    exceeds 1e30.
    """
    gamma = require("gamma", gamma, 0)
    eta = require("learning_rate", learning_rate, 0, low_open=True)
    steps = np.asarray(steps, dtype=int)
    x, root = measure.nodes, np.sqrt(measure.mass)
    p, q, a = np.zeros_like(x), np.asfortranarray(np.eye(len(x))), 0.0
    run = Descent(steps, *np.full((3, len(steps)), np.inf))
    done, top = 0, np.argmax(x)
    for j, target in enumerate(steps):
        if gamma == 0:
            with np.errstate(over="ignore", under="ignore"):
                loss = measure.floor + np.sum(measure.mass / x * (1 - eta * x) ** (2.0 * target))
        else:
            for _ in range(target - done):
                g = root - x * p
                turned = dsymv(1.0, q, g)  # the upper triangle of Q is all there is
                overlap = p @ g
                dsyr2(eta * gamma, p, g, a=q, overwrite_a=1)
                dsyr((eta * gamma) ** 2 * a, g, a=q, overwrite_a=1)
                p = p + eta * turned + eta * gamma * (a + eta * overlap) * g
                a += 2 * eta * overlap + eta**2 * (g @ turned)
                if not a < HUGE:
                    return run
            loss = measure.floor + np.sum((root - x * p) ** 2 / x)
        if not loss < HUGE:
            break
        run.loss[j], run.kernel_growth[j] = loss, 1 + gamma * a
        run.top_growth[j], done = q[top, top] + gamma * a, target
    return run


@dataclass(frozen=True)
class TunedRate:
    """The best learning rate for each horizon, and the loss it reaches; all of shape (horizons,)."""

    horizons: np.ndarray
    learning_rate: np.ndarray
    loss: np.ndarray
    kernel_growth: np.ndarray

    @property
    def exponent(self):
        """−d log loss / d log T by least squares over all horizons."""
        return -float(np.polyfit(np.log(self.horizons), np.log(self.loss), 1)[0])


def tune_rate(alpha, beta, gamma, horizons, bins=8):
    """The lowest loss of exact descent after each number of steps, over constant learning rates (N = B = ∞).

    Rates are searched around the edge η κ(ηT) λ₁ = 2 of the flow: a grid of 2.5 % from 0.9 to 1.65 times
    the edge, then a bounded minimisation at its best. Beyond the edge the loss is a jagged function of η,
    for κ stops itself there, so the best loss is defined to about 2 %. The spectrum is kept in `bins` nodes
    a decade of eigenvalues (8: 0.3 % of the loss). Time is O(horizon).

    >>> tune_rate(1.5, 0.5, 0.0, [100]).learning_rate.round(2)
    array([1.95])
    """
    require_exponents(alpha, beta, gamma)
    horizons = np.array([require("horizons", t, 1, integer=True) for t in np.ravel(horizons).tolist()])
    times = 10.0 ** np.arange(-2, np.log10(2 * horizons.max()) + 0.1, 0.1)
    growth = learning_curve(alpha, beta, gamma, times=times).kernel_growth
    spectrum = power_law(alpha, beta)
    best = []
    for horizon in horizons:
        edge = np.exp(np.interp(np.log(2), np.log(growth * times / horizon), np.log(times / horizon)))
        measure = infinite_width(merge(spectrum, 1e-6 / horizon**2, bins))
        cost = lambda log, m=measure, t=horizon: min(exact_descent(m, gamma, np.exp(log), [t]).loss[0], HUGE)
        grid = np.log(edge) + np.arange(np.log(0.9), np.log(1.65), 0.025)
        middle = grid[np.argmin([cost(rate) for rate in grid])]
        found = minimize_scalar(
            cost, bounds=(middle - 0.025, middle + 0.025), method="bounded", options={"xatol": 1e-3}
        )
        rate = np.exp(found.x if found.fun < cost(middle) else middle)
        last = exact_descent(measure, gamma, rate, [horizon])
        best.append((rate, last.loss[0], last.kernel_growth[0]))
    return TunedRate(horizons, *np.array(best).T)


def merge(spectrum, slowest, bins, single=12):
    """A coarser spectrum: the first `single` nodes, `bins` a decade of λ, and one below λ = `slowest`.

    Power and the sums Σ λ and Σ λ² w*² are kept exactly.
    """
    x, power = spectrum.eigenvalues, spectrum.power
    label = -np.floor(np.log10(x / x[0]) * bins)
    label[:single] = -np.arange(single, 0, -1)
    label[x < slowest] = np.inf
    members = [label == group for group in np.unique(label)]
    merged = np.array([power[m].sum() for m in members])
    mean = np.array([power[m] @ x[m] for m in members]) / merged
    trace = np.array([spectrum.counts[m] @ x[m] for m in members])
    return Spectrum(mean, trace / mean, merged)
