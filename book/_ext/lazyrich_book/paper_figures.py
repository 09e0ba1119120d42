"""The table of the papers' figures: panel here, claims with their verdicts, or the reason why not."""

from pathlib import Path

import yaml
from docutils import nodes

from .figures import figure_metadata
from .pages import Generated
from .tables import badge, markdown, table


def load(source: Path) -> dict[str, list[dict]]:
    """Paper → its figures."""
    return yaml.safe_load((source / "book" / "paper_figures.yaml").read_text(encoding="utf-8"))


class PaperFigures(Generated):
    def run(self):
        found = []
        for paper, figures in load(self.source).items():
            found += self.text(f"**{{cite:t}}`{paper}`**")
            header = ["figure", "what it shows", "here", "claims", "difference, or why not"]
            found.append(table(header, [self.row(figure) for figure in figures], "figures"))
        return found

    def row(self, figure: dict) -> list:
        return [
            figure["number"] or "–",
            self.cell(markdown(figure["shows"])),
            self.panel(figure),
            self.verdicts(figure.get("claims", [])),
            self.cell(markdown(figure.get("because", "–"))),
        ]

    def panel(self, figure: dict) -> list[nodes.Node]:
        """A link to the panel, to the chapter where this preset draws none, or the chapter's name alone."""
        chapter = figure.get("chapter")
        if chapter is None:
            return [nodes.strong("", "not reproduced")]
        if f"chapters/{chapter}" not in self.env.found_docs:
            return [nodes.Text(f"{chapter} (not in this book)")]
        if "figure" not in figure:
            return self.cell(self.link(chapter))
        shown = figure_metadata(self.source / "chapters" / f"{chapter}.ipynb").values()
        if figure["figure"] in [about.get("name") for about in shown]:
            return self.cell(f"{{numref}}`fig {chapter[:2]} {figure['figure']}`")
        return self.cell(f"{self.link(chapter)}, not drawn at this preset")

    def verdicts(self, claims: list[str]) -> list[nodes.Node]:
        rows = {}
        for run in self.runs:
            for row in run.rows:
                if rows.get(row["id"], {}).get("measured") is None:  # a recorded run fills what this one left
                    rows[row["id"]] = row
        found = []
        for claim in claims:
            found += [nodes.Text("; ")] if found else []
            if claim in rows:
                found += [self.claim(rows[claim]), nodes.Text(" "), badge(rows[claim]["verdict"])]
            else:
                found.append(nodes.literal("", claim))
        return found or [nodes.Text("–")]


def setup(app):
    app.add_directive("paper-figures", PaperFigures)
