"""Show a figure with its alt text and caption, and leave its data beside the run."""

import csv
import os
import re
from base64 import b64encode
from collections.abc import Mapping
from io import BytesIO, StringIO
from itertools import zip_longest
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from IPython.core.getipython import get_ipython
from IPython.display import display
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from PIL import Image

from lazyrich import files

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
SHORTEST_ALT = 20


def show(
    fig: Figure, *, name: str, alt: str, caption: str, data: Mapping[str, ArrayLike] | None = None
) -> None:
    """Display a figure as one PNG, whose output metadata carry its words, and close it.

    Args:
        name: lower-case words joined by hyphens; unique in a chapter.
        alt: what the figure shows, with the fitted numbers, for a reader who cannot see it.
        caption: what a reader who sees it should look at.
        data: the plotted numbers by column, each of shape (points,); written to figures/<name>.csv in the
            folder that $LAZYRICH_RESULTS names, if it is set. Shorter columns end in blanks.

    Raises:
        ValueError: a bad name, a name used before in this run, alt text that says nothing, no caption,
            or data that are not columns.
    """
    if not NAME.fullmatch(name):
        raise ValueError(f"name must be lower-case words joined by hyphens, got {name!r}")
    if len(alt.strip()) < SHORTEST_ALT:
        raise ValueError(
            f"alt of {name} must describe the figure in at least {SHORTEST_ALT} characters: {alt!r}"
        )
    if not caption.strip():
        raise ValueError(f"caption of {name} must not be empty")
    table = _csv(name, data or {})
    if (folder := os.environ.get("LAZYRICH_RESULTS")) and table:
        path = Path(folder) / "figures" / f"{name}.csv"
        if path.exists():
            raise ValueError(f"name {name!r} belongs to another figure of this run")
        files.write_atomic(path, table)
    png = _png(fig)
    plt.close(fig)
    if get_ipython() is not None:  # a plain Python process has nowhere to show it
        words = {"alt": " ".join(alt.split()), "caption": " ".join(caption.split()), "name": name}
        display({"image/png": b64encode(png).decode()}, metadata={"image/png": words}, raw=True)


def _png(fig: Figure) -> bytes:
    """The figure as a PNG of 256 colours: a third of the size, which counts in a committed notebook."""
    full, small = BytesIO(), BytesIO()
    fig.savefig(full, format="png")
    flat = Image.open(full).convert("RGB").quantize(256, dither=Image.Dither.NONE)
    flat.save(small, format="png", optimize=True)
    return small.getvalue()


def _csv(name: str, data: Mapping[str, ArrayLike]) -> str:
    columns = {key: np.asarray(column) for key, column in data.items()}
    for key, column in columns.items():
        if column.ndim != 1:
            raise ValueError(f"data[{key!r}] of {name} must have shape (points,), got {column.shape}")
    if not columns:
        return ""
    text = StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(columns)
    rows.writerows(zip_longest(*(column.tolist() for column in columns.values()), fillvalue=""))
    return text.getvalue()
