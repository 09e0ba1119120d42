"""BibTeX of this book, made from CITATION.cff."""

from pathlib import Path

import yaml
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from .repository import project_file


def bibtex(citation: dict) -> str:
    """A BibTeX entry of the fields of a CITATION.cff."""
    fields = {
        "author": " and ".join(f"{{{author['name']}}}" for author in citation["authors"]),
        "title": f"{{{citation['title']}}}",
        "version": citation["version"],
        "year": str(citation.get("date-released", ""))[:4],
        "url": citation.get("url", ""),
    }
    lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
    return "@software{lazyrich,\n" + ",\n".join(lines) + "\n}"


class Citation(SphinxDirective):
    def run(self):
        path = project_file(Path(self.env.srcdir), "CITATION.cff")
        text = bibtex(yaml.safe_load(path.read_text(encoding="utf-8")))
        return [nodes.literal_block(text, text, language="bibtex")]


def setup(app):
    app.add_directive("citation", Citation)
