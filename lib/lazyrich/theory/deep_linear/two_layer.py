r"""The two-layer linear network of any width on one example, which in (s, K) is two numbers.

With s = u·v/N and K = (|u|² + |v|²)/N, f = (s − s₀)/γ, learning rate Nη and e = ηℓ′(f)/γ, descent is

.. math:: s \leftarrow s - eK + e^2 s,\qquad K \leftarrow K - 4es + e^2 K

exactly. It has minima of different sharpness K/γ², hence a catapult; the balanced scalar net has none.
"""

import math

import numpy as np

from lazyrich.theory.deep_linear._checks import whole, within


def two_layer_step(overlap, kernel, e):
    """(increment of s, increment of K) in one step, from s, K and e = ηℓ′(f)/γ. NumPy or JAX arrays.

    >>> print(two_layer_step(0.0, 2.0, 0.5))
    (-1.0, 0.5)
    """
    return e * (e * overlap - kernel), e * (e * kernel - 4 * overlap)


def monotone_edge(gamma, kernel=2.0):
    """Largest η with a loss that never rises, lazy and squared loss: 2γ²/K₀; N(0, 1) weights have K₀ = 2."""
    return 2 * within("gamma", gamma, 0) ** 2 / within("kernel", kernel, 0)


def catapult_edge(gamma, kernel=2.0):
    """Largest η that trains, lazy and squared loss: 4γ²/K₀.

    Between `monotone_edge` and here the loss rises to O(1/γ²) and the network lands where K is smaller.
    """
    return 2 * monotone_edge(gamma, kernel)


def cross_entropy_edge(gamma, steps=None, bound=1e30):
    r"""Largest η whose weights stay finite under cross-entropy, lazy: :math:`2\sqrt2\,\gamma`.

    The gradient is bounded, so blowing up takes steps of O(1) in the weights and the edge is ∝ γ although
    the minimum repels from γ² on (`eta_max_cross_entropy`). For a label p near ½ the output alternates with
    |ℓ′| = ½; with e = η/2γ, K multiplies by 1 − e² (e < 1) or e² − 1 a step. Within T steps only growth by
    `bound` is seen: :math:`2\sqrt{1 + \mathrm{bound}^{1/T}}\,\gamma`.

    Args:
        gamma: feature-learning strength.
        steps: T; None for no end.
        bound: factor that counts as divergence, > 1.

    >>> print(f"{cross_entropy_edge(1.0):.4f}")
    2.8284
    """
    growth = 1.0 if steps is None else math.exp(np.log(within("bound", bound, 1)) / whole("steps", steps, 1))
    return 2 * math.sqrt(1 + growth) * within("gamma", gamma, 0)
