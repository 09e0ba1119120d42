"""The numbers on the page about the difference transform, computed when it is built."""

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from lazyrich.models import MLP, centred, difference, functional

from .pages import Generated
from .tables import table

GAMMAS = (1e2, 1.0, 1e-2, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10)


def network(activation: str, dtype, batch: int = 64):
    """(apply, θ₀, x) of width 128 and depth 4, the same numbers in every dtype."""
    apply, theta = functional(MLP(64, 128, 10, depth=4, activation=activation, rngs=nnx.Rngs(params=0)))
    x = jax.random.normal(jax.random.key(1), (batch, 64), jnp.float32)
    return apply, *jax.tree.map(lambda a: jnp.asarray(a, dtype), (theta, x))


def errors(activation: str) -> dict[str, list[float]]:
    """Relative error of f at each γ, of each way to compute it, from the difference form in float64."""
    with jax.enable_x64(True), jax.default_matmul_precision("highest"):
        single, double = (network(activation, dtype) for dtype in (jnp.float32, jnp.float64))
        apply, theta, _ = double
        rng = np.random.default_rng(2)
        draws = jax.tree.map(lambda w: jnp.asarray(0.3 * rng.standard_normal(w.shape)), theta)
        naive = jax.jit(lambda w, d, x: apply(jax.tree.map(jnp.add, w, d), x) - apply(w, x))
        exact = jax.jit(difference(apply))
        found = {"naive32": [], "naive64": [], "difference32": []}
        for gamma in GAMMAS:
            small = jax.tree.map(lambda d, gamma=gamma: jnp.asarray(gamma * d, jnp.float32), draws)
            wide = jax.tree.map(lambda d: jnp.asarray(d, jnp.float64), small)
            truth = np.asarray(exact(theta, wide, double[2]))
            ways = (naive(single[1], small, single[2]), naive(theta, wide, double[2]))
            for name, got in zip(found, (*ways, exact(single[1], small, single[2])), strict=True):
                error = np.linalg.norm(np.asarray(got, np.float64) - truth) / np.linalg.norm(truth)
                found[name].append(float(error))
    return found


def cost(cells: int = 32) -> float:
    """Operations of a gradient in a sweep, difference form over two copies of the network, as XLA counts."""
    apply, theta, x = network("relu", jnp.float32)
    deltas = jax.tree.map(lambda w: jnp.zeros((cells, *w.shape), w.dtype), theta)
    naive = lambda theta, d, x: apply(jax.tree.map(jnp.add, theta, d), x) - apply(theta, x)

    def operations(f):
        slope = jax.grad(lambda d, theta, x: jnp.sum(jnp.square(f(theta, d, x))))
        compiled = jax.jit(jax.vmap(slope, in_axes=(0, None, None))).lower(deltas, theta, x).compile()
        return compiled.cost_analysis()["flops"]

    return operations(centred(apply, 1.0)) / operations(naive)


class Accuracy(Generated):
    """A row a γ: the naive difference in float32 and float64, the transform in float32 on two networks."""

    def run(self):
        relu, smooth = errors("relu"), errors("gelu")
        columns = [relu["naive32"], relu["naive64"], relu["difference32"], smooth["difference32"]]
        header = ["γ", "subtracted, float32", "subtracted, float64", "difference, float32", "the same, GELU"]
        rows = [
            [f"{gamma:g}", *(f"{column[i]:.0e}" for column in columns)] for i, gamma in enumerate(GAMMAS)
        ]
        return [table(header, rows)]


class Cost(Generated):
    def run(self):
        return self.text(
            "In a sweep of 32 cells of the ReLU network above, "
            f"a gradient takes {cost():.2f} times the operations that it takes with two copies "
            "subtracted, in the same precision, as XLA counts them."
        )


def setup(app):
    app.add_directive("accuracy-of-differences", Accuracy)
    app.add_directive("cost-of-differences", Cost)
