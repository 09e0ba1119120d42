"""The model of FL trained as the paper writes it, weights and all: slow, and assuming nothing.

    w ← w + η A Σ v,   A ← A + ηγ w (Σ v)ᵀ (A₀ᵀA₀/N),   v = w* − Aᵀw/N,   w(0) = 0, A(0) = A₀,

with Σ = Λ the population's covariance or ΨᵀΨ/P that of P fixed samples. The other solvers of this package
replace A by one function of an eigenvalue; this one keeps it, and so can look at the kernel itself.
"""

from dataclasses import dataclass

import numpy as np

from .checks import require


@dataclass(frozen=True)
class Explicit:
    """Full-batch descent, at the recorded times. All arrays have the shape (times,).

    loss: vᵀΛv; train_loss: vᵀΣv, both without ½. drift: spectral norm of S Sᵀ − (γ/N) w wᵀ − I, which is
    0 in continuous time, relative to that of S Sᵀ. bulk and spike: median and largest eigenvalue of
    Sᵀ S + γ (|w|²/N) I, the tangent kernel relative to its start; `next` is the second largest.
    """

    times: np.ndarray
    loss: np.ndarray
    train_loss: np.ndarray
    drift: np.ndarray
    bulk: np.ndarray
    next: np.ndarray
    spike: np.ndarray


def explicit_descent(projection, target, variances, gamma, learning_rate, times, covariance=None):
    r"""Train w and A by full-batch gradient descent and look at loss and kernel at the given times.

    Args:
        projection: A₀, shape (N, M), N ≤ M. target: w*, shape (M,). variances: λ, shape (M,).
        gamma: feature-learning strength. learning_rate: η.
        times: moved to the nearest whole number of steps of η.
        covariance: Σ, shape (M, M); None is the population's, diag λ.

    ValueError for a rate that is not positive or shapes that do not fit. O(NM) a step, O(N²M) a record.

    >>> a0 = np.random.default_rng(0).standard_normal((8, 64))
    >>> k = np.arange(1.0, 65)
    >>> run = explicit_descent(a0, k**-0.125, k**-1.5, 1.0, 0.01, [0, 10])
    >>> bool(run.loss[1] < run.loss[0]), run.bulk[0].round(12)
    (True, np.float64(1.0))
    """
    require("gamma", gamma, 0)
    require("learning_rate", learning_rate, 0, low_open=True)
    width, modes = projection.shape
    sigma = np.diag(variances) if covariance is None else covariance
    expected = {"target": (target, 1), "variances": (variances, 1), "covariance": (sigma, 2)}
    for name, (array, axes) in expected.items():
        if np.shape(array) != (modes,) * axes:
            raise ValueError(
                f"{name} has shape {np.shape(array)}: expected {(modes,) * axes}, for {modes} modes"
            )
    apply = (lambda v: variances * v) if covariance is None else (lambda v: sigma @ v)
    inverse = np.linalg.solve(projection @ projection.T, projection).T  # A₀⁺, so that S = A A₀⁺
    identity = np.eye(width)
    a, w = projection.copy(), np.zeros(width)
    steps, rows, done = np.rint(np.asarray(times) / learning_rate).astype(int), [], 0
    for step in steps:
        for _ in range(step - done):
            pull = apply(target - w @ a / width)
            w_new = w + learning_rate * (a @ pull)
            a += np.outer(learning_rate * gamma * w, (projection @ pull) @ projection / width)
            w = w_new
        done = step
        v, s = target - w @ a / width, a @ inverse
        square = s @ s.T
        drift = np.linalg.norm(square - gamma / width * np.outer(w, w) - identity, 2)
        kernel = np.linalg.eigvalsh(s.T @ s) + gamma * (w @ w) / width
        rows.append([
            v @ (variances * v), v @ apply(v), drift / np.linalg.norm(square, 2),
            np.median(kernel), kernel[-2], kernel[-1],
        ])  # fmt: skip
    return Explicit(learning_rate * steps, *np.array(rows).T)
