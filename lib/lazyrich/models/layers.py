"""What every network is made of: a dense layer with its scaling, activations, taps, learning rates."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx
from jax import Array
from jax.typing import ArrayLike, DTypeLike

from lazyrich.models.parametrization import Kind, Shape, scaling

Tap = Callable[[str, Array], Array]

ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "relu": jax.nn.relu,
    "relu2": lambda u: jax.nn.relu(u) ** 2,
    "relu3": lambda u: jax.nn.relu(u) ** 3,
    "tanh": jnp.tanh,
    "gelu": jax.nn.gelu,
    "linear": lambda u: u,
}


def activation(name: str) -> Callable[[Array], Array]:
    """An activation by its name. Raises ValueError for an unknown one."""
    if name not in ACTIVATIONS:
        raise ValueError(f"activation = {name!r}: expected one of {sorted(ACTIVATIONS)}")
    return ACTIVATIONS[name]


def identity(name: str, value: Array) -> Array:
    """The tap that does nothing."""
    return value


def at_least_one(**sizes: int) -> None:
    """Raises ValueError that names the first size below 1."""
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name} = {size}: expected at least 1")


class Dense(nnx.Module):
    """multiplier · x W without a bias; W is (fan_in, fan_out) and carries its learning-rate factor.

    width and depth are the network's, as the parametrization sees it.
    """

    def __init__(
        self,
        fan_in: int,
        fan_out: int,
        *,
        kind: Kind,
        width: int,
        depth: int,
        parametrization: str,
        rngs: nnx.Rngs,
        gain: float = 1.0,
        dtype: DTypeLike = jnp.float32,
    ):
        rule = scaling(parametrization, kind, Shape(fan_in, width, depth))
        weights = rule.scale * jax.random.normal(rngs.params(), (fan_in, fan_out), dtype)
        self.kernel = nnx.Param(weights, rate=rule.rate)
        self.multiplier = gain * rule.multiplier

    def __call__(self, x: ArrayLike) -> Array:
        return self.multiplier * (x @ self.kernel[...])


def learning_rates(params: Any) -> Any:
    """The learning-rate factor of every parameter: a pytree of floats shaped like the arrays of ``params``.

    >>> from lazyrich.models import MLP
    >>> model = MLP(4, 16, 10, depth=2, rngs=nnx.Rngs(params=0))
    >>> jax.tree.leaves(learning_rates(nnx.state(model, nnx.Param)))
    [16.0, 16.0]
    """
    is_param = lambda node: isinstance(node, nnx.Variable)
    return jax.tree.map(lambda p: p.replace(p.get_metadata().get("rate", 1.0)), params, is_leaf=is_param)
