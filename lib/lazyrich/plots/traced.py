"""Where in a figure its data lie: the box of each panel, and the columns that its lines and maps draw."""

import re
import unicodedata
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure

SIGNS = {"times": "×", "infty": "∞", "ell": "ℓ", "propto": "∝", "sqrt": "√", "int": "∫", "lambda": "λ"}
POINTS = 3  # a line of fewer is a guide for the eye


def trace(
    fig: Figure, columns: Mapping[str, np.ndarray], cells: Mapping[Axes, Sequence[str]]
) -> tuple[dict[str, np.ndarray], list[dict]]:
    """The columns, joined by what lines draw that no column holds, and of each panel with data its place.

    Args:
        fig: the figure as it was drawn.
        columns: its data by name.
        cells: the columns of the cells of those axes that show a map.

    A panel is ``{box, x, y, names, lines or cells}``: the box as left, top, width and height, where the
    picture's are 1; scale and ends of the two axes; their labels; for each line its two columns and its
    label. A column holds what a line draws if it agrees in more than half of the finite points: some may
    have been clipped.
    """
    columns, found = dict(columns), []
    for number, ax in enumerate(fig.axes, 1):
        if not {ax.get_xscale(), ax.get_yscale()} <= {"linear", "log"}:
            continue
        if ax in cells:
            drawn = {"cells": list(cells[ax])}
        else:
            drawn = {"lines": _lines(ax, f"panel {number}" if len(fig.axes) > 1 else "", columns)}
        if any(drawn.values()):
            left, bottom, width, height = ax.get_position().bounds
            found.append({
                "box": [round(part, 4) for part in (left, 1 - bottom - height, width, height)],
                "x": [ax.get_xscale(), *map(float, ax.get_xlim())],
                "y": [ax.get_yscale(), *map(float, ax.get_ylim())],
                "names": [plain(ax.get_xlabel()) or "x", plain(ax.get_ylabel()) or "value"],
                **drawn,
            })  # fmt: skip
    return columns, found


def plain(text: str) -> str:
    r"""A label without its mathematical markup.

    >>> plain(r"$\gamma=10^{-3}$, rate $\eta$")
    'γ=10^-3, rate η'
    """

    def sign(match: re.Match) -> str:
        try:
            return SIGNS.get(match[1]) or unicodedata.lookup(f"GREEK SMALL LETTER {match[1].upper()}")
        except KeyError:
            return match[1]

    text = re.sub(r"\\([A-Za-z]+)", sign, re.sub(r"\\(?:mathrm|text|dot)\b|\\[,;! ]", "", text))
    return " ".join(re.sub(r"[${}\\]", "", text).split())


def _lines(ax: Axes, panel: str, columns: dict[str, np.ndarray]) -> list[list[str]]:
    """(abscissa, ordinate, label) of each line; columns are added for those that none holds."""
    bars = {c.lines[0]: c for c in ax.containers if isinstance(c, ErrorbarContainer)}
    caps = {cap for container in bars.values() for cap in container.lines[1]}
    title, found = plain(ax.get_title()), []
    for number, line in enumerate((line for line in ax.lines if line not in caps), 1):
        x, y = (np.asarray(values) for values in line.get_data())
        if len(x) < POINTS or {x.dtype.kind, y.dtype.kind} - set("iuf"):
            continue
        label = str((bars.get(line) or line).get_label())
        said = "" if label.startswith("_") else plain(label)
        stem = ", ".join(filter(None, [title or panel, said])) or "line"
        if {f"{stem}: x", f"{stem}: y"} & columns.keys():
            stem = f"{stem} ({number})"
        pair = [
            next((key for key, column in columns.items() if _same(values, column)), None) for values in (x, y)
        ]
        if pair[0] == pair[1]:
            pair[1] = None
        for place, (axis, values) in enumerate((("x", x), ("y", y))):
            if pair[place] is None:
                pair[place] = f"{stem}: {axis}"
                columns[pair[place]] = values
        if pair[1] == f"{stem}: y" and line in bars:
            columns |= {f"{stem}: {end}": values for end, values in _ends(bars[line], y).items()}
        entry = [*pair, ", ".join(filter(None, [title, said]))]
        if entry not in found:
            found.append(entry)
    return found


def _ends(bars: ErrorbarContainer, y: np.ndarray) -> dict[str, np.ndarray]:
    """The ends of the vertical intervals of points, if they have such."""
    if not bars.has_yerr:
        return {}
    segments = bars.lines[2][-1].get_segments()
    if len(segments) != len(y) or any(len(segment) != 2 for segment in segments):
        return {}
    low, high = np.array(segments)[:, :, 1].T
    return {"low": low, "high": high}


def _same(drawn: np.ndarray, column: np.ndarray) -> bool:
    """Whether these are the column's values, save for some that were clipped or are not finite."""
    if drawn.shape != column.shape or column.dtype.kind not in "iuf":
        return False
    finite = np.isfinite(drawn)
    return bool(finite.any() and np.isclose(drawn[finite], column[finite], rtol=1e-9, atol=0).mean() > 0.5)
