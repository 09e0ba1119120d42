r"""How a layer scales with its size: one table for initial scale, multiplier and learning rate.

A layer computes multiplier · W x with entries of W drawn from N(0, scale²), and learns at η · rate. The
network's output is then divided by the feature strength γ (`lazyrich.training`), and η multiplied by
γ² where time is to be measured in function space.

==============  ======  ==========  ==========  =====
name            kind    scale       multiplier  rate
==============  ======  ==========  ==========  =====
``"ntk"``       all     1           1/√fan_in   1
``"standard"``  all     1/√fan_in   1           1
``"mup"``       input   1           1/√fan_in   N
``"mup"``       hidden  1           1/√fan_in   N
``"mup"``       output  1           1/fan_in    N
==============  ======  ==========  ==========  =====

N is the width. In ``"mup"`` (mean field) features move by O(1) at γ = 1 for every N, and the limits
N → ∞ and γ → 0 are the kernel's; ``"ntk"`` is lazy already at γ = 1 as N → ∞.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

Kind = Literal["input", "hidden", "output"]


class Scaling(NamedTuple):
    """One layer's scaling; see the module's table."""

    scale: float
    multiplier: float
    rate: float


class Shape(NamedTuple):
    """What a rule may depend on: fan_in of the layer, width and number of weight matrices of the network."""

    fan_in: int
    width: int
    depth: int


Rule = Callable[[Kind, Shape], Scaling]


def _ntk(kind: Kind, shape: Shape) -> Scaling:
    return Scaling(1.0, shape.fan_in**-0.5, 1.0)


def _standard(kind: Kind, shape: Shape) -> Scaling:
    return Scaling(shape.fan_in**-0.5, 1.0, 1.0)


def _mup(kind: Kind, shape: Shape) -> Scaling:
    return Scaling(1.0, 1 / shape.fan_in if kind == "output" else shape.fan_in**-0.5, float(shape.width))


RULES: dict[str, Rule] = {"ntk": _ntk, "standard": _standard, "mup": _mup}


def scaling(parametrization: str, kind: Kind, shape: Shape) -> Scaling:
    """The scaling of one layer.

    Raises ValueError for an unknown parametrization.

    >>> scaling("mup", "output", Shape(fan_in=64, width=64, depth=3))
    Scaling(scale=1.0, multiplier=0.015625, rate=64.0)
    """
    if parametrization not in RULES:
        raise ValueError(f"parametrization = {parametrization!r}: expected one of {sorted(RULES)}")
    return RULES[parametrization](kind, shape)
