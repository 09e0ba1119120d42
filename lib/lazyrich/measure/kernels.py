"""The neural tangent kernel of a network as it is, at any width and time."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jax import Array
from jax.typing import ArrayLike
from jaxtyping import Float

from lazyrich.models.layers import learning_rates


def jacobian(graphdef: Any, params: Any, x: Array, outputs: tuple[int, ...], rates: bool = True) -> Array:
    """Gradients of the outputs at each input with respect to all parameters, (n, len(outputs), parameters).

    With ``rates`` each is times √r_k, r_k the layer's learning-rate factor, so that products of rows are
    the kernel that training follows at rate η.
    """
    factors = learning_rates(params)

    def row(params, point):
        return nnx.merge(graphdef, params)(point[None])[0, jnp.array(outputs)]

    def flat(leaf, factor):
        return (factor**0.5 if rates else 1.0) * leaf.reshape(len(x), len(outputs), -1)

    rows = jax.vmap(jax.jacrev(row), in_axes=(None, 0))(params, x)
    return jnp.concatenate(jax.tree.leaves(jax.tree.map(flat, rows, factors)), axis=2)


@partial(jax.jit, static_argnames=("graphdef", "outputs", "rates"))
def _block(graphdef, params, x, z, outputs, rates):
    left, right = (jacobian(graphdef, params, points, outputs, rates) for points in (x, z))
    return jnp.einsum("icp,jcp->ij", left, right) / len(outputs)


def empirical_ntk(
    model: nnx.Module,
    x: ArrayLike,
    z: ArrayLike | None = None,
    *,
    outputs: tuple[int, ...] | None = None,
    rates: bool = True,
    memory: int = 2**28,
) -> Float[np.ndarray, "n m"]:
    r"""Kernel of a network with its present parameters, averaged over outputs,

    .. math:: K(x, z) = \frac{1}{C} \sum_{c} \sum_k r_k \,
              \frac{\partial f_c(x)}{\partial\theta_k} \frac{\partial f_c(z)}{\partial\theta_k},

    of the undivided output f (divide by γ² for f/γ; with training's factor γ² on the rate nothing is left
    to do). It is computed in blocks of inputs whose Jacobians fit into ``memory``.

    Args:
        model: any module (batch, …) → (batch, outputs) whose examples do not interact.
        x, z: inputs, (n, …) and (m, …); z None is x.
        outputs: those averaged over; None is all. At initialisation one stands for all, at 1/C the cost.
        rates: include the layers' learning-rate factors r_k.
        memory: bytes that the two Jacobians of a block may take.

    Raises MemoryError when the Jacobians of two single inputs do not fit.

    >>> from lazyrich.models import TwoLayer
    >>> model = TwoLayer(3, 4096, 1, rngs=nnx.Rngs(params=0))
    >>> bool(abs(empirical_ntk(model, np.ones((1, 3), np.float32))[0, 0] - 1) < 0.1)
    True
    """
    graphdef, params = nnx.split(model, nnx.Param)
    x = jnp.asarray(x)
    symmetric, z = z is None, x if z is None else jnp.asarray(z)
    if outputs is None:
        outputs = tuple(range(jax.eval_shape(model, x[:1]).shape[1]))
    size = memory // jacobian_bytes(model, len(outputs), inputs=2)
    if size < 1:
        needed = jacobian_bytes(model, len(outputs), inputs=2)
        raise MemoryError(f"memory = {memory}: two inputs need {needed} bytes; allow more or choose outputs")
    kernel = np.empty((len(x), len(z)), np.asarray(x[:0]).dtype)
    for i in range(0, len(x), size):
        for j in range(i if symmetric else 0, len(z), size):
            rows, columns = slice(i, i + size), slice(j, j + size)
            block = _block(graphdef, params, x[rows], z[columns], outputs, rates)
            kernel[rows, columns] = block
            if symmetric:
                kernel[columns, rows] = block.T
    return kernel


def jacobian_bytes(model: nnx.Module, outputs: int, inputs: int = 1) -> int:
    """Bytes of the Jacobian of some outputs at some inputs.

    >>> from lazyrich.models import MLP
    >>> jacobian_bytes(MLP(64, 256, 10, depth=3, rngs=nnx.Rngs(params=0)), outputs=10, inputs=100)
    337920000
    """
    leaves = jax.tree.leaves(nnx.state(model, nnx.Param))
    return inputs * outputs * sum(leaf.size * leaf.dtype.itemsize for leaf in leaves)


def alignment(kernel: Float[np.ndarray, "n n"], targets: Float[np.ndarray, "n outputs"]) -> float:
    r"""Cosine between a kernel and the targets' own, :math:`\langle K, YY^T\rangle / (|K| |YY^T|)`.

    Norms are Frobenius'. It is 1 when the kernel is YYᵀ, and at least 0.

    >>> y = np.array([[1.0], [-1.0]])
    >>> alignment(y @ y.T, y), round(alignment(np.eye(2), y), 4)
    (1.0, 0.7071)
    """
    kernel, targets = np.asarray(kernel, np.float64), np.asarray(targets, np.float64)
    own = targets @ targets.T
    return float(np.sum(kernel * own) / np.sqrt(np.sum(kernel**2) * np.sum(own**2)))
