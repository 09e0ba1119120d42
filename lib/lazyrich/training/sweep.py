r"""Sweeps over the plane of feature strength and learning rate, as one compiled program.

All cells (γ, η) of a seed share θ₀ and the batches. What a cell owns is its increment Δ, so that the
centred network is exact in float32 at any γ (`lazyrich.models.difference`) and the pass at θ₀ is done
once for all cells. The host runs the program in chunks of steps: between chunks it takes the cells that
diverged out and packs the others together.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx
from jax import Array
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jax.tree_util import Partial

from lazyrich.models.centering import difference
from lazyrich.models.layers import learning_rates
from lazyrich.training.loop import OPTIMISERS, _check, _fixed
from lazyrich.training.losses import LOSSES


@dataclass(frozen=True, eq=False)
class Sweep:
    """What a sweep left behind; ``cells`` are the axes of feature_strength and learning_rate together."""

    loss: np.ndarray  # (seeds, *cells, steps) float32, of each batch before its update; inf once diverged
    diverged_at: np.ndarray  # (seeds, *cells), the step at which training stopped being finite, or −1
    probe_steps: np.ndarray  # (k,)
    probes: dict[str, Any]  # name → pytree of (seeds, *cells, k, …); zero once diverged
    theta0: Any  # parameters at the start, each (seeds, …)
    delta: Any  # their final increments, each (seeds, *cells, …); of a diverged cell the last finite ones
    seeds: np.ndarray  # (seeds,)
    feature_strength: np.ndarray  # (*cells)
    learning_rate: np.ndarray  # (*cells), η
    graphdef: Any = field(repr=False)

    @property
    def diverged(self) -> np.ndarray:
        """(seeds, *cells), whether training stopped being finite."""
        return self.diverged_at >= 0

    @property
    def late_median(self) -> np.ndarray:
        """(seeds, *cells), median loss over the last fifth of the steps; inf where training diverged."""
        return np.median(self.loss[..., -max(1, self.loss.shape[-1] // 5) :], axis=-1)

    def apply(self, seed: int, *cell: int) -> Callable[[Any], Array]:
        """The trained centred network of the seed's index and a cell's, as a function of inputs."""
        theta0 = jax.tree.map(lambda a: jnp.asarray(a[seed]), self.theta0)
        delta = jax.tree.map(lambda a: jnp.asarray(a[(seed, *cell)]), self.delta)
        strength = np.float32(self.feature_strength[cell])
        increment = difference(lambda theta, x: nnx.merge(self.graphdef, theta)(x))
        return lambda x: increment(theta0, delta, jnp.asarray(x)) / strength


@dataclass(frozen=True)
class _Program:
    """All that a compiled program depends on besides the shapes of its arrays."""

    graphdef: Any
    loss: Callable
    optimiser: Callable[[], optax.GradientTransformation]
    schedule: Callable[[Array], Array] | None
    centred: bool
    ceiling: float
    chunk: int

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


def sweep(
    make: Callable[[nnx.Rngs], nnx.Module],
    batches: tuple[Any, Any] | Callable[[Array, Array], tuple[Array, Array]],
    *,
    steps: int,
    feature_strength: Any,
    learning_rate: Any,
    seeds: Any = 0,
    loss: str | Callable = "mean_square",
    optimiser: str | Callable[[], optax.GradientTransformation] = "sgd",
    schedule: Callable[[Array], Array] | None = None,
    data_seed: int = 0,
    shared_data: bool = True,
    probes: Mapping[str, Callable] | None = None,
    probe_steps: Any = (),
    centred: bool = True,
    ceiling: float = np.inf,
    memory: int = 2**30,
    chunk: int = 100,
    progress: Callable[[Iterable], Iterable] = iter,
) -> Sweep:
    r"""Train every cell (γ, η) for every seed, in GE's convention:

    .. math:: f = \frac{\tilde f(\theta_0 + \Delta) - \tilde f(\theta_0)}{\gamma}, \qquad
              \Delta \leftarrow \Delta + \eta\, r_k\, s(t)\, u_k

    with u the optimiser's update at rate 1, r_k the layer's rate factor of its parametrization (N in
    muP) and s = ``schedule``. η is a rate in parameters (`lazyrich.theory.conventions.function_rate`).

    Args:
        make: builds the network from ``nnx.Rngs(params=key of the seed)``.
        batches: fixed data (inputs, targets), or a function (key, step) → batch; a
            ``jax.tree_util.Partial`` hands it arrays without compiling them in.
        steps: number of updates.
        feature_strength, learning_rate: γ and η, broadcast together to the cells.
        seeds: a number or a one-dimensional array.
        loss, optimiser, schedule: as in `train`.
        data_seed: seed of the key given to ``batches``.
        shared_data: all seeds see the same batches; otherwise each its own.
        probes: name → ``probe(step, theta0, delta, gamma, batch)``, any pytree of arrays, called before
            the update at ``probe_steps``, mapped over cells.
        centred: subtract the network at the start.
        ceiling: a loss above it counts as diverged, as one that is not finite does.
        memory: bytes that the cells trained together may take; they are split into groups that fit.
        chunk: steps between two looks of the host at which cells still live.
        progress: wraps the iterable of (seed, group) pairs, as `lazyrich.runs.progress` does.

    Raises:
        ValueError: steps < 1, a rate or strength that is not positive and finite, an unknown loss or
            optimiser, probe steps outside the run, a network with state besides its parameters, or a
            memory in which not one cell fits.

    >>> from lazyrich.models import MLP
    >>> x, y = jnp.eye(4, dtype=jnp.float32), jnp.ones((4, 1), jnp.float32)
    >>> gamma, eta = np.array([1e-6, 1.0]), np.array([0.3, 3.0])
    >>> plane = sweep(lambda rngs: MLP(4, 32, 1, depth=2, rngs=rngs), (x, y), steps=50,
    ...               feature_strength=gamma[:, None], learning_rate=eta * gamma[:, None] ** 2)
    >>> plane.loss.shape, bool((plane.late_median[:, :, 0] < plane.loss[:, :, 0, 0]).all())
    ((1, 2, 2, 50), True)
    """
    strengths, rates = np.broadcast_arrays(feature_strength, learning_rate)
    seeds = np.atleast_1d(np.asarray(seeds))
    probe_steps = np.unique(np.asarray(probe_steps, int))
    _check(steps, strengths, rates, probe_steps, loss, optimiser)
    if seeds.ndim != 1:
        raise ValueError(f"seeds of shape {seeds.shape}: expected a number or one dimension")
    if chunk < 1:
        raise ValueError(f"chunk = {chunk}: expected at least 1")
    graphdef, _, rest = nnx.split(nnx.eval_shape(lambda: make(nnx.Rngs(params=0))), nnx.Param, ...)
    if jax.tree.leaves(rest):
        raise ValueError(f"make: the network has state besides its parameters: {rest}")
    program = _Program(
        graphdef,
        LOSSES[loss] if isinstance(loss, str) else loss,
        OPTIMISERS[optimiser] if isinstance(optimiser, str) else optimiser,
        schedule,
        centred,
        float(ceiling),
        min(chunk, steps),
    )
    draw = Partial(batches) if callable(batches) else Partial(_fixed, *map(jnp.asarray, batches))
    probes = {name: Partial(probe) for name, probe in (probes or {}).items()}
    starts = [nnx.state(make(nnx.Rngs(params=jax.random.key(seed))), nnx.Param) for seed in seeds]
    keys = [jax.random.key(data_seed) for _ in seeds]
    if not shared_data:
        keys = [jax.random.fold_in(key, seed) for key, seed in zip(keys, seeds.tolist(), strict=True)]
    groups = _groups(program, starts[0], draw, keys[0], strengths.size, memory)
    flat = strengths.ravel(), rates.ravel()
    results = [
        [
            _train(program, starts[k], draw, keys[k], flat[0][g], flat[1][g], steps, probes, probe_steps)
            for g in groups
        ]
        for k in progress(range(len(seeds)))
    ]
    merged = lambda *parts: np.concatenate(parts).reshape(strengths.shape + parts[0].shape[1:])
    each = [jax.tree.map(merged, *parts) for parts in results]
    stacked = lambda *parts: np.stack(parts)
    losses, diverged_at, recorded, delta = jax.tree.map(stacked, *each)
    return Sweep(
        losses, diverged_at, probe_steps, recorded, jax.tree.map(stacked, *starts), delta,
        seeds, np.array(strengths), np.array(rates), graphdef,
    )  # fmt: skip


def _train(program, theta0, draw, key, strengths, rates, steps, probes, probe_steps):
    """One seed's cells from start to end, in host memory: losses, divergence, probes, increments."""
    count = len(strengths)
    zeros = lambda a: np.zeros((count, *a.shape), a.dtype)
    delta = jax.tree.map(zeros, jax.tree.map(np.asarray, theta0))
    with jax.numpy_dtype_promotion("standard"):
        state = jax.tree.map(np.asarray, jax.vmap(program.optimiser().init)(jax.tree.map(jnp.asarray, delta)))
    cells = {
        "delta": delta, "state": state,
        "strength": np.asarray(strengths, np.float32), "rate": np.asarray(rates, np.float32),
        "diverged_at": np.full(count, -1, np.int32),
    }  # fmt: skip
    losses = np.full((count, steps), np.inf, np.float32)
    recorded: dict[str, Any] = {}
    here = np.arange(count)  # which cells are on the device
    living = _placed(cells, here)
    marks = sorted({*range(0, steps, program.chunk), *probe_steps.tolist(), steps} - {0})
    start = 0
    for stop in [*([0] if 0 in probe_steps else []), *marks]:
        if stop > start:
            living, values = _advance(program, theta0, living, draw, key, start, stop)
            losses[here] = _filled(losses[here], np.asarray(values)[: len(here)], start, stop)
            start = stop
        if stop in probe_steps and len(here):
            seen = _probe(program, theta0, living, draw, key, np.int32(stop), probes)
            slot = int(np.searchsorted(probe_steps, stop))
            for name, tree in seen.items():
                empty = lambda a: np.zeros((count, len(probe_steps), *a.shape[1:]), a.dtype)
                if name not in recorded:
                    recorded[name] = jax.tree.map(empty, tree)
                jax.tree.map(partial(_note, here=here, slot=slot), recorded[name], tree)
        alive = np.asarray(living["diverged_at"])[: len(here)] < 0
        if stop == steps or _bucket(int(alive.sum())) < _bucket(len(here)):
            jax.tree.map(partial(_note, here=here), cells, living)
            here = here[alive]
            if stop < steps and len(here):
                living = _placed(cells, here)
        if not len(here):
            break
    return losses, cells["diverged_at"], recorded, cells["delta"]


def _filled(rows, values, start, stop):
    rows[:, start:stop] = values[:, : stop - start]
    return rows


def _note(into, values, *, here, slot=None):
    into[here if slot is None else (here, slot)] = np.asarray(values)[: len(here)]


def _bucket(count: int) -> int:
    """The sizes that programs are compiled for: a multiple of the devices, at most an eighth too large."""
    devices = len(jax.local_devices())
    unit = devices * max(1, 2 ** (max(int(count), 1) - 1).bit_length() // (4 * devices))
    return -(-max(int(count), 1) // unit) * unit


def _placed(cells, here):
    """The cells of some indices on the devices, padded with copies of the last to a bucket's size."""
    padded = np.concatenate([here, np.full(_bucket(len(here)) - len(here), here[-1])])
    devices = jax.local_devices()
    split = NamedSharding(Mesh(np.array(devices), ("cells",)), PartitionSpec("cells"))
    return jax.tree.map(lambda a: jax.device_put(a[padded], split), cells)


@partial(jax.jit, static_argnums=0, donate_argnums=2)
def _advance(program, theta0, cells, draw, key, start, stop):
    """Steps start … stop − 1 of all cells; their losses, (cells, chunk)."""
    optimiser, factors = program.optimiser(), learning_rates(theta0)

    def propose(step, cell, batch):
        value, grads = jax.value_and_grad(program.objective)(cell["delta"], theta0, cell["strength"], batch)
        # optax counts steps in weak integers, which strict promotion refuses
        with jax.numpy_dtype_promotion("standard"):
            updates, state = optimiser.update(grads, cell["state"], cell["delta"])
        rate = cell["rate"]
        if program.schedule is not None:
            rate = rate * jnp.asarray(program.schedule(step), rate.dtype)
        delta = jax.tree.map(
            lambda d, u, r: d + u * (rate * r).astype(u.dtype), cell["delta"], updates, factors
        )
        sound = jnp.stack([jnp.isfinite(d).all() for d in jax.tree.leaves(delta)]).all()
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
        cells, values = jax.vmap(propose, in_axes=(None, 0, None))(now, cells, draw(key, now))
        return cells, jax.lax.dynamic_update_index_in_dim(losses, values, now - start, 1)

    count = cells["rate"].shape[0]
    losses = jnp.zeros((count, program.chunk), jnp.float32)
    start, stop = jnp.int32(start), jnp.int32(stop)
    return jax.lax.fori_loop(start, stop, step, (cells, losses))


@partial(jax.jit, static_argnums=0)
def _probe(program, theta0, cells, draw, key, step, probes):
    batch = draw(key, step)

    def measure(cell):
        return {n: probe(step, theta0, cell["delta"], cell["strength"], batch) for n, probe in probes.items()}

    return jax.vmap(measure)(cells)


def _groups(program, theta0, draw, key, count: int, memory: int) -> list[np.ndarray]:
    """The cells in groups whose estimated memory fits; ValueError when not one cell does."""
    each = cell_bytes(program, theta0, draw, key)
    fits = memory // each
    if fits < 1:
        raise ValueError(
            f"memory = {memory}: one cell takes about {each} bytes; raise memory, or lower width or batch"
        )
    return np.array_split(np.arange(count), -(-count // fits))


def cell_bytes(program, theta0, draw, key) -> int:
    """An upper estimate: Δ, state and updates thrice, and all that one step computes for one cell."""
    batch = jax.eval_shape(draw, key, jnp.int32(0))
    traced = jax.make_jaxpr(jax.grad(program.objective))(theta0, theta0, jnp.float32(1), batch)
    inner = sum(v.aval.size * v.aval.dtype.itemsize for eqn in traced.jaxpr.eqns for v in eqn.outvars)
    own = sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(theta0))
    return 4 * own + inner
