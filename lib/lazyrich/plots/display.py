"""Show a figure with its alt text and caption, and leave its data beside the run."""

import csv
import os
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from io import BytesIO, StringIO
from itertools import zip_longest
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from IPython.core.getipython import get_ipython
from IPython.display import display
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from PIL import Image

from lazyrich import files
from lazyrich.plots.traced import trace

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
SHORTEST_ALT = 20


def show(
    fig: Figure,
    *,
    name: str,
    alt: str,
    caption: str,
    data: Mapping[str, ArrayLike] | None = None,
    cells: Mapping[Axes, Sequence[str]] | None = None,
) -> None:
    """Display a figure as one PNG, whose output metadata carry its words, and close it.

    The metadata also say where each axes lies in the picture and which columns its lines draw, so that
    the book's page can read out the data under the pointer.

    Args:
        name: lower-case words joined by hyphens; unique in a chapter.
        alt: what the figure shows, with the fitted numbers, for a reader who cannot see it.
        caption: what a reader who sees it should look at.
        data: the plotted numbers by column, each of shape (points,); written with nine digits to
            figures/<name>.csv in the folder that $LAZYRICH_RESULTS names, if it is set. What a line draws
            and no column holds is added under the line's label. Shorter columns end in blanks.
        cells: for each axes that shows a map, the columns of its cells: abscissa, ordinate, and what is
            to be read out.

    Raises:
        ValueError: a bad name, a name used before in this run, alt text that says nothing, no caption,
            data that are not columns, or cells of columns that data have not.
    """
    if not NAME.fullmatch(name):
        raise ValueError(f"name must be lower-case words joined by hyphens, got {name!r}")
    if len(alt.strip()) < SHORTEST_ALT:
        raise ValueError(
            f"alt of {name} must describe the figure in at least {SHORTEST_ALT} characters: {alt!r}"
        )
    if not caption.strip():
        raise ValueError(f"caption of {name} must not be empty")
    columns = _columns(name, data or {})
    for chosen in (cells or {}).values():
        if unknown := [key for key in chosen if key not in columns]:
            raise ValueError(f"cells of {name}: expected columns of data, got {unknown}")
    png = _png(fig)
    columns, panels = trace(fig, columns, cells or {})
    table = _csv(columns)
    if (folder := os.environ.get("LAZYRICH_RESULTS")) and table:
        path = Path(folder) / "figures" / f"{name}.csv"
        if path.exists():
            raise ValueError(f"name {name!r} belongs to another figure of this run")
        files.write_atomic(path, table)
    about = {"alt": " ".join(alt.split()), "caption": " ".join(caption.split()), "name": name}
    if panels:
        about["panels"] = panels
    plt.close(fig)
    if get_ipython() is not None:  # a plain Python process has nowhere to show it
        display({"image/png": b64encode(png).decode()}, metadata={"image/png": about}, raw=True)


def _png(fig: Figure) -> bytes:
    """The figure as a PNG of 256 colours: a third of the size, which counts in a committed notebook."""
    full, small = BytesIO(), BytesIO()
    fig.savefig(full, format="png")
    flat = Image.open(full).convert("RGB").quantize(256, dither=Image.Dither.NONE)
    flat.save(small, format="png", optimize=True)
    return small.getvalue()


def _columns(name: str, data: Mapping[str, ArrayLike]) -> dict[str, np.ndarray]:
    columns = {key: np.asarray(column) for key, column in data.items()}
    for key, column in columns.items():
        if column.ndim != 1:
            raise ValueError(f"data[{key!r}] of {name} must have shape (points,), got {column.shape}")
    return columns


def _csv(columns: Mapping[str, np.ndarray]) -> str:
    if not columns:
        return ""
    text = StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(columns)
    rows.writerows(zip_longest(*map(_printed, columns.values()), fillvalue=""))
    return text.getvalue()


def _printed(column: np.ndarray) -> list:
    """Its values, nine digits of those that are not whole: as many as tell float32 apart."""
    return [f"{value:.9g}" for value in column] if column.dtype.kind == "f" else column.tolist()
