"""Deep networks as functions of arrays, against NumPy and against themselves written with a scan."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lazyrich.models.deep import deep, draw_deep
from tolerance import tol

KEY = jax.random.key(0)
X = jnp.asarray(np.random.default_rng(0).normal(size=(3, 5)))
drawn = lambda **options: draw_deep(KEY, 5, 8, depth=4, dtype=jnp.float64, **options)


def relu(z, slope=0.0):
    return np.where(z > 0, z, slope * z)


def test_plain_network():
    p, nodes = drawn(), {}
    out = deep(p, X, lambda name, value: nodes.setdefault(name, value), slope=0.3, readout=0.5)
    h = X @ p["input"]
    for w in p["hidden"]:
        h = relu(h, 0.3) @ w
    np.testing.assert_allclose(nodes["h4"], h, rtol=1e-12)
    np.testing.assert_allclose(out, 0.5 * relu(h, 0.3) @ p["output"], rtol=1e-12)
    assert list(nodes) == ["h1", "h2", "h3", "h4", "output"]


@pytest.mark.parametrize("matrices", [1, 2])
def test_residual_network(matrices):
    p = drawn(matrices=matrices)
    h = X @ p["input"]
    for l, w in enumerate(p["hidden"]):
        h = h + 0.4 * relu(h @ p["inner"][l] if matrices == 2 else h) @ w
    np.testing.assert_allclose(deep(p, X, branch_scale=0.4), h @ p["output"], rtol=1e-12)


@pytest.mark.parametrize("branch_scale", [None, 0.4])
@pytest.mark.parametrize("matrices", [1, 2])
def test_scanned_is_the_same_network(matrices, branch_scale):
    listed, stacked = (drawn(matrices=matrices, stacked=stacked) for stacked in (False, True))
    nodes = []
    out = deep(stacked, X, lambda name, value: nodes.append(name) or value, branch_scale=branch_scale)
    np.testing.assert_allclose(out, deep(listed, X, branch_scale=branch_scale), rtol=tol(out.dtype, 10))
    assert nodes == ["h4", "output"]


def test_an_activation_of_its_own():
    p = drawn()
    h = X @ p["input"]
    for w in p["hidden"]:
        h = np.tanh(h) @ w
    np.testing.assert_allclose(deep(p, X, slope=jnp.tanh), np.tanh(h) @ p["output"], rtol=1e-12)


def test_scales_of_the_draws():
    p = draw_deep(KEY, 64, 256, depth=3, matrices=2, variance=2.0, fan_out=64)
    for leaf, variance in (
        (p["input"], 1 / 64),
        (p["hidden"][0], 1 / 256),
        (p["inner"][0], 2 / 256),
        (p["output"], 1),
    ):
        assert float(jnp.var(leaf)) == pytest.approx(variance, rel=0.05)
    assert not np.allclose(p["hidden"][0], p["hidden"][1])


def test_orthogonal_draws():
    w = drawn(orthogonal=True, variance=2.0)["hidden"][1]
    np.testing.assert_allclose(w @ w.T, 2 * np.eye(8), atol=1e-12)


@pytest.mark.parametrize("orthogonal", [True, False])
def test_orthogonal_may_be_traced(orthogonal):
    """One program for both; in float32 too the matrices are orthogonal to rounding."""
    options = dict(depth=3, variance=1.0, stacked=True)
    draw = jax.jit(lambda flag: draw_deep(KEY, 4, 64, orthogonal=flag, **options)["hidden"])
    found = draw(jnp.asarray(orthogonal))
    plain = draw_deep(KEY, 4, 64, orthogonal=orthogonal, **options)["hidden"]
    np.testing.assert_allclose(found, plain, atol=1e-5)
    off = jnp.abs(jnp.einsum("lij,lkj->lik", found, found) - jnp.eye(64, dtype=jnp.float32)[None]).max()
    assert (float(off) < 1e-5) == orthogonal


@pytest.mark.parametrize(
    ("options", "named"), [(dict(depth=0), "depth = 0"), (dict(depth=2, matrices=3), "matrices = 3")]
)
def test_bad_input_is_named(options, named):
    with pytest.raises(ValueError, match=named):
        draw_deep(KEY, 4, 8, **options)
