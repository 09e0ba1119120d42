"""Learning curves of the solvable model for any width, batch and feature strength."""

from dataclasses import dataclass

import numpy as np

from .checks import require_model, require_times
from .contour import CLOSE, ContourError, converge
from .moments import descend, step_grid
from .reduction import evolve, infinite_width, lazy_response
from .spectrum import power_law

TIMES = 10.0 ** np.arange(-1, 8.01, 0.1)


@dataclass(frozen=True)
class LearningCurve:
    """A learning curve.

    times: t = learning rate × steps, shape (times,). loss: population loss Σ λ_k v_k² without a factor ½.
    kernel_growth: κ = 1 + γ|w|²/N, the factor by which the kernel has grown. floor: the loss at t = ∞.
    stable_until: the last time at which the largest eigenvalue contracts; the loss is inf beyond it.
    """

    times: np.ndarray
    loss: np.ndarray
    kernel_growth: np.ndarray
    floor: float
    stable_until: float = np.inf


FLOW_STEPS, NOISE_STEPS = 60, 40  # a decade: 1e-5 and 1e-4 of the loss


def solve(measure, gamma, times, learning_rate=None, batch=None):
    """The learning curve on a given measure (infinite, finite, sampled or measured)."""
    if learning_rate is not None:
        wanted = np.rint(times / learning_rate)
        moments = descend(
            measure,
            gamma,
            learning_rate,
            np.inf if batch is None else batch,
            step_grid(wanted[-1], NOISE_STEPS, wanted),
        )
        index = np.searchsorted(moments.times, learning_rate * wanted)
        return LearningCurve(
            learning_rate * wanted,
            moments.loss[index],
            moments.kernel_growth[index],
            measure.floor,
            moments.stable_until,
        )
    if gamma == 0:
        loss = measure.loss(lazy_response(measure, times))
        return LearningCurve(times, loss, np.ones_like(times), measure.floor)
    path = evolve(measure, gamma, times, FLOW_STEPS)
    return LearningCurve(times, path.at(times, path.loss), path.at(times, path.kernel_growth), measure.floor)


def learning_curve(
    alpha, beta, gamma=0.0, width=None, batch=None, learning_rate=None, times=TIMES, *, modes=None
):
    """The population loss of the model of FL (arXiv 2409.17858) over time, from theory alone.

    λ_k = k^(−alpha), λ_k (w*_k)² = k^(−alpha·beta−1); predictor f = w·Aψ/N trained by projected SGD with
    feature-learning strength gamma (0: lazy). The loss is Σ λ_k v_k² (no ½), time is learning rate × steps.

    width: N, up to 1e6 (None: ∞), the mean-field limit of random A₀. batch: B fresh samples a step
    (None: the population gradient). learning_rate: None for gradient flow; given, descent by steps, with
    `times` moved to the nearest whole step. A rate too large for the kernel it meets is a result: the loss
    is inf after `stable_until`. modes: number of modes M (None: infinitely many).

    ValueError for parameters out of range, for a batch without a learning rate and for a width not below
    `modes`; RuntimeError if the contour integral does not converge.

    >>> curve = learning_curve(1.5, 0.5, gamma=1.0, times=[1e2, 1e4])
    >>> print(curve.kernel_growth.round(2))
    [ 6.24 26.82]
    """
    require_model(alpha, beta, gamma, width, batch, learning_rate)
    times = require_times(times)
    spectrum = power_law(alpha, beta, modes)
    run = lambda measure: solve(measure, gamma, times, learning_rate, batch)
    if width is None:
        return run(infinite_width(spectrum))
    if modes is not None and width >= modes:
        raise ValueError(f"width = {width!r}: expected a width below modes = {modes!r}")
    if learning_rate is None:
        return converge(spectrum, width, run)
    try:
        curve = converge(spectrum, width, run)
        if np.isinf(curve.stable_until):
            return curve
    except ContourError:
        pass  # points far from the spectrum meet instability first: look closer before judging
    return converge(spectrum, width, run, nodes=768, height=CLOSE)
