"""Sweeps against training one cell at a time in float64, by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from lazyrich.models import MLP, learning_rates
from lazyrich.training import losses, sweep

RNG = np.random.default_rng(0)
X = RNG.normal(size=(16, 5)).astype(np.float32)
Y = RNG.normal(size=(16, 2)).astype(np.float32)
STRENGTH, RATE = np.array([1e-4, 1.0, 30.0]), np.array([0.05, 0.4])


def mlp(rngs, dtype=jnp.float32):
    return MLP(5, 16, 2, depth=3, activation="tanh", rngs=rngs, dtype=dtype)


def rates():
    return RATE * np.where(STRENGTH < 1, STRENGTH**2, STRENGTH ** (2 / 3))[:, None]


def by_hand(seed, strength, rate, steps, sign=False):
    """Losses of one cell, in float64 with two outputs subtracted."""
    graph, start = nnx.split(mlp(nnx.Rngs(params=jax.random.key(seed))))
    start = jax.tree.map(lambda a: a.astype(jnp.float64), start)
    factors, theta, values = learning_rates(start), start, []

    @jax.jit
    def advance(theta):
        def objective(theta):
            f = (
                nnx.merge(graph, theta)(X.astype(np.float64)) - nnx.merge(graph, start)(X.astype(np.float64))
            ) / strength
            return losses.mean_square(f, Y.astype(np.float64))

        value, g = jax.value_and_grad(objective)(theta)
        return value, jax.tree.map(
            lambda t, g, r: t - rate * r * (jnp.sign(g) if sign else g), theta, g, factors
        )

    for _ in range(steps):
        value, theta = advance(theta)
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


def test_sign_descent():
    run = sweep(mlp, (X, Y), steps=12, feature_strength=0.5, learning_rate=1e-4, optimiser="sign")
    np.testing.assert_allclose(run.loss[0], by_hand(0, 0.5, 1e-4, 12, sign=True), rtol=1e-5)


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


@pytest.mark.parametrize(("change", "message"), [
    (dict(steps=0), "steps = 0"),
    (dict(learning_rate=-1.0), "learning_rate = -1.0"),
    (dict(feature_strength=np.inf), "feature_strength = inf"),
    (dict(seeds=[[0]]), "seeds of shape"),
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
