r"""Laws of the backward-feature angle in ReLU residual networks at initialisation (derived in chapter 04).

One sample, width to infinity, blocks :math:`f_\ell = f_{\ell-1} + \beta W_\ell \varphi(V_\ell f_{\ell-1})`
with W of variance 1/m and V of variance 2/m, one learning rate for all blocks' matrices. θ_ℓ is the angle
at the stream after block ℓ.
"""

import numpy as np
from jaxtyping import Float


def resnet_cosines(
    depth: int, branch_scale: float, *, matrices: int = 2, embedding: float = 0.0
) -> Float[np.ndarray, "depth"]:
    r"""cos θ_ℓ after the blocks ℓ = 1 … depth.

    With :math:`a = \beta^2, F = |f_\ell|^2, s = \langle -b, \dot f \rangle/|b|^2, u = |\dot f|^2/|b|^2` in
    units of :math:`\eta |f_0|^2` and, per block, :math:`c = aF, e = as, g = \frac32 c`,

    .. math:: u \leftarrow (1+a)^2 u + 2s(e+g) + (e+g)^2 + \tfrac12 (2e+c)^2, \quad
              s \leftarrow (1+a)s + g, \quad F \leftarrow (1+a)F, \quad \cos\theta = s/\sqrt u

    exactly as the width grows. For a block with one matrix, :math:`f + \beta W \varphi(f)` with variance 2/m,
    g = c and the last term is e². This is approximate: it takes the ReLU's pattern to be fresh in every
    block, while the stream changes little: cosines come out 1–2 % high at β = D^(−1/2), 3–8 % at β = 1.

    Args:
        depth: number of blocks D, at least 1.
        branch_scale: β, positive.
        matrices: 2 (exact) or 1 (approximate), of a block.
        embedding: the embedding's share, :math:`\eta_0 |x|^2 / (\eta |f_0|^2)`; 0 is a frozen embedding,
            infinity frozen blocks.

    Raises:
        ValueError: depth < 1, branch_scale not positive and finite, another number of matrices, a
            negative embedding.

    >>> resnet_cosines(32, 32**-0.5)[-1].round(4)
    np.float64(0.7779)
    """
    if depth < 1:
        raise ValueError(f"depth = {depth}: expected at least 1")
    if not 0 < branch_scale < np.inf:
        raise ValueError(f"branch_scale = {branch_scale}: expected positive and finite")
    _check(matrices, embedding)
    a = branch_scale**2
    s, c = (1.0, 0.0) if np.isinf(embedding) else (embedding, a)
    u = s**2
    g = 1.5 * c if matrices == 2 else c
    cosines = np.empty(depth)
    for block in range(depth):
        # s, u in units of F and F², which would overflow in a deep network with β = 1
        e = a * s
        branch = (2 * e + c) ** 2 / 2 if matrices == 2 else e**2
        u += (2 * s * (e + g) + (e + g) ** 2 + branch) / (1 + a) ** 2
        s += g / (1 + a)
        cosines[block] = s / np.sqrt(u)
    return cosines


def resnet_deep_limit(
    strength: float, position: float = 1.0, *, matrices: int = 2, embedding: float = 0.0
) -> float:
    r"""cos θ at the relative depth t = ℓ/D as D → ∞ with :math:`\bar a = \beta^2 D` fixed.

    .. math:: \cos^2\theta = \frac{A^2}{A^2 + \frac{2\bar a}{3G}(A^3 - e_0^3)}, \qquad A = e_0 + Gt, \quad
              G = \tfrac32 \bar a \ (\bar a \text{ for one matrix})

    With a frozen embedding (e₀ = 0) this is :math:`(1 + \frac23 \bar a t)^{-1}`, √(3/5) at the output for
    β = D^(−1/2); with frozen blocks (e₀ = ∞) :math:`(1 + 2\bar a t)^{-1}`.

    Args:
        strength: ā, not negative; 0 is β = o(D^(−1/2)), such as 1/D.
        position: t, in [0, 1].
        matrices, embedding: as in `resnet_cosines`.

    Raises ValueError outside these ranges.

    >>> round(resnet_deep_limit(1.0) ** 2, 12), round(resnet_deep_limit(1.0, embedding=np.inf) ** 2, 12)
    (0.6, 0.333333333333)
    """
    if not 0 <= strength < np.inf:
        raise ValueError(f"strength = {strength}: expected at least 0 and finite")
    if not 0 <= position <= 1:
        raise ValueError(f"position = {position}: expected within [0, 1]")
    _check(matrices, embedding)
    growth = (1.5 if matrices == 2 else 1.0) * position  # G t / ā
    if np.isinf(embedding) or strength * growth == 0:
        ratio = 3.0 if np.isinf(embedding) else 0.0
    else:
        # (A³ − e₀³)/(A² G t) without the difference of cubes
        total = embedding + strength * growth
        ratio = (total**2 + total * embedding + embedding**2) / total**2
    return float(1 / np.sqrt(1 + 2 / 3 * strength * position * ratio))


def _check(matrices: int, embedding: float) -> None:
    if matrices not in (1, 2):
        raise ValueError(f"matrices = {matrices}: expected 1 or 2")
    if not embedding >= 0:
        raise ValueError(f"embedding = {embedding}: expected at least 0")
