"""Graph convolutional network on one fixed graph."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jax import Array
from jax.typing import ArrayLike, DTypeLike

from lazyrich.models.layers import Dense, Tap, at_least_one, identity

Edges = tuple[tuple[int, int], ...]


def ring(vertices: int) -> Edges:
    """The edges of a cycle.

    >>> ring(3)
    ((0, 1), (1, 2), (2, 0))
    """
    return tuple((i, (i + 1) % vertices) for i in range(vertices))


def grid(rows: int, columns: int) -> Edges:
    """The edges of a grid of pixels, numbered row by row.

    >>> grid(2, 2)
    ((0, 1), (2, 3), (0, 2), (1, 3))
    """
    number = np.arange(rows * columns).reshape(rows, columns)
    pairs = zip((number[:, :-1], number[:-1]), (number[:, 1:], number[1:]), strict=True)
    return tuple((int(i), int(j)) for a, b in pairs for i, j in zip(a.flat, b.flat, strict=True))


def propagator(edges: Edges, vertices: int) -> np.ndarray:
    """D^(−1/2) (A + 1) D^(−1/2), with A the symmetric adjacency and D the degrees of A + 1.

    Raises ValueError for an edge to a vertex that is not there.

    >>> propagator(((0, 1),), 2).round(12)
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    ends = np.array(edges, int).reshape(-1, 2)
    if ends.size and not 0 <= ends.min() <= ends.max() < vertices:
        raise ValueError(f"edges reach from {ends.min()} to {ends.max()}: expected within 0…{vertices - 1}")
    adjacency = np.eye(vertices)
    adjacency[ends[:, 0], ends[:, 1]] = adjacency[ends[:, 1], ends[:, 0]] = 1
    root = adjacency.sum(axis=1) ** -0.5
    return root[:, None] * adjacency * root


class GCN(nnx.Module):
    r"""h_0 = P x W_0, then D layers, then an output linear in the mean over vertices of h_D:

    h_l = P φ(h_{l−1}) W_l, or with a ``branch_scale`` β h_l = h_{l−1} + β P φ(h_{l−1}) W_l, where P is the
    graph's `propagator`, φ the ReLU and W_l has gain √2.

    Args:
        edges: pairs of vertices, each once; see `ring` and `grid`.
        vertices: their number.
        fan_in, width, fan_out: sizes of a vertex's input, its features and the output.
        depth: D; the parametrization sees D + 2 layers.
        branch_scale: β; None is a plain network, without residual connections.
        parametrization: a key of ``parametrization.RULES``; β comes on top of it.
        rngs: ``nnx.Rngs(params=key)``.

    Raises ValueError for a size below 1, an edge to a vertex that is not there, an unknown parametrization.

    >>> model = GCN(ring(6), 6, 3, 16, 1, depth=2, rngs=nnx.Rngs(params=0))
    >>> model(jnp.ones((5, 6, 3), jnp.float32)).shape
    (5, 1)
    """

    def __init__(
        self,
        edges: Edges,
        vertices: int,
        fan_in: int,
        width: int,
        fan_out: int,
        *,
        depth: int,
        branch_scale: float | None = None,
        parametrization: str = "mup",
        rngs: nnx.Rngs,
        dtype: DTypeLike = jnp.float32,
    ):
        at_least_one(vertices=vertices, fan_in=fan_in, width=width, fan_out=fan_out, depth=depth)
        propagator(edges, vertices)

        common = dict(width=width, depth=depth + 2, parametrization=parametrization, rngs=rngs, dtype=dtype)
        dense = partial(Dense, **common)
        self.embedding = dense(fan_in, width, kind="input")
        self.layers = nnx.List(dense(width, width, kind="hidden", gain=2**0.5) for _ in range(depth))
        self.readout = dense(width, fan_out, kind="output")
        self.edges, self.vertices, self.branch_scale = edges, vertices, branch_scale

    def __call__(self, x: ArrayLike, tap: Tap = identity) -> Array:
        """x is (batch, vertices, fan_in); feature nodes ``h0`` … ``hD`` and ``output``."""
        spread = jnp.asarray(propagator(self.edges, self.vertices), x.dtype)
        propagate = lambda h: jnp.einsum("vw,bwm->bvm", spread, h)
        h = tap("h0", propagate(self.embedding(x)))
        for l, layer in enumerate(self.layers, start=1):
            new = layer(propagate(jax.nn.relu(h)))
            h = tap(f"h{l}", new if self.branch_scale is None else h + self.branch_scale * new)
        return tap("output", self.readout(h.mean(axis=1)))
