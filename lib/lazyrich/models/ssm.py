"""Gated state-space network: blocks whose recurrence depends on the input (as in Mamba)."""

from functools import partial

import jax
import jax.numpy as jnp
from flax import nnx
from jax import Array
from jax.typing import ArrayLike, DTypeLike

from lazyrich.models.layers import Dense, Tap, at_least_one, identity


class StateSpace(nnx.Module):
    r"""Blocks h ← h + β W_out (y ∘ silu(W_z N h)), where y reads a state driven by u = W_u N h,

    .. math:: s_t = e^{-\Delta_t a} s_{t-1} + \Delta_t B_t u_t, \qquad y_t = C_t \cdot s_t, \qquad
              \Delta = \mathrm{softplus}(W_\Delta u), \quad B = W_B u, \quad C = W_C u .

    N normalises each token without parameters. Every channel has its own ``states`` decays a, at first
    1, 2, …, kept positive as e^(log a). The output is linear in the mean over the sequence of N h.

    Args:
        fan_in, width, fan_out: sizes of a token, the stream (and the channels) and the output.
        depth: number of blocks; the parametrization sees depth + 2 layers.
        branch_scale: β.
        states: size of each channel's state.
        parametrization: a key of ``parametrization.RULES``; β comes on top of it, log a has the rate 1.
        rngs: ``nnx.Rngs(params=key)``.

    Raises ValueError for a size below 1 or an unknown parametrization.

    >>> model = StateSpace(4, 32, 10, depth=2, rngs=nnx.Rngs(params=0))
    >>> model(jnp.ones((5, 16, 4), jnp.float32)).shape
    (5, 10)
    """

    def __init__(
        self,
        fan_in: int,
        width: int,
        fan_out: int,
        *,
        depth: int,
        branch_scale: float = 1.0,
        states: int = 4,
        parametrization: str = "mup",
        rngs: nnx.Rngs,
        dtype: DTypeLike = jnp.float32,
    ):
        at_least_one(fan_in=fan_in, width=width, fan_out=fan_out, depth=depth, states=states)

        common = dict(width=width, depth=depth + 2, parametrization=parametrization, rngs=rngs, dtype=dtype)
        dense = partial(Dense, **common)
        stack = lambda fan_out: nnx.List(dense(width, fan_out, kind="hidden") for _ in range(depth))
        self.embedding = dense(fan_in, width, kind="input")
        self.drive, self.gate, self.step, self.out = (stack(width) for _ in range(4))
        self.write, self.read = stack(states), stack(states)
        decays = jnp.log(jnp.arange(1, states + 1, dtype=dtype))
        self.log_decay = nnx.List(nnx.Param(jnp.tile(decays, (width, 1))) for _ in range(depth))
        self.readout = dense(width, fan_out, kind="output")
        self.branch_scale = branch_scale

    def __call__(self, x: ArrayLike, tap: Tap = identity) -> Array:
        """x is (batch, sequence, fan_in).

        Feature nodes: the stream ``h0`` … ``hD``, inside the blocks what is read from the state, before
        the gate, ``y1`` … ``yD``, and ``output``.
        """
        h = tap("h0", self.embedding(x))
        for l in range(len(self.drive)):
            normal = jax.nn.standardize(h)
            u = self.drive[l](normal)
            delta = jax.nn.softplus(self.step[l](u))
            decay = jnp.exp(self.log_decay[l][...])
            y = tap(f"y{l + 1}", scan(u, delta, decay, self.write[l](u), self.read[l](u)))
            h = tap(f"h{l + 1}", h + self.branch_scale * self.out[l](y * jax.nn.silu(self.gate[l](normal))))
        return tap("output", self.readout(jax.nn.standardize(h).mean(axis=1)))


def scan(u: Array, delta: Array, decay: Array, write: Array, read: Array) -> Array:
    """The recurrence of `StateSpace` from s = 0.

    u, delta and the result are (batch, sequence, channels), decay (channels, states), write and read
    (batch, sequence, states).
    """

    def advance(state, now):
        u, delta, write, read = now
        kept = jnp.exp(-delta[:, :, None] * decay[None]) * state
        state = kept + (delta * u)[:, :, None] * write[:, None, :]
        return state, jnp.einsum("bcs,bs->bc", state, read)

    start = jnp.zeros((len(u), *decay.shape), u.dtype)
    along = jax.tree.map(lambda a: jnp.moveaxis(a, 1, 0), (u, delta, write, read))
    return jnp.moveaxis(jax.lax.scan(advance, start, along)[1], 0, 1)
