r"""Infinite-width kernel of the two-layer ReLU^q network, and what its spectrum says about learning.

The network is f(x) = (1/√n) Σ_i a_i φ(w_i·x/√d) with φ(u) = max(u, 0)^q and all entries N(0, 1), every
layer trained. Kernels, eigenvalues and learning curves are float64.
"""

from dataclasses import dataclass
from functools import cached_property
from math import factorial

import numpy as np
import scipy.linalg
from jaxtyping import Float


def arc_cosine(cosine: Float[np.ndarray, "*s"], power: int) -> Float[np.ndarray, "*s"]:
    r"""Arc-cosine function J_q of the angle between two inputs (Cho and Saul, 2009).

    For u, v standard normal with correlation cos φ, E[u₊^q v₊^q] = J_q / 2π and

    .. math:: J_q(\varphi) = q! \int_0^{\pi-\varphi} (\cos\varphi + \cos\psi)^q \, d\psi

    (in polar coordinates the radius integrates out), so J₀ = π − φ and J₁ = sin φ + (π − φ) cos φ.
    The binomial is summed with ∫cos^k ψ dψ from its recurrence.

    >>> arc_cosine(np.array([1.0, -1.0]), 1).round(12)
    array([3.14159265, 0.        ])
    """
    cosine = np.clip(cosine, -1.0, 1.0)
    sine = np.sqrt(1 - cosine**2)
    integrals = [np.pi - np.arccos(cosine), sine]  # ∫_0^{π−φ} cos^k ψ dψ, k = 0, 1
    for k in range(2, power + 1):
        integrals.append(((-cosine) ** (k - 1) * sine + (k - 1) * integrals[k - 2]) / k)
    binomial = [factorial(power) / (factorial(k) * factorial(power - k)) for k in range(power + 1)]
    return factorial(power) * sum(b * cosine ** (power - k) * integrals[k] for k, b in enumerate(binomial))


def ntk(
    x: Float[np.ndarray, "n d"],
    z: Float[np.ndarray, "m _"] | None = None,
    power: int = 1,
    block: int = 512,
) -> Float[np.ndarray, "n m"]:
    r"""Neural tangent kernel of the infinitely wide two-layer ReLU^q network,

    .. math:: k(x, z) = \left(\frac{|x||z|}{d}\right)^q
              \frac{J_q(\varphi) + q^2 \cos\varphi \, J_{q-1}(\varphi)}{2\pi}.

    The first term is the readout's, the second the first layer's.

    Args:
        x, z: inputs; z None is x.
        power: q, a positive integer; 1 is the ReLU.
        block: rows computed at a time, which bounds the memory beside the result.

    Raises:
        ValueError: q < 1, inputs of different dimension or not finite, an input that is zero.

    >>> ntk(np.array([[1.0, 1.0]]))
    array([[1.]])
    """
    z = x if z is None else z
    if power < 1:
        raise ValueError(f"power = {power}: expected an integer of at least 1")
    if x.shape[1] != z.shape[1]:
        raise ValueError(f"z has {z.shape[1]} dimensions, x has {x.shape[1]}: expected the same")
    x, z = np.asarray(x, np.float64), np.asarray(z, np.float64)
    lengths = np.linalg.norm(x, axis=1), np.linalg.norm(z, axis=1)
    for name, length in zip("xz", lengths, strict=True):
        if not (np.isfinite(length).all() and (length > 0).all()):
            raise ValueError(f"{name} has an input that is zero or not finite: it has no direction")
    kernel = np.empty((len(x), len(z)))
    for start in range(0, len(x), block):
        rows = slice(start, start + block)
        scale = np.outer(lengths[0][rows], lengths[1])
        cosine = np.clip(x[rows] @ z.T / scale, -1.0, 1.0)
        angular = arc_cosine(cosine, power) + power**2 * cosine * arc_cosine(cosine, power - 1)
        kernel[rows] = (scale / x.shape[1]) ** power * angular / (2 * np.pi)
    return kernel


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues of a kernel on P inputs, and how the target is spread over its modes.

    ``eigenvalues`` h_k, descending, are those of K/P; ``coefficients`` are c_k = v_k·y/√P, one row a
    mode and one column an output, so that Σ_k |c_k|² is the mean over inputs of |y|². Mode numbers
    start at 1. ``vectors`` has the v_k as columns.
    """

    eigenvalues: Float[np.ndarray, "p"]
    coefficients: Float[np.ndarray, "p outputs"]
    vectors: Float[np.ndarray, "_ _"]

    @cached_property
    def weights(self) -> Float[np.ndarray, "p"]:
        """|c_k|², the part of the target's power in each mode."""
        return (self.coefficients**2).sum(axis=1)

    @cached_property
    def tail(self) -> Float[np.ndarray, "p"]:
        """Σ_{j≥k} |c_j|², what is left of the target without the modes before k."""
        return np.cumsum(self.weights[::-1])[::-1]

    def flow(self, times: Float[np.ndarray, "t"]) -> Float[np.ndarray, "t"]:
        """Training loss of gradient flow from f = 0 on ½·mean|f − y|²: Σ_k |c_k|² e^(−2 h_k t), no ½."""
        return np.exp(-2 * np.multiply.outer(times, self.eigenvalues)) @ self.weights

    def descent(self, learning_rate: float, steps: np.ndarray) -> Float[np.ndarray, "t"]:
        """Training loss after n steps of gradient descent: Σ_k |c_k|² (1 − η h_k)^(2n), no ½.

        Raises ValueError when η is at or above the stability bound 2/h₁.
        """
        bound = 2 / self.eigenvalues[0]
        if not 0 < learning_rate < bound:
            raise ValueError(f"learning_rate = {learning_rate}: expected in (0, {bound:.4g}), below 2/h_1")
        decay = (1 - learning_rate * self.eigenvalues) ** 2
        return decay ** np.expand_dims(np.asarray(steps), -1) @ self.weights

    def test_flow(
        self,
        cross: Float[np.ndarray, "m p"],
        targets: Float[np.ndarray, "m outputs"],
        times: Float[np.ndarray, "t"],
    ) -> Float[np.ndarray, "t"]:
        """Loss of the same gradient flow on m other inputs, no ½.

        ``cross`` is the kernel between them and the training inputs (not divided by P). The prediction
        at time t is Σ_k (1 − e^(−h_k t))/(h_k √P) · (cross v_k) c_k.
        """
        modes = cross @ self.vectors / np.sqrt(len(self.eigenvalues))
        h = self.eigenvalues[:, None]
        # (1 − e^{−ht})/h is t·expm1(−ht)/(−ht), which is t at h = 0
        growth = [t * _relative_expm1(-h * t) * self.coefficients for t in np.asarray(times, float)]
        return np.array([((modes @ g - targets) ** 2).sum(axis=1).mean() for g in growth])


def spectrum(kernel: Float[np.ndarray, "p _"], targets: Float[np.ndarray, "_ outputs"]) -> Spectrum:
    """Eigenvalues of kernel/P and the target's coefficients; O(P³), about 2 s at P = 2,500.

    Raises ValueError when the kernel is not symmetric or the shapes differ.

    >>> s = spectrum(np.diag([1.0, 2.0]), np.ones((2, 1)))
    >>> s.eigenvalues, s.weights
    (array([1. , 0.5]), array([0.5, 0.5]))
    """
    size = len(kernel)
    if kernel.shape != (size, size) or len(targets) != size:
        raise ValueError(f"kernel {kernel.shape}, targets {targets.shape}: expected (p, p) and (p, outputs)")
    asymmetry = np.abs(kernel - kernel.T).max() / np.abs(kernel).max()
    if asymmetry > 1e-6:
        raise ValueError(f"kernel is not symmetric: relative difference {asymmetry:.1e} from its transpose")
    h, vectors = scipy.linalg.eigh((kernel / size).T, driver="evd", overwrite_a=True)
    vectors = vectors[:, ::-1]
    coefficients = vectors.T @ np.asarray(targets, np.float64) / np.sqrt(size)
    return Spectrum(h[::-1].copy(), coefficients, vectors)


@dataclass(frozen=True)
class Exponents:
    """Power laws read off a spectrum in a window of mode numbers, each a positive number.

    h_k ∝ k^(−capacity); the target's power from mode k on ∝ k^(−tail); source = tail/capacity, the
    exponent of the loss in time. ``window`` is (low, high), mode numbers, both included.
    """

    capacity: float
    tail: float
    source: float
    window: tuple[int, int]


def exponents(spectrum: Spectrum, window: tuple[int, int]) -> Exponents:
    """Least-squares slopes of log h_k and of the log tail on log k, for mode numbers in the window.

    The last modes of P inputs know nothing of the distribution: keep the window below P/25.

    Raises ValueError for a window that is empty, or leaves the spectrum's positive part.

    >>> k = np.arange(1, 5001.0)
    >>> tail = k**-0.75
    >>> s = Spectrum(k**-1.5, np.sqrt(-np.diff(tail, append=0))[:, None], np.empty((0, 0)))
    >>> e = exponents(s, (20, 200)); round(e.capacity, 6), round(e.source, 6)
    (1.5, 0.5)
    """
    low, high = window
    positive = int((spectrum.eigenvalues > 0).sum())
    if not 1 <= low < high <= positive:
        raise ValueError(f"window = {window}: expected 1 ≤ low < high ≤ {positive}, the positive eigenvalues")
    modes = slice(low - 1, high)
    k = np.log(np.arange(low, high + 1))
    capacity, tail = (-np.polyfit(k, np.log(y[modes]), 1)[0] for y in (spectrum.eigenvalues, spectrum.tail))
    return Exponents(float(capacity), float(tail), float(tail / capacity), (low, high))


def exponent_changes(
    spectrum: Spectrum, fewer: Spectrum, window: tuple[int, int], shift: float = 1.5
) -> tuple[Exponents, ...]:
    """The exponents with the window moved down and up by a factor, and with ``fewer`` inputs.

    A spectrum has no seeds: how far these lie from `exponents` is the interval of a measured exponent.
    """
    low, high = window
    moved = [(max(1, round(low * f)), round(high * f)) for f in (1 / shift, shift)]
    return (*(exponents(spectrum, w) for w in moved), exponents(fewer, window))


def _relative_expm1(z: np.ndarray) -> np.ndarray:
    """(e^z − 1)/z, 1 at z = 0."""
    safe = np.where(z == 0, 1.0, z)
    return np.where(z == 0, 1.0, np.expm1(safe) / safe)
