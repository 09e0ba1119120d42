r"""Measurements over many networks: one compiled program, one network after another.

A single network's angle fluctuates by about √(ℓ/m) at layer ℓ and width m. What the laws predict are the
means of :math:`\langle -b, \dot f \rangle`, :math:`|b|^2` and :math:`|\dot f|^2`, so these are averaged
before an angle is formed of them.
"""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec


def over_networks(
    measure: Callable[..., Any],
    seeds: Iterable[int],
    *arguments: Any,
    devices: int | None = None,
    compiler_options: dict | None = None,
) -> Any:
    """``measure(key, *arguments)`` for every seed, as a pytree of NumPy arrays (seeds, …).

    The seeds are shared out among the devices; on each, networks follow one another, so that memory holds
    one at a time. The program is compiled once for each measure and the arguments' shapes, whatever the
    number of seeds: pass the same function again.

    Args:
        devices: how many to use; None is all. Take 1 where ``measure`` calls LAPACK (qr, eigh): two host
            devices that wait for it at once can wait for each other.
        compiler_options: of ``jax.jit``, for small networks that take longer to compile than to run.

    Raises ValueError when there is no seed.

    >>> draw = lambda key, scale: scale * jax.random.normal(key, (2,), jnp.float32)
    >>> over_networks(draw, range(3), jnp.float32(0)).shape
    (3, 2)
    """
    seeds = np.fromiter(seeds, np.uint32)
    if not len(seeds):
        raise ValueError("seeds is empty: expected at least one")
    used = tuple(jax.local_devices()[:devices])
    rounds = np.resize(seeds, (-(-len(seeds) // len(used)), len(used)))
    program = _program(measure, used, tuple((compiler_options or {}).items()))
    found = [jax.tree.map(np.asarray, program(jnp.asarray(some), *arguments)) for some in rounds]
    return jax.tree.map(lambda *parts: np.concatenate(parts)[: len(seeds)], *found)


@cache
def _program(measure, devices, compiler_options):
    """What `over_networks` compiles."""
    each = PartitionSpec("seeds")

    def program(seeds, *arguments):
        one = lambda seed: jax.tree.map(lambda a: a[None], measure(jax.random.key(seed[0]), *arguments))
        mesh = Mesh(np.array(devices), ("seeds",))
        return jax.shard_map(one, mesh=mesh, in_specs=each, out_specs=each, check_vma=False)(seeds)

    return jax.jit(program, compiler_options=dict(compiler_options))


def pooled_cosine(flow: np.ndarray, backward: np.ndarray, velocity: np.ndarray) -> np.ndarray | float:
    r"""cos θ of the means over networks (axis 0): :math:`\langle D\rangle/\sqrt{\langle|b|^2\rangle
    \langle|\dot f|^2\rangle}`, from arrays (networks, …) of ⟨−b, ḟ⟩, |b| and |ḟ|.

    >>> float(pooled_cosine(np.array([1.0, 3.0]), np.array([1.0, 3.0]), np.array([2.0, 2.0])).round(4))
    0.4472
    """
    return flow.mean(axis=0) / np.sqrt((backward**2).mean(axis=0) * (velocity**2).mean(axis=0))


def pooled_angle(cosines: np.ndarray) -> np.ndarray | float:
    r"""Mean angle over networks (axis 0) as :math:`\langle 1/\cos^2\theta \rangle^{-1/2}`: where each layer
    causes the same decay in every network, |ḟ|²|b|² averages.

    >>> float(pooled_angle(np.array([0.5, 0.5])))
    0.5
    """
    return (cosines**-2.0).mean(axis=0) ** -0.5
