r"""The backward-to-feature kernel :math:`K_\ell`, which turns what the loss asks of the features into what
they do: :math:`\dot f_\ell = -K_\ell b_\ell` under gradient descent (FS, Theorem 3.2), with

.. math:: K_\ell = \sum_{k \le \ell} \eta_k \,
          \frac{\partial f_\ell}{\partial w_k} \left(\frac{\partial f_\ell}{\partial w_k}\right)^T .

It acts on all entries of the node, the batch included, and is never formed: one vjp and one jvp apply it.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jax import Array
from jaxtyping import Float

from lazyrich.measure.nodes import Apply, find_nodes, run, with_params


def feature_kernel(
    model: nnx.Module | Apply, inputs: Any, node: str, rates: Any = 1.0, params: Any = None
) -> Callable[[Array], Array]:
    r"""The map :math:`z \mapsto K z` at a node, z and K z in the shape of the node.

    Args:
        model, params: as in `feature_speed`.
        inputs: the batch's inputs.
        node: the node's name. At the output K is the neural tangent kernel weighted with the rates.
        rates: :math:`\eta_k`, a number or a pytree of numbers like the parameters.

    Raises ValueError for an unknown node.

    >>> from lazyrich.models import MLP
    >>> model = MLP(4, 16, 1, depth=2, parametrization="ntk", rngs=nnx.Rngs(params=0))
    >>> kernel = feature_kernel(model, 2 * jnp.eye(4, dtype=jnp.float32), "h1")
    >>> z = jnp.ones((4, 16), jnp.float32)  # at the first layer K is η (x·x'/d) ⊗ 1
    >>> bool(jnp.allclose(kernel(z), z))
    True
    """
    apply, params = with_params(model, params)
    find_nodes(apply, params, inputs).index(node)
    features = lambda params: run(apply, params, inputs)[1][node]
    _, push = jax.linearize(features, params)
    _, pull = jax.vjp(features, params)
    if jax.tree.structure(rates) != jax.tree.structure(params):
        rates = jax.tree.map(lambda _: rates, params)

    def kernel(z: Array) -> Array:
        return push(jax.tree.map(lambda g, rate: g * jnp.asarray(rate, g.dtype), *(pull(z)[0], rates)))

    return kernel


def batch_covariance(backward: Float[Array, "n ..."]) -> Float[Array, "n n"]:
    r"""How the samples' backward passes agree: :math:`B_{ij} = \langle b(x_i), b(x_j) \rangle / m`.

    >>> batch_covariance(jnp.array([[1.0, 1.0], [0.0, 2.0]])).tolist()
    [[1.0, 1.0], [1.0, 2.0]]
    """
    b = backward.reshape(len(backward), -1)
    return b @ b.T / b.shape[1]


def moment_cosine(
    kernel: Callable[[Array], Array],
    shape: tuple[int, ...],
    key: Array,
    probes: int = 12,
    covariance: Float[Array, "n n"] | None = None,
    dtype: Any = jnp.float32,
) -> Float[Array, ""]:
    r"""cos θ from the kernel's moments alone, by Hutchinson's estimator.

    .. math:: \cos\theta \to \frac{M_1}{\sqrt{M_2}}, \quad M_p = \frac{\mathrm{tr} K^p}{N}; \qquad
              \cos\theta \to \frac{\mathrm{tr}\,K(B \otimes 1)}
              {\sqrt{\mathrm{tr}(B \otimes 1) \; \mathrm{tr}\,K^2(B \otimes 1)}}

    The first (FS, Theorem 3.2) supposes a backward pass that is isotropic over all entries: at
    initialisation this holds for one sample, and for a batch only with residuals that are uncorrelated
    between samples. The second (derived in chapter 04) takes their covariance B from the actual
    backward pass, see `batch_covariance`.

    Args:
        kernel: from `feature_kernel`. Its scale cancels.
        shape: of the node.
        key: of the probes z ~ N(0, 1), or N(0, B ⊗ 1).
        probes: their number.
        covariance: B, symmetric and positive; None is the identity.

    Raises ValueError for fewer than one probe or a covariance that is not (n, n).

    >>> round(float(moment_cosine(lambda z: 3 * z, (2, 50), jax.random.key(0))), 5)
    1.0
    """
    if probes < 1:
        raise ValueError(f"probes = {probes}: expected at least 1")
    z = jax.random.normal(key, (probes, *shape), dtype)
    if covariance is not None:
        if covariance.shape != (shape[0],) * 2:
            raise ValueError(f"covariance has shape {covariance.shape}: expected {(shape[0],) * 2}")
        values, vectors = jnp.linalg.eigh(covariance)
        root = vectors * jnp.sqrt(jnp.maximum(values, 0.0))[None, :]
        z = jnp.einsum("ij,pj...->pi...", root, z)
    image = jax.lax.map(kernel, z)
    return jnp.vdot(z, image) / jnp.sqrt(jnp.vdot(z, z) * jnp.vdot(image, image))


def conditioning_bound(condition: float) -> float:
    r"""The least cos θ that condition number κ allows: :math:`2\sqrt{\kappa}/(1+\kappa)` (Kantorovich).

    Raises ValueError for a condition number below 1.

    >>> round(conditioning_bound(20.0), 5)
    0.42592
    """
    if not condition >= 1:
        raise ValueError(f"condition = {condition}: expected at least 1")
    return float(2 * np.sqrt(condition) / (1 + condition))
