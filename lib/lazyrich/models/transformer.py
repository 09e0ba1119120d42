"""Pre-LayerNorm transformer on a few tokens, and images cut into them."""

from functools import partial

import jax
import jax.numpy as jnp
from flax import nnx
from jax import Array
from jax.typing import ArrayLike, DTypeLike

from lazyrich.models.layers import Dense, Tap, at_least_one, identity


def patches(images: Array, size: int) -> Array:
    """Images (batch, height, width, channels) as tokens (batch, patches, size² · channels), row by row.

    Raises ValueError when the size does not divide height and width.

    >>> patches(jnp.arange(16.0).reshape(1, 4, 4, 1), 2)[0, 1].tolist()
    [2.0, 3.0, 6.0, 7.0]
    """
    n, height, width, channels = images.shape
    if height % size or width % size:
        raise ValueError(f"size = {size}: expected a divisor of the images' {height} × {width}")
    cut = images.reshape(n, height // size, size, width // size, size, channels)
    return cut.transpose(0, 1, 3, 2, 4, 5).reshape(n, -1, size * size * channels)


class Transformer(nnx.Module):
    """Blocks h ← h + β Attention(N h), h ← h + β W₂ φ(W₁ N h), with N the normalisation of each token.

    φ is the ReLU; attention is softmax over all tokens, in heads. There are no biases, and N has no
    parameters. Tokens are embedded with their positions; the output is linear in the mean over tokens of N h.

    Args:
        fan_in, width, fan_out: sizes of a token, the stream and the output.
        tokens: their number.
        depth: number of blocks; the parametrization sees depth + 2 layers.
        branch_scale: β.
        heads: number of attention heads, a divisor of width.
        expansion: the hidden layer has expansion · width units.
        parametrization: a key of ``parametrization.RULES``; β comes on top of it.
        rngs: ``nnx.Rngs(params=key)``.

    Raises ValueError for a size below 1, heads that do not divide the width, an unknown parametrization.

    >>> model = Transformer(4, 32, 10, tokens=16, depth=2, rngs=nnx.Rngs(params=0))
    >>> model(jnp.ones((5, 16, 4), jnp.float32)).shape
    (5, 10)
    """

    def __init__(
        self,
        fan_in: int,
        width: int,
        fan_out: int,
        *,
        tokens: int,
        depth: int,
        branch_scale: float = 1.0,
        heads: int = 4,
        expansion: int = 2,
        parametrization: str = "mup",
        rngs: nnx.Rngs,
        dtype: DTypeLike = jnp.float32,
    ):
        at_least_one(fan_in=fan_in, width=width, fan_out=fan_out)
        at_least_one(tokens=tokens, depth=depth, heads=heads, expansion=expansion)
        if width % heads:
            raise ValueError(f"heads = {heads}: expected a divisor of width = {width}")

        common = dict(width=width, depth=depth + 2, parametrization=parametrization, rngs=rngs, dtype=dtype)
        dense = partial(Dense, **common)

        def stack(fan_in, fan_out, gain=1.0):
            return nnx.List(dense(fan_in, fan_out, kind="hidden", gain=gain) for _ in range(depth))

        self.embedding = dense(fan_in, width, kind="input")
        # of one-hot input: entries of size 1
        self.positions = dense(tokens, width, kind="input", gain=tokens**0.5)
        self.query, self.key, self.value, self.merge = (stack(width, width) for _ in range(4))
        self.inner = stack(width, expansion * width, 2**0.5)
        self.outer = stack(expansion * width, width)
        self.readout = dense(width, fan_out, kind="output")
        self.branch_scale, self.heads, self.tokens = branch_scale, heads, tokens

    def __call__(self, x: ArrayLike, tap: Tap = identity) -> Array:
        """x is (batch, tokens, fan_in).

        Feature nodes: the stream after embedding ``h0``, after each attention ``a1`` … and after each
        block ``h1`` …; inside the blocks the values ``v1`` … and pre-activations ``u1`` …; ``output``.
        """
        h = tap("h0", self.embedding(x) + self.positions(jnp.eye(self.tokens, dtype=x.dtype))[None])
        for l in range(len(self.query)):
            h = tap(f"a{l + 1}", h + self.branch_scale * self._attention(l, jax.nn.standardize(h), tap))
            u = tap(f"u{l + 1}", self.inner[l](jax.nn.standardize(h)))
            h = tap(f"h{l + 1}", h + self.branch_scale * self.outer[l](jax.nn.relu(u)))
        return tap("output", self.readout(jax.nn.standardize(h).mean(axis=1)))

    def _attention(self, l: int, h: Array, tap: Tap) -> Array:
        """Written out: the library's attention mixes dtypes, which strict promotion refuses in float64."""
        heads = lambda u: u.reshape(*u.shape[:2], self.heads, -1)
        query, key, value = self.query[l](h), self.key[l](h), tap(f"v{l + 1}", self.value[l](h))
        overlap = jnp.einsum("bthc,bshc->bhts", heads(query), heads(key)) * (h.shape[-1] / self.heads) ** -0.5
        mixed = jnp.einsum("bhts,bshc->bthc", jax.nn.softmax(overlap), heads(value))
        return self.merge[l](mixed.reshape(h.shape))


class VisionTransformer(nnx.Module):
    """A `Transformer` on the patches of images.

    Args:
        side, channels: images are (batch, side · side · channels), flat, channels last.
        width, fan_out: sizes of the stream and the output.
        depth: number of blocks.
        patch: side of a patch, a divisor of the images'; None is a quarter of it, 16 tokens.
        head_size: the width is a multiple of it. More width is more heads of this size, not larger ones,
            since 1/√head_size in the softmax is muP only where it stays.
        branch_scale: β; None is depth^(−1/2).
        options: of `Transformer`.

    Raises ValueError for a size below 1 or a divisor that is none, and as `Transformer`.

    >>> model = VisionTransformer(8, 1, 32, 10, depth=2, rngs=nnx.Rngs(params=0))
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
        patch: int | None = None,
        head_size: int = 8,
        branch_scale: float | None = None,
        **options,
    ):
        at_least_one(side=side, channels=channels, depth=depth, head_size=head_size)
        if side % (4 if patch is None else patch):
            divisor = "4, or give patch" if patch is None else f"patch = {patch}"
            raise ValueError(f"side = {side}: expected a multiple of {divisor}")
        if width % head_size:
            raise ValueError(f"width = {width}: expected a multiple of head_size = {head_size}")
        self.patch, self.image = patch or side // 4, (side, side, channels)
        self.transformer = Transformer(
            self.patch**2 * channels,
            width,
            fan_out,
            tokens=(side // self.patch) ** 2,
            depth=depth,
            heads=width // head_size,
            branch_scale=depth**-0.5 if branch_scale is None else branch_scale,
            **options,
        )

    def __call__(self, x: ArrayLike, tap: Tap = identity) -> Array:
        """x is (batch, side·side·channels); feature nodes as in `Transformer`."""
        return self.transformer(patches(x.reshape(-1, *self.image), self.patch), tap)
