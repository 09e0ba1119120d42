r"""The angle of a two-layer network on a batch: width and batch size scaled together (derived in chapter 04).

f(x_i) = σ u·φ(W x_i) with u ~ N(0, 1) and pre-activations of size 1, loss (1/n) Σ r_i f(x_i), that is with
residuals r_i = ∂loss/∂f(x_i). The features' kernel is η G ⊗ 1 with :math:`G = XX^T/d`, of moments
:math:`M_p = \mathrm{tr}\, G^p / n`, and

.. math:: \cos\theta_1 = \frac{M_1}{\sqrt{M_2}} \ \text{(isotropic r)}, \qquad
          S_1 = \frac{1}{m \, \sigma \, \mathrm{rms}(r) \cos\theta_1} .
"""

import numpy as np

FACTORS = {"linear": 1.0, "relu": np.sqrt(2)}
"""1/√E[φ′²], by which the activation lengthens S."""


def joint_batch_cosine(gram: np.ndarray, residual: np.ndarray | None = None) -> float:
    r"""cos θ_1 for a gram (n, n). Without a residual it is isotropic, for linear and ReLU networks alike; a
    given one, (n,), is for the linear network,

    .. math:: \cos\theta_1 = \frac{r^T G r}{|r||Gr|},

    which is 1 on an eigenvector, whatever the moments say.

    Raises ValueError for a gram that is not square or a residual of another length.

    >>> gram = np.diag([3.0, 1.0])
    >>> round(joint_batch_cosine(gram), 4), joint_batch_cosine(gram, np.array([1.0, 0.0]))
    (0.8944, 1.0)
    """
    n = len(gram)
    if gram.shape != (n, n):
        raise ValueError(f"gram has shape {gram.shape}: expected a square matrix")
    if residual is None:
        return float(np.trace(gram) / np.sqrt(n * np.sum(gram**2)))
    if residual.shape != (n,):
        raise ValueError(f"residual has shape {residual.shape}: expected ({n},)")
    image = gram @ residual
    return float(residual @ image / (np.linalg.norm(residual) * np.linalg.norm(image)))


def joint_batch_sensitivity(
    gram: np.ndarray,
    width: int,
    readout: float,
    activation: str = "linear",
    residual_rms: float = 1.0,
) -> float:
    r"""S_1 = rms(ḟ_1)/(−dL/dt) of the first layer alone, for an isotropic residual.

    Args:
        gram: G.
        width: m.
        readout: σ; :math:`\sigma = \sqrt{M_2}/(M_1 m)`, see `joint_batch_readout`, keeps S_1 fixed.
        activation: "linear", or "relu" with a factor √2.
        residual_rms: rms(r).

    Raises ValueError for another activation or numbers that are not positive.

    >>> gram = np.diag([3.0, 1.0])
    >>> round(joint_batch_sensitivity(gram, 100, joint_batch_readout(gram, 100), "relu") ** 2, 12)
    2.0
    """
    if activation not in FACTORS:
        raise ValueError(f"activation = {activation!r}: expected one of {sorted(FACTORS)}")
    for name, value in dict(width=width, readout=readout, residual_rms=residual_rms).items():
        if not value > 0:
            raise ValueError(f"{name} = {value}: expected a positive number")
    return float(FACTORS[activation] / (width * readout * residual_rms * joint_batch_cosine(gram)))


def joint_batch_readout(gram: np.ndarray, width: int) -> float:
    r"""σ = √M₂/(M₁ m), the readout at which features keep their speed as batch and width grow together.

    For isotropic Gaussian inputs in d dimensions it is near √(1 + n/d)/m.

    >>> joint_batch_readout(np.eye(3), 100)
    0.01
    """
    if width < 1:
        raise ValueError(f"width = {width}: expected at least 1")
    return 1 / (width * joint_batch_cosine(gram))
