"""Direction and size of the kernel while it learns: alignment with the target, and the one spike."""

from dataclasses import dataclass

import numpy as np

from .checks import require_exponents, require_times
from .reduction import evolve, infinite_width
from .spectrum import power_law

TIMES = 10.0 ** np.arange(0, 6.01, 0.25)


@dataclass(frozen=True)
class Alignment:
    """Kernel geometry along a curve; all of shape (times,).

    alignment: cosine between the kernel and y yᵀ in L²(p). kernel_growth: κ, the bulk relative to its start.
    spike: (2κ − 1)/κ ≤ 2, the one rotated direction relative to the bulk. loss: Σ λ_k v_k².
    """

    times: np.ndarray
    alignment: np.ndarray
    kernel_growth: np.ndarray
    spike: np.ndarray
    loss: np.ndarray


def trace_alignment(path):
    """The alignment along a solution of the flow on its own grid, shape (steps,)."""
    measure, gamma, kappa = path.measure, path.gamma, path.kernel_growth
    x, power = measure.nodes, measure.mass / measure.nodes
    learned = x * path.response  # 1 − e
    along = kappa * (power @ x) + gamma / kappa * (learned @ power) ** 2
    square = (
        kappa**2 * measure.total(x * x)
        + 2 * gamma * learned**2 @ (power * x)
        + (gamma / kappa * (learned**2 @ power)) ** 2
    )
    return along / np.sqrt(square) / power.sum()


def alignment_curve(alpha, beta, gamma=1.0, times=TIMES):
    """Kernel–target alignment of gradient flow at N = ∞ (model and units of `learning_curve`).

    The kernel's operator is T = κΛ + (γ/κ) x xᵀ, x = Λ^½ θ, θ = Aᵀw/N; with ω = Λ^½ w* the alignment is
    ωᵀTω/(|T|_F |ω|²). The alignment of the initial kernel is its value at t = 0. Derived in chapter 02.

    >>> alignment_curve(1.5, 0.5, times=[0, 10, 1e4]).alignment.round(3)
    array([0.539, 0.619, 0.541])
    """
    require_exponents(alpha, beta, gamma)
    times = require_times(times)
    path = evolve(infinite_width(power_law(alpha, beta)), gamma, times)
    growth = path.at(times, path.kernel_growth)
    return Alignment(
        times, path.at(times, trace_alignment(path)), growth, 2 - 1 / growth, path.at(times, path.loss)
    )
