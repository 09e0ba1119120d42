"""What remains of the loss at t = ∞ when width or samples are finite."""

import numpy as np

from .checks import require, require_exponents
from .contour import ridge, width_floor
from .spectrum import power_law


def sample_floor(spectrum, samples):
    """Test loss of the minimum-norm interpolant of P samples, N = ∞.

    Σ λ w*² (κ/(λ+κ))² / (1 − (1/P) Σ λ²/(λ+κ)²) with Σ λ/(λ+κ) = P. The end of gradient flow at every
    feature strength.
    """
    kappa = ridge(spectrum, samples)
    if kappa == 0:  # more samples than modes: the target is found
        return 0.0
    share = spectrum.eigenvalues / (spectrum.eigenvalues + kappa)
    return float(spectrum.power @ (1 - share) ** 2 / (1 - spectrum.counts @ share**2 / samples))


def bottleneck(alpha, beta, width=None, samples=None, modes=None):
    """The population loss at t → ∞ limited by `width` N or by `samples` P (one of the two), no factor ½.

    Width: Σ λ w*² κ/(λ+κ), Σ λ/(λ+κ) = N, which falls as N^(−α min(1, β)). Samples: `sample_floor`,
    which falls as P^(−α min(2, β)). Neither depends on γ. Scalar in, float out; array in, array out.
    `modes` truncates the spectrum (None: infinitely many). ValueError if both or none are given.

    >>> print(f"{bottleneck(1.5, 0.5, width=512):.5f}")
    0.03744
    """
    require_exponents(alpha, beta)
    if (width is None) == (samples is None):
        raise ValueError(f"width = {width!r}, samples = {samples!r}: expected exactly one of the two")
    name, sizes, floor = (
        ("width", width, width_floor) if samples is None else ("samples", samples, sample_floor)
    )
    most = np.inf if modes is None else modes
    for size in np.ravel(sizes).tolist():
        require(name, size, 1, most)
    spectrum = power_law(alpha, beta, modes)
    values = np.array([floor(spectrum, size) for size in np.ravel(sizes)]).reshape(np.shape(sizes))
    return values if np.ndim(sizes) else float(values)
