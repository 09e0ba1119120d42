"""The compiled part of a sweep: a chunk of steps of many cells (γ, η) of one seed, and its probes."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax import Array
from jax.sharding import Mesh, PartitionSpec

from lazyrich.models.centering import difference
from lazyrich.models.layers import learning_rates


@dataclass(frozen=True)
class Program:
    """All that a compiled program depends on besides the shapes of its arrays."""

    graphdef: Any
    loss: Callable
    optimiser: Callable[[], optax.GradientTransformation]
    schedule: Callable[[Array], Array] | None
    centred: bool
    ceiling: float
    chunk: int  # most steps at once
    block: int  # most cells at once on a device
    mesh: Mesh  # of one axis, cells

    def predict(self, theta0, delta, strength, x):
        apply = lambda theta, x: nnx.merge(self.graphdef, theta)(x)
        if self.centred:
            f = difference(apply)(theta0, delta, x)
        else:
            f = apply(jax.tree.map(jnp.add, theta0, delta), x)
        return f / strength.astype(f.dtype)

    def objective(self, delta, theta0, strength, batch):
        x, y = batch
        return self.loss(self.predict(theta0, delta, strength, x), y)


@partial(jax.jit, static_argnums=0, donate_argnums=2)
def advance(program, theta0, cells, draw, key, start, stop):
    """Steps start … stop − 1 of all cells; their losses, (cells, chunk).

    Each device takes its cells a block after the other through all the steps, with the batches drawn
    once before: what a block needs stays in the cache.
    """
    start, stop = jnp.int32(start), jnp.int32(stop)
    batches = draw() if draw.func is fixed else _drawn(partial(draw, key), start, stop, program.chunk)

    def local(theta0, cells, batches, start, stop):
        count = cells["rate"].shape[0]
        blocks = -(-count // program.block)
        split = lambda a: a.reshape(blocks, count // blocks, *a.shape[1:])
        run = partial(_block, program, theta0, batches, draw.func is fixed, start, stop)
        done = jax.lax.map(run, jax.tree.map(split, cells))
        return jax.tree.map(lambda a: a.reshape(count, *a.shape[2:]), done)

    each, same = PartitionSpec("cells"), PartitionSpec()
    apart = jax.shard_map(
        local, mesh=program.mesh, in_specs=(same, each, same, same, same), out_specs=each, check_vma=False
    )
    return apart(theta0, cells, batches, start, stop)


def fixed(x: Array, y: Array, *_: Array) -> tuple[Array, Array]:
    """The same batch at every step."""
    return x, y


def _drawn(draw, start, stop, chunk):
    """The batches of steps start … stop − 1, stacked."""
    empty = jax.tree.map(lambda a: jnp.zeros((chunk, *a.shape), a.dtype), jax.eval_shape(draw, start))
    put = lambda now, into, new: into.at[now - start].set(new)
    return jax.lax.fori_loop(
        start, stop, lambda now, data: jax.tree.map(partial(put, now), data, draw(now)), empty
    )


def _block(program, theta0, batches, fixed, start, stop, cells):
    optimiser, factors = program.optimiser(), learning_rates(theta0)

    def propose(step, cell, batch):
        value, grads = jax.value_and_grad(program.objective)(cell["delta"], theta0, cell["strength"], batch)
        # optax counts steps in weak integers, which strict promotion refuses
        with jax.numpy_dtype_promotion("standard"):
            updates, state = optimiser.update(grads, cell["state"], cell["delta"])
        rate = cell["rate"]
        if program.schedule is not None:
            rate = rate * jnp.asarray(program.schedule(step), rate.dtype)
        move = jax.tree.map(lambda u, r: u * (rate * r).astype(u.dtype), updates, factors)
        delta = jax.tree.map(jnp.add, cell["delta"], move)
        # a sum is not finite where one of its terms is not, and costs no pass of its own
        sound = jnp.stack([jnp.isfinite(m.sum()) for m in jax.tree.leaves(move)]).all()
        alive = (cell["diverged_at"] < 0) & jnp.isfinite(value) & (value <= program.ceiling) & sound
        keep = partial(jax.tree.map, partial(jnp.where, alive))
        new = cell | {
            "delta": keep(delta, cell["delta"]),
            "state": keep(state, cell["state"]),
            "diverged_at": jnp.where((cell["diverged_at"] < 0) & ~alive, step, cell["diverged_at"]),
        }
        return new, jnp.where(alive, value, jnp.inf).astype(jnp.float32)

    def step(now, carry):
        cells, losses = carry
        batch = batches if fixed else jax.tree.map(lambda a: a[now - start], batches)
        cells, values = jax.vmap(propose, in_axes=(None, 0, None))(now, cells, batch)
        return cells, jax.lax.dynamic_update_index_in_dim(losses, values, now - start, 1)

    losses = jnp.zeros((cells["rate"].shape[0], program.chunk), jnp.float32)
    return jax.lax.fori_loop(start, stop, step, (cells, losses))


@partial(jax.jit, static_argnums=0)
def probe(program, theta0, cells, draw, key, step, probes):
    batch = draw(key, step)

    def measure(cell):
        return {n: probe(step, theta0, cell["delta"], cell["strength"], batch) for n, probe in probes.items()}

    return jax.vmap(measure)(cells)


def cell_bytes(program, theta0, draw, key) -> int:
    """An upper estimate: Δ, state and updates thrice, and all that one step computes for one cell."""
    batch = jax.eval_shape(draw, key, jnp.int32(0))
    traced = jax.make_jaxpr(jax.grad(program.objective))(theta0, theta0, jnp.float32(1), batch)
    inner = sum(v.aval.size * v.aval.dtype.itemsize for eqn in traced.jaxpr.eqns for v in eqn.outvars)
    own = sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(theta0))
    return 4 * own + inner
