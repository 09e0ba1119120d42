"""Feature nodes: what a model hands to ``tap``, and which parameters act before which node."""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx
from jax.interpreters.partial_eval import dce_jaxpr

from lazyrich.models.centering import functional

OUTPUT = "output"
"""Name of the node at the network's output when the model does not tap it itself."""

Apply = Callable[[Any, Any, Callable], Any]
"""apply(params, inputs, tap) → output."""


@dataclass(frozen=True)
class Nodes:
    """The nodes of a network in the order in which they are computed, and what acts before each.

    before: for each node the indices of the parameter leaves it depends on.
    cut: whether everything by which those parameters act on the output passes through the node.
    """

    names: tuple[str, ...]
    shapes: dict[str, jax.ShapeDtypeStruct]
    before: tuple[frozenset[int], ...]
    cut: tuple[bool, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of entries of each node, the batch included."""
        return tuple(prod(self.shapes[name].shape) for name in self.names)

    def index(self, name: str) -> int:
        """Position of a node. Raises ValueError for an unknown one."""
        if name not in self.names:
            raise ValueError(f"node = {name!r}: expected one of {self.names}")
        return self.names.index(name)


def with_params(model: nnx.Module | Apply, params: Any = None) -> tuple[Apply, Any]:
    """A model as a function (params, inputs, tap) → output, and the parameters to use: by default its own.

    Abstract NNX models (``nnx.eval_shape``) will do where only the function is wanted. A function is
    handed through. Raises ValueError when a function comes without parameters.
    """
    if isinstance(model, nnx.Module):
        model, own = functional(model)
        params = own if params is None else params
    elif params is None:
        raise ValueError("params = None: expected the parameters of a model given as a function")
    return model, params


def paths(tree: Any) -> list[str]:
    """Names of a pytree's leaves, in order: "blocks/0/kernel"."""
    keys = [path for path, _ in jax.tree_util.tree_flatten_with_path(tree)[0]]
    # NNX keeps the array of a parameter one level below it
    return [jax.tree_util.keystr(key, simple=True, separator="/").removesuffix("/value") for key in keys]


def run(apply: Apply, params: Any, inputs: Any, shifts: dict | None = None) -> tuple[Any, dict]:
    """Output and nodes by name, in order, each node moved by its entry of ``shifts``.

    The output is a node too. Raises ValueError when a name is tapped twice.
    """
    nodes = {}

    def tap(name, value):
        if name in nodes:
            raise ValueError(f"node = {name!r} is tapped twice: expected a name of its own for each node")
        nodes[name] = value if shifts is None else value + shifts[name]
        return nodes[name]

    output = apply(params, inputs, tap)
    if not nodes or output is not list(nodes.values())[-1]:
        output = tap(OUTPUT, output)
    return output, nodes


def find_nodes(apply: Apply, params: Any, inputs: Any) -> Nodes:
    """Read the order, shapes and dependences of the nodes off the computation itself.

    The network is traced with every node cut open: what is computed at a node goes out, a free input
    comes in. Which parameters and earlier nodes each piece uses is then a matter of dead code, and
    from these direct uses follow both ``before`` and ``cut``. Zero derivatives count as uses, so a node
    may be called "not cut" where it is one; nothing that is called a cut node fails to be one. Nothing
    is computed: shapes suffice, inside a compiled function as well.
    """
    shapes = {}

    def record(params, inputs):
        _, nodes = run(apply, params, inputs)
        shapes.update({name: jax.ShapeDtypeStruct(jnp.shape(v), v.dtype) for name, v in nodes.items()})

    jax.eval_shape(record, params, inputs)
    names = tuple(shapes)
    leaves, treedef = jax.tree.flatten(params)

    def opened(leaves, given):
        computed = {}

        def tap(name, value):
            computed[name] = value
            return given[name]

        output = apply(treedef.unflatten(leaves), inputs, tap)
        computed.setdefault(names[-1], output)
        return [computed[name] for name in names]

    free = [jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) for leaf in leaves]
    jaxpr = jax.make_jaxpr(lambda leaves, given: opened(leaves, dict(zip(names, given, strict=True))))(
        free, [shapes[name] for name in names]
    ).jaxpr
    uses = [dce_jaxpr(jaxpr, [out == i for out in range(len(names))])[1] for i in range(len(names))]
    params_used = [frozenset(k for k in range(len(leaves)) if used[k]) for used in uses]
    nodes_used = [[j for j in range(len(names)) if used[len(leaves) + j]] for used in uses]

    def reaching(node: int, blocked: int | None = None) -> frozenset[int]:
        """Parameters on which a node depends, other than through the blocked one."""
        seen, stack = set(), [node]
        while stack:
            i = stack.pop()
            if i not in seen and i != blocked:
                seen.add(i)
                stack.extend(nodes_used[i])
        return frozenset().union(*(params_used[i] for i in seen))

    last = len(names) - 1
    before = tuple(reaching(i) for i in range(len(names)))
    cut = tuple(i == last or not before[i] & reaching(last, blocked=i) for i in range(len(names)))
    return Nodes(names, shapes, before, cut)
