"""Directives of the generated pages: each is filled from the runs behind the book."""

import json
from collections import Counter
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from .results import VERDICTS, Run, decided, read_runs
from .tables import badge, measured, number, table, theory

MISSES = ("differs", "inconclusive")


class Generated(SphinxDirective):
    """A directive without content; `runs` are those behind the book."""

    @property
    def source(self) -> Path:
        return Path(self.env.srcdir)

    @property
    def runs(self) -> list[Run]:
        return read_runs(self.source)

    def text(self, markdown: str) -> list[nodes.Node]:
        return self.parse_text_to_nodes(markdown)

    def cell(self, markdown: str) -> list[nodes.Node]:
        return self.parse_inline(str(markdown))[0]

    def link(self, chapter: str) -> str:
        """The chapter's title as a link, or its stem where the book has no such page."""
        return f"{{doc}}`/chapters/{chapter}`" if f"chapters/{chapter}" in self.env.found_docs else chapter

    def claims(self, rows: list[dict], *extra: str) -> nodes.table:
        """Ledger rows as a table, with extra columns by key."""
        return table(
            ["claim", "theory", "measured [95 %]", "allowance", "seeds", "verdict", *extra],
            [[
                [nodes.literal("", row["id"]), nodes.Text(" "), *self.cell(f"{row['statement']} ({row['paper']})")],
                theory(row),
                measured(row),
                number(row["allowance"]) if row["allowance"] else "0",
                str(row["seeds"] or "solver"),
                [badge(row["verdict"])],
                *(self.cell(row.get(key) or "–") for key in extra),
            ] for row in rows],
            classes=["ledger"],
        )


class Ledger(Generated):
    """Every row of every run, a table a chapter."""

    def run(self):
        found = []
        for run in self.runs:
            found += self.text(f"**{self.link(run.chapter)}**, {run.origin}: {provenance(run)}")
            found.append(self.claims(run.rows))
        return found or self.text("Nothing has been run, and no ledger is committed.")


class LedgerCounts(Generated):
    """How many claims have which verdict, in one line."""

    def run(self):
        counts = Counter(row["verdict"] for run in self.runs for row in run.rows)
        parts = [f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict]]
        line = f"{counts.total()} ledger rows so far: {', '.join(parts)}." if parts else "No claim measured yet."
        return self.text(f"{line} See {{doc}}`/book/ledger`.")


class LedgerMisses(Generated):
    """The rows that differ or do not decide, with their known reasons."""

    def run(self):
        rows = [row for run in self.runs for row in decided(run, MISSES)]
        return [self.claims(rows, "known")] if rows else self.text("None.")


class LedgerUnsupported(Generated):
    """The rows for which the run was too small."""

    def run(self):
        rows = [row for run in self.runs for row in decided(run, VERDICTS[-1:])]
        return [self.claims(rows)] if rows else self.text("None.")


class RunStatus(Generated):
    """When and how long each run took, then on what it ran."""

    def run(self):
        runs = self.runs
        if not runs:
            return self.text("Nothing has been run here.")
        took = [[
            self.cell(self.link(run.chapter)), run.record["preset"], run.origin, f"{run.record['seconds']:.0f} s",
            f"{run.record['peak_memory'] / 2**20:.0f} MiB", run.record["date"][:10],
            [nodes.literal("", commit(run.record["commit"]))],
        ] for run in runs]
        ran_on = [[
            self.cell(self.link(run.chapter)), run.record["preset"], run.record["device"], run.record["machine"],
            run.record["precision"], ", ".join(" ".join(item) for item in run.record["versions"].items()),
        ] for run in runs]
        return [
            table(["chapter", "preset", "run", "time", "peak memory", "date", "commit"], took, ["status"]),
            *self.text("What the numbers were computed on and with:"),
            table(["chapter", "preset", "device", "machine", "precision", "versions"], ran_on, ["status"]),
        ]


class ChapterList(Generated):
    """Each chapter's title, first paragraph and count of verdicts."""

    def run(self):
        chapters = sorted(doc for doc in self.env.found_docs if doc.startswith("chapters/"))
        counts = {run.chapter: Counter(row["verdict"] for row in run.rows) for run in self.runs
                  if run.origin != "recorded"}
        entries = []
        for doc in chapters:
            found = counts.get(Path(doc).name, {})
            verdicts = ", ".join(f"{found[v]} {v}" for v in VERDICTS if found.get(v))
            opening = first_paragraph(self.source / f"{doc}.ipynb")
            entries.append(f"{{doc}}`/{doc}`\n: {opening}\n\n  {verdicts}\n")
        return self.text("\n".join(entries) or "The first chapter is being written.")


def provenance(run: Run) -> str:
    """A run in one line."""
    record = run.record
    return f"preset `{record['preset']}`, {record['device']}, {record['date'][:10]}, {record['seconds']:.0f} s."


def commit(name: str | None) -> str:
    """A commit's short name, with the mark of a changed working tree."""
    hash_, _, changes = (name or "–").partition(" ")
    return f"{hash_[:10]} {changes}".strip()


def first_paragraph(notebook: Path) -> str:
    """The first paragraph of a notebook that is neither a heading nor a directive, on one line."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    text = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    blocks = [block.strip() for block in text.split("\n\n")]
    return next((" ".join(b.split()) for b in blocks if b and b[0] not in "#`:>("), "")


def setup(app):
    for name, directive in {
        "ledger": Ledger, "ledger-counts": LedgerCounts, "ledger-misses": LedgerMisses,
        "ledger-unsupported": LedgerUnsupported, "run-status": RunStatus, "chapter-list": ChapterList,
    }.items():
        app.add_directive(name, directive)
