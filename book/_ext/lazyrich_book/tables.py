"""Ledger rows and run records as tables, in the words and digits a reader needs."""

import math

from docutils import nodes


def digits(row: dict) -> int:
    """Decimals to print, so that the half-width of the row's interval shows two digits."""
    scale = (row["high"] - row["low"]) / 2 or abs(row["measured"]) * 1e-3
    return min(max(1 - math.floor(math.log10(scale)), 0), 8) if scale and math.isfinite(scale) else 4


def number(value, decimals: int = 4) -> str:
    """A number with a true minus sign; a dash for none."""
    if value is None:
        return "–"
    if value and not 1e-5 <= abs(value) < 1e6:
        return f"{value:.2g}".replace("-", "−")
    return f"{value:.{decimals}f}".replace("-", "−")


def measured(row: dict) -> str:
    """The measured value and its interval, before allowance."""
    if row["measured"] is None:
        return "–"
    n = digits(row)
    return f"{number(row['measured'], n)} [{number(row['low'], n)}, {number(row['high'], n)}]"


def theory(row: dict) -> str:
    """What the claim predicts, with its relation where that is not equality."""
    relation = row["relation"]
    value = row["predicted"]
    if isinstance(value, list):
        return f"in [{value[0]:.6g}, {value[1]:.6g}]".replace("-", "−")
    text = "–" if value is None else f"{value:.6g}".replace("-", "−")
    return text if relation in ("=", "==", None, "measured") or value is None else f"{relation} {text}"


def badge(verdict: str) -> nodes.inline:
    """The verdict as text that also carries a mark, so that colour is not all it has."""
    return nodes.inline(verdict, verdict, classes=["verdict", "verdict-" + verdict.split()[0]])


def table(header: list[str], rows: list[list], classes=()) -> nodes.table:
    """A docutils table; a cell is a string or a list of inline nodes."""
    group = nodes.tgroup("", *(nodes.colspec(colwidth=1) for _ in header), cols=len(header))
    group += nodes.thead("", _row(header))
    group += nodes.tbody("", *(_row(row) for row in rows))
    return nodes.table("", group, classes=list(classes))


def _row(cells):
    return nodes.row("", *(
        nodes.entry("", nodes.paragraph("", "", *([nodes.Text(cell)] if isinstance(cell, str) else cell)))
        for cell in cells
    ))
