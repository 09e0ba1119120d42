"""Gradient flow on a fixed sample, lazy or rich: train and test loss from one P×P eigendecomposition.

The reduction holds with K of the sample: Gram matrix G = ΦΦᵀ/(NP), Φ = ΨA₀ᵀ (N = ∞: ΨΨᵀ/P), eigenvalues h,
vectors V, ỹ = Vᵀy, weights ν = ỹ²/P. With e = 1 − x h the residual of each direction, the train loss is
Σ ν e² and the predictor is v = w* − A₀ᵀp/N, p = ΦᵀVc/P, c = ỹ(1 − e)/h. Derived in chapter 02.
"""

from dataclasses import dataclass

import numpy as np

from .checks import require, require_exponents, require_times
from .reduction import Measure, evolve, lazy_response


@dataclass(frozen=True)
class Sample:
    """A drawn training set, with its random features where the width is finite.

    features: Ψ, shape (P, M); target: w*, shape (M,); variances: λ, shape (M,); projection: A₀, shape (N, M),
    or None at N = ∞.
    """

    features: np.ndarray
    target: np.ndarray
    variances: np.ndarray
    projection: np.ndarray | None


@dataclass(frozen=True)
class DataCurve:
    """times, train (mean squared residual, no ½), test (Σ λ v²), kernel_growth κ: shape (times,)."""

    times: np.ndarray
    train: np.ndarray
    test: np.ndarray
    kernel_growth: np.ndarray


def draw_sample(alpha, beta, samples, seed, width=None, modes=2000):
    """P Gaussian inputs of the power-law task and, for a finite width, A₀ with standard normal entries.

    >>> draw_sample(1.5, 0.5, 8, seed=0, modes=50).features.shape
    (8, 50)
    """
    require_exponents(alpha, beta)
    require("samples", samples, 1, integer=True)
    require("modes", modes, 1, integer=True)
    if width is not None:
        require("width", width, 1, integer=True)
    generator = np.random.default_rng(seed)
    k = np.arange(1.0, modes + 1)
    variances = k**-alpha
    features = generator.standard_normal((samples, modes)) * np.sqrt(variances)
    projection = None if width is None else generator.standard_normal((width, modes))
    return Sample(features, np.sqrt(k ** (-alpha * beta - 1) / variances), variances, projection)


def data_curve(sample, gamma, times):
    """Train and test loss of gradient flow on `sample` at the feature strength γ ≥ 0; time as in the model.

    >>> curve = data_curve(draw_sample(1.5, 0.5, 8, seed=0, modes=50), 1.0, [0, 1e6])
    >>> bool(curve.train[1] < 1e-9 < curve.test[1] < curve.test[0])
    True
    """
    require("gamma", gamma, 0)
    times = require_times(times)
    count = len(sample.features)
    if sample.projection is None:
        phi = sample.features
    else:
        phi = sample.features @ sample.projection.T / np.sqrt(len(sample.projection))
    h, vectors = np.linalg.eigh(phi @ phi.T / count)
    weights = (vectors.T @ (sample.features @ sample.target)) / np.sqrt(count)
    seen = h > 1e-12 * h[-1]
    x, seen_weights = h[seen], weights[seen]
    floor = float(np.sum(weights[~seen] ** 2))  # what N < P features cannot fit
    measure = Measure(x, seen_weights**2 * x, np.ones_like(x), floor, float(x[-1]))
    if gamma == 0:
        response, growth = lazy_response(measure, times), np.ones_like(times)
    else:
        path = evolve(measure, gamma, times)
        response, growth = path.at(times, path.response), path.at(times, path.kernel_growth)
    learned = (response * seen_weights) @ (vectors[:, seen].T @ phi) / np.sqrt(count)
    if sample.projection is not None:
        learned = learned @ sample.projection / np.sqrt(len(sample.projection))
    test = (sample.target - learned) ** 2 @ sample.variances
    return DataCurve(times, measure.loss(response), test, growth)
