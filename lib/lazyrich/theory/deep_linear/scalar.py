r"""The scalar net :math:`f = (\prod_{l=1}^{L} a_l - 1)/\gamma`: minimum, curvature, largest stable rate.

All functions are vectorised over γ and y; depth L counts the weights.
"""

import numpy as np

from lazyrich.theory.deep_linear._checks import whole, within


def output(delta, gamma):
    r"""f at :math:`a_l = 1 + \delta_l` (last axis), without cancellation however small δ is.

    :math:`D \leftarrow D(1 + \delta_l) + \delta_l` builds :math:`\prod_l(1 + \delta_l) - 1`. Arrays may be
    NumPy's or JAX's.

    >>> print(f"{output(np.array([1e-20, 1e-20]), 1e-20):.6f}")
    2.000000
    """
    product = 0 * delta[..., 0]
    for l in range(delta.shape[-1]):
        product = product * (1 + delta[..., l]) + delta[..., l]
    return product / gamma


def minimum(gamma, depth, target=1.0):
    r"""Where the balanced net stops: :math:`a_* = (1 + \gamma y)^{1/L}`.

    >>> print(minimum(7.0, 3))
    2.0
    """
    _, grown, depth = _checked(gamma, depth, target)
    return grown ** (1 / depth)


def sharpness(gamma, depth, target=1.0):
    r"""Top Hessian eigenvalue at the minimum, :math:`\lambda_* = L(1 + \gamma y)^{2 - 2/L}/\gamma^2`.

    It tends to :math:`L\gamma^{-2}` (lazy) and to :math:`L y^{2-2/L}\gamma^{-2/L}` (rich).
    """
    gamma, grown, depth = _checked(gamma, depth, target)
    return depth * grown ** (2 - 2 / depth) / gamma**2


def initial_eigenvalues(gamma, depth, target=1.0):
    r"""Hessian eigenvalues at initialisation, as (along, across).

    Along (1, …, 1): :math:`L/\gamma^2 - (L-1)y/\gamma`, negative when rich; in each of the L − 1
    directions across: :math:`y/\gamma`.
    """
    gamma, _, depth = _checked(gamma, depth, target)
    across = np.asarray(target, np.float64) / gamma
    return depth / gamma**2 - (depth - 1) * across, across


def sharpening(gamma, depth, target=1.0):
    r"""Progressive sharpening :math:`\lambda_*/\lambda_0`, the top eigenvalue at the end over the start.

    Rich it tends to :math:`L (\gamma y)^{1-2/L}`, which for L = 2 is no growth beyond a factor 2; lazy to 1.
    """
    along, across = initial_eigenvalues(gamma, depth, target)
    return sharpness(gamma, depth, target) / (along if depth == 1 else np.maximum(along, across))


def eta_max(gamma, depth, target=1.0):
    r"""Largest learning rate at which the minimum is stable, :math:`\eta_{\max} = 2/\lambda_*`.

    :math:`2\gamma^2/L` (lazy), :math:`(2/L)\,y^{2/L-2}\gamma^{2/L}` (rich): GE's γ² and γ^{2/L}.

    >>> print(f"{eta_max(1e-3, 2):.3g} {eta_max(1e6, 2):.3g}")  # γ²; γ
    9.99e-07 1e+06
    """
    return 2 / sharpness(gamma, depth, target)


def eta_max_cross_entropy(gamma, depth, label):
    r"""The same for the loss ln(1 + e^f) − p f with a soft label p, which has its minimum at a finite f.

    With :math:`f_* = \ln(p/(1-p))`, :math:`2\gamma^2/[L\,p(1-p)(1+\gamma f_*)^{2-2/L}]`: the same powers
    of γ as for the squared loss. It says when the minimum repels, not when the weights blow up
    (`cross_entropy_edge`). Labels are in [½, 1), so that the net need not change sign.
    """
    label = within("label", label, 0, 1)
    if np.any(label < 0.5):
        raise ValueError(f"label = {label}: expected numbers in [0.5, 1)")
    rest = np.log(label / (1 - label))
    gamma, grown, depth = _checked(gamma, depth, rest, name="ln(p/(1−p))")
    return 2 * gamma**2 / (depth * label * (1 - label) * grown ** (2 - 2 / depth))


def _checked(gamma, depth, target, name="target"):
    gamma = within("gamma", gamma, 0)
    target = within(name, target, 0, closed=True)
    return gamma, 1 + gamma * target, whole("depth", depth, 1)
