r"""Sensitivity at initialisation, exactly at finite depth: speed of the last features per decay of the loss.

.. math:: S = \frac{\mathrm{rms}(\dot f_{L-1})}{-dL/dt} = \frac{D_{L-1}}{D_L}
              \frac{1}{\sqrt m \, |b_{L-1}| \cos\theta_{L-1}}

(FS, Theorem 2.1) for ReLU networks with a scalar output, one sample, ∂L/∂f_L = 1, unit input and features,
width m → ∞. Depth L counts weight matrices, input and output included. Rates give every layer its share 1/L
up to the ReLU's factors: 1/(L |in_k|² |b_k|²) with |in_1|² = d, |in_k|² = m and m σ² for |b_k|².
"""

import numpy as np

from lazyrich.theory.angles.mlp import mlp_cosines


def mlp_sensitivity(depth: int, width: int, readout: float) -> float:
    r"""S of a ReLU network with Gaussian critical weights, features being pre-activations.

    The layers' shares of the decay stand as ½ (input), ¼ (hidden), ½ (output), and
    :math:`|b_{L-1}| = \sigma\sqrt{m/2}`. With :math:`\sigma = \sqrt L / m`, the feature-speed correction,
    S tends to 2/√3 with depth.

    Args:
        depth: L, at least 2.
        width: m.
        readout: σ, standard deviation of the output weights: m^(−1/2) in the NTK scaling, 1/m in
            mean-field/muP, √L/m feature-speed corrected.

    Raises ValueError for a depth below 2, a width below 1 or a readout that is not positive.

    >>> round(mlp_sensitivity(16, 256, 1 / 256), 3)
    4.108
    """
    _check(2, depth, width, readout)
    shares = np.array([0.5] + [0.25] * (depth - 2))
    before = shares.sum()
    return float(
        before
        / (before + 0.5)
        * np.sqrt(2)
        / (readout * width * mlp_cosines(depth - 1, contributions=shares)[-1])
    )


def resnet_sensitivity(depth: int, width: int, readout: float, branch_scale: float) -> float:
    r"""S of a residual network with D = L − 2 blocks :math:`f + \beta W \varphi(f)`, W of variance 2/m.

    Blocks learn at the rate 1/(L β²), so that the embedding's share of the decay stands to a block's as
    1 to F/2, F = (1+β²)^(ℓ−1), and the output's is F; :math:`|b_{L-1}| = \sigma\sqrt m`. In units of 1/L,
    with c = F/2 and e = β² s,

    .. math:: u \leftarrow (1+\beta^2)^2 u + 2s(e+c) + (e+c)^2 + e^2, \quad
              s \leftarrow (1+\beta^2)s + c, \quad S = \frac{\sqrt u}{\sigma m (s + F)}

    from s = u = 1. Approximate as the one-matrix law of `resnet_cosines` is. As L → ∞ with σ = 1/m it tends
    to √(5/3) for β = D^(−1/2) and to 1 for β = 1/D.

    Args:
        depth: L, at least 3.
        width, readout: as in `mlp_sensitivity`.
        branch_scale: β, positive.

    Raises ValueError for a depth below 3, a width below 1, a readout or branch_scale that is not positive.

    >>> round(resnet_sensitivity(16, 256, 1 / 256, 14**-0.5), 3)
    1.135
    """
    _check(3, depth, width, readout)
    if not 0 < branch_scale < np.inf:
        raise ValueError(f"branch_scale = {branch_scale}: expected positive and finite")
    a = branch_scale**2
    s = u = 1.0
    c = 0.5
    for _ in range(depth - 2):  # s, u in units of F and F², as in `resnet_cosines`
        e = a * s
        u += (2 * s * (e + c) + (e + c) ** 2 + e**2) / (1 + a) ** 2
        s += c / (1 + a)
    return float(np.sqrt(u) / (readout * width * (s + 1)))


def _check(least: int, depth: int, width: int, readout: float) -> None:
    if depth < least:
        raise ValueError(f"depth = {depth}: expected at least {least}")
    if width < 1:
        raise ValueError(f"width = {width}: expected at least 1")
    if not 0 < readout < np.inf:
        raise ValueError(f"readout = {readout}: expected positive and finite")
