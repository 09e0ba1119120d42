r"""From each paper's symbols and conventions to those of the library, and back.

The papers are FL (arXiv 2409.17858), DM (2402.01092), GE (2410.04642) and FS (2311.18718). The library's own
convention is FL's for power laws and GE's for networks; its rates are those of the loss as it is written,
η of a step and not of a time. Every function has its inverse here, named the other way round.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

__all__ = [
    "Layer",
    "dm_exponents",
    "exponents_from_dm",
    "function_rate",
    "half_square_rate",
    "mean_square_rate",
    "output_scale",
    "parameter_rate",
    "rate_of_step",
    "rate_ratio",
    "reparametrized",
    "step_of_rate",
    "steps_of_time",
    "time_of_steps",
]


def exponents_from_dm(a: ArrayLike, b: ArrayLike) -> tuple[ArrayLike, ArrayLike]:
    r"""Capacity and source (α, β) of DM's a and b.

    DM writes :math:`\lambda_k \propto k^{-b}` and :math:`(w^\star_k)^2 \lambda_k \propto k^{-a}`; here
    :math:`\lambda_k = k^{-\alpha}` and :math:`\lambda_k (w^\star_k)^2 = k^{-\alpha\beta-1}`, so α = b and
    β = (a − 1)/b.

    Raises ValueError for a ≤ 1 (the loss at the start would be infinite) or b ≤ 1.

    >>> alpha, beta = exponents_from_dm(1.75, 1.5)
    >>> print(alpha, beta)
    1.5 0.5
    """
    a, b = _above("a", a, 1), _above("b", b, 1)
    return b, (a - 1) / b


def dm_exponents(alpha: ArrayLike, beta: ArrayLike) -> tuple[ArrayLike, ArrayLike]:
    """DM's (a, b) of capacity α and source β: a = αβ + 1, b = α. The inverse of `exponents_from_dm`.

    >>> print(*dm_exponents(1.5, 0.5))
    1.75 1.5
    """
    alpha, beta = _above("alpha", alpha, 1), _above("beta", beta, 0)
    return alpha * beta + 1, alpha


def rate_ratio(gamma: ArrayLike) -> ArrayLike:
    r"""FL's γ of GE's: :math:`\gamma_{FL} = \gamma_{GE}^2`.

    In FL the hidden layer of :math:`f = w A \psi / N` learns at ηγ and the readout at η; in GE both learn at
    one rate and the output is divided by γ. With a readout that starts at zero (FL) or an output centred on
    its start, :math:`w \to w/\gamma` and a rate ηγ² turn one flow into the other, exactly.

    >>> print(rate_ratio(10.0))
    100.0
    """
    return _above("gamma", gamma, 0) ** 2


def output_scale(gamma: ArrayLike) -> ArrayLike:
    """GE's γ of FL's, the inverse of `rate_ratio`.

    >>> print(output_scale(100.0))
    10.0
    """
    return np.sqrt(_above("gamma", gamma, 0))


def parameter_rate(eta: ArrayLike, gamma: ArrayLike) -> ArrayLike:
    """The rate of a step in parameters, GE's η, of one in function space: ηγ².

    A rate in function space keeps the speed of the output as γ → 0: it is that of
    `lazyrich.training.train` at its default ``rate_power=2``. GE's sweeps, and `lazyrich.training.sweep`,
    use the rate in parameters.

    >>> print(parameter_rate(0.5, 0.1).round(6))
    0.005
    """
    return _above("eta", eta, 0) * _above("gamma", gamma, 0) ** 2


def function_rate(eta: ArrayLike, gamma: ArrayLike) -> ArrayLike:
    """The rate in function space of one in parameters, the inverse of `parameter_rate`.

    >>> print(function_rate(0.005, 0.1).round(6))
    0.5
    """
    return _above("eta", eta, 0) / _above("gamma", gamma, 0) ** 2


def half_square_rate(eta: ArrayLike, outputs: int) -> ArrayLike:
    r"""The rate under :math:`\tfrac12 |f-y|^2` that steps as η does under GE's mean square.

    GE's squared error is the mean over the batch *and* the C outputs, with no ½: its gradient is 2/C of that
    of the half square, summed over outputs.

    >>> print(half_square_rate(1.0, outputs=10))
    0.2
    """
    return _above("eta", eta, 0) * 2 / int(_above("outputs", outputs, 0))


def mean_square_rate(eta: ArrayLike, outputs: int) -> ArrayLike:
    """The rate under GE's mean square of one under the half square, the inverse of `half_square_rate`.

    >>> print(mean_square_rate(0.2, outputs=10))
    1.0
    """
    return _above("eta", eta, 0) * int(_above("outputs", outputs, 0)) / 2


def step_of_rate(eta: ArrayLike, width: int) -> ArrayLike:
    """What multiplies the gradient in GE's networks: Nη, so that the edge of stability is at 2/(Nη).

    >>> print(step_of_rate(0.1, width=64))
    6.4
    """
    return _above("eta", eta, 0) * int(_above("width", width, 0))


def rate_of_step(step: ArrayLike, width: int) -> ArrayLike:
    """GE's η of what multiplies the gradient, the inverse of `step_of_rate`.

    >>> print(rate_of_step(6.4, width=64))
    0.1
    """
    return _above("step", step, 0) / int(_above("width", width, 0))


def time_of_steps(steps: ArrayLike, eta: ArrayLike) -> ArrayLike:
    """t = η · steps: the time of FL, DM and FS, in which gradient descent becomes gradient flow.

    >>> print(time_of_steps(300, 0.5))
    150.0
    """
    return np.asarray(steps, float) * _above("eta", eta, 0)


def steps_of_time(times: ArrayLike, eta: ArrayLike) -> ArrayLike:
    """Steps of a time, not rounded: the inverse of `time_of_steps`.

    >>> print(steps_of_time(150.0, 0.5))
    300.0
    """
    return np.asarray(times, float) / _above("eta", eta, 0)


class Layer(NamedTuple):
    """One layer's parametrization: deviation of its entries at the start, multiplier, learning rate."""

    scale: float
    multiplier: float
    rate: float


def reparametrized(layer: Layer, factor: float) -> Layer:
    r"""The same layer with entries θ times as large: (θ·scale, multiplier/θ, θ²·rate).

    A layer that computes multiplier · W x is unchanged, in value and under SGD at every step, when its
    entries are drawn θ times larger, its multiplier is divided by θ and its rate multiplied by θ². GE's
    networks (entries of deviation 1 and multipliers) and FS's (multiplier 1) are thus the same networks.
    Sign descent and Adam see θ instead of θ². The inverse is `reparametrized` with 1/θ.

    Raises ValueError unless the factor is positive and finite.

    >>> reparametrized(Layer(scale=1.0, multiplier=0.125, rate=64.0), 0.125)
    Layer(scale=0.125, multiplier=1.0, rate=1.0)
    """
    factor = float(_above("factor", factor, 0))
    return Layer(layer.scale * factor, layer.multiplier / factor, layer.rate * factor**2)


def _above(name: str, values: ArrayLike, bound: float) -> ArrayLike:
    values = np.asarray(values, float)
    bad = values[~(np.isfinite(values) & (values > bound))]
    if bad.size:
        raise ValueError(f"{name} = {bad.flat[0]}: expected finite and > {bound}")
    return values
