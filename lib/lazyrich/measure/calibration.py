"""Learning rates from one backward pass: every layer is given its share of the decay of the loss."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from lazyrich.measure.nodes import paths


def balanced_rates(gradients: Any, decay: float, group: Callable[[str], str] = lambda path: path) -> Any:
    r"""Rates :math:`\eta_k = \delta / (L |g_k|^2)` with which each of L layers causes the decay δ/L.

    Args:
        gradients: pytree of the loss's gradients.
        decay: δ, wanted decay of the loss per unit of time (FS: the scaling desideratum −dL/dt ≍ 1).
        group: maps a parameter's path ("blocks/0/kernel") to its layer; the parameters of a layer share
            a rate. By default each parameter is a layer.

    Returns:
        a pytree of rates like ``gradients``. A layer without gradient gets an infinite rate.

    Raises ValueError for a decay that is not positive.

    >>> rates = balanced_rates({"a": jnp.array([2.0]), "b": jnp.array([1.0, 1.0])}, decay=1.0)
    >>> float(rates["a"]), float(rates["b"])
    (0.125, 0.25)
    """
    if not decay > 0:
        raise ValueError(f"decay = {decay}: expected a positive number")
    leaves, treedef = jax.tree.flatten(gradients)
    layers = [group(path) for path in paths(gradients)]
    squares: dict[str, Any] = {}
    for layer, g in zip(layers, leaves, strict=True):
        squares[layer] = squares.get(layer, 0) + jnp.vdot(g, g)
    return treedef.unflatten([decay / (len(squares) * squares[layer]) for layer in layers])
