"""Residual network of convolutions on images."""

from functools import partial

import jax.numpy as jnp
from flax import nnx
from jax import Array
from jax.typing import ArrayLike, DTypeLike

from lazyrich.models.cnn import Conv, halve
from lazyrich.models.layers import Dense, Tap, activation, at_least_one, identity


class ConvResNet(nnx.Module):
    r"""h_0 = W_0 * x, then D blocks h_l = h_{l−1} + β W_l * φ(V_l * h_{l−1}), V with gain √2; then a readout
    of the mean of φ(h_D) over pixels.

    All W, V are 3×3 convolutions. After a block but the last, while the side is even and above 4, images
    are halved by the mean of every 2×2 square.

    Args:
        side, channels: images are (batch, side · side · channels), flat, channels last.
        width: channels of the stream.
        fan_out: outputs.
        depth: D, number of blocks; the parametrization sees D + 2 layers.
        branch_scale: β; None is D^(−1/2).
        activation, parametrization, rngs: as in `MLP`; β comes on top of the parametrization.

    Raises ValueError for a size below 1, an unknown activation or parametrization.

    >>> model = ConvResNet(8, 1, 16, 10, depth=2, rngs=nnx.Rngs(params=0))
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
        depth: int,
        branch_scale: float | None = None,
        activation: str = "relu",
        parametrization: str = "mup",
        rngs: nnx.Rngs,
        dtype: DTypeLike = jnp.float32,
    ):
        at_least_one(side=side, channels=channels, width=width, fan_out=fan_out, depth=depth)
        common = dict(width=width, depth=depth + 2, parametrization=parametrization, rngs=rngs, dtype=dtype)
        hidden = partial(Conv, width, width, kind="hidden", **common)
        self.embedding = Conv(channels, width, kind="input", **common)
        self.inner = nnx.List(hidden(gain=2**0.5) for _ in range(depth))
        self.outer = nnx.List(hidden() for _ in range(depth))
        self.readout = Dense(width, fan_out, kind="output", **common)
        self.branch_scale = depth**-0.5 if branch_scale is None else branch_scale
        self.activation = _activation(activation)
        self.image = (side, side, channels)

    def __call__(self, x: ArrayLike, tap: Tap = identity) -> Array:
        """x is (batch, side·side·channels).

        Feature nodes: the stream ``h0`` … ``hD``, between them the branches' pre-activations ``u1`` …
        ``uD``, and ``output``.
        """
        h = tap("h0", self.embedding(x.reshape(-1, *self.image)))
        for l, (inner, outer) in enumerate(zip(self.inner, self.outer, strict=True), start=1):
            if l > 1 and h.shape[1] > 4 and h.shape[1] % 2 == 0:
                h = halve(h)
            u = tap(f"u{l}", inner(h))
            h = tap(f"h{l}", h + self.branch_scale * outer(self.activation(u)))
        return tap("output", self.readout(self.activation(h).mean(axis=(1, 2))))


_activation = activation  # the argument hides the function's name
