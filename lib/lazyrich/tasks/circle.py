"""Fourier targets on the circle with a power-law spectrum, on the frequencies a ReLU^q network has."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

PHASES = ("zero", "sign", "random")


@dataclass(frozen=True, eq=False)
class Circle:
    """A grid of inputs x = √2 (cos θ, sin θ) and a target y(θ) = Σ_k c_k cos(kθ + phase_k) on it."""

    angles: Float[np.ndarray, "n"]
    inputs: Float[np.ndarray, "n 2"]  # float32
    targets: Float[np.ndarray, "n 1"]  # float32
    amplitudes: Float[np.ndarray, "k"]  # c_k for k = 0 … K, zero off the target's frequencies


def frequencies(power: int, highest: int) -> Int[np.ndarray, "k"]:
    """The frequencies 1 ≤ k ≤ highest of the other parity than q.

    They are those on which the kernel of a bias-free two-layer ReLU^q network has its power law; of q's
    own parity it sees only some k ≤ q, which would be outliers.

    >>> frequencies(2, 8), frequencies(1, 8)
    (array([1, 3, 5, 7]), array([2, 4, 6, 8]))
    """
    return np.arange(1 + power % 2, highest + 1, 2)


def fourier_target(
    source: float,
    power: int = 1,
    *,
    points: int = 512,
    highest: int = 250,
    phases: str = "zero",
    seed: int = 0,
) -> Circle:
    r"""A target of source exponent β for the ReLU^q kernel: c_k² ∝ k^(−αβ−1), α = 2q, mean of y² one.

    Args:
        source: β > 0.
        power: q; only the `frequencies` that the network's kernel has are used.
        points: size of the equispaced grid, more than 2K.
        highest: the largest frequency K.
        phases: ``"zero"`` (a singular point at θ = 0), ``"sign"`` (0 or π at random), or ``"random"``.
        seed: of the phases.

    Raises ValueError when one of these is out of its range.

    >>> task = fourier_target(0.4, points=64, highest=20)
    >>> task.inputs.shape, np.flatnonzero(task.amplitudes)[:4]
    ((64, 2), array([2, 4, 6, 8]))
    """
    if not source > 0:
        raise ValueError(f"source = {source}: expected a positive number")
    if power < 1:
        raise ValueError(f"power = {power}: expected an integer of at least 1")
    if not 2 <= highest < points / 2:
        raise ValueError(f"highest = {highest}: expected in 2…{(points - 1) // 2}, for {points} points")
    if phases not in PHASES:
        raise ValueError(f"phases = {phases!r}: expected one of {PHASES}")
    k = frequencies(power, highest)
    coefficients = k ** (-(2 * power * source + 1) / 2)
    coefficients *= np.sqrt(2 / np.sum(coefficients**2))
    rng = np.random.default_rng(seed)
    shifts = {
        "zero": lambda: np.zeros(k.size),
        "sign": lambda: np.pi * rng.integers(2, size=k.size),
        "random": lambda: rng.uniform(0, 2 * np.pi, k.size),
    }[phases]()
    angles = 2 * np.pi * np.arange(points) / points
    targets = np.cos(np.multiply.outer(angles, k) + shifts[None, :]) @ coefficients
    inputs = 2**0.5 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    amplitudes = np.zeros(highest + 1)
    amplitudes[k] = coefficients
    return Circle(angles, inputs.astype(np.float32), targets[:, None].astype(np.float32), amplitudes)
