"""Convolutional network without biases."""

import jax
import jax.numpy as jnp
from flax import nnx
from jax import Array
from jax.typing import ArrayLike, DTypeLike

from lazyrich.models.layers import Dense, Tap, activation, at_least_one, identity
from lazyrich.models.parametrization import Kind, Shape, scaling


class Conv(nnx.Module):
    """multiplier · (3×3 convolution, zeros outside), stride 1; kernel (3, 3, channels in, channels out)."""

    def __init__(
        self,
        fan_in: int,
        fan_out: int,
        *,
        kind: Kind,
        width: int,
        depth: int,
        parametrization: str,
        rngs: nnx.Rngs,
        gain: float = 1.0,
        dtype: DTypeLike = jnp.float32,
    ):
        rule = scaling(parametrization, kind, Shape(9 * fan_in, width, depth))
        weights = rule.scale * jax.random.normal(rngs.params(), (3, 3, fan_in, fan_out), dtype)
        self.kernel = nnx.Param(weights, rate=rule.rate)
        self.multiplier = gain * rule.multiplier

    def __call__(self, x: ArrayLike) -> Array:
        apply = products if jax.default_backend() == "cpu" else convolution
        return self.multiplier * apply(x, self.kernel[...])


def convolution(x: Array, kernel: Array) -> Array:
    """3×3 convolution of images (batch, side, side, channels), zeros outside, stride 1."""
    layout = ("NHWC", "HWIO", "NHWC")
    return jax.lax.conv_general_dilated(
        x, kernel, window_strides=(1, 1), padding="SAME", dimension_numbers=layout
    )


def products(x: Array, kernel: Array) -> Array:
    """The same as one matrix product with the nine shifted images, nine times the memory.

    In a compiled loop on a CPU, XLA's convolution reaches a tenth of the speed of this.
    """
    side, padded = x.shape[1], jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    shifted = [padded[:, i : i + side, j : j + side] for i in range(3) for j in range(3)]
    return jnp.concatenate(shifted, axis=-1) @ kernel.reshape(-1, kernel.shape[-1])


class CNN(nnx.Module):
    """Convolutions, each after the first preceded by φ and a 2×2 mean; the mean over pixels; a readout.

    Args:
        side, channels: images are (batch, side · side · channels), flat, channels last.
        width: channels of every convolution.
        fan_out: outputs.
        depth: weight matrices, depth − 1 convolutions and the readout; at least 2, and the side must
            survive depth − 2 halvings.
        activation, parametrization, gain, rngs: as in `MLP`; fan_in of a convolution is 9 · channels.

    Raises ValueError for a size out of range, an unknown activation or parametrization.

    >>> model = CNN(8, 1, 16, 10, depth=3, rngs=nnx.Rngs(params=0))
    >>> model(jnp.ones((5, 64), jnp.float32)).shape
    (5, 10)
    """

    def __init__(
        self,
        side: int,
        channels: int,
        width: int,
        fan_out: int,
        *,
        depth: int = 4,
        activation: str = "relu",
        parametrization: str = "mup",
        gain: float = 1.0,
        rngs: nnx.Rngs,
        dtype: DTypeLike = jnp.float32,
    ):
        at_least_one(side=side, channels=channels, width=width, fan_out=fan_out)
        if depth < 2 or side % 2 ** (depth - 2):
            raise ValueError(
                f"depth = {depth}: expected at least 2, with side = {side} a multiple of 2^(depth−2)"
            )
        common = dict(width=width, depth=depth, parametrization=parametrization, rngs=rngs, dtype=dtype)
        first = Conv(channels, width, kind="input", **common)
        hidden = (Conv(width, width, kind="hidden", gain=gain, **common) for _ in range(depth - 2))
        self.convolutions = nnx.List([first, *hidden])
        self.readout = Dense(width, fan_out, kind="output", **common)
        self.activation = _activation(activation)
        self.image = (side, side, channels)

    def __call__(self, x: ArrayLike, tap: Tap = identity) -> Array:
        """x is (batch, side·side·channels). Feature nodes ``h1`` … are the pre-activations and the output."""
        h = tap("h1", self.convolutions[0](x.reshape(-1, *self.image)))
        for l, convolution in enumerate(self.convolutions[1:], start=2):
            h = tap(f"h{l}", convolution(halve(self.activation(h))))
        features = self.activation(h).mean(axis=(1, 2))
        return tap(f"h{len(self.convolutions) + 1}", self.readout(features))


def halve(h: Array) -> Array:
    """Mean of every 2×2 square."""
    batch, side, _, width = h.shape
    return h.reshape(batch, side // 2, 2, side // 2, 2, width).mean(axis=(2, 4))


_activation = activation  # the argument hides the function's name
