"""Training as one compiled ``lax.scan`` over steps, mapped over seeds, feature strengths and rates."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
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

from lazyrich.models.layers import learning_rates
from lazyrich.training.losses import LOSSES

OPTIMISERS: dict[str, Callable[[], optax.GradientTransformation]] = {
    "sgd": lambda: optax.sgd(1.0),
    "momentum": lambda: optax.sgd(1.0, momentum=0.9),
    "sign": lambda: optax.sign_sgd(1.0),
    "adam": lambda: optax.adam(1.0),
}


@dataclass(frozen=True, eq=False)
class Run:
    """What training left behind. Leading axes ``cells`` are those of the broadcast arguments of `train`."""

    loss: np.ndarray  # (*cells, steps), the loss of each batch before its update; inf once diverged
    diverged_at: np.ndarray  # (*cells), the step at which training stopped being finite, −1 if it never did
    probe_steps: np.ndarray  # (k,), the steps at which probes were taken
    probes: dict[str, Any]  # name → pytree of (*cells, k, …)
    params: Any  # final parameters, each (*cells, …); of a diverged cell the last finite ones
    seeds: np.ndarray  # (*cells)
    feature_strength: np.ndarray  # (*cells)
    learning_rate: np.ndarray  # (*cells), η
    graphdef: Any  # with one cell's params, the network

    def model(self, *cell: int) -> nnx.Module:
        """The trained network f̃ of one cell, not divided by γ."""
        return nnx.merge(self.graphdef, jax.tree.map(lambda a: a[cell], self.params))

    @property
    def times(self) -> np.ndarray:
        """t = η · steps before each loss, (*cells, steps)."""
        return np.multiply.outer(self.learning_rate, np.arange(self.loss.shape[-1]))

    @property
    def diverged(self) -> np.ndarray:
        """(*cells), whether training stopped being finite."""
        return self.diverged_at >= 0


def log_steps(steps: int, per_decade: int = 10) -> np.ndarray:
    """Distinct steps 0 … steps − 1, evenly spaced in log(1 + step), first and last included.

    >>> log_steps(100, per_decade=2)
    array([ 0,  2,  9, 31, 99])
    """
    count = max(2, 1 + round(per_decade * np.log10(steps)))
    return np.unique(np.round(np.geomspace(1, steps, count)).astype(int) - 1)


def as_partial(function: Callable) -> Partial:
    """The function as a pytree; one that is one already keeps its arrays outside the compiled program."""
    return function if isinstance(function, Partial) else Partial(function)


@dataclass(frozen=True)
class _Program:
    """All that a compiled program depends on besides the shapes of its arrays."""

    graphdef: Any
    loss: Callable
    optimiser: Callable[[], optax.GradientTransformation]
    schedule: Callable[[Array], Array] | None
    rate_power: float
    centred: bool
    shared_batches: bool
    ceiling: float


def train(
    make: Callable[[nnx.Rngs], nnx.Module],
    batches: tuple[Any, Any] | Callable[[Array, Array], tuple[Array, Array]],
    *,
    steps: int,
    learning_rate: Any,
    feature_strength: Any = 1.0,
    seeds: Any = 0,
    loss: str | Callable = "half_square",
    optimiser: str | Callable[[], optax.GradientTransformation] = "sgd",
    schedule: Callable[[Array], Array] | None = None,
    rate_power: float = 2.0,
    centred: bool = False,
    data_seed: int = 0,
    shared_batches: bool = True,
    evaluate: Mapping[str, tuple[Any, Any]] | None = None,
    probes: Mapping[str, Callable] | None = None,
    probe_steps: Any = None,
    ceiling: float = np.inf,
) -> Run:
    r"""Train one network for every cell of (seeds, feature strengths γ, learning rates η).

    .. math:: f = \frac{\tilde f(\theta) - [\tilde f(\theta_0)]}{\gamma}, \qquad
              \theta_k \leftarrow \theta_k + \eta \, \gamma^{p} \, r_k \, s(t) \, u_k

    with u the optimiser's update at rate 1 (for SGD minus the gradient), r_k the layer's rate factor of
    its parametrization, p = ``rate_power`` and s = ``schedule``. p = 2 keeps the speed in function
    space as γ → 0, so that t = η · steps; p = 0 is a rate in parameter space, as in GE's sweeps.

    Args:
        make: builds the network f̃ from ``nnx.Rngs(params=key of the seed)``.
        batches: fixed data (inputs, targets), or a function (key, step) → batch, called in the compiled
            loop. A ``jax.tree_util.Partial`` hands it arrays without compiling them in.
        steps: number of updates.
        learning_rate, feature_strength, seeds: numbers or arrays, broadcast together as in NumPy;
            ``seeds[:, None]`` with ``feature_strength[None, :]`` makes a grid.
        loss: a key of ``losses.LOSSES`` or a function (prediction, target) → number.
        optimiser: a key of ``OPTIMISERS``, or a function that returns an optax transformation of rate 1.
        schedule: a function step → factor of the rate.
        centred: subtract the network at initialisation.
        data_seed: seed of the key given to ``batches``.
        shared_batches: all cells see the same batches; otherwise each seed has its own.
        evaluate: name → (inputs, targets) whose loss is recorded at ``probe_steps``.
        probes: name → ``probe(step, params, batch, grads, updates)``, any pytree of arrays, called before
            the update is applied.
        probe_steps: steps at which ``evaluate`` and ``probes`` are recorded; None is `log_steps`.
        ceiling: a loss above it counts as diverged, as one that is not finite does.

    A cell that diverges keeps its last finite parameters and its step in ``diverged_at``; the others go
    on. The program is compiled once for each make's graph, functions and shapes: pass the same function
    objects again to reuse it. With several devices the cells are shared out among them when their
    number divides.

    Raises:
        ValueError: steps < 1, a rate or strength that is not positive and finite, an unknown loss or
            optimiser, probe steps outside the run, a network with state besides its parameters.

    >>> from lazyrich.models import TwoLayer
    >>> x, y = jnp.eye(4, dtype=jnp.float32), jnp.ones((4, 1), jnp.float32)
    >>> run = train(lambda rngs: TwoLayer(4, 64, 1, rngs=rngs), (x, y), steps=50, learning_rate=0.5,
    ...             feature_strength=0.1, seeds=np.arange(3))
    >>> run.loss.shape, run.diverged.any(), bool((run.loss[:, -1] < 0.1 * run.loss[:, 0]).all())
    ((3, 50), np.False_, True)
    """
    seeds, strengths, rates = np.broadcast_arrays(seeds, feature_strength, learning_rate)
    probe_steps = log_steps(max(steps, 1)) if probe_steps is None else np.unique(probe_steps)
    _check(steps, strengths, rates, probe_steps, loss, optimiser)
    abstract = nnx.eval_shape(lambda: make(nnx.Rngs(params=0)))
    graphdef, _, rest = nnx.split(abstract, nnx.Param, ...)
    if jax.tree.leaves(rest):
        raise ValueError(f"make: the network has state besides its parameters: {rest}")
    program = _Program(
        graphdef,
        LOSSES[loss] if isinstance(loss, str) else loss,
        OPTIMISERS[optimiser] if isinstance(optimiser, str) else optimiser,
        schedule,
        rate_power,
        centred,
        shared_batches,
        ceiling,
    )

    def initial(seed: Array) -> Any:
        return nnx.state(make(nnx.Rngs(params=jax.random.key(seed))), nnx.Param)

    cells = {
        "params": jax.vmap(initial)(jnp.asarray(seeds.ravel(), jnp.uint32)),
        "seed": jnp.asarray(seeds.ravel(), jnp.uint32),
        "strength": jnp.asarray(strengths.ravel(), jnp.float32),
        "rate": jnp.asarray(rates.ravel(), jnp.float32),
    }
    slots = np.full(steps, -1, np.int32)
    slots[probe_steps] = np.arange(len(probe_steps))
    params, diverged_at, losses, recorded = _run(
        program,
        _shared_out(cells, seeds.size),
        as_partial(batches) if callable(batches) else Partial(_fixed, *map(jnp.asarray, batches)),
        jax.tree.map(jnp.asarray, dict(evaluate or {})),
        {name: as_partial(probe) for name, probe in (probes or {}).items()},
        jnp.asarray(slots),
        len(probe_steps),
        jax.random.key(data_seed),
    )
    leading = lambda a: np.asarray(a).reshape(seeds.shape + a.shape[1:])
    return Run(
        loss=leading(losses.T),
        diverged_at=leading(diverged_at),
        probe_steps=probe_steps,
        probes=jax.tree.map(lambda a: leading(jnp.moveaxis(a, 0, 1)), recorded),
        params=jax.tree.map(lambda a: a.reshape(seeds.shape + a.shape[1:]), params),
        seeds=np.array(seeds),
        feature_strength=np.array(strengths),
        learning_rate=np.array(rates),
        graphdef=graphdef,
    )


@partial(jax.jit, static_argnums=(0, 6))
def _run(program, cells, batches, evaluate, probes, slots, slot_count, key):
    """The compiled program: a scan over steps whose body is mapped over cells."""
    optimiser = program.optimiser()
    start = cells["params"]
    factors = learning_rates(start)

    def predict(params, cell, x):
        f = nnx.merge(program.graphdef, params)(x)
        if program.centred:
            f = f - nnx.merge(program.graphdef, cell["params"])(x)
        return f / cell["strength"].astype(f.dtype)

    def objective(params, cell, batch):
        x, y = batch
        return program.loss(predict(params, cell, x), y)

    def propose(step, params, state, cell, batch):
        """Loss, gradients and the update of one cell, not applied yet."""
        value, grads = jax.value_and_grad(objective)(params, cell, batch)
        # optax counts steps in weak integers, which strict promotion refuses
        with jax.numpy_dtype_promotion("standard"):
            updates, state = optimiser.update(grads, state, params)
        rate = cell["rate"] * cell["strength"] ** program.rate_power
        if program.schedule is not None:
            rate = rate * jnp.asarray(program.schedule(step), rate.dtype)
        updates = jax.tree.map(lambda u, r: u * (rate * r).astype(u.dtype), updates, factors)
        return value, grads, updates, state

    def measure(step, params, cell, batch, grads, updates):
        losses = {name: objective(params, cell, data) for name, data in evaluate.items()}
        return losses | {name: probe(step, params, batch, grads, updates) for name, probe in probes.items()}

    def finite(value, updates):
        sizes = [jnp.isfinite(u).all() for u in jax.tree.leaves(updates)]
        return jnp.isfinite(value) & (value <= program.ceiling) & jnp.stack(sizes).all()

    batch_axis = None if program.shared_batches else 0

    def draw(step):
        if program.shared_batches:
            return batches(key, step)
        return jax.vmap(lambda seed: batches(jax.random.fold_in(key, seed), step))(cells["seed"])

    propose_all = jax.vmap(propose, in_axes=(None, 0, 0, 0, batch_axis))
    measure_all = jax.vmap(measure, in_axes=(None, 0, 0, batch_axis, 0, 0))

    def step(carry, now):
        params, state, diverged_at, records = carry
        index, slot = now
        batch = draw(index)
        value, grads, updates, proposed = propose_all(index, params, state, cells, batch)
        alive = (diverged_at < 0) & jax.vmap(finite)(value, updates)
        records = jax.lax.cond(
            slot >= 0,
            lambda: jax.tree.map(
                lambda record, new: record.at[slot].set(new),
                records,
                measure_all(index, params, cells, batch, grads, updates),
            ),
            lambda: records,
        )
        keep = jax.vmap(lambda alive, new, old: jax.tree.map(partial(jnp.where, alive), new, old))
        params = keep(alive, jax.tree.map(jnp.add, params, updates), params)
        state = keep(alive, proposed, state)
        diverged_at = jnp.where((diverged_at < 0) & ~alive, index, diverged_at)
        return (params, state, diverged_at, records), jnp.where(alive, value, jnp.inf)

    with jax.numpy_dtype_promotion("standard"):
        state = jax.vmap(optimiser.init)(start)

    def first_records():
        batch = draw(slots[0])
        _, grads, updates, _ = propose_all(slots[0], start, state, cells, batch)
        return measure_all(slots[0], start, cells, batch, grads, updates)

    shapes = jax.eval_shape(first_records)
    records = jax.tree.map(lambda s: jnp.zeros((slot_count, *s.shape), s.dtype), shapes)
    none = jnp.full(cells["seed"].shape, -1, jnp.int32)
    indices = jnp.arange(len(slots), dtype=jnp.int32)
    (params, _, diverged_at, records), losses = jax.lax.scan(
        step, (start, state, none, records), (indices, slots)
    )
    return params, diverged_at, losses, records


def _fixed(x: Array, y: Array, key: Array, step: Array) -> tuple[Array, Array]:
    """The same batch at every step."""
    return x, y


def _shared_out(cells: dict, count: int) -> dict:
    """The cells' arrays, their leading axis split over the devices when that divides."""
    devices = jax.local_devices()
    if len(devices) == 1 or count % len(devices):
        return cells
    split = NamedSharding(Mesh(np.array(devices), ("cells",)), PartitionSpec("cells"))
    return jax.device_put(cells, split)


def _check(steps, strengths, rates, probe_steps, loss, optimiser) -> None:
    if steps < 1:
        raise ValueError(f"steps = {steps}: expected at least 1")
    for name, values in dict(feature_strength=strengths, learning_rate=rates).items():
        bad = values[~(np.isfinite(values) & (values > 0))]
        if bad.size:
            raise ValueError(f"{name} = {bad.flat[0]}: expected positive and finite")
    if len(probe_steps) and not 0 <= probe_steps[0] <= probe_steps[-1] < steps:
        raise ValueError(f"probe_steps {probe_steps[0]}…{probe_steps[-1]}: expected within 0…{steps - 1}")
    for name, value, known in (("loss", loss, LOSSES), ("optimiser", optimiser, OPTIMISERS)):
        if isinstance(value, str) and value not in known:
            raise ValueError(f"{name} = {value!r}: expected one of {sorted(known)}")
