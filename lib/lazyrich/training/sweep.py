r"""Sweeps over the plane of feature strength and learning rate, as one compiled program.

All cells (γ, η) of a seed share θ₀ and the batches. What a cell owns is its increment Δ, so that the
centred network is exact in float32 at any γ (`lazyrich.models.difference`) and the pass at θ₀ is done
once for all cells. The host runs the program in chunks of steps: between chunks it takes the cells that
diverged out and packs the others together.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx
from jax import Array
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jax.tree_util import Partial

from lazyrich.files import sha256
from lazyrich.models.centering import difference
from lazyrich.training import _chunks as chunks
from lazyrich.training._checkpoint import Store
from lazyrich.training.loop import OPTIMISERS, _check, as_partial
from lazyrich.training.losses import LOSSES

CACHE = 2**19  # bytes of increments that a core takes through a chunk at once


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
    devices: Sequence[jax.Device] | None = None,
    progress: Callable[[Iterable], Iterable] = iter,
    checkpoint: str | Path | None = None,
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
        devices: that share the cells out among them without talking to each other; None is all local ones.
        progress: wraps the list of (seed's index, group) pairs, as `lazyrich.runs.progress` does.
        checkpoint: a folder in which each finished pair is kept. The same call again resumes from there;
            delete the folder when its results are no longer wanted.

    One program is compiled for each of the sizes n, n/2, n/4, … that packing reaches. How cells are
    grouped, packed and shared out does not change them beyond rounding; at the edge of divergence
    training amplifies rounding.

    Raises:
        ValueError: steps < 1, a rate or strength that is not positive and finite, an unknown loss or
            optimiser, probe steps outside the run, a network with state besides its parameters, a
            memory in which not one cell fits, a checkpoint that is damaged or of another sweep.
        OSError: the checkpoint cannot be written or its disk has too little space, before any training.

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
    devices = jax.local_devices() if devices is None else list(devices)
    _check(steps, strengths, rates, probe_steps, loss, optimiser)
    if seeds.ndim != 1 or not seeds.size:
        raise ValueError(f"seeds of shape {seeds.shape}: expected a number or one dimension, not empty")
    if seeds.dtype.kind not in "iu" or not (0 <= seeds.min() <= seeds.max() < 2**32):
        raise ValueError(f"seeds = {seeds.tolist()}: expected integers in 0…2³² − 1")
    if not strengths.size:
        raise ValueError(f"feature_strength, learning_rate of shape {strengths.shape}: expected a cell")
    if chunk < 1:
        raise ValueError(f"chunk = {chunk}: expected at least 1")
    if not devices:
        raise ValueError("devices = []: expected at least one")
    if not ceiling > 0:
        raise ValueError(f"ceiling = {ceiling}: expected above 0")
    graphdef, _, rest = nnx.split(nnx.eval_shape(lambda: make(nnx.Rngs(params=0))), nnx.Param, ...)
    if jax.tree.leaves(rest):
        raise ValueError(f"make: the network has state besides its parameters: {rest}")
    draw = as_partial(batches) if callable(batches) else Partial(chunks.fixed, *map(jnp.asarray, batches))
    probes = {name: as_partial(probe) for name, probe in (probes or {}).items()}
    starts = [nnx.state(make(nnx.Rngs(params=jax.random.key(seed))), nnx.Param) for seed in seeds]
    keys = [jax.random.key(data_seed) for _ in seeds]
    if not shared_data:
        keys = [jax.random.fold_in(key, seed) for key, seed in zip(keys, seeds.tolist(), strict=True)]
    own, batch_bytes = (
        sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(tree))
        for tree in (starts[0], jax.eval_shape(draw, keys[0], jnp.int32(0)))
    )
    devices = devices[: strengths.size]
    program = chunks.Program(
        graphdef,
        LOSSES[loss] if isinstance(loss, str) else loss,
        OPTIMISERS[optimiser] if isinstance(optimiser, str) else optimiser,
        schedule,
        centred,
        float(ceiling),
        min(chunk, steps, max(1, memory // 4 // batch_bytes)),
        max(2, CACHE // own) if devices[0].platform == "cpu" else strengths.size,
        Mesh(np.array(devices), ("cells",)),
    )
    groups = _groups(program, starts[0], draw, keys[0], strengths.size, memory)
    job = _Job(
        program, draw, probes, steps, probe_steps, strengths.ravel(), rates.ravel(), len(groups[0])
    )  # fmt: skip
    pairs = [(k, g) for k in range(len(seeds)) for g in range(len(groups))]
    results: list[list[Any]] = [[] for _ in seeds]
    store = None
    if checkpoint is not None:
        size = len(seeds) * job.result_bytes(starts[0], keys[0], strengths.size)
        store = Store(checkpoint, job.fingerprint(starts, keys, groups), size)
    for k, g in progress(pairs):
        blank = job.blank(starts[k], keys[k], len(groups[g]))
        found = store.load(f"{k}-{g}", blank) if store else None
        if found is None:
            found = job.train(starts[k], keys[k], groups[g], *blank)
            if store:
                store.save(f"{k}-{g}", found)
        results[k].append(found)
    merged = lambda *parts: np.concatenate(parts).reshape(strengths.shape + parts[0].shape[1:])
    each = [jax.tree.map(merged, *parts) for parts in results]
    stacked = lambda *parts: np.stack(parts)
    losses, diverged_at, recorded, delta = jax.tree.map(stacked, *each)
    return Sweep(
        losses, diverged_at, probe_steps, recorded, jax.tree.map(stacked, *starts), delta,
        seeds, np.array(strengths), np.array(rates), graphdef,
    )  # fmt: skip


@dataclass(frozen=True)
class _Job:
    """The training of any group of cells of any seed."""

    program: chunks.Program
    draw: Partial
    probes: dict[str, Partial]
    steps: int
    probe_steps: np.ndarray
    strengths: np.ndarray
    rates: np.ndarray
    largest: int  # cells of the largest group

    def blank(self, theta0, key, count: int) -> tuple[np.ndarray, np.ndarray, Any, Any]:
        """Losses, divergence, probes and increments of some cells before training, in host memory."""
        cells = jax.eval_shape(jax.tree_util.Partial(self._cells, theta0, np.arange(1)))
        seen = jax.eval_shape(
            partial(chunks.probe, self.program), theta0, cells, self.draw, key, jnp.int32(0), self.probes
        )
        return (
            np.full((count, self.steps), np.inf, np.float32),
            np.full(count, -1, np.int32),
            jax.tree.map(lambda a: np.zeros((count, len(self.probe_steps), *a.shape[1:]), a.dtype), seen),
            jax.tree.map(lambda a: np.zeros((count, *a.shape), a.dtype), theta0),
        )

    def _cells(self, theta0, which) -> dict:
        delta = jax.tree.map(lambda a: jnp.zeros((len(which), *a.shape), a.dtype), theta0)
        with jax.numpy_dtype_promotion("standard"):
            state = jax.vmap(self.program.optimiser().init)(delta)
        return {
            "delta": delta, "state": state,
            "strength": jnp.asarray(self.strengths[which], jnp.float32),
            "rate": jnp.asarray(self.rates[which], jnp.float32),
            "diverged_at": jnp.full(len(which), -1, jnp.int32),
        }  # fmt: skip

    def train(self, theta0, key, which, losses, diverged_at, recorded, delta):
        """Train the cells of these indices from start to end; fills and returns the blank results."""
        cells = jax.tree.map(np.array, self._cells(theta0, which))
        cells["delta"], cells["diverged_at"] = delta, diverged_at
        here = np.arange(len(which))  # which of them are on the devices
        size = self._size(len(here), self._whole(self.largest))
        living, start = self._placed(cells, here, size), 0
        looks = {*range(self.program.chunk, self.steps, self.program.chunk), *self.probe_steps.tolist()}
        for stop in sorted({*looks, self.steps}):
            if stop > start:
                living, values = chunks.advance(self.program, theta0, living, self.draw, key, start, stop)
                losses[here, start:stop] = np.asarray(values)[: len(here), : stop - start]
                start = stop
            alive = np.asarray(living["diverged_at"])[: len(here)] < 0
            smaller = self._size(int(alive.sum()), size)
            if stop == self.steps or not alive.any() or smaller < size:
                jax.tree.map(partial(_put, here, slice(len(here))), cells, living)
                here, size, alive = here[alive], smaller, alive[alive]
                if stop == self.steps or not len(here):
                    break
                living = self._placed(cells, here, size)
            if stop in self.probe_steps:
                seen = chunks.probe(self.program, theta0, living, self.draw, key, np.int32(stop), self.probes)
                slot = int(np.searchsorted(self.probe_steps, stop))
                jax.tree.map(partial(_put, (here[alive], slot), np.flatnonzero(alive)), recorded, seen)
        return losses, diverged_at, recorded, delta

    def _whole(self, count: int) -> int:
        """The least number of cells, at least so many, in equal blocks on all devices."""
        devices = self.program.mesh.size
        each = -(-count // devices)
        blocks = -(-each // self.program.block)
        return devices * blocks * -(-each // blocks)

    def _size(self, count: int, size: int) -> int:
        """The least of size, size/2, size/4, …, each made whole, that holds so many cells."""
        while count <= (half := self._whole(-(-size // 2))) < size:
            size = half
        return size

    def _placed(self, cells, here, size):
        """The cells of some indices on the devices, padded with copies of the last."""
        padded = np.concatenate([here, np.full(size - len(here), here[-1])])
        split = NamedSharding(self.program.mesh, PartitionSpec("cells"))
        return jax.tree.map(lambda a: jax.device_put(a[padded], split), cells)

    def result_bytes(self, theta0, key, count: int) -> int:
        return count * sum(leaf.nbytes for leaf in jax.tree.leaves(self.blank(theta0, key, 1)))

    def fingerprint(self, starts, keys, groups) -> str:
        """Changes with whatever changes the results: the program itself, all its arrays, versions."""
        cells = jax.eval_shape(jax.tree_util.Partial(self._cells, starts[0], np.arange(1)))
        asked = starts[0], cells, self.draw, keys[0]
        alone = replace(self.program, mesh=Mesh(self.program.mesh.devices[:1], ("cells",)))
        texts = [
            chunks.advance.lower(alone, *asked, 0, alone.chunk).as_text(),
            chunks.probe.lower(alone, *asked, np.int32(0), self.probes).as_text(),
            repr((self.steps, self.probe_steps.tolist(), [len(g) for g in groups], jax.__version__)),
        ]
        data = [jax.random.key_data(key) for key in keys]
        arrays = jax.tree.leaves((starts, self.draw, self.probes, data, self.strengths, self.rates))
        return sha256("".join([*map(sha256, [t.encode() for t in texts]), *map(_hashed, arrays)]).encode())


def _groups(program, theta0, draw, key, count: int, memory: int) -> list[np.ndarray]:
    """The cells in groups whose estimated memory fits; ValueError when not one cell does."""
    each = chunks.cell_bytes(program, theta0, draw, key)
    fits = memory // each
    if fits < 1:
        raise ValueError(
            f"memory = {memory}: one cell takes about {each} bytes; raise memory, or lower width or batch"
        )
    return np.array_split(np.arange(count), -(-count // fits))


def _hashed(array) -> str:
    array = np.ascontiguousarray(array)
    return sha256(f"{array.shape}{array.dtype}".encode() + array.tobytes())


def _put(where, rows, into, new):
    into[where] = np.asarray(new)[rows]
