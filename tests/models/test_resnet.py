import jax
import numpy as np
import pytest
from flax import nnx

from architectures import drawn
from lazyrich.models.resnet import ResNet


@pytest.mark.parametrize("matrices", [1, 2])
def test_forward_is_the_formula(matrices):
    make = lambda rngs: ResNet(
        6, 10, 3, depth=2, branch_scale=0.5, matrices=matrices, parametrization="standard", rngs=rngs
    )
    apply, params = drawn(make)
    x = np.random.default_rng(0).normal(size=(5, 6)).astype(np.float32)
    nodes = {}
    output = apply(params, x, lambda name, value: nodes.setdefault(name, value))
    w = jax.tree.map(np.asarray, nnx.to_pure_dict(params))
    h = x @ w["embedding"]["kernel"]
    relu = lambda u: np.maximum(u, 0)
    for block in range(2):
        outer = w["outer"][block]["kernel"]
        if matrices == 2:
            u = 2**0.5 * h @ w["inner"][block]["kernel"]
            np.testing.assert_allclose(nodes[f"u{block + 1}"], u, rtol=1e-4, atol=1e-5)
            h = h + 0.5 * relu(u) @ outer
        else:
            h = h + 0.5 * 2**0.5 * relu(h) @ outer
        np.testing.assert_allclose(nodes[f"h{block + 1}"], h, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(output, h @ w["readout"]["kernel"], rtol=1e-4, atol=1e-5)
    inside = {"u1", "u2"} if matrices == 2 else set()
    assert list(nodes) == [n for n in ("h0", "u1", "h1", "u2", "h2", "output") if n[0] != "u" or n in inside]


@pytest.mark.parametrize(
    ("options", "named"),
    [(dict(depth=0), "depth = 0"), (dict(matrices=3), "matrices = 3"), (dict(activation="swish"), "'swish'")],
)
def test_bad_input_is_named(options, named):
    with pytest.raises(ValueError, match=named):
        nnx.eval_shape(lambda: ResNet(6, 8, 3, **(dict(depth=2) | options), rngs=nnx.Rngs(params=0)))
