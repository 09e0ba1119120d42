"""Sweeps against training one cell at a time in float64, by hand."""

import re
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx

from lazyrich.models import MLP, functional, learning_rates
from lazyrich.models import centred as centred_network
from lazyrich.theory.conventions import function_rate, half_square_rate
from lazyrich.training import _chunks, losses, sweep, train

RNG = np.random.default_rng(0)
X = RNG.normal(size=(16, 5)).astype(np.float32)
Y = RNG.normal(size=(16, 2)).astype(np.float32)
STRENGTH, RATE = np.array([1e-4, 1.0, 30.0]), np.array([0.05, 0.4])


def mlp(rngs, dtype=jnp.float32):
    return MLP(5, 16, 2, depth=3, activation="tanh", rngs=rngs, dtype=dtype)


def rates():
    return RATE * np.where(STRENGTH < 1, STRENGTH**2, STRENGTH ** (2 / 3))[:, None]


def by_hand(seed, strength, rate, steps, optimiser=None, loss=losses.mean_square, y=Y):
    """Losses of one cell, in float64 with two outputs subtracted."""
    graph, start = nnx.split(mlp(nnx.Rngs(params=jax.random.key(seed))))
    start = jax.tree.map(lambda a: a.astype(jnp.float64), start)
    x, y = X.astype(np.float64), y.astype(np.float64) if y.dtype == np.float32 else y
    factors, theta, values = learning_rates(start), start, []
    optimiser = optimiser or optax.sgd(1.0)
    state = optimiser.init(start)

    @jax.jit
    def advance(theta, state):
        def objective(theta):
            return loss((nnx.merge(graph, theta)(x) - nnx.merge(graph, start)(x)) / strength, y)

        value, g = jax.value_and_grad(objective)(theta)
        with jax.numpy_dtype_promotion("standard"):
            u, state = optimiser.update(g, state, theta)
        return value, jax.tree.map(lambda t, u, r: t + rate * r * u, theta, u, factors), state

    for _ in range(steps):
        value, theta, state = advance(theta, state)
        values.append(float(value))
    return np.array(values)


@pytest.fixture(scope="module")
def plane():
    return sweep(
        mlp,
        (X, Y),
        steps=25,
        feature_strength=STRENGTH[:, None],
        learning_rate=rates(),
        seeds=[0, 3],
        chunk=10,
    )


def test_every_cell_is_trained_as_if_alone(plane):
    assert plane.loss.shape == (2, 3, 2, 25)
    assert not plane.diverged.any()
    for s, seed in enumerate((0, 3)):
        for i, strength in enumerate(STRENGTH):
            for j in range(2):
                values = by_hand(seed, strength, rates()[i, j], 25)
                np.testing.assert_allclose(plane.loss[s, i, j], values, rtol=2e-5)


def test_the_result_applies(plane):
    f = plane.apply(1, 0, 1)(X)
    assert float(losses.mean_square(f, Y)) == pytest.approx(
        by_hand(3, STRENGTH[0], rates()[0, 1], 26)[-1], rel=1e-4
    )


def test_neither_chunks_nor_groups_matter(plane):
    other = sweep(
        mlp, (X, Y), steps=25, feature_strength=STRENGTH[:, None], learning_rate=rates(), seeds=[0, 3],
        chunk=25, memory=400_000,
    )  # fmt: skip
    np.testing.assert_allclose(other.loss, plane.loss, rtol=1e-5)


def test_a_diverged_cell_is_frozen_and_the_others_go_on():
    rate = np.array([0.05, 1e6, 0.4])
    run = sweep(mlp, (X, Y), steps=40, feature_strength=1.0, learning_rate=rate, chunk=5)
    alone = sweep(mlp, (X, Y), steps=40, feature_strength=1.0, learning_rate=rate[[0, 2]], chunk=5)
    assert run.diverged[0].tolist() == [False, True, False]
    assert np.isinf(run.loss[0, 1, run.diverged_at[0, 1] :]).all()
    assert np.isfinite(run.loss[0, 1, : run.diverged_at[0, 1]]).all()
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(run.delta))
    np.testing.assert_allclose(run.loss[0, [0, 2]], alone.loss[0], rtol=1e-5)
    assert np.isinf(run.late_median[0, 1])


@pytest.mark.parametrize(("name", "optimiser"), [("sign", optax.sign_sgd), ("adam", optax.adam)])
def test_optimisers(name, optimiser):
    run = sweep(mlp, (X, Y), steps=12, feature_strength=0.5, learning_rate=1e-4, optimiser=name)
    np.testing.assert_allclose(run.loss[0], by_hand(0, 0.5, 1e-4, 12, optimiser(1.0)), rtol=1e-5)


def test_cross_entropy():
    labels = np.arange(16) % 2
    run = sweep(
        mlp, (X, labels), steps=12, feature_strength=1e-3, learning_rate=[1e-7, 1e-6], loss="cross_entropy"
    )
    for got, rate in zip(run.loss[0], (1e-7, 1e-6), strict=True):
        values = by_hand(0, 1e-3, rate, 12, loss=losses.cross_entropy, y=labels)
        assert values[-1] < values[0]
        np.testing.assert_allclose(got, values, rtol=1e-5)


def test_probes():
    def size(step, theta0, delta, gamma, batch):
        return {"step": step, "norm": sum(jnp.sum(d**2) for d in jax.tree.leaves(delta)) / gamma**2}

    run = sweep(
        mlp, (X, Y), steps=9, feature_strength=STRENGTH, learning_rate=rates()[:, 0], probes={"size": size},
        probe_steps=[0, 4, 8], chunk=5,
    )  # fmt: skip
    assert run.probes["size"]["step"][0].tolist() == [[0, 4, 8]] * 3
    norm = run.probes["size"]["norm"][0]
    assert (norm[:, 0] == 0).all()
    assert (np.diff(norm, axis=1) > 0).all()


def test_probes_reach_hessian_vector_products_and_skip_the_dead():
    def curvature(step, theta0, delta, gamma, batch):
        f = centred_network(lambda theta, x: nnx.merge(nnx.graphdef(mlp(nnx.Rngs(0))), theta)(x), gamma)
        gradient = jax.grad(lambda d: losses.mean_square(f(theta0, d, batch[0]), batch[1]))
        ones = jax.tree.map(jnp.ones_like, delta)
        return sum(jnp.vdot(a, b) for a, b in zip(
            jax.tree.leaves(jax.jvp(gradient, (delta,), (ones,))[1]), jax.tree.leaves(ones), strict=True
        ))  # fmt: skip

    run = sweep(
        mlp, (X, Y), steps=40, feature_strength=1.0, learning_rate=[0.05, 1e6], chunk=5,
        probes={"c": curvature}, probe_steps=[0, 20],
    )  # fmt: skip
    apply, theta0 = functional(mlp(nnx.Rngs(params=jax.random.key(0))))

    def along(s):
        moved = jax.tree.map(lambda a: a.astype(jnp.float64) + s, theta0)
        start = jax.tree.map(lambda a: a.astype(jnp.float64), theta0)
        return losses.mean_square(
            apply(moved, X.astype(float)) - apply(start, X.astype(float)), Y.astype(float)
        )

    expected = jax.grad(jax.grad(along))(jnp.float64(0))
    np.testing.assert_allclose(run.probes["c"][0, :, 0], expected, rtol=1e-4)
    assert run.probes["c"][0, 0, 1] != 0 == run.probes["c"][0, 1, 1]


DYING = dict(
    steps=40, feature_strength=0.5, chunk=4, learning_rate=np.array([0.02, *np.geomspace(20, 2e6, 6), 0.2])
)


def test_programs_are_compiled_once_for_a_size():
    """Eight cells, then four or two: one program each, whatever the seeds, strengths and rates."""
    _chunks.advance.clear_cache()
    run = sweep(mlp, (X, Y), **DYING)
    assert run.diverged.sum() == 6
    sizes = _chunks.advance._cache_size()
    assert sizes <= 3
    sweep(mlp, (X + 1, Y), **DYING | dict(feature_strength=0.6, seeds=[3, 4], data_seed=1))
    assert _chunks.advance._cache_size() <= 3


def test_packing_changes_no_living_cell():
    run = sweep(mlp, (X, Y), **DYING)
    unpacked = sweep(mlp, (X, Y), **DYING | dict(chunk=40))
    assert (run.diverged_at == unpacked.diverged_at).all()
    np.testing.assert_allclose(run.loss, unpacked.loss, rtol=1e-4)


def test_one_device_or_more():
    """A device more changes rounding only, and at the edge of divergence training amplifies rounding."""
    rates = np.geomspace(0.01, 1000, 56)
    options = dict(steps=40, feature_strength=1.0, learning_rate=rates)
    one = sweep(mlp, (X, Y), devices=jax.local_devices()[:1], **options)
    two = sweep(mlp, (X, Y), devices=jax.local_devices()[:2], **options)
    agree(one, two)


def agree(one, two):
    assert (one.diverged == two.diverged).all()
    both = ~one.diverged
    close = np.isclose(one.loss[both], two.loss[both], rtol=1e-4).all(axis=-1)
    assert close.mean() >= 53 / 56


FOUR = """
import sys
sys.path[:0] = [sys.argv[1], sys.argv[1] + "/training"]
import lazyrich.device
lazyrich.device.setup(host_devices=4)
import jax, numpy as np
import test_sweep as t
assert len(jax.local_devices()) == 4
options = dict(steps=40, feature_strength=1.0, learning_rate=np.geomspace(0.01, 1000, 56))
four = t.sweep(t.mlp, (t.X, t.Y), **options)
t.agree(four, t.sweep(t.mlp, (t.X, t.Y), devices=jax.local_devices()[:1], **options))
"""


def test_four_devices():
    subprocess.run([sys.executable, "-c", FOUR, str(Path(__file__).parents[1])], check=True)


@pytest.fixture
def compiled(monkeypatch):
    """The text of the programs that sweeps compile."""
    texts, advance = [], _chunks.advance

    def recorded(*arguments):
        texts.append(advance.lower(*arguments).compile().as_text())
        return advance(*arguments)

    monkeypatch.setattr(_chunks, "advance", recorded)
    return texts


def test_devices_do_not_talk(compiled):
    sweep(mlp, (X, Y), steps=3, feature_strength=1.0, learning_rate=[0.1, 0.2, 0.3, 0.4])
    assert len(jax.local_devices()) > 1
    assert "num_partitions=2" in compiled[0]
    assert not re.search(r"all-(reduce|gather|to-all)|collective|reduce-scatter|send|recv", compiled[0])


def test_memory_is_estimated_from_above():
    graph, theta0 = nnx.split(mlp(nnx.Rngs(0)))
    mesh = jax.sharding.Mesh(np.array(jax.local_devices()[:1]), ("cells",))
    program = _chunks.Program(
        graph, losses.mean_square, lambda: optax.sgd(1.0), None, True, np.inf, 8, 64, mesh
    )
    draw = jax.tree_util.Partial(_chunks.fixed, jnp.asarray(X), jnp.asarray(Y))
    key, count = jax.random.key(0), 64
    many = lambda a: jnp.zeros((count, *a.shape), a.dtype)
    cells = {
        "delta": jax.tree.map(many, theta0),
        "state": jax.vmap(program.optimiser().init)(jax.tree.map(many, theta0)),
        "strength": jnp.ones(count, jnp.float32),
        "rate": jnp.ones(count, jnp.float32),
        "diverged_at": jnp.full(count, -1, jnp.int32),
    }
    used = _chunks.advance.lower(program, theta0, cells, draw, key, 0, 8).compile().memory_analysis()
    most = (used.temp_size_in_bytes + used.argument_size_in_bytes) / count
    estimate = _chunks.cell_bytes(program, theta0, draw, key)
    assert most < estimate < 8 * most


@pytest.mark.parametrize(("change", "message"), [
    (dict(steps=0), "steps = 0"),
    (dict(learning_rate=-1.0), "learning_rate = -1.0"),
    (dict(feature_strength=np.inf), "feature_strength = inf"),
    (dict(seeds=[[0]]), "seeds of shape"),
    (dict(seeds=[]), "seeds of shape"),
    (dict(seeds=[-1]), r"seeds = \[-1\]: expected integers"),
    (dict(seeds=0.5), r"seeds = \[0.5\]: expected integers"),
    (dict(learning_rate=[]), "expected a cell"),
    (dict(devices=[]), r"devices = \[\]"),
    (dict(ceiling=0), "ceiling = 0"),
    (dict(chunk=0), "chunk = 0"),
    (dict(memory=100), "memory = 100: one cell takes about"),
    (dict(loss="cube"), "loss = 'cube'"),
    (dict(optimiser="best"), "optimiser = 'best'"),
    (dict(probe_steps=[5]), "probe_steps 5"),
])  # fmt: skip
def test_bad_input_is_named(change, message):
    good = dict(steps=5, feature_strength=1.0, learning_rate=0.1)
    with pytest.raises(ValueError, match=message):
        sweep(mlp, (X, Y), **good | change)


def test_train_runs_the_same_network_at_the_converted_rate():
    """The recipe of the notation page, with GE's loss 2/C times the other."""
    gamma, eta, outputs = 2.0, 0.1, Y.shape[1]
    ours = sweep(mlp, (X, Y), steps=20, feature_strength=gamma, learning_rate=eta)
    rate = function_rate(half_square_rate(eta, outputs), gamma)
    theirs = train(mlp, (X, Y), steps=20, feature_strength=gamma, learning_rate=rate, centred=True)
    assert ours.loss[0, -1] < 0.95 * ours.loss[0, 0]
    np.testing.assert_allclose(ours.loss.ravel(), 2 / outputs * theirs.loss.ravel(), rtol=1e-4)
