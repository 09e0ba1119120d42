import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from architectures import compiled, drawn
from lazyrich.measure.feature_speeds import feature_speed
from lazyrich.models.gcn import GCN, grid, propagator, ring


def test_propagator():
    """A star: degree 4 with itself in the middle, 2 outside."""
    p = propagator(((0, 1), (0, 2), (0, 3)), 4)
    np.testing.assert_allclose(p[0], [1 / 4, 8**-0.5, 8**-0.5, 8**-0.5])
    np.testing.assert_allclose(p[1], [8**-0.5, 1 / 2, 0, 0])
    # its top eigenvalue is 1, on the square root of the degrees
    np.testing.assert_allclose(p @ np.sqrt([4, 2, 2, 2]), np.sqrt([4, 2, 2, 2]))


def test_grid_joins_neighbours_only():
    edges = grid(3, 4)
    assert len(edges) == 3 * 3 + 2 * 4
    assert {abs(a - b) for a, b in edges} == {1, 4}
    assert (3, 4) not in edges  # the end of a row and the start of the next


@pytest.mark.parametrize("branch_scale", [None, 0.5])
def test_forward_is_the_formula(branch_scale):
    make = lambda rngs: GCN(
        ring(5), 5, 3, 8, 2, depth=2, branch_scale=branch_scale, parametrization="standard", rngs=rngs
    )
    apply, params = drawn(make)
    x = np.random.default_rng(0).normal(size=(4, 5, 3)).astype(np.float32)
    nodes = {}
    output = apply(params, x, lambda name, value: nodes.setdefault(name, value))
    w, p = jax.tree.map(np.asarray, nnx.to_pure_dict(params)), propagator(ring(5), 5)
    h = p @ (x @ w["embedding"]["kernel"])
    for layer in range(2):
        new = 2**0.5 * (p @ np.maximum(h, 0)) @ w["layers"][layer]["kernel"]
        h = new if branch_scale is None else h + branch_scale * new
        np.testing.assert_allclose(nodes[f"h{layer + 1}"], h, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(output, h.mean(1) @ w["readout"]["kernel"], rtol=1e-4, atol=1e-5)
    assert list(nodes) == ["h0", "h1", "h2", "output"]


@pytest.mark.parametrize(("branch", "low", "high"), [(False, 0.0, 0.6), (True, 0.6, 1.2)])
def test_residual_connections_keep_the_angle_open(branch, low, high):
    """cos θ after 12 layers over that after 2, balanced contributions; a measurement, not a law."""
    cosines = []
    for depth in (2, 12):
        make = lambda rngs, depth=depth: GCN(
            ring(12), 12, 8, 32, 1, depth=depth, branch_scale=depth**-0.5 if branch else None, rngs=rngs
        )
        apply = drawn(make)[0]
        loss = lambda output, weights: jnp.mean(output[:, 0] * weights)

        @compiled
        def cosine(params, x, weights, apply=apply, loss=loss):
            g = jax.grad(lambda p: loss(apply(p, x, lambda _, v: v), weights))(params)
            balanced = jax.tree.map(lambda g: -g / jnp.vdot(g, g), g)
            return feature_speed(apply, (x, weights), loss, balanced, params).cosine[-2]

        found = []
        for seed in range(4):
            rng = np.random.default_rng(seed)
            x, weights = (jnp.asarray(rng.normal(size=s), jnp.float32) for s in ((2, 12, 8), 2))
            found.append(cosine(drawn(make, seed)[1], x, weights))
        cosines.append(np.mean(found))
    assert low < cosines[1] / cosines[0] < high


@pytest.mark.parametrize(
    ("options", "named"),
    [(dict(depth=0), "depth = 0"), (dict(vertices=0), "vertices = 0"), (dict(vertices=4), "edges reach")],
)
def test_bad_input_is_named(options, named):
    options = dict(edges=ring(5), vertices=5, fan_in=3, width=8, fan_out=1, depth=1) | options
    with pytest.raises(ValueError, match=named):
        nnx.eval_shape(lambda: GCN(**options, rngs=nnx.Rngs(params=0)))
