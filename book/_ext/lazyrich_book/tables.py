"""Tables as docutils nodes: they carry classes for the verdicts, which Markdown's cannot."""

import re

from docutils import nodes


def markdown(text: str) -> str:
    """Escape what Markdown would read as markup, outside of maths and literals."""
    return re.sub(r"(`[^`]*`|\$[^$]*\$)|([*_<\[|])", lambda m: m[1] or "\\" + m[2], text)


def badge(verdict: str) -> nodes.inline:
    """The verdict, with a class; the style sheet adds a mark, so that colour is not all it has."""
    return nodes.inline(verdict, verdict, classes=["verdict", "verdict-" + verdict.split()[0]])


def table(header: list[str], rows: list[list], *classes: str) -> nodes.table:
    """A table with classes; a cell is a string or a list of inline nodes."""
    group = nodes.tgroup("", *(nodes.colspec(colwidth=1) for _ in header), cols=len(header))
    group += nodes.thead("", _row(header))
    group += nodes.tbody("", *map(_row, rows))
    return nodes.table("", group, classes=list(classes))


def _row(cells: list) -> nodes.row:
    return nodes.row("", *(
        nodes.entry("", nodes.paragraph("", "", *([nodes.Text(cell)] if isinstance(cell, str) else cell)))
        for cell in cells
    ))
