"""The optimiser that calibrates itself, in the training loop."""

import jax.numpy as jnp
import numpy as np
from flax import nnx

from lazyrich.measure.calibrated import calibrated
from lazyrich.measure.nodes import with_params
from lazyrich.models import MLP
from lazyrich.training import mean_square, train

X = jnp.asarray(np.random.default_rng(0).normal(size=(8, 4)), jnp.float32)
Y = jnp.ones((8, 1), jnp.float32)


def make(rngs):
    return MLP(4, 16, 1, depth=3, parametrization="standard", rngs=rngs)


def test_each_parameter_causes_its_share_at_first():
    """δ = 1e-3 split in three, for each of two seeds with rates of its own; the loss falls by δ."""
    apply = with_params(nnx.eval_shape(lambda: make(nnx.Rngs(params=0))))[0]
    objective = lambda params: mean_square(apply(params, X, lambda _, value: value), Y)

    def shares(step, params, batch, grads, updates):
        leaves = lambda tree: [tree["layers"][l]["kernel"][...] for l in range(3)]
        return jnp.stack([-jnp.vdot(g, u) for g, u in zip(leaves(grads), leaves(updates), strict=True)])

    run = train(
        make, (X, Y), steps=2, learning_rate=1.0, seeds=np.arange(2), loss=mean_square,
        optimiser=calibrated(objective, 1e-3), probes={"shares": shares}, probe_steps=[0],
    )  # fmt: skip
    np.testing.assert_allclose(run.probes["shares"][:, 0], 1e-3 / 3, rtol=1e-5)
    np.testing.assert_allclose(run.loss[:, 0] - run.loss[:, 1], 1e-3, rtol=0.1)
