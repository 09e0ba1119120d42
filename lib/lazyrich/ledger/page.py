"""Ledger rows for readers: Markdown tables, counts, and rows that explain the rule."""

import math
from collections import Counter
from collections.abc import Iterable

from lazyrich.fits import Interval
from lazyrich.ledger.claims import Claim
from lazyrich.ledger.verdict import VERDICTS, judge

SIGNS = {"greater": "> ", "less": "< ", "equals": ""}
COLUMNS = ("claim", "theory", "measured, 95 % interval", "allowance", "seeds", "verdict")


class Markdown(str):
    """Text that a notebook shows as Markdown."""

    def _repr_markdown_(self) -> str:
        return str(self)

    def _repr_pretty_(self, printer, cycle) -> None:
        printer.text("ledger table" if cycle else str(self))


def theory_text(row: dict) -> str:
    """What a row's theory says.

    >>> theory_text({"relation": "less", "predicted": 1e-12})
    '< 1e−12'
    >>> theory_text({"relation": "between", "predicted": [0.5, 15]})
    'in [0.5, 15]'
    """
    predicted = row["predicted"]
    if predicted is None:
        return "–"
    if isinstance(predicted, list | tuple):
        return f"in [{', '.join(map(number_text, predicted))}]"
    return SIGNS[row["relation"]] + number_text(predicted)


def interval_text(row: dict) -> str:
    """A row's measured value and interval, before allowance, to two digits of the half-width.

    >>> interval_text({"measured": 0.74981, "low": 0.7489, "high": 0.7507})
    '0.74981 [0.74890, 0.75070]'
    """
    value, low, high = (row[key] for key in ("measured", "low", "high"))
    if value is None:
        return "–"
    half = (high - low) / 2 if low != high else 0.0
    if not (math.isfinite(value) and math.isfinite(half)):
        ends = "" if low == high else f" [{number_text(low)}, {number_text(high)}]"
        return number_text(value) + ends
    if half == 0:
        return number_text(value)
    if not 1e-4 <= max(abs(value), half) < 1e6:
        return f"{number_text(value)} [{number_text(low, 3)}, {number_text(high, 3)}]"
    decimals = min(max(1 - math.floor(math.log10(half) + 1e-6), 0), 8)
    return f"{value:.{decimals}f} [{low:.{decimals}f}, {high:.{decimals}f}]".replace("-", "−")


def number_text(value: float, digits: int = 5) -> str:
    """A number with a true minus sign; ∞ for a divergence and "no number" for NaN."""
    if math.isnan(value):
        return "no number"
    return f"{value:.{digits}g}".replace("inf", "∞").replace("-", "−")


def markdown_table(rows: Iterable[dict]) -> str:
    """The rows as one Markdown table: statement, theory, measured, allowance, seeds, verdict."""
    lines = [f"| {' | '.join(COLUMNS)} |", "|" + "---|" * len(COLUMNS)]
    for row in rows:
        cell = f" (worst cell: {row['cell']})" if row.get("cell") else ""
        remark = row.get("known") or row.get("note")
        cells = (
            f"`{row['id']}` {row['statement']} ({row['paper']})",
            theory_text(row),
            interval_text(row) + cell,
            number_text(row["allowance"]),
            str(row["seeds"] or "solver") if row["measured"] is not None else "–",
            f"**{row['verdict']}**" + (f": {remark}" if remark else ""),
        )
        lines.append(f"| {' | '.join(text.replace('|', chr(92) + '|') for text in cells)} |")
    return "\n".join(lines)


def counts(rows: Iterable[dict]) -> dict[str, int]:
    """How many rows have which verdict, in the order of the verdicts; verdicts that none has are left out."""
    found = Counter(row["verdict"] for row in rows)
    return {verdict: found[verdict] for verdict in VERDICTS if found[verdict]}


def summary(rows: Iterable[dict]) -> str:
    """The counts in one line.

    >>> summary([{"verdict": "reproduced"}, {"verdict": "differs"}, {"verdict": "reproduced"}])
    '3 claims: 2 reproduced, 1 differs.'
    """
    found = counts(rows)
    total = sum(found.values())
    listed = ", ".join(f"{n} {verdict}" for verdict, n in found.items()) or "none"
    return f"{total} claim{'s' * (total != 1)}: {listed}."


def example_rows() -> list[dict]:
    """Invented rows that show the rule; the verdicts are those of `judge`.

    In order: reproduced; reproduced thanks to the allowance only; differs; inconclusive, although the
    interval covers the theory; not supported, for want of seeds.
    """
    shown = (
        ("plain", 0.0, Interval(0.497, 0.485, 0.509, 5)),
        ("excused", 0.02, Interval(0.487, 0.480, 0.494, 5)),
        ("failing", 0.02, Interval(0.443, 0.436, 0.450, 5)),
        ("wide", 0.02, Interval(0.53, 0.41, 0.65, 3)),
        ("small", 0.02, Interval(0.51, 0.08, 0.94, 2)),
    )
    rows = []
    for name, allowance, interval in shown:
        claim = Claim(
            id=f"ours.example.{name}", chapter="example", paper="ours", statement="the loss falls as t^−1/2",
            quantity="−d log L / d log t", relation="equals", kind="seeds", predicted=0.5,
            allowance=allowance, needs={"seeds": 3},
        )  # fmt: skip
        rows.append({
            "id": claim.id, "chapter": claim.chapter, "paper": claim.paper, "statement": claim.statement,
            "relation": claim.relation, "predicted": claim.predicted, "measured": interval.value,
            "low": interval.low, "high": interval.high, "allowance": allowance,
            "resolution": claim.resolution, "seeds": interval.n, "window": {}, "cell": None,
            "known": None, "note": None,
            "verdict": judge(claim, interval, {"seeds": interval.n}),
        })  # fmt: skip
    return rows
