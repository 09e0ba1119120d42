"""Seven small networks in float64, for what must hold in any architecture.

Weights are drawn by NumPy and programs compiled with little optimisation: compiling is what costs.
"""

import re
from functools import cache, partial
from math import prod

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from lazyrich.measure.feature_speeds import feature_speed
from lazyrich.measure.nodes import with_params
from lazyrich.models import CNN, MLP
from lazyrich.models.gcn import GCN, ring
from lazyrich.models.layers import identity
from lazyrich.models.resnet import ResNet
from lazyrich.models.ssm import StateSpace
from lazyrich.models.transformer import Transformer
from lazyrich.training import cross_entropy

CLASSES, WIDTH = 3, 12
COMMON = dict(parametrization="standard", depth=2, dtype=jnp.float64)
DEPTH3 = dict(depth=3)  # where depth counts matrices, not blocks

compiled = partial(
    jax.jit, compiler_options={"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
)


MAKE = {
    "mlp": (lambda rngs: MLP(8, WIDTH, CLASSES, rngs=rngs, **COMMON | DEPTH3), (8,)),
    "resnet1": (
        lambda rngs: ResNet(8, WIDTH, CLASSES, matrices=1, rngs=rngs, **COMMON),
        (8,),
    ),
    "resnet2": (lambda rngs: ResNet(8, WIDTH, CLASSES, branch_scale=0.4, rngs=rngs, **COMMON), (8,)),
    "cnn": (lambda rngs: CNN(4, 1, 6, CLASSES, rngs=rngs, **COMMON | DEPTH3), (16,)),
    "transformer": (lambda rngs: Transformer(3, WIDTH, CLASSES, tokens=5, rngs=rngs, **COMMON), (5, 3)),
    "ssm": (lambda rngs: StateSpace(3, WIDTH, CLASSES, states=3, rngs=rngs, **COMMON), (5, 3)),
    "gcn": (lambda rngs: GCN(ring(5), 5, 3, WIDTH, CLASSES, rngs=rngs, **COMMON), (5, 3)),
}


def drawn(make, seed=0):
    """A model as (apply, params), its weights N(0, 1/fan_in)."""
    apply, shapes = with_params(nnx.eval_shape(lambda: make(nnx.Rngs(params=0))))
    rng = np.random.default_rng(seed)
    weights = lambda s: jnp.asarray(rng.normal(size=s.shape) / max(1, prod(s.shape[:-1])) ** 0.5, s.dtype)
    return apply, jax.tree.map(weights, shapes)


def network(name, seed=0):
    return drawn(MAKE[name][0], seed)


def batch(name, n, seed=1):
    """(inputs, labels) of n samples."""
    rng = np.random.default_rng(seed)
    inputs = jnp.asarray(rng.normal(size=(n, *MAKE[name][1])))
    return inputs, jnp.asarray(rng.integers(0, CLASSES, n), jnp.int32)


@cache
def _program(name):
    apply = network(name)[0]
    loss = lambda params, batch: cross_entropy(apply(params, batch[0], identity), batch[1])

    @compiled
    def program(params, batch, updates):
        return jax.grad(loss)(params, batch), feature_speed(apply, batch, cross_entropy, updates, params)

    return program


def gradients(name, params, batch):
    """Of the network without any nodes."""
    return _program(name)(params, batch, params)[0]


def measured(name, params, batch, updates):
    """feature_speed, compiled once a network and shape."""
    return _program(name)(params, batch, updates)[1]


def acts_before(path, node):
    """Whether a parameter acts before a node of the stream, by their names alone.

    Layers and blocks count from 0 in parameters, from 1 in nodes; what has no number comes first, the
    readout last, at the node "output" or (CNN) h3.
    """
    if path.startswith("readout"):
        return node in ("output", "h3")
    number = re.search(r"/(\d+)", path)
    if number is None or node == "output":
        return True
    last = int(node[1:]) - 1
    attention = path.split("/")[0] in ("query", "key", "value", "merge")
    return int(number[1]) < last or (int(number[1]) == last and (node[0] == "h" or attention))
