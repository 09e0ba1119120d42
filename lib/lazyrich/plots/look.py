"""The look of the figures: colours, markers, lines and the sizes of type."""

import matplotlib as mpl
from matplotlib.colors import to_hex

# Okabe and Ito's colours that stand out from white by 3:1, and two dark ones in place of their light ones.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#7A4A00", "#332288")
MARKERS = ("o", "s", "^", "D", "v", "P")
LINES = ("-", (0, (1, 1)), (0, (3, 1, 1, 1)), (0, (5, 1)), (0, (1, 2)), (0, (3, 2, 1, 2)))
SEQUENTIAL = "viridis"  # maps of one sign
DIVERGING = "PuOr"  # maps of both signs, about zero
ORDERED = ("inferno", 0.18, 0.65)  # the part of a sequential map that stands out from white

RC = {
    "figure.figsize": (5.2, 3.7),
    "figure.dpi": 120,
    "figure.facecolor": "white",  # opaque, so that a dark page does not swallow the axes
    "axes.facecolor": "white",
    "savefig.facecolor": "white",
    "savefig.transparent": False,
    "figure.constrained_layout.use": True,
    "font.size": 13,  # still 8 pixels where a page 360 pixels wide shows two panels side by side
    "axes.titlesize": 13,
    "axes.labelsize": 13,
    "xtick.labelsize": 12,
    "ytick.labelsize": 12,
    "legend.fontsize": 11.5,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "lines.linewidth": 1.6,
    "lines.markersize": 5.5,
    "image.cmap": SEQUENTIAL,
    "axes.prop_cycle": mpl.cycler(color=PALETTE),
}


class style:
    """Apply the style now: for good when called, until the end of the block in `with style():`.

    >>> with style():
    ...     mpl.rcParams["figure.facecolor"]
    'white'
    """

    def __init__(self):
        self._before = {key: mpl.rcParams[key] for key in RC}
        mpl.rcParams.update(RC)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        mpl.rcParams.update(self._before)

    def __repr__(self) -> str:
        return "plots.style()"


def colours(n: int, ordered: bool = False) -> list[str]:
    """n colours that differ under every common colour blindness and stand out from white by 3:1.

    Args:
        n: at least 1; at most six unless ordered.
        ordered: shades from dark to light, for values that have an order, such as γ or N.

    Raises:
        ValueError: n below 1, or more than six colours without an order.

    >>> colours(2)
    ['#0072B2', '#D55E00']
    """
    most = None if ordered else len(PALETTE)
    if n < 1 or (most and n > most):
        allowed = "at least 1" if ordered else f"1 to {most} (more are told apart only as an ordered series)"
        raise ValueError(f"n must be {allowed}, got {n}")
    if not ordered:
        return list(PALETTE[:n])
    name, dark, light = ORDERED
    return [to_hex(mpl.colormaps[name](dark + (light - dark) * i / max(n - 1, 1))) for i in range(n)]
