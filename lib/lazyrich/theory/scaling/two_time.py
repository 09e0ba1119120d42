"""The mean-field theory of correlation and response functions at two times: the papers' own route.

All quantities are T×T matrices over times, W the causal quadrature, ∘ elementwise (FL and DM;
arXiv 2409.17858, 2402.01092):

    W_m = (I − γ W(C_u∘W))⁻¹ W,   P = W_m + γ (C_w∘W),   G_k = (I + λ_k P R)⁻¹
    R = (I + (1/N) Σ λ_k G_k P)⁻¹
    ⟨v_k v_kᵀ⟩ = (w*_k)² (G_k 1)(G_k 1)ᵀ + G_k P (C_u/N) Pᵀ G_kᵀ + (I − G_k) E_k (I − G_k)ᵀ/λ_k²
    C_u = R C_g Rᵀ,   C_g = Σ λ_k² [first two terms] + G_k E_k G_kᵀ,   C_w = W_m C_u W_mᵀ
    L_t = Σ λ_k ⟨v_k²⟩,   E_k = diag(λ_k L_t / B)

It costs O(modes · T³) a sweep, where `learning_curve` costs O(nodes) a step; it shares nothing with it.
"""

from dataclasses import dataclass

import numpy as np

from .checks import require, require_model, require_times
from .spectrum import power_law


@dataclass(frozen=True)
class TwoTime:
    """A solution: times and loss, shape (times,); readout |w|²/N, shape (times,); sweeps it took."""

    times: np.ndarray
    loss: np.ndarray
    readout: np.ndarray
    sweeps: int


def two_time_curve(
    alpha,
    beta,
    gamma=0.0,
    width=None,
    batch=None,
    learning_rate=None,
    times=None,
    *,
    steps=None,
    modes=None,
    bins=12,
    tolerance=1e-7,
    most_sweeps=200,
):
    """Solve the two-time theory: `steps` of descent with `learning_rate`, or the flow on the grid `times`.

    Descent: t = 0, η … η·steps with the quadrature η Σ_{s<t}. Flow: trapezoid on `times`, a positive grid (0
    is put in front), B = ∞ only. Model and units as in `learning_curve`. `bins` nodes a decade of
    eigenvalues stand for the spectrum (6: about 0.3 % of the loss). ValueError for bad parameters;
    RuntimeError if the sweeps do not reach `tolerance`.

    >>> two_time_curve(1.5, 0.5, learning_rate=0.2, steps=10, width=32).loss.shape
    (11,)
    """
    require_model(alpha, beta, gamma, width, batch, learning_rate)
    if (times is None) == (steps is None):
        raise ValueError(f"times = {times!r}, steps = {steps!r}: expected exactly one of the two")
    if steps is not None:
        require("steps", steps, 1, 4000, integer=True)
        if learning_rate is None:
            raise ValueError(f"steps = {steps!r} needs a learning_rate")
        grid = learning_rate * np.arange(steps + 1)
        quadrature = learning_rate * np.tri(steps + 1, k=-1)
    else:
        if batch is not None:
            raise ValueError(
                f"batch = {batch!r}: the flow on a grid of times is solved for batch = None only"
            )
        grid = np.append(0.0, require_times(times))
        require("times[0]", grid[1], 0, low_open=True)
        half = np.diff(grid) / 2
        quadrature = np.tri(len(grid)) * (np.append(half, 0) + np.append(0, half))
        quadrature[np.diag_indices(len(grid))] = np.append(0, half)
    spectrum = power_law(alpha, beta, modes)
    eigenvalues, counts, power = _coarse(spectrum, grid[-1], bins)
    per_width = 0.0 if width is None else 1 / width
    noise = 0.0 if batch is None else 1 / batch
    size = len(grid)
    identity, ones = np.eye(size), np.ones(size)
    c_u, c_w, response = np.zeros((size, size)), np.zeros((size, size)), identity
    loss = np.full(size, power.sum())
    for sweep in range(1, most_sweeps + 1):
        memory = np.linalg.solve(identity - gamma * quadrature @ (c_u * quadrature), quadrature)
        drive = memory + gamma * c_w * quadrature
        through = drive @ response
        propagated = drive @ c_u @ drive.T * per_width
        field = np.zeros((size, size))
        c_g, new_loss = np.zeros((size, size)), np.zeros(size)
        for lam, count, share in zip(eigenvalues, counts, power, strict=True):
            g = np.linalg.inv(identity + lam * through)
            decay = g @ ones
            error = share / lam * np.outer(decay, decay) + count * g @ propagated @ g.T
            field += count * lam * (g @ drive)
            c_g += lam**2 * error
            new_loss += lam * np.diag(error)
            if noise:
                c_g += count * lam * noise * (g * loss) @ g.T
                new_loss += count * noise * (identity - g) ** 2 @ loss
        response = np.linalg.inv(identity + field * per_width)
        c_u = response @ c_g @ response.T
        c_w = memory @ c_u @ memory.T
        change, loss = np.max(np.abs(new_loss / loss - 1)), new_loss
        if change < tolerance:
            return TwoTime(grid, loss, np.diag(c_w).copy(), sweep)
    raise RuntimeError(f"the two-time theory still changes by {change:.1e} after {most_sweeps} sweeps")


def _coarse(spectrum, last, bins):
    """The spectrum in about `bins` nodes a decade of λ; what is too small to be learned by `last` is one."""
    label = np.floor(np.log10(spectrum.eigenvalues / spectrum.eigenvalues[0]) * bins)
    label[:8] = np.arange(1, 9)  # the top modes stay single
    slow = spectrum.eigenvalues * last < 1e-6
    label[slow] = -np.inf
    groups = np.unique(label)
    members = [label == g for g in groups]
    power = np.array([spectrum.power[m].sum() for m in members])
    mean = np.array([spectrum.power[m] @ spectrum.eigenvalues[m] for m in members]) / power
    trace = np.array([spectrum.counts[m] @ spectrum.eigenvalues[m] for m in members])
    return mean, trace / mean, power
