import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from architectures import drawn
from lazyrich.models.ssm import StateSpace, scan


def recurrence(u, delta, decay, write, read):
    batch, length, channels = u.shape
    y = np.zeros_like(u)
    for b in range(batch):
        for c in range(channels):
            s = np.zeros(decay.shape[1])
            for t in range(length):
                s = np.exp(-delta[b, t, c] * decay[c]) * s + delta[b, t, c] * u[b, t, c] * write[b, t]
                y[b, t, c] = read[b, t] @ s
    return y


def test_scan_is_the_recurrence():
    rng = np.random.default_rng(0)
    u, delta, decay, write, read = (
        rng.uniform(0.1, 1, s) for s in ((2, 6, 5), (2, 6, 5), (5, 3), (2, 6, 3), (2, 6, 3))
    )
    found = scan(*map(jnp.asarray, (u, delta, decay, write, read)))
    np.testing.assert_allclose(found, recurrence(u, delta, decay, write, read), rtol=1e-12)


def test_forward_is_the_formula():
    make = lambda rngs: StateSpace(
        3, 8, 2, depth=1, states=2, branch_scale=0.5, parametrization="standard", rngs=rngs, dtype=jnp.float64
    )
    apply, params = drawn(make)
    x = np.random.default_rng(0).normal(size=(2, 5, 3))
    nodes = {}
    output = apply(params, jnp.asarray(x), lambda name, value: nodes.setdefault(name, value))
    w = jax.tree.map(np.asarray, nnx.to_pure_dict(params))
    only = lambda name: w[name][0]["kernel"]
    normal = lambda h: (h - h.mean(-1, keepdims=True)) / np.sqrt(h.var(-1, keepdims=True) + 1e-5)
    h = x @ w["embedding"]["kernel"]
    u = normal(h) @ only("drive")
    delta = np.log1p(np.exp(u @ only("step")))
    y = recurrence(u, delta, np.exp(w["log_decay"][0]), u @ only("write"), u @ only("read"))
    np.testing.assert_allclose(nodes["y1"], y, rtol=1e-9)
    z = normal(h) @ only("gate")
    h = h + 0.5 * (y * z / (1 + np.exp(-z))) @ only("out")
    np.testing.assert_allclose(nodes["h1"], h, rtol=1e-9)
    np.testing.assert_allclose(output, normal(h).mean(1) @ w["readout"]["kernel"], rtol=1e-9)
    assert list(nodes) == ["h0", "y1", "h1", "output"]


def test_the_past_does_not_see_the_future():
    make = lambda rngs: StateSpace(3, 8, 2, depth=1, rngs=rngs, dtype=jnp.float64)
    apply, params = drawn(make)
    x = np.random.default_rng(0).normal(size=(1, 5, 3))
    seen = []
    for last in (0.0, 1.0):
        x[0, -1] = last
        apply(
            params, jnp.asarray(x), lambda name, value: seen.append(value) or value if name == "h1" else value
        )
    np.testing.assert_array_equal(seen[0][0, :-1], seen[1][0, :-1])
    assert np.abs(seen[0][0, -1] - seen[1][0, -1]).max() > 0.1


@pytest.mark.parametrize(("options", "named"), [(dict(states=0), "states = 0"), (dict(depth=0), "depth = 0")])
def test_bad_input_is_named(options, named):
    with pytest.raises(ValueError, match=named):
        nnx.eval_shape(lambda: StateSpace(3, 8, 2, **(dict(depth=1) | options), rngs=nnx.Rngs(params=0)))
