import jax
import numpy as np
import pytest
from flax import nnx

from architectures import drawn
from lazyrich.models.transformer import Transformer, patches


def test_forward_is_the_formula():
    """Heads, softmax, normalisation and residual connections, written out for one token at a time."""
    make = lambda rngs: Transformer(
        3, 8, 2, tokens=4, depth=1, heads=2, branch_scale=0.5, parametrization="standard", rngs=rngs
    )
    apply, params = drawn(make)
    x = np.random.default_rng(0).normal(size=(2, 4, 3)).astype(np.float32)
    nodes = {}
    output = apply(params, x, lambda name, value: nodes.setdefault(name, value))
    w = jax.tree.map(np.asarray, nnx.to_pure_dict(params))
    only = lambda name: w[name][0]["kernel"]

    def normal(h):
        return (h - h.mean(-1, keepdims=True)) / np.sqrt(h.var(-1, keepdims=True) + 1e-5)

    for sample in range(2):
        h = x[sample] @ w["embedding"]["kernel"] + 2 * w["positions"]["kernel"]  # gain √tokens
        q, k, v = (normal(h) @ only(name) for name in ("query", "key", "value"))
        mixed = np.zeros((4, 8))
        for head in (slice(0, 4), slice(4, 8)):
            for token in range(4):
                weight = np.exp(q[token, head] @ k[:, head].T / 2)
                mixed[token, head] = weight / weight.sum() @ v[:, head]
        a = h + 0.5 * mixed @ only("merge")
        u = 2**0.5 * normal(a) @ only("inner")
        h = a + 0.5 * np.maximum(u, 0) @ only("outer")
        for name, value in dict(v1=v, a1=a, u1=u, h1=h).items():
            np.testing.assert_allclose(nodes[name][sample], value, rtol=1e-3, atol=1e-4)
        expected = normal(h).mean(0) @ w["readout"]["kernel"]
        np.testing.assert_allclose(output[sample], expected, rtol=1e-3, atol=1e-4)
    assert list(nodes) == ["h0", "v1", "a1", "u1", "h1", "output"]


def test_patches_are_squares_row_by_row():
    images = np.arange(2 * 8 * 8).reshape(2, 8, 8, 1)
    tokens = np.asarray(patches(jax.numpy.asarray(images), 4))
    assert tokens.shape == (2, 4, 16)
    np.testing.assert_array_equal(tokens[1, 2], images[1, 4:, :4].ravel())
    with pytest.raises(ValueError, match="size = 3"):
        patches(jax.numpy.asarray(images), 3)


@pytest.mark.parametrize(
    ("options", "named"),
    [(dict(tokens=0), "tokens = 0"), (dict(heads=3), "heads = 3"), (dict(expansion=0), "expansion = 0")],
)
def test_bad_input_is_named(options, named):
    options = dict(tokens=4, depth=1) | options
    with pytest.raises(ValueError, match=named):
        nnx.eval_shape(lambda: Transformer(3, 8, 2, **options, rngs=nnx.Rngs(params=0)))
