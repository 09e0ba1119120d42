"""Two-layer ReLU^q network that starts from f = 0."""

from math import factorial

import jax.numpy as jnp
from flax import nnx
from jax import Array
from jax.typing import ArrayLike, DTypeLike

from lazyrich.models.layers import Dense, Tap, activation, identity


class TwoLayer(nnx.Module):
    r"""f(x) = (1/n) Σ_i a_i φ(w_i·x/√d), φ(u) = max(u, 0)^q, in antisymmetric pairs (a, w), (−a, w).

    The pairs make f = 0 at the start without changing the kernel: divided by γ and trained with the
    rate η n γ² on ½·mean|f − y|², it moves in function space at speed η with the kernel of
    `lazyrich.theory.kernels.ntk` when n → ∞ and γ → 0. The 1/n and the rate's n are ``"mup"``'s.

    Args:
        fan_in, width, fan_out: d, n (even) and the number of outputs.
        power: q, one of 1, 2, 3.
        equispaced: first-layer weights on the circle at n/2 equal angles, and all lengths and all |a|
            equal, such that the kernel is on average that of N(0, 1) entries. Without it the
            fluctuations of random angles end the power law. Only for fan_in = 2, fan_out = 1.
        rngs: ``nnx.Rngs(params=key)``.

    Raises ValueError for an odd width, another power, or equispaced angles off the circle.

    >>> model = TwoLayer(2, 64, 1, rngs=nnx.Rngs(params=0))
    >>> bool(jnp.abs(model(jnp.ones((1, 2), jnp.float32)))[0, 0] < 1e-6)
    True
    """

    def __init__(
        self,
        fan_in: int,
        width: int,
        fan_out: int,
        *,
        power: int = 1,
        equispaced: bool = False,
        parametrization: str = "mup",
        rngs: nnx.Rngs,
        dtype: DTypeLike = jnp.float32,
    ):
        if width < 2 or width % 2:
            raise ValueError(f"width = {width}: expected an even number, for pairs")
        if power not in (1, 2, 3):
            raise ValueError(f"power = {power}: expected 1, 2 or 3")
        if equispaced and (fan_in, fan_out) != (2, 1):
            raise ValueError(f"equispaced needs fan_in = 2, fan_out = 1, got {fan_in} and {fan_out}")
        common = dict(width=width, depth=2, parametrization=parametrization, rngs=rngs, dtype=dtype)
        self.first = Dense(fan_in, width, kind="input", **common)
        self.readout = Dense(width, fan_out, kind="output", **common)
        self.activation = activation("relu" if power == 1 else f"relu{power}")
        half = width // 2
        w, a = self.first.kernel[...][:, :half], self.readout.kernel[...][:half]
        if equispaced:
            angles = jnp.arange(half, dtype=dtype) * (2 * jnp.pi / half)
            # |w|^2q and a²|w|^(2q−2) as on average for normal entries: 2^q q! and 2^(q−1) (q−1)!
            length = 2**0.5 * factorial(power) ** (0.5 / power)
            w = length * jnp.stack([jnp.cos(angles), jnp.sin(angles)])
            a = jnp.full((half, 1), (factorial(power) ** (1 / power) / power) ** 0.5, dtype)
        self.first.kernel[...] = jnp.concatenate([w, w], axis=1)
        self.readout.kernel[...] = jnp.concatenate([a, -a])

    def __call__(self, x: ArrayLike, tap: Tap = identity) -> Array:
        """x is (batch, fan_in); feature nodes ``h1`` (pre-activation) and ``h2`` (the output)."""
        h = tap("h1", self.first(x))
        return tap("h2", self.readout(self.activation(h)))
