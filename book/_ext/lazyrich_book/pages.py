"""Directives of the generated pages: each is filled from the runs behind the book."""

import json
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from lazyrich.ledger import Claim, example_rows, interval_text, load_claims, summary, theory_text

from .cells import recording_cells, target
from .results import UNSUPPORTED, Run, best_rows, local, read_runs, with_verdict
from .tables import badge, markdown, table


class Generated(SphinxDirective):
    """A directive without content, filled from `self.runs`."""

    @property
    def source(self) -> Path:
        return Path(self.env.srcdir)

    @property
    def runs(self) -> list[Run]:
        return read_runs(self.source)

    def text(self, markdown: str) -> list[nodes.Node]:
        return self.parse_text_to_nodes(markdown)

    def cell(self, markdown: str) -> list[nodes.Node]:
        return self.parse_inline(markdown)[0]

    def link(self, chapter: str) -> str:
        """The chapter's title as a link, or its stem where the book has no such page."""
        return f"{{doc}}`/chapters/{chapter}`" if f"chapters/{chapter}" in self.env.found_docs else chapter

    def claim(self, row: dict) -> nodes.Node:
        """A claim's name, linked to the cell that measures it where the book has that chapter."""
        name, page = nodes.literal("", row["id"]), f"chapters/{row['chapter']}"
        if page not in self.env.found_docs:
            return name
        notebook = Path(self.env.doc2path(page))
        place = f"#{target(row['id'])}" if row["id"] in recording_cells(notebook) else ""
        uri = self.env.app.builder.get_relative_uri(self.env.docname, page)
        return nodes.reference("", "", name, refuri=uri + place, internal=True)

    def claims(self, rows: list[dict], *classes: str) -> list[nodes.Node]:
        """Ledger rows as a table; "None." where there are none."""
        if not rows:
            return self.text("None.")
        return [table(
            ["claim", "paper", "theory", "measured, 95\u202f% interval", "allowance", "seeds", "verdict"],
            [[
                [self.claim(row), nodes.Text(" "), *self.cell(markdown(row["statement"]))],
                [*self.cell(f"{{cite:p}}`{row['paper']}`" if row["paper"] != "ours" else "ours")],
                theory_text(row),
                interval_text(row) + (f", worst at {row['cell']}" if row.get("cell") else ""),
                f"{row['allowance']:.3g}",
                str(row["seeds"] or "solver") if row["measured"] is not None else "–",
                [badge(row["verdict"]), *self.cell(markdown(remark(row)))],
            ] for row in rows],
            "ledger", *classes,
        )]


class Ledger(Generated):
    """Every row of every run, a table a run."""

    def run(self):
        found = []
        for run in self.runs:
            at = "preset `{preset}`, {device}, {date:.10}, {seconds:.0f} s".format_map(run.record)
            found += self.text(f"**{self.link(run.chapter)}** ({run.origin}): {at}. {summary(run.rows)}")
            found += self.claims(run.rows, f"of-{run.chapter}")
        return found or self.text("Nothing has been run, and no ledger is committed.")


class Claims(Generated):
    """What was declared of the claims of the book's chapters before they were measured."""

    def run(self):
        here = self.env.found_docs
        rows = [self.row(claim) for claim in load_claims().values() if f"chapters/{claim.chapter}" in here]
        header = ["claim", "place in the paper", "quantity", "window", "allowance", "resolution", "needs"]
        return [table(header, rows, "declared")] if rows else self.text("None.")

    def row(self, claim: Claim) -> list:
        place, quantity, excuse = (
            self.cell(markdown(text)) for text in (claim.place, claim.quantity, allowance(claim)))
        window = ", ".join(f"{name} ∈ [{low:g}, {high:g}]" for name, (low, high) in claim.window.items())
        needs = ", ".join(f"{name} ≥ {least:g}" for name, least in claim.needs.items())
        resolution = "–" if claim.resolution is None else f"{claim.resolution:.3g}"
        name = nodes.literal("", claim.id)
        return [[name], place, quantity, window or "–", excuse, resolution, needs or "–"]


class LedgerCounts(Generated):
    """How many claims have which verdict, in one line; a claim that two runs measured counts once."""

    def run(self):
        return self.text(f"The {{doc}}`/book/ledger` holds {summary(best_rows(self.runs))}")


class LedgerMisses(Generated):
    """The rows that differ or do not decide, with their known reasons."""

    def run(self):
        return self.claims(with_verdict(self.runs, "differs", "inconclusive"))


class LedgerUnsupported(Generated):
    """The rows for which every run was too small, then those that only a recorded one could decide."""

    def run(self):
        best = best_rows(self.runs)
        small = {row["id"] for row in with_verdict(self.runs, UNSUPPORTED)}
        decided = [row for row in best if row["id"] in small and row["verdict"] != UNSUPPORTED]
        found = self.claims([row for row in best if row["verdict"] == UNSUPPORTED])
        if decided:
            found += self.text("These too, and the chapter's recorded run was large enough:")
            found += self.claims(decided)
        return found


class LedgerExample(Generated):
    """Invented rows, judged by the rule."""

    def run(self):
        return self.claims(example_rows())


class RunStatus(Generated):
    """When and how long each run took, then on what it ran."""

    def run(self):
        runs = self.runs
        runs += local(runs)
        if not runs:
            return self.text("Nothing has been run here.")
        took = [[
            *self.named(run), run.origin, "{:.0f} s".format(run.record["seconds"]),
            "{:.0f} MiB".format(run.record["peak_memory"] / 2**20), run.record["date"][:10],
            [nodes.literal("", commit(run.record["commit"]))],
        ] for run in runs]
        ran_on = [[
            *self.named(run), run.record["device"], run.record["machine"], run.record["precision"],
            ", ".join(" ".join(item) for item in run.record["versions"].items()),
        ] for run in runs]
        return [
            table(["chapter", "preset", "run", "time", "peak memory", "date", "commit"], took, "status"),
            *self.text("What the numbers were computed on and with:"),
            table(["chapter", "preset", "device", "machine", "precision", "versions"], ran_on, "status"),
        ]

    def named(self, run: Run) -> list:
        return [self.cell(self.link(run.chapter)), run.record["preset"]]


class ChapterList(Generated):
    """Each chapter's title, its first paragraph and the counts of its run."""

    def run(self):
        runs = {run.chapter: run for run in reversed(self.runs)}  # this build's before a recorded one
        entries = []
        for doc in sorted(doc for doc in self.env.found_docs if doc.startswith("chapters/")):
            chapter = doc.removeprefix("chapters/")
            counts = summary(runs[chapter].rows) if chapter in runs else "Not measured yet."
            opening = first_paragraph(self.source / f"{doc}.ipynb")
            entries.append(f"{self.link(chapter)}\n: {opening}\n\n  *{counts}*\n")
        return self.text("\n".join(entries))


def allowance(claim: Claim) -> str:
    """A claim's allowance with its reason."""
    reason = f": {claim.allowance_reason}" if claim.allowance_reason else ""
    return f"{claim.allowance:.3g}{reason}"


def remark(row: dict) -> str:
    """What is known of a row, to follow its verdict."""
    known = row.get("known") or row.get("note")
    return f": {known}" if known else ""


def commit(name: str | None) -> str:
    """A commit's short name, with the mark of a changed working tree."""
    full, _, changes = (name or "–").partition(" ")
    return f"{full[:10]} {changes}".strip()


def first_paragraph(notebook: Path) -> str:
    """The first paragraph of a notebook that is neither a heading nor a directive, on one line."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    text = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    blocks = [block.strip() for block in text.split("\n\n")]
    return next((" ".join(block.split()) for block in blocks if block and block[0] not in "#`:>("), "")


def setup(app):
    app.add_directive("ledger", Ledger)
    app.add_directive("ledger-counts", LedgerCounts)
    app.add_directive("ledger-misses", LedgerMisses)
    app.add_directive("ledger-unsupported", LedgerUnsupported)
    app.add_directive("ledger-example", LedgerExample)
    app.add_directive("claims-declared", Claims)
    app.add_directive("run-status", RunStatus)
    app.add_directive("chapter-list", ChapterList)
