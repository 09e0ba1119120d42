"""The exact reduction of the linear model to one function of the kernel's eigenvalue and time.

With u = Sᵀw (A = S A₀) the gradient flow of the model is du/dt = κ g + c u, g = g₀ − K u, and the
conservation of S Sᵀ − (γ/N) w wᵀ gives κ = 1 + γ|w|²/N and c = κ̇/(2κ). Hence u = √κ I g₀ with

    dI/dτ = κ^(−1/2) − x I,   dτ = κ dt,   κ = 1 + γ ∫ I² dμ,

one scalar equation for each eigenvalue x of K; μ is the spectral measure of K weighted by g₀²/N.
Derived in chapter 02.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.interpolate import CubicSpline

TINY = 1e-300  # a loss on too few contour nodes can be negative; it is then refined or refused


@dataclass(frozen=True)
class Measure:
    """The kernel K as seen by the loss: nodes and two sets of weights.

    nodes: eigenvalues x of K, or complex points around them, shape (nodes,).
    mass: weights of ∫ F dμ = Re Σ mass·F, μ weighted by g₀²/N.
    count: weights of Σ_x F(x) = Re Σ count·F, one for each eigenvalue.
    floor: the loss that remains at t = ∞.
    edge: the largest eigenvalue.
    """

    nodes: np.ndarray
    mass: np.ndarray
    count: np.ndarray
    floor: float
    edge: float

    def integrate(self, values):
        """∫ F dμ for F on the nodes, along the last axis."""
        return np.real(values @ self.mass)

    def total(self, values):
        """Σ_x F(x) for F on the nodes, along the last axis."""
        return np.real(values @ self.count)

    def loss(self, response):
        """L = L(∞) + ∫ (1 − x h)²/x dμ for u = h g₀; this form does not cancel when L is small."""
        return self.floor + self.integrate((1 - self.nodes * response) ** 2 / self.nodes)


def infinite_width(spectrum):
    """The measure at N = ∞: eigenvalues λ_k, weights λ_k² (w*_k)², no floor."""
    x = spectrum.eigenvalues
    return Measure(x, x * spectrum.power, spectrum.counts, 0.0, float(x.max()))


@dataclass(frozen=True)
class Trajectory:
    """A solution on its own grid of kernel times τ, starting at τ = 0.

    kernel_times, times, kernel_growth: τ, t and κ, shape (steps,); response: h(x, t), shape (steps, nodes).
    """

    measure: Measure
    gamma: float
    kernel_times: np.ndarray
    times: np.ndarray
    kernel_growth: np.ndarray
    response: np.ndarray

    @cached_property
    def loss(self):
        """The population loss on the grid, shape (steps,)."""
        return self.measure.loss(self.response)

    def at(self, times, values, log=True):
        """Interpolate `values` (steps, …) to `times`: a cubic spline in log t and, if `log`, log values."""
        times = np.asarray(times, dtype=np.float64)
        inner = np.log(np.maximum(values[1:], TINY)) if log else values[1:]
        spline = CubicSpline(np.log(self.times[1:]), inner)
        inner = spline(np.log(np.maximum(times, self.times[1])))
        start = (times == 0).reshape(times.shape + (1,) * (values.ndim - 1))
        return np.where(start, values[0], np.exp(inner) if log else inner)


def _weights(y):
    """e^(−y), φ₁(−y) − φ₂(−y) and φ₂(−y): exact integration of a linear source."""
    small = np.abs(y) < 1e-5
    safe = np.where(small, 1, y)
    first = np.where(small, 1 - y / 2, -np.expm1(-safe) / safe)
    second = np.where(small, 0.5 - y / 6, (1 - first) / safe)
    return np.exp(-y), first - second, second


def evolve(measure, gamma, times, steps_per_decade=60):
    """Solve the model from t = 0 past the last of `times`; see the module for the equations.

    Exact in x: over a step in log τ only κ^(−1/2) is approximated, by a straight line, and its end value
    is solved for. The error falls as steps_per_decade^(−2), about 1e-5 of the loss at 60.
    """
    first = times[times > 0][0] if np.any(times > 0) else 1.0
    rate = np.sqrt(1 + gamma * measure.integrate(np.ones_like(measure.nodes)))
    tau, ratio = min(1e-2 / rate, first / 2), 10 ** (1 / steps_per_decade)
    internal, s, t = np.zeros_like(measure.nodes), 1.0, 0.0
    taus, ts, growth, internals = [0.0], [0.0], [1.0], [internal]
    steps = np.append(tau, tau * ratio ** np.arange(steps_per_decade) * (ratio - 1))
    while t <= times[-1]:
        # one decade of steps at a time: all exponentials at once, then a cheap recursion
        decay, old, new = _weights(np.multiply.outer(steps, measure.nodes))
        old, new = old * steps[:, None], new * steps[:, None]
        weighted = new * measure.mass
        square = np.real(np.sum(weighted * new, axis=1))
        for j, step in enumerate(steps):
            fixed = decay[j] * internal + old[j] * s
            p = np.real(np.dot(measure.mass * fixed, fixed))
            q = np.real(np.dot(weighted[j], fixed))
            end = s
            for _ in range(100):  # κ = 1 + γ (p + 2 q s + r s²), s = κ^(−1/2): a contraction
                norm = p + 2 * q * end + square[j] * end**2
                previous, end = end, (1 + gamma * max(norm, 0)) ** -0.5
                if abs(end - previous) < 1e-14:
                    break
            internal = fixed + new[j] * end
            t += step * (s * s + s * end + end * end) / 3
            s = end
            taus.append(taus[-1] + step)
            ts.append(t)
            growth.append(s**-2)
            internals.append(internal)
        steps = taus[-1] * ratio ** np.arange(steps_per_decade) * (ratio - 1)
    growth = np.array(growth)
    response = np.array(internals) * np.sqrt(growth)[:, None]
    return Trajectory(measure, gamma, np.array(taus), np.array(ts), growth, response)


def lazy_response(measure, times):
    """h = (1 − e^(−xt))/x at γ = 0, shape (times, nodes)."""
    return -np.expm1(-np.multiply.outer(times, measure.nodes)) / measure.nodes
