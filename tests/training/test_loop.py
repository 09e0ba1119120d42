import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx
from jax.tree_util import Partial

from lazyrich import training
from lazyrich.models import MLP, TwoLayer, learning_rates
from lazyrich.training import loop, losses
from tolerance import tol

RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 5)).astype(np.float32)
Y = RNG.normal(size=(24, 2)).astype(np.float32)


def two_layer(rngs):
    return TwoLayer(5, 32, 2, rngs=rngs)


def mlp(rngs):
    return MLP(5, 16, 2, depth=3, rngs=rngs)


def by_hand(make, batches, steps, rate, strength=1.0, seed=0, optimiser=None, centred=False):
    """The same training in a Python loop, one cell."""
    graph, params = nnx.split(make(nnx.Rngs(params=jax.random.key(seed))))
    start, factors, values = params, learning_rates(params), []
    optimiser = optimiser or optax.sgd(1.0)
    state = optimiser.init(params)

    def objective(params, start, batch):
        f = nnx.merge(graph, params)(batch[0])
        if centred:
            f = f - nnx.merge(graph, start)(batch[0])
        return losses.half_square(f / strength, batch[1])

    @jax.jit
    def advance(params, state, batch):
        value, grads = jax.value_and_grad(objective)(params, start, batch)
        with jax.numpy_dtype_promotion("standard"):
            updates, state = optimiser.update(grads, state, params)
        scale = rate * strength**2
        return value, jax.tree.map(lambda p, u, r: p + scale * r * u, params, updates, factors), state

    for step in range(steps):
        value, params, state = advance(params, state, batches(step))
        values.append(float(value))
    return np.array(values), params


@pytest.mark.parametrize("strength", [0.1, 1.0, 5.0])
def test_gradient_descent_by_hand(strength):
    run = training.train(two_layer, (X, Y), steps=12, learning_rate=0.2, feature_strength=strength, seeds=3)
    values, params = by_hand(two_layer, lambda _: (X, Y), 12, 0.2, strength, seed=3)
    assert run.loss == pytest.approx(values, rel=tol("float32", 10))
    for mine, other in zip(jax.tree.leaves(run.params), jax.tree.leaves(params), strict=True):
        assert np.allclose(mine, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ["momentum", "adam", "sign"])
def test_optimisers_by_hand(name):
    run = training.train(mlp, (X, Y), steps=8, learning_rate=0.001, optimiser=name, centred=True)
    values, _ = by_hand(mlp, lambda _: (X, Y), 8, 0.001, optimiser=loop.OPTIMISERS[name](), centred=True)
    assert run.loss == pytest.approx(values, rel=tol("float32", 20))
    assert run.loss[-1] < run.loss[0]


def test_cells_are_a_grid_of_seeds_strengths_and_rates():
    run = training.train(
        two_layer,
        (X, Y),
        steps=6,
        learning_rate=np.array([0.05, 0.1, 0.2]),
        feature_strength=np.array([0.5, 2.0])[:, None],
        seeds=np.arange(2)[:, None, None],
    )
    assert run.loss.shape == (2, 2, 3, 6)
    assert run.diverged_at.shape == (2, 2, 3)
    assert run.times[1, 0, 2] == pytest.approx(0.2 * np.arange(6))
    alone, _ = by_hand(two_layer, lambda _: (X, Y), 6, 0.1, 2.0, seed=1)
    assert run.loss[1, 1, 1] == pytest.approx(alone, rel=tol("float32", 10))
    assert jax.tree.leaves(run.params)[0].shape == (2, 2, 3, 5, 32)
    _, params = by_hand(two_layer, lambda _: (X, Y), 6, 0.1, 2.0, seed=1)
    network = nnx.merge(nnx.graphdef(run.model(1, 1, 1)), params)
    assert np.allclose(run.model(1, 1, 1)(X), network(X), rtol=1e-4, atol=1e-4)


def draw(x, y, key, step):
    rows = jax.random.choice(jax.random.fold_in(key, step), len(x), (8,))
    return x[rows], y[rows]


@pytest.mark.parametrize("shared", [True, False])
def test_batches_are_functions_of_key_and_step(shared):
    batches = Partial(draw, jnp.asarray(X), jnp.asarray(Y))
    run = training.train(
        mlp, batches, steps=5, learning_rate=0.1, seeds=np.arange(3), data_seed=7, shared_batches=shared
    )
    for seed in range(3):
        key = jax.random.key(7) if shared else jax.random.fold_in(jax.random.key(7), np.uint32(seed))
        values, _ = by_hand(mlp, lambda step, key=key: batches(key, step), 5, 0.1, seed=seed)
        assert run.loss[seed] == pytest.approx(values, rel=tol("float32", 10))


def test_probes_see_the_state_before_the_update():
    def probe(step, params, batch, grads, updates):
        leaves = jax.tree.leaves
        return {
            "step": step,
            "weights": leaves(params)[0],
            "size": sum(jnp.vdot(g, u) for g, u in zip(leaves(grads), leaves(updates), strict=True)),
            "batch": batch[1],
        }

    options = dict(learning_rate=0.1, seeds=np.arange(2), probes={"all": probe})
    held_out = {"test": (X[:4], Y[:4])}
    run = training.train(two_layer, (X, Y), steps=9, probe_steps=[0, 4, 8], evaluate=held_out, **options)
    seen = run.probes["all"]
    assert seen["step"].tolist() == [[0, 4, 8]] * 2
    assert (seen["size"] < 0).all()
    assert (seen["batch"] == Y).all()
    assert seen["weights"].shape == (2, 3, 5, 32)
    shorter = training.train(two_layer, (X, Y), steps=4, **options)
    assert np.allclose(seen["weights"][:, 1], jax.tree.leaves(shorter.params)[0], rtol=1e-6)
    assert run.probes["test"].shape == (2, 3)
    _values, params = by_hand(two_layer, lambda _: (X, Y), 4, 0.1)
    graph = nnx.graphdef(two_layer(nnx.Rngs(params=0)))
    expected = losses.half_square(nnx.merge(graph, params)(X[:4]), Y[:4])
    assert run.probes["test"][0, 1] == pytest.approx(float(expected), rel=tol("float32", 10))


def test_divergence_is_recorded_and_the_others_go_on():
    run = training.train(two_layer, (X, Y), steps=200, learning_rate=np.array([0.1, 1e4, 0.2, 1e30]))
    assert run.diverged.tolist() == [False, True, False, True]
    bad = run.diverged_at[1]
    assert np.isfinite(run.loss[1, :bad]).all()
    assert np.isinf(run.loss[1, bad:]).all()
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(run.params))
    alone = training.train(two_layer, (X, Y), steps=200, learning_rate=np.array([0.1, 0.2]))
    assert run.loss[[0, 2]] == pytest.approx(alone.loss, rel=tol("float32", 100))


def test_a_ceiling_counts_as_divergence():
    run = training.train(two_layer, (X, Y), steps=50, learning_rate=np.array([0.1, 50.0]), ceiling=1e3)
    assert run.diverged.tolist() == [False, True]
    assert run.loss[1][np.isfinite(run.loss[1])].max() <= 1e3


def test_schedule_and_rate_power():
    halved = lambda step: jnp.where(step < 3, 1.0, 0.0)
    run = training.train(two_layer, (X, Y), steps=6, learning_rate=0.1, schedule=halved)
    assert run.loss[2] > run.loss[3] == run.loss[5]
    lazy = dict(steps=5, feature_strength=0.1)
    scaled = training.train(two_layer, (X, Y), learning_rate=0.1, **lazy)
    bare = training.train(two_layer, (X, Y), learning_rate=0.1 * 0.01, rate_power=0.0, **lazy)
    assert scaled.loss == pytest.approx(bare.loss, rel=tol("float32", 10))


def test_compiled_once_for_a_shape():
    """New data, seeds, rates and strengths of the same shapes reuse the program."""
    options = dict(steps=7, seeds=np.arange(2))
    training.train(two_layer, (X, Y), learning_rate=0.1, **options)
    before = loop._run._cache_size()
    training.train(two_layer, (X + 1, Y), learning_rate=0.3, feature_strength=2.0, data_seed=5, **options)
    training.train(lambda rngs: two_layer(rngs), (X, Y), learning_rate=0.1, steps=7, seeds=np.arange(2) + 9)
    assert loop._run._cache_size() == before


def test_nothing_wider_than_float32_enters_training():
    run = training.train(mlp, (X, Y), steps=3, learning_rate=0.1, optimiser="adam", seeds=np.arange(2))
    assert run.loss.dtype == np.float32
    assert {leaf.dtype.name for leaf in jax.tree.leaves(run.params)} == {"float32"}


def test_float64_models_train_in_float64():
    make = lambda rngs: TwoLayer(5, 32, 2, rngs=rngs, dtype=jnp.float64)
    run = training.train(make, (X.astype(float), Y.astype(float)), steps=3, learning_rate=0.1)
    assert run.loss.dtype == np.float64


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": 0}, "steps = 0"),
        ({"learning_rate": -1.0}, r"learning_rate = -1.0: expected positive"),
        ({"feature_strength": np.array([1.0, np.nan])}, "feature_strength = nan"),
        ({"loss": "hinge"}, "loss = 'hinge'"),
        ({"optimiser": "lion"}, "optimiser = 'lion'"),
        ({"probe_steps": [3, 10]}, "probe_steps 3…10: expected within 0…9"),
    ],
)
def test_bad_options(options, message):
    options = dict(steps=10, learning_rate=0.1) | options
    with pytest.raises(ValueError, match=message):
        training.train(two_layer, (X, Y), **options)


def test_networks_with_other_state_are_refused():
    class Noisy(nnx.Module):
        def __init__(self, rngs):
            self.inner, self.count = two_layer(rngs), nnx.Variable(jnp.zeros((), jnp.float32))

        def __call__(self, x):
            return self.inner(x)

    with pytest.raises(ValueError, match="state besides its parameters"):
        training.train(Noisy, (X, Y), steps=2, learning_rate=0.1)


def test_log_steps():
    assert training.log_steps(1).tolist() == [0]
    steps = training.log_steps(1000, per_decade=4)
    assert steps[0] == 0
    assert steps[-1] == 999
    assert (np.diff(steps) > 0).all()
    assert len(steps) <= 13
