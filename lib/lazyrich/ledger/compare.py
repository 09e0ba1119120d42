"""Two ledgers side by side: does a run agree with the committed one?"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from lazyrich.ledger.page import interval_text
from lazyrich.ledger.verdict import DIFFERS, INCONCLUSIVE, UNSUPPORTED

AGREES, MOVED, CHANGED = "in agreement", "number moved", "verdict changed"
NOT_COMPARED, NEW, MISSING = "not compared", "new", "missing from the run"
BAD = (CHANGED, MOVED, MISSING)


@dataclass(frozen=True)
class Agreement:
    """One claim in two ledgers; `before` is the committed row, `after` the run's, either may be None."""

    id: str
    status: str
    before: dict | None
    after: dict | None

    @property
    def silent(self) -> bool:
        """Whether neither run was large enough to say anything."""
        return all(row and row["verdict"] == UNSUPPORTED for row in (self.before, self.after))

    def __str__(self) -> str:
        sides = (
            "absent" if row is None else f"{interval_text(row)} {row['verdict']}"
            for row in (self.before, self.after)
        )
        return f"{self.id}: {self.status}: {' → '.join(sides)}"


@dataclass(frozen=True)
class Comparison:
    """All claims of the run's chapters, the disagreements first. `str` is one line, then a line a row."""

    rows: tuple[Agreement, ...]

    @property
    def agrees(self) -> bool:
        """No verdict changed, no number moved by more than its tolerance, no claim is missing."""
        return not any(row.status in BAD for row in self.rows)

    def __str__(self) -> str:
        listed = ", ".join(f"{n} {status}" for status in STATUSES if (n := self.count(status)))
        head = "agrees" if self.agrees else "does not agree"
        return "\n".join(
            [f"The run {head} with the committed ledger: {listed or 'no claims'}.", *map(str, self.rows)]
        )

    def count(self, status: str) -> int:
        return sum(row.status == status for row in self.rows)


STATUSES = (CHANGED, MOVED, MISSING, NEW, NOT_COMPARED, AGREES)


def compare(rows: Iterable[dict], committed: Iterable[dict]) -> Comparison:
    """Compare a run's rows with committed ones, claim by claim; rows `custom.*` have no counterpart.

    A claim agrees when its verdict is the same and the measured number has moved by no more than its
    tolerance. Without a declared tolerance this is the largest of the committed half-width, the
    allowance and 1 % of the committed value; for inequalities the verdict alone decides, as their
    numbers may lie anywhere on their side. Where either run was too small, nothing is compared.
    Chapters that the run has no row of are left out.
    """
    after = {row["id"]: row for row in rows if not row["id"].startswith("custom.")}
    chapters = {row.get("chapter") for row in after.values()}
    before = {row["id"]: row for row in committed if row.get("chapter") in chapters}
    before = {name: row for name, row in before.items() if not name.startswith("custom.")}
    found = [
        Agreement(name, _status(before.get(name), after.get(name)), before.get(name), after.get(name))
        for name in {**before, **after}
    ]
    return Comparison(tuple(sorted(found, key=lambda row: STATUSES.index(row.status))))


def failures(rows: Iterable[dict], committed: Iterable[dict] = ()) -> list[str]:
    """Why a run's ledger must not pass, a line a reason; empty when it may.

    A row fails that differs or is inconclusive and is not declared as known with its reason. Rows at
    needs that are not met say nothing, and rows `custom.*` are the reader's. With a committed ledger,
    a row whose verdict changed, whose number moved or that is missing fails too.
    """
    rows, committed = list(rows), list(committed)
    alone = [
        f"{row['id']}: {row['verdict']}, not declared as known: {interval_text(row)}"
        for row in rows
        if row["verdict"] in (DIFFERS, INCONCLUSIVE)
        and not row["known"]
        and not row["id"].startswith("custom.")
    ]
    against = compare(rows, committed).rows if committed else ()
    return alone + [str(row) for row in against if row.status in BAD]


def _status(before: dict | None, after: dict | None) -> str:
    if before is None:
        return NEW
    if after is None:
        return MISSING
    if UNSUPPORTED in (before["verdict"], after["verdict"]):
        return NOT_COMPARED
    if before["verdict"] != after["verdict"]:
        return CHANGED
    return AGREES if _close(before, after) else MOVED


def _close(before: dict, after: dict) -> bool:
    one, other, tolerance = before["measured"], after["measured"], after.get("tolerance")
    if one == other or (math.isnan(one) and math.isnan(other)):
        return True
    if tolerance is None:
        if after["relation"] in ("greater", "less", "between"):
            return True
        half = (before["high"] - before["low"]) / 2
        tolerance = max(half if math.isfinite(half) else 0, after["allowance"], 0.01 * abs(one))
    return abs(one - other) <= tolerance
