"""Random kernels and random data sets of the model, drawn at finite size: what the theory is compared with.

The first `modes` features are drawn one by one. The infinitely many others enter by their means, which is
all that survives of them when they are many and small: a multiple of the identity in the kernel, and
Gaussian noise of their total power in what depends on the target.
"""

import numpy as np

from .checks import require, require_exponents
from .reduction import Measure
from .spectrum import power_law

MODES = 4096


def draw_kernel(alpha, beta, width, seed, modes=MODES):
    """The measure of one random A₀ with `width` rows: eigenvalues x of K = A₀ΛA₀ᵀ/N, weights (g₀·e_x)²/N.

    Solve it with `solve`; its `floor` is the loss that this draw leaves at t = ∞. O(N² M + N³).

    Args:
        width: N < modes. seed: of NumPy's generator. modes: features drawn one by one.

    ValueError for parameters out of range.

    >>> draw_kernel(1.5, 0.5, 32, seed=0).nodes.shape
    (32,)
    """
    require_exponents(alpha, beta)
    require("modes", modes, 2, integer=True)
    require("width", width, 1, modes - 1, integer=True)
    lam, root, tail = _head(alpha, beta, modes)
    rng = np.random.default_rng(seed)
    scaled = rng.standard_normal((width, modes)) * np.sqrt(lam)
    kernel = scaled @ scaled.T / width
    kernel[np.diag_indices(width)] += tail["trace"] / width
    g0 = scaled @ root + np.sqrt(tail["pull"]) * rng.standard_normal(width)
    x, vectors = np.linalg.eigh(kernel)
    mass = (vectors.T @ g0) ** 2 / width
    power = root @ root + tail["power"]
    return Measure(x, mass, np.ones(width), float(power - np.sum(mass / x)), float(x[-1]))


def draw_sample_floor(alpha, beta, samples, seed, modes=4 * MODES):
    """Test loss Σ λ_k v_k² of the minimum-norm interpolant of `samples` Gaussian inputs, N = ∞, no ½.

    Args:
        samples: P < modes. seed: of NumPy's generator. modes: features drawn one by one.

    ValueError for parameters out of range.

    >>> 0 < draw_sample_floor(1.5, 0.5, 32, seed=0) < 1
    True
    """
    require_exponents(alpha, beta)
    require("modes", modes, 2, integer=True)
    require("samples", samples, 1, modes - 1, integer=True)
    lam, root, tail = _head(alpha, beta, modes)
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((samples, modes)) * np.sqrt(lam)
    gram = features @ features.T
    gram[np.diag_indices(samples)] += tail["trace"]
    labels = features @ (root / np.sqrt(lam)) + np.sqrt(tail["power"]) * rng.standard_normal(samples)
    learned = features.T @ np.linalg.solve(gram, labels)
    return float(np.sum((root - np.sqrt(lam) * learned) ** 2) + tail["power"])


def _head(alpha, beta, modes):
    """λ_k and √λ_k w*_k of the drawn modes, and the sums over the others: Σ λ, Σ λ w*², Σ λ² w*²."""
    k = np.arange(1.0, modes + 1)
    lam, power = k**-alpha, k ** (-alpha * beta - 1)
    whole, part = power_law(alpha, beta), power_law(alpha, beta, modes)
    total = lambda s: (s.counts @ s.eigenvalues, s.power.sum(), s.power @ s.eigenvalues)
    rest = np.maximum(np.subtract(total(whole), total(part)), 0)
    return lam, np.sqrt(power), dict(zip(("trace", "power", "pull"), rest, strict=True))
