r"""Infinite-width kernel of the two-layer ReLU^q network on the circle, where it is a convolution.

Inputs are x(θ) = √2 (cos θ, sin θ), so that |x|² = d and `lazyrich.theory.kernels.ntk` depends on the
angle only; its eigenfunctions are cos kθ and sin kθ under the uniform measure.
"""

import numpy as np
from jaxtyping import Float
from scipy.special import factorial, gammaln, rgamma


def activation_modes(power: int, count: int) -> Float[np.ndarray, "{count}"]:
    r"""Fourier coefficients of max(cos θ, 0)^q for frequencies k = 0 … count − 1,

    .. math:: \frac{1}{2\pi}\int \max(\cos\theta, 0)^q \, e^{-ik\theta} d\theta
              = \frac{q!}{2^{q+1} \, \Gamma(1 + \frac{q+k}{2}) \, \Gamma(1 + \frac{q-k}{2})}.

    They vanish for k > q of the parity of q, and beyond fall as k^(−q−1). For k > q the second Γ is
    reflected, so that nothing overflows.

    >>> activation_modes(1, 4) * np.pi
    array([1.        , 0.78539816, 0.33333333, 0.        ])
    """
    k = np.arange(count)
    low = rgamma(1 + (power + k[: power + 1]) / 2) * rgamma(1 + (power - k[: power + 1]) / 2)
    high = k[power + 1 :]
    size = np.exp(gammaln((high - power) / 2) - gammaln(1 + (power + high) / 2)) / np.pi
    sign = np.array([0.0, 1.0, 0.0, -1.0])[(high - power) % 4]  # sin(π (k − q)/2)
    return factorial(power) / 2 ** (power + 1) * np.concatenate([low, sign * size])


def eigenvalues(power: int, count: int) -> Float[np.ndarray, "{count}"]:
    r"""Eigenvalues h_k of the neural tangent kernel for frequencies k = 0 … count − 1.

    With c(q) the modes of max(cos θ, 0)^q, readout and first layer give

    .. math:: h_k = 2^q q! \, c_k(q)^2 + q^2 \, 2^{q-2} (q-1)! \,
              [c_{k-1}(q-1)^2 + c_{k+1}(q-1)^2],

    a sum of positive terms, so the relative error stays at rounding however small h_k is. They are zero
    for k > q of the parity of q, and fall as k^(−2q) on the other: capacity α = 2q.

    Raises ValueError for a power below 1 or no frequency.

    >>> eigenvalues(1, 6).round(4)
    array([0.304 , 0.25  , 0.0788, 0.    , 0.0086, 0.    ])
    """
    if power < 1:
        raise ValueError(f"power = {power}: expected an integer of at least 1")
    if count < 1:
        raise ValueError(f"count = {count}: expected at least 1")
    value = activation_modes(power, count)
    slope = activation_modes(power - 1, count + 1)
    below, above = slope[np.abs(np.arange(count) - 1)], slope[1 : count + 1]
    readout = 2.0**power * factorial(power) * value**2
    return readout + power**2 * 2.0 ** (power - 2) * factorial(power - 1) * (below**2 + above**2)


def flow(
    power: int, amplitudes: Float[np.ndarray, "k"], times: Float[np.ndarray, "t"]
) -> Float[np.ndarray, "t"]:
    r"""Loss of kernel gradient flow from f = 0 towards y = Σ_k c_k cos(kθ + phase_k), k = 0 … K − 1,

    .. math:: L(t) = c_0^2 e^{-2 h_0 t} + \tfrac12 \sum_{k \ge 1} c_k^2 e^{-2 h_k t},

    the mean of (f − y)² over the circle, no ½; t belongs to the loss ½·mean (f − y)². The phases do not
    matter.

    >>> flow(1, np.array([0.0, 1.0]), np.array([0.0, 2.0])).round(4)
    array([0.5   , 0.1839])
    """
    weights = np.where(np.arange(len(amplitudes)) == 0, 1.0, 0.5) * amplitudes**2
    return np.exp(-2 * np.multiply.outer(times, eigenvalues(power, len(amplitudes)))) @ weights
