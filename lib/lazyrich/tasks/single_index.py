"""Single-index targets of Gaussian inputs: a function of one hidden direction, drawn or fixed."""

from dataclasses import dataclass
from math import factorial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.tree_util import Partial

KINDS = ("hermite", "monomial")


def index_stream(
    power: int, batch: int, *, dimension: int = 8, kind: str = "hermite", fixed: bool = False
) -> Partial:
    r"""A function (key, step) → (inputs, targets) for `lazyrich.training.train` and `sweep`.

    Inputs are normal, :math:`x \sim N(0, 1)^D`; the target is a polynomial of :math:`z = a \cdot x` with a
    unit vector a that belongs to the key:

    .. math:: y = \mathrm{He}_p(z)/\sqrt{p!} \quad\text{or}\quad y = z^p/\sqrt{(2p - 1)!!} .

    Both have mean square 1. The Hermite polynomial is orthogonal to all polynomials of lower degree, so
    nothing of it can be learned before the direction is found in degree p; :math:`z^2` brings a constant
    with it, :math:`z^3` a linear part that carries 3/5 of its mean square.

    Args:
        power: p, at least 1.
        batch: number of samples a step.
        dimension: D.
        kind: ``"hermite"`` or ``"monomial"``.
        fixed: the same batch, that of step 0, at every step.

    Returns inputs (batch, D) and targets (batch, 1), float32.

    Raises ValueError for a power, batch or dimension below 1, or an unknown kind.

    >>> draw = index_stream(2, batch=256)
    >>> x, y = draw(jax.random.key(0), 5)
    >>> x.shape, y.shape, bool((draw(jax.random.key(0), 6)[0] == x).any())
    ((256, 8), (256, 1), False)
    """
    for name, size in (("power", power), ("batch", batch), ("dimension", dimension)):
        if size < 1:
            raise ValueError(f"{name} = {size}: expected at least 1")
    if kind not in KINDS:
        raise ValueError(f"kind = {kind!r}: expected one of {KINDS}")
    return Partial(_Draw(power, batch, dimension, kind, fixed))


def coefficients(power: int, kind: str) -> tuple[float, ...]:
    """Of the target as a polynomial in z, highest power first, with mean square 1 for normal z.

    >>> [round(c, 3) for c in coefficients(2, "hermite")]
    [0.707, 0.0, -0.707]
    """
    highest = [*np.zeros(power), 1.0]
    if kind == "hermite":
        plain = np.polynomial.hermite_e.herme2poly(highest)[::-1] / factorial(power) ** 0.5
    else:
        plain = np.array(highest[::-1]) / np.prod(np.arange(2 * power - 1, 0, -2)) ** 0.5
    return tuple(float(c) for c in plain)


@dataclass(frozen=True)
class _Draw:
    """The drawing function. Equal settings are equal functions, so that a program is compiled once."""

    power: int
    batch: int
    dimension: int
    kind: str
    fixed: bool

    def __call__(self, key: Array, step: Array | int) -> tuple[Array, Array]:
        of_direction, of_samples = jax.random.split(key)
        direction = jax.random.normal(of_direction, (self.dimension,), jnp.float32)
        key = jax.random.fold_in(of_samples, 0 if self.fixed else step)
        x = jax.random.normal(key, (self.batch, self.dimension), jnp.float32)
        z = x @ (direction / jnp.linalg.norm(direction))
        y = jnp.polyval(jnp.array(coefficients(self.power, self.kind), jnp.float32), z)
        return x, y[:, None]
