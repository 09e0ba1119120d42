"""The landing page's cards: each chapter's headline with its figure and its measured number."""

import json
from base64 import b64decode
from html import escape
from pathlib import Path

import yaml
from docutils import nodes
from sphinx.errors import ExtensionError

from lazyrich.files import write_atomic
from lazyrich.ledger import interval_text, theory_text

from .pages import Generated
from .tables import badge


def load(source: Path) -> dict[str, dict]:
    """Chapter → figure, claim and sentence."""
    return yaml.safe_load((source / "book" / "headlines.yaml").read_text(encoding="utf-8"))


def figure(notebook: Path, name: str) -> tuple[bytes, str]:
    """A figure's bytes and alt text by its name; ExtensionError when the notebook holds none."""
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        for output in cell.get("outputs", []):
            metadata = output.get("metadata", {}).get("image/png", {})
            if metadata.get("name") == name:
                return b64decode("".join(output["data"]["image/png"])), metadata["alt"]
    raise ExtensionError(f"{notebook.name} holds no figure named {name!r}")


class Headlines(Generated):
    """One block a chapter, in the order of the chapters in the book."""

    def run(self):
        # This build's rows come first; a claim that only a recorded run could measure is taken from there.
        rows = {}
        for run in self.runs:
            for row in run.rows:
                if row["measured"] is not None and row["verdict"] != "not supported by this preset":
                    rows.setdefault(row["id"], (row, run))
        found = []
        for chapter, entry in load(self.source).items():
            if f"chapters/{chapter}" in self.env.found_docs:
                found += self.block(chapter, entry, rows.get(entry["claim"]))
        return found

    def block(self, chapter: str, entry: dict, measured) -> list[nodes.Node]:
        page = self.env.app.builder.get_relative_uri(self.env.docname, f"chapters/{chapter}")
        image, alt = figure(self.source / "chapters" / f"{chapter}.ipynb", entry["figure"])
        name = f"headline-{chapter}.png"
        write_atomic(Path(self.env.app.outdir) / "_static" / "headlines" / name, image)
        up = "../" * self.env.docname.count("/")
        source, alt = f"{up}_static/headlines/{name}", escape(alt, quote=True)
        picture = f'<a href="{page}"><img src="{source}" alt="{alt}" loading="lazy"></a>'
        text = nodes.paragraph("", "", *self.cell(entry["says"] + " "))
        if measured:
            row, run = measured
            text += nodes.strong("", interval_text(row))
            preset, allowance = run.record["preset"], row["allowance"]
            said = f"theory {theory_text(row)}, allowance {allowance:.3g}, preset {preset}"
            text += nodes.Text(f" ({said}): ")
            text += badge(row["verdict"])
        else:
            text += nodes.Text("… not measured at this preset.")
        title = nodes.paragraph("", "", nodes.strong("", "", *self.cell(self.link(chapter))))
        return [nodes.container("", title, nodes.raw("", picture, format="html"), text, classes=["headline"])]


def setup(app):
    app.add_directive("headlines", Headlines)
