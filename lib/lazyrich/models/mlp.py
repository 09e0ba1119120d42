"""Multilayer perceptron without biases."""

import jax.numpy as jnp
from flax import nnx
from jax import Array
from jax.typing import ArrayLike, DTypeLike

from lazyrich.models.layers import Dense, Tap, activation, at_least_one, identity


class MLP(nnx.Module):
    """h_1 = W_1 x, h_l = W_l φ(h_{l−1}), output h_L: depth L counts the weight matrices.

    Args:
        fan_in, width, fan_out: sizes of input, hidden layers and output.
        depth: L, at least 1.
        activation: a key of ``layers.ACTIVATIONS``.
        parametrization: a key of ``parametrization.RULES``.
        gain: factor of the hidden layers' multiplier, √2 keeps ReLU features of size 1 in depth.
        rngs: ``nnx.Rngs(params=key)``.

    Raises ValueError for a size below 1, an unknown activation or parametrization.

    >>> model = MLP(64, 32, 10, depth=3, rngs=nnx.Rngs(params=0))
    >>> model(jnp.ones((5, 64), jnp.float32)).shape
    (5, 10)
    """

    def __init__(
        self,
        fan_in: int,
        width: int,
        fan_out: int,
        *,
        depth: int,
        activation: str = "relu",
        parametrization: str = "mup",
        gain: float = 1.0,
        rngs: nnx.Rngs,
        dtype: DTypeLike = jnp.float32,
    ):
        at_least_one(fan_in=fan_in, width=width, fan_out=fan_out, depth=depth)
        sizes = [fan_in] + [width] * (depth - 1) + [fan_out]
        self.layers = nnx.List(
            Dense(
                sizes[l],
                sizes[l + 1],
                kind="output" if l == depth - 1 else "hidden" if l else "input",
                width=width,
                depth=depth,
                parametrization=parametrization,
                gain=gain if 0 < l < depth - 1 else 1.0,
                rngs=rngs,
                dtype=dtype,
            )
            for l in range(depth)
        )
        self.activation = _activation(activation)

    def __call__(self, x: ArrayLike, tap: Tap = identity) -> Array:
        """x is (batch, fan_in). Feature nodes ``h1`` … ``hL`` are the pre-activations and the output."""
        h = x
        for l, layer in enumerate(self.layers):
            h = tap(f"h{l + 1}", layer(self.activation(h) if l else h))
        return h


_activation = activation  # the argument hides the function's name
