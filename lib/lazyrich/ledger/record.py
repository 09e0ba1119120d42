"""Recording a chapter's claims as it runs."""

import difflib
import os
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from lazyrich import device, files
from lazyrich.fits import Interval
from lazyrich.ledger.claims import FEWEST_SEEDS, Claim, load_claims
from lazyrich.ledger.page import Markdown, markdown_table, summary, theory_text
from lazyrich.ledger.rows import dump_rows
from lazyrich.ledger.verdict import UNSUPPORTED, judge, unmet, worst

RESULTS = "LAZYRICH_RESULTS"  # the folder a run writes to; unset, nothing is written


class Ledger:
    """The rows of one run of a chapter.

    Args:
        chapter: the chapter's stem, such as "01_scaling_laws"; its declared claims are the rows to fill.
        parameters: the run's parameters; only kept, for the reader.
        preset: the name that `lazyrich.runs.preset_name` gives these parameters.
        claims: the claims by id; those of data/claims when None.

    A run ends with `table()` and `close()`, which demands that no claim was forgotten.
    """

    def __init__(
        self,
        chapter: str,
        parameters: object = None,
        preset: str = "custom",
        claims: Mapping[str, Claim] | None = None,
    ):
        self.chapter = chapter
        self.parameters = parameters
        self.preset = preset
        self.claims = load_claims(chapter) if claims is None else dict(claims)
        self.rows: list[dict] = []
        self._run = {key: device.describe()[key] for key in ("device", "precision", "versions")}
        self._since = time.perf_counter()

    def record(
        self,
        claim_id: str,
        measured: Interval | float | Mapping[str, Interval],
        *,
        seeds: int | None = None,
        window: Mapping[str, tuple[float, float]] | None = None,
        have: Mapping[str, float] | None = None,
        cell: str | None = None,
        note: str | None = None,
    ) -> str:
        """Record what was measured for a claim, and return the verdict (see `judge`).

        Args:
            measured: an interval, before any allowance; a number that is exact; or intervals by the
                name of their cell (a step, a depth), of which the worst is recorded and named.
            seeds: the number of seeds, where the interval does not say it.
            window: the fit window by variable; the claim's own when None.
            have: the sizes this run had, by the names in the claim's `needs`; seeds are known.
            cell: the name of the cell, where several were measured elsewhere.
            note: anything a reader of the row should know.

        Raises:
            ValueError: an unknown id (the nearest is suggested), a claim recorded twice, an interval that
                is not of one number, seeds missing from a claim over seeds, a size not stated in `have`,
                or a window other than the claim's although its needs are met.
        """
        claim = self._claim(claim_id)
        cells = measured if isinstance(measured, Mapping) else {cell: measured}
        cells = {name: _interval(claim.id, one) for name, one in cells.items()}
        counts = [one.n for one in cells.values() if one.n is not None]
        given, seeds = seeds, seeds if seeds is not None else min(counts, default=None)
        if claim.kind == "seeds" and seeds is None:
            raise ValueError(f"claim {claim.id} is measured over seeds: state how many")
        have = {**({} if seeds is None else {"seeds": seeds}), **(have or {})}
        cell = worst(claim, cells, have)
        if window is not None and not unmet(claim, have) and _pairs(window) != dict(claim.window):
            raise ValueError(
                f"claim {claim.id}: window {dict(window)} is not the claim's {dict(claim.window)}"
            )
        window = _pairs(claim.window if window is None else window)
        # The cell with the fewest seeds decides whether the run may speak; the row shows those of its own.
        shown = seeds if given is not None or cells[cell].n is None else cells[cell].n
        return self._add(claim, cells[cell], judge(claim, cells[cell], have), shown, window, cell, note)

    def skip(self, claim_id: str, reason: str) -> None:
        """Record that this run did not measure a claim, and why: not supported by this preset."""
        if not reason.strip():
            raise ValueError(f"claim {claim_id}: a claim is skipped for a reason")
        self._add(self._claim(claim_id), None, UNSUPPORTED, None, {}, None, reason)

    def custom(
        self,
        name: str,
        measured: Interval | float,
        predicted: float | None = None,
        *,
        statement: str = "at the reader's own parameters",
        allowance: float = 0.0,
        resolution: float | None = None,
        seeds: int | None = None,
        window: Mapping[str, tuple[float, float]] | None = None,
        note: str | None = None,
    ) -> str:
        """Record a row `custom.<name>`, at the reader's own parameters: no claim, no gate."""
        interval = _interval(f"custom.{name}", measured)
        seeds = interval.n if seeds is None else seeds
        claim = Claim(
            id=f"custom.{name}", chapter=self.chapter, paper="ours", statement=statement, quantity=name,
            relation="measured" if predicted is None else "equals",
            kind="solver" if seeds is None else "seeds",
            predicted=None if predicted is None else float(predicted), allowance=allowance,
            resolution=resolution, needs={} if seeds is None else {"seeds": FEWEST_SEEDS},
        )  # fmt: skip
        self._once(claim.id)
        verdict = judge(claim, interval, {"seeds": seeds or 0})
        return self._add(claim, interval, verdict, seeds, _pairs(window or {}), None, note)

    def table(self) -> Markdown:
        """The rows as the chapter's last table."""
        return Markdown(f"{markdown_table(self.rows)}\n\n{summary(self.rows)}")

    def verdicts(self) -> Markdown:
        """Ids, theory and verdicts only: no digit that comes from training."""
        lines = ["| claim | theory | verdict |", "|---|---|---|"]
        lines += [f"| `{row['id']}` | {theory_text(row)} | {row['verdict']} |" for row in self.rows]
        return Markdown("\n".join(lines))

    def close(self) -> None:
        """End the run: write claims.json to the folder that $LAZYRICH_RESULTS names, if it is set.

        Raises:
            ValueError: a claim of the chapter was neither recorded nor skipped.
        """
        done = {row["id"] for row in self.rows}
        if missing := [name for name in self.claims if name not in done]:
            raise ValueError(
                f"chapter {self.chapter}: claims neither recorded nor skipped: {', '.join(missing)}"
            )
        if folder := os.environ.get(RESULTS):
            files.write_atomic(Path(folder) / "claims.json", dump_rows(self.rows))

    def _claim(self, claim_id: str) -> Claim:
        if claim_id not in self.claims:
            near = difflib.get_close_matches(claim_id, self.claims, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise ValueError(f"chapter {self.chapter} declares no claim {claim_id!r}{hint}")
        self._once(claim_id)
        return self.claims[claim_id]

    def _once(self, row_id: str) -> None:
        if any(row["id"] == row_id for row in self.rows):
            raise ValueError(f"{row_id} is recorded already")

    def _add(self, claim: Claim, interval, verdict, seeds, window, cell, note) -> str:
        now = time.perf_counter()
        known = claim.known.reason if claim.known and claim.known.verdict == verdict else None
        ends = (None,) * 3 if interval is None else (interval.value, interval.low, interval.high)
        predicted = list(claim.predicted) if isinstance(claim.predicted, tuple) else claim.predicted
        row = {
            "id": claim.id, "chapter": self.chapter, "paper": claim.paper, "place": claim.place,
            "statement": claim.statement, "quantity": claim.quantity, "relation": claim.relation,
            "predicted": predicted, "measured": ends[0], "low": ends[1], "high": ends[2],
            "allowance": claim.allowance, "allowance_reason": claim.allowance_reason,
            "resolution": claim.resolution, "tolerance": claim.tolerance, "needs": dict(claim.needs),
            "seeds": seeds, "window": window, "cell": cell, "verdict": verdict, "known": known, "note": note,
            "preset": self.preset, **self._run, "seconds": round(now - self._since, 3),
        }  # fmt: skip
        self._since = now
        self.rows.append(row)
        return verdict


def _interval(name: str, measured: Interval | float) -> Interval:
    """A plain number is an interval of no width; all ends become floats."""
    one = measured if isinstance(measured, Interval) else Interval(measured, measured, measured)
    if any(np.ndim(end) for end in (one.value, one.low, one.high)):
        raise ValueError(f"{name}: one row is one number, got an interval of shape {np.shape(one.value)}")
    return Interval(float(one.value), float(one.low), float(one.high), one.n)


def _pairs(window: Mapping) -> dict[str, tuple[float, float]]:
    return {name: tuple(map(float, ends)) for name, ends in window.items()}
