r"""The exponents of the scaling model in closed form, for t → ∞ at fixed learning rate.

Four lines lead to the rich ones (|u|²/N, κ and τ as in `reduction`):

1. |u|²/N = ∫ h² dμ is the norm of the learned target; for β < 1 it grows as τ^(1−β) in kernel time.
2. κ(κ − 1) = γ |u|²/N, so κ ≈ (γ τ^(1−β))^½ once κ ≫ 1.
3. dτ = κ dt, so τ ≈ γ^(1/(1+β)) t^(2/(1+β)).
4. L ≈ τ^(−β) = γ^(−β/(1+β)) t^(−2β/(1+β)); rich takes over from lazy where γ t^(1−β) ≈ 1.

For β > 1 the norm stays finite, κ saturates, and no exponent changes.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import gamma as gamma_function

from .checks import require, require_exponents


def time_exponent(beta, rich=True):
    r"""χ in L ∝ t^(−χ) at infinite width: β lazy; 2β/(1+β) rich and hard (β < 1), β rich and easy.

    >>> time_exponent(0.5), time_exponent(0.5, rich=False), time_exponent(1.25)
    (0.6666666666666666, 0.5, 1.25)
    """
    beta = require("beta", beta, 0, low_open=True)
    return beta * max(1.0, 2 / (1 + beta)) if rich else beta


def growth_exponent(beta):
    """d log κ / d log t at γ > 0 and late times: (1 − β)/(1 + β) for β < 1, else 0.

    >>> growth_exponent(0.5), growth_exponent(2)
    (0.3333333333333333, 0.0)
    """
    beta = require("beta", beta, 0, low_open=True)
    return max(0.0, (1 - beta) / (1 + beta))


def crossover_time(alpha, beta, gamma):
    r"""The time at which the lazy solution, continued, would have doubled its kernel, for β < 1.

    While lazy, |u|²/N = Σ (w*_k)² (1 − e^(−λ_k t))² ≈ c t^(1−β) with
    c = (1/α) ∫ s^(β−2) (1 − e^(−s))² ds = Γ(β − 1) (2^(1−β) − 2)/α, and κ = 2 where γ |u|²/N = 2:
    t× = (2/(c γ))^(1/(1−β)). No fit, one sum replaced by an integral. Array γ in, array out.

    ValueError for β ≥ 1, where the kernel need never double, and for γ ≤ 0.

    >>> ratio = crossover_time(1.5, 0.5, 1e-4) / crossover_time(1.5, 0.5, 1e-3)
    >>> round(float(ratio), 6)
    100.0
    """
    require_exponents(alpha, beta)
    require("beta", beta, 0, np.nextafter(1, 0), low_open=True)
    for one in np.ravel(gamma):
        require("gamma", one, 0, low_open=True)
    scale = gamma_function(beta - 1) * (2 ** (1 - beta) - 2) / alpha
    return (2 / (scale * np.asarray(gamma, float))) ** (1 / (1 - beta))


class Frontier(NamedTuple):
    """Exponents in compute C = N t: best loss ∝ C^(−loss), at width ∝ C^width and time ∝ C^time."""

    loss: float
    width: float
    time: float


def frontier_exponents(alpha, beta, rich=True):
    r"""The compute-optimal frontier without gradient noise.

    Hard, β < 1: the time and the width bottleneck balance, t^(−χ) = N^(−αβ), so
    width = χ/(χ + αβ) and loss = αβ · width: αβ/(α + 1) lazy, 2αβ/(α(1 + β) + 2) rich.
    Easy, β > 1: t^(−β) meets the transient (1/N) t^(−(1−1/α)) first, so time = α/(αβ + 1) and
    loss = αβ/(αβ + 1), rich or lazy.

    >>> [round(x, 4) for x in frontier_exponents(1.5, 0.5)]
    [0.3529, 0.4706, 0.5294]
    """
    require_exponents(alpha, beta)
    if beta > 1:
        time = alpha / (alpha * beta + 1)
        return Frontier(beta * time, 1 - time, time)
    chi, floor = time_exponent(beta, rich), alpha * beta
    width = chi / (chi + floor)
    return Frontier(floor * width, width, 1 - width)
