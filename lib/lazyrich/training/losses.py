"""Losses of a prediction (batch, outputs) against targets, each a number."""

from collections.abc import Callable

import jax.numpy as jnp
import optax
from jax import Array
from jax.typing import ArrayLike

Loss = Callable[[ArrayLike, ArrayLike], Array]


def half_square(prediction: ArrayLike, target: ArrayLike) -> Array:
    """½·mean over the batch of Σ_outputs (f − y)²; the flow on it decays each mode as e^(−h t).

    >>> float(half_square(jnp.array([[1.0, 1.0]]), jnp.array([[0.0, 0.0]])))
    1.0
    """
    return 0.5 * jnp.mean(jnp.sum((prediction - target) ** 2, axis=1))


def mean_square(prediction: ArrayLike, target: ArrayLike) -> Array:
    """Mean over the batch and the outputs of (f − y)², no ½ (the convention of GE's code)."""
    return jnp.mean((prediction - target) ** 2)


def cross_entropy(logits: ArrayLike, labels: ArrayLike) -> Array:
    """Mean softmax cross entropy; labels are integers (batch,)."""
    return jnp.mean(optax.losses.softmax_cross_entropy_with_integer_labels(logits, labels))


LOSSES: dict[str, Loss] = {
    "half_square": half_square,
    "mean_square": mean_square,
    "cross_entropy": cross_entropy,
}
