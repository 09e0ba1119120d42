"""Sign descent, a_l ← a_l − η sign(∂loss/∂a_l), on the scalar net: a strip that never closes.

It does not diverge; it ends in an oscillation whose size η sets.
"""

import numpy as np

from lazyrich.theory.deep_linear._checks import whole, within
from lazyrich.theory.deep_linear.scalar import minimum


def sign_amplitude(learning_rate, gamma, depth, target=1.0):
    r"""By how much f jumps a step at the end: :math:`L\eta\,a_*^{L-1}/\gamma`, for η ≪ :math:`a_*`."""
    rate = within("learning_rate", learning_rate, 0)
    return depth * rate * minimum(gamma, depth, target) ** (depth - 1) / np.asarray(gamma, np.float64)


def sign_eta_max(gamma, depth, amplitude, target=1.0):
    r"""η at which `sign_amplitude` is `amplitude`: ∝ γ (lazy), γ^{1/L} (rich).

    >>> print(sign_eta_max(1e-6, 2, 0.1) / sign_eta_max(1e-8, 2, 0.1) > 99.9)
    True
    """
    return within("amplitude", amplitude, 0) / sign_amplitude(1.0, gamma, depth, target)


def sign_eta_min(gamma, depth, steps, fraction=1.0, target=1.0):
    r"""Smallest η that reaches f = q y in T steps, :math:`((1+q\gamma y)^{1/L} - 1)/T`.

    The same powers of γ as `sign_eta_max`: the strip between them has constant width.
    """
    q = within("fraction", fraction, 0, 1, closed=True)
    grown = within("gamma", gamma, 0) * within("target", target, 0) * q
    return np.expm1(np.log1p(grown) / whole("depth", depth, 1)) / whole("steps", steps, 1)
