"""Quantities of a sweep against the swept parameters."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lazyrich.plots.draw import measured, panels, theory
from lazyrich.plots.look import colours, style

MOST_PANELS = 12


def figure(axes: dict[str, list], quantities: dict[str, list[tuple[dict, dict]]]) -> Figure:
    """One panel a quantity: measured values with their intervals, and dashed the theory's.

    Args:
        axes: the swept parameters and their values. The longest numeric one is the abscissa; each
            combination of the others is a series.
        quantities: of each name, pairs of a point's swept values and its ledger row; the first twelve
            are drawn.

    Raises:
        ValueError: nothing to draw.
    """
    if not axes or not quantities:
        raise ValueError(f"nothing to draw: {len(axes)} axes, {len(quantities)} quantities")
    x = max(axes, key=lambda name: (_numeric(axes[name]), len(axes[name])))
    shown = dict(list(quantities.items())[:MOST_PANELS])
    with style():
        fig, panes = panels(len(shown))
        for pane, (name, pairs) in zip(panes, shown.items(), strict=True):
            _panel(pane, x, axes[x], pairs)
            pane.set(title=name, xlabel=x)
            if len(axes) > 1:
                pane.legend(fontsize=8)
    return fig


def _panel(pane: Axes, x: str, values: list, pairs: list[tuple[dict, dict]]) -> None:
    numeric = _numeric(values)
    series: dict[str, list[tuple[float, dict]]] = {}
    for point, row in pairs:
        label = ", ".join(f"{name} = {_text(value)}" for name, value in point.items() if name != x)
        series.setdefault(label, []).append((point[x] if numeric else values.index(point[x]), row))
    for index, (label, points) in enumerate(series.items()):
        points.sort(key=lambda point: point[0])
        at = [place for place, _ in points]
        found = {key: [row[key] for _, row in points] for key in ("measured", "low", "high")}
        predicted = [_number(row["predicted"]) for _, row in points]
        known = np.isfinite(predicted).any()
        measured(
            pane, at, found["measured"], found["low"], found["high"], label or None,
            index=index, colour=colours(len(series), ordered=True)[index], line=not known,
        )  # fmt: skip
        if known:
            theory(pane, at, predicted)
    if not numeric:
        pane.set_xticks(range(len(values)), [_text(value) for value in values])
    elif min(values) > 0 and max(values) / min(values) >= 100:
        pane.set_xscale("log")


def _numeric(values: list) -> bool:
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def _number(predicted) -> float:
    """A bound or a range is no curve."""
    return predicted if isinstance(predicted, int | float) else np.nan


def _text(value) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
