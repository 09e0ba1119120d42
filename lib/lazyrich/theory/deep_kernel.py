r"""Infinite-width kernels of deep ReLU networks, layer by layer.

f_1 = W_1 x, f_ℓ = W_ℓ φ(f_{ℓ−1}) with variances 1/d and then 2/m. With t the angle between two inputs'
features at layer ℓ and q their squares,

.. math:: S_1 = \frac{x \cdot x'}{d}, \quad
          S_{\ell+1} = \sqrt{q q'}\, \frac{\sin t + (\pi - t)\cos t}{\pi}, \quad
          \dot S_\ell = \frac{\pi - t}{\pi}, \quad
          \Theta = \sum_k S_k \prod_{j \ge k} \dot S_j .

Each layer's term has the same trace. In depth (1 − ρ) L² → 9π²/2 for the features' correlation ρ, and the
normalised Θ tends to ¾·1 + ¼·11ᵀ whatever the data: not ill-conditioned, but data-independent.
"""

import numpy as np
from jaxtyping import Float


def correlations(correlation: float | np.ndarray, depth: int) -> np.ndarray:
    """Correlation ρ_ℓ of two inputs' pre-activations at ℓ = 1 … depth, shape (depth, …).

    Raises ValueError for a correlation outside [−1, 1] or a depth below 1.

    >>> correlations(0.0, 3).round(4)
    array([0.    , 0.3183, 0.4937])
    """
    return np.cos(_angles(np.asarray(correlation, float), depth))


def layer_kernels(gram: np.ndarray, depth: int) -> Float[np.ndarray, "depth n n"]:
    r"""The terms :math:`S_k \prod_{j\ge k} \dot S_j` of the kernel at the output layer: layer k's part of Θ.

    Rates may differ from layer to layer: weight the terms with them.

    Args:
        gram: x·x'/d, (n, n), with a positive diagonal.
        depth: L, number of weight matrices.

    Raises ValueError for a gram that is not a symmetric (n, n) with a positive diagonal, or depth < 1.

    >>> layer_kernels(np.eye(2), 2).trace(axis1=1, axis2=2)
    array([2., 2.])
    """
    if gram.ndim != 2 or gram.shape[0] != gram.shape[1] or not np.allclose(gram, gram.T):
        raise ValueError(f"gram has shape {gram.shape}: expected a symmetric matrix")
    if not (np.diag(gram) > 0).all():
        raise ValueError(f"gram has the diagonal entry {np.diag(gram).min()}: expected positive ones")
    size = np.sqrt(np.outer(np.diag(gram), np.diag(gram)))
    cosine = np.clip(gram / size, -1, 1)
    np.fill_diagonal(cosine, 1)
    angles = _angles(cosine, depth)
    slopes = 1 - angles / np.pi
    # the product over j = k … L−1, from the last layer (none) down
    later = np.ones_like(angles)
    later[:-1] = np.cumprod(slopes[-2::-1], axis=0)[::-1]
    return size * np.cos(angles) * later


def ntk(gram: Float[np.ndarray, "n n"], depth: int) -> Float[np.ndarray, "n n"]:
    """The neural tangent kernel Θ, sum of `layer_kernels`; its diagonal is L times the gram's.

    >>> ntk(np.eye(1), 5)
    array([[5.]])
    """
    return layer_kernels(gram, depth).sum(axis=0)


def normalised_ntk(gram: Float[np.ndarray, "n n"], depth: int) -> Float[np.ndarray, "n n"]:
    """Θ over the square root of its diagonal, both ways. Tends to ¾·1 + ¼·11ᵀ, eigenvalues ¾ and ¾ + n/4.

    >>> np.linalg.eigvalsh(normalised_ntk(np.eye(16), 1024))[[0, -1]].round(2)
    array([0.75, 4.8 ])
    """
    kernel = ntk(gram, depth)
    root = np.sqrt(np.diag(kernel))
    return kernel / np.outer(root, root)


def _angles(cosine: np.ndarray, depth: int) -> np.ndarray:
    """Angles at the layers 1 … depth. Iterated as angles, since a correlation near 1 has lost them."""
    if depth < 1:
        raise ValueError(f"depth = {depth}: expected at least 1")
    if not (np.abs(cosine) <= 1).all():
        raise ValueError(f"correlation = {cosine}: expected within [-1, 1]")
    angles = [np.arccos(cosine)]
    for _ in range(depth - 1):
        t = angles[-1]
        # 1 − cos t' = (1 − cos t) + (t cos t − sin t)/π
        gap = 2 * np.sin(t / 2) ** 2 + (t * np.cos(t) - np.sin(t)) / np.pi
        angles.append(2 * np.arcsin(np.sqrt(np.maximum(gap, 0) / 2)))
    return np.array(angles)
