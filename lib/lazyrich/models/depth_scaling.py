r"""How readout, branch and learning rates scale with width m and depth L: the rows of FS's Table 1, derived
again in chapter 04 from the speed formula.

Weights as they are used (`lazyrich.models.deep`), scalar output, inputs of d entries of size 1. The rates
give each layer its share 1/L of the decay of the loss, :math:`\eta_k = 1/(L |in_k|^2 |b_k|^2)`; the
readout σ sets how much the features move meanwhile, :math:`S = 1/(\sqrt m |b_{L-1}| \cos\theta_{L-1})`.

==============  ==========  ==========  ============  ===============  ===========
row             σ           β           input         hidden           output
==============  ==========  ==========  ============  ===============  ===========
``"ntk"``       m^(−1/2)    —           1/(dL)        1/(mL)           1/(mL)
``"mup"``       1/m         —           m/(dL)        1/L              1/(mL)
``"fsc"``       L^(1/2)/m   —           m/(dL²)       1/L²             1/(mL)
``"res-ntk"``   m^(−1/2)    D^(−1/2)    1/(dL)        1/(mLβ²)         1/(mL)
``"res-sqrt"``  1/m         D^(−1/2)    m/(dL)        1/(Lβ²)          1/(mL)
``"res-inv"``   1/m         1/D         m/(dL)        1/(Lβ²)          1/(mL)
``"res-one"``   1/m         1           m/(dL)        1/(Lβ²)          1/(mL)
==============  ==========  ==========  ============  ===============  ===========

L counts weight matrices: a residual network of D blocks has L = D + 2.
"""

from dataclasses import dataclass

ROWS = ("ntk", "mup", "fsc", "res-ntk", "res-sqrt", "res-inv", "res-one")


@dataclass(frozen=True)
class DepthScaling:
    """One row at one size; the rates are those of the parameters of `lazyrich.models.deep.deep`."""

    readout: float  # σ
    branch_scale: float | None  # β
    rates: dict[str, float]  # input, hidden, output: the last for u where the output is σ u·φ


def depth_scaling(row: str, fan_in: int, width: int, depth: int) -> DepthScaling:
    """A row of the module's table.

    Args:
        row: one of ``ROWS``.
        fan_in: d.
        width: m.
        depth: L, at least 3.

    Raises ValueError for an unknown row or a size out of range.

    >>> depth_scaling("mup", 16, 64, 8).rates
    {'input': 0.5, 'hidden': 0.125, 'output': 8.0}
    """
    if row not in ROWS:
        raise ValueError(f"row = {row!r}: expected one of {ROWS}")
    if depth < 3 or min(fan_in, width) < 1:
        raise ValueError(f"fan_in, width, depth = {fan_in}, {width}, {depth}: expected at least 1, 1 and 3")
    readout = {"ntk": width**-0.5, "res-ntk": width**-0.5, "fsc": depth**0.5 / width}.get(row, 1 / width)
    branch = {"res-ntk": (depth - 2) ** -0.5, "res-sqrt": (depth - 2) ** -0.5, "res-inv": 1 / (depth - 2)}
    beta = branch.get(row, 1.0) if row.startswith("res") else None
    back = readout**2 * width  # |b|² of a hidden layer, up to the activation's factor
    return DepthScaling(
        readout,
        beta,
        {
            "input": 1 / (depth * fan_in * back),
            "hidden": 1 / (depth * width * back * (beta or 1.0) ** 2),
            # η of the weights σ u: of u itself η/σ²
            "output": 1 / (depth * width * readout**2),
        },
    )
