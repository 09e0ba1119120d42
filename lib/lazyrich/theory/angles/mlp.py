r"""Laws of the backward-feature angle at initialisation: one sample, width to infinity.

θ_ℓ is the angle between −b_ℓ, what the loss asks of the features of layer ℓ, and their velocity under
gradient descent (FS, Theorem 2.1; the laws below are derived in chapter 04).

In a network :math:`f_1 = W_1 x, f_\ell = W_\ell \varphi(f_{\ell-1})` let layer k cause the decay C_k of
the loss and :math:`D_\ell = \sum_{k\le\ell} C_k`. Conditioning W_ℓ on :math:`W_\ell^T b_\ell` gives

.. math:: D_\ell^2 \tan^2\theta_\ell = D_{\ell-1}^2 (\tan^2\theta_{\ell-1} + v), \qquad \theta_1 = 0,

with v = κ for Gaussian and κ − 1 for orthogonal weights,
:math:`\kappa = E[\varphi'^4]/E[\varphi'^2]^2` (ReLU 2, linear 1). With equal C_k

.. math:: \cos^2\theta_\ell = \left(1 + v \frac{(\ell-1)(2\ell-1)}{6\ell}\right)^{-1}
          \to \frac{3}{v\ell}.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from scipy.special import erf

Function = Callable[[np.ndarray], np.ndarray]

_density = lambda z: np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)

ACTIVATIONS: dict[str, tuple[Function, Function]] = {
    "relu": (lambda z: np.maximum(z, 0), lambda z: (z > 0) * 1.0),
    "relu2": (lambda z: np.maximum(z, 0) ** 2, lambda z: 2 * np.maximum(z, 0)),
    "relu3": (lambda z: np.maximum(z, 0) ** 3, lambda z: 3 * np.maximum(z, 0) ** 2),
    "linear": (lambda z: z, np.ones_like),
    "tanh": (np.tanh, lambda z: np.cosh(z) ** -2),
    "gelu": (
        lambda z: z * (1 + erf(z / np.sqrt(2))) / 2,
        lambda z: (1 + erf(z / np.sqrt(2))) / 2 + z * _density(z),
    ),
}
"""Activations by name, each with its derivative."""

# Gauss–Legendre on either half line under the normal density, so that a kink at zero costs nothing
_half, _weights = np.polynomial.legendre.leggauss(128)
_half, _weights = 5 * (_half + 1), 5 * _weights  # on [0, 10]; beyond lies 1e-23
_NORMAL = np.concatenate([-_half, _half])
_WEIGHTS = np.concatenate([_weights, _weights]) * _density(_NORMAL)


def activation_moments(activation: str | Function, variance: float = 1.0) -> tuple[float, float, float]:
    r""":math:`E[\varphi^2], E[\varphi'^2]` and :math:`\kappa = E[\varphi'^4]/E[\varphi'^2]^2`.

    Args:
        activation: a key of ``ACTIVATIONS`` or any function of an array, smooth but for a kink at zero.
        variance: of the pre-activations, positive.

    Raises ValueError for an unknown activation, a variance that is not positive, or one at which the
    activation is flat.

    >>> [round(m, 12) for m in activation_moments("relu")]
    [0.5, 0.5, 2.0]
    """
    if isinstance(activation, str):
        if activation not in ACTIVATIONS:
            raise ValueError(
                f"activation = {activation!r}: expected a function or one of {sorted(ACTIVATIONS)}"
            )
        function, derivative = ACTIVATIONS[activation]
    else:
        function, derivative = activation, _derivative(activation)
    if not variance > 0:
        raise ValueError(f"variance = {variance}: expected a positive number")
    z = np.sqrt(variance) * _NORMAL
    square, slope2, slope4 = (
        float(_WEIGHTS @ y) for y in (function(z) ** 2, derivative(z) ** 2, derivative(z) ** 4)
    )
    if not 0 < slope2 < np.inf:
        raise ValueError(
            f"activation {activation!r} has E[φ′²] = {slope2} at variance {variance}: expected positive"
        )
    return square, slope2, slope4 / slope2**2


def _derivative(function: Function) -> Function:
    """Central differences of fourth order that never step over zero."""

    def slope(z):
        h = np.minimum(1e-3, np.abs(z) / 4)
        return (8 * (function(z + h) - function(z - h)) - (function(z + 2 * h) - function(z - 2 * h))) / (
            12 * h
        )

    return slope


def mlp_cosines(
    depth: int,
    activation: str | Function = "relu",
    weights: str = "gaussian",
    weight_variance: float | ArrayLike | None = None,
    contributions: ArrayLike | None = None,
    first_variance: float = 1.0,
) -> Float[np.ndarray, "depth"]:
    r"""cos θ_ℓ of the pre-activations ℓ = 1 … depth of a multilayer perceptron.

    The module's recursion, with κ and :math:`\chi_\ell = s_\ell^2 E[\varphi'^2]` at the variance of the
    layer's pre-activations, which the weights carry from layer to layer. Rates enter through
    :math:`c_k = \eta_k |\varphi(f_{k-1})|^2` and :math:`C_k = c_k |b_k|^2`, where
    :math:`|b_{\ell-1}|^2 = \chi_\ell |b_\ell|^2`.

    Args:
        depth: number of layers, at least 1.
        activation: as in `activation_moments`. ReLU, linear and leaky ReLU do not see the variance.
        weights: "gaussian" (independent entries) or "orthogonal".
        weight_variance: s², entries of W_2 … have the variance s²/fan_in: one number, or one for each of
            the depth − 1 layers. None is critical, χ = 1 at each layer.
        contributions: C_k, relative, of shape (depth,). None is equal c_k, that is rates in inverse
            proportion to the input's square; at criticality they make equal C_k (balanced contributions).
        first_variance: of the entries of f_1.

    Raises:
        ValueError: depth < 1, unknown activation or weights, variances not positive, contributions
            negative or none at the first layer, shapes that differ from those above.

    >>> mlp_cosines(3).round(4)
    array([1.    , 0.8165, 0.6882])
    >>> mlp_cosines(3, activation="linear", weights="orthogonal")
    array([1., 1., 1.])
    """
    excess, chi = _layers(depth, activation, weights, weight_variance, first_variance)
    if contributions is None:
        decay, growth = 1.0, []  # D_ℓ in units of |b_ℓ|², D_ℓ / D_{ℓ−1}
        for x in chi:
            growth.append(1 + 1 / (x * decay))
            decay = x * decay + 1
    else:
        contributions = np.asarray(contributions, float)
        if contributions.shape != (depth,) or not (contributions >= 0).all() or not contributions[0] > 0:
            raise ValueError(
                f"contributions = {contributions}: expected {depth} numbers, the first > 0, others ≥ 0"
            )
        decays = np.cumsum(contributions)
        growth = decays[1:] / decays[:-1]
    tangent2 = [0.0]
    for v, g in zip(excess, growth, strict=True):
        tangent2.append((tangent2[-1] + v) / g**2)
    return 1 / np.sqrt(1 + np.array(tangent2))


def mlp_deep_constant(
    activation: str | Function = "relu", weights: str = "gaussian", variance: float = 1.0
) -> float:
    r""":math:`\sqrt{3/v}`, the limit of cos θ_ℓ √ℓ with balanced contributions; infinite where cos θ stays 1.

    >>> round(mlp_deep_constant() ** 2, 12), mlp_deep_constant("linear", "orthogonal")
    (1.5, inf)
    """
    v = _excess(activation_moments(activation, variance)[2], weights)
    return float(np.sqrt(3 / v)) if v > 0 else np.inf


def _layers(depth, activation, weights, weight_variance, first_variance) -> tuple[list, list]:
    """v and χ of the layers 2 … depth, the pre-activations' variance carried along."""
    if depth < 1:
        raise ValueError(f"depth = {depth}: expected at least 1")
    _excess(1.0, weights)
    scales = None
    if weight_variance is not None:
        scales = np.asarray(weight_variance, float)
        if scales.ndim == 0:
            scales = np.full(depth - 1, scales)
        if scales.shape != (depth - 1,) or not (scales > 0).all():
            raise ValueError(
                f"weight_variance = {weight_variance}: expected a positive number, or one for each of "
                f"the depth − 1 = {depth - 1} layers"
            )
    excess, chi, variance = [], [], first_variance
    activation_moments(activation, variance)  # refuse what is wrong at depth 1 too
    for layer in range(depth - 1):
        square, slope2, kurtosis = activation_moments(activation, variance)
        scale = 1 / slope2 if scales is None else float(scales[layer])
        excess.append(_excess(kurtosis, weights))
        chi.append(scale * slope2)
        variance = scale * square
    return excess, chi


def _excess(kurtosis: float, weights: str) -> float:
    """v. What rounding leaves below κ = 1 is nothing."""
    if weights not in ("gaussian", "orthogonal"):
        raise ValueError(f"weights = {weights!r}: expected 'gaussian' or 'orthogonal'")
    return kurtosis if weights == "gaussian" else max(kurtosis - 1, 0.0)
