"""The table of numbered equations: formula, function, tests."""

from importlib import import_module
from pathlib import Path

import yaml
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from .library import tests_of
from .tables import table


def load(source: Path) -> list[dict]:
    """The equations of `book/equations.yaml` in order, each with its chapter and number."""
    chapters = yaml.safe_load((source / "book" / "equations.yaml").read_text(encoding="utf-8"))
    found = [{"chapter": part["chapter"], **entry} for part in chapters for entry in part["equations"]]
    return [{"number": k, **entry} for k, entry in enumerate(found, 1)]


def function(name: str) -> tuple[str, str]:
    """The module that exports a function and its own name; AttributeError when it does not exist."""
    module, _, own = f"lazyrich.{name}".rpartition(".")
    getattr(import_module(module), own)
    return module, own


class Equations(SphinxDirective):
    def run(self):
        rows = [self.row(entry) for entry in load(Path(self.env.srcdir))]
        header = ["no.", "equation", "what it is", "paper", "chapter", "function", "tested in"]
        return [table(header, rows, "equations")]

    def row(self, entry: dict) -> list:
        module, own = function(entry["function"])
        chapter = f"chapters/{entry['chapter']}"
        linked = f"{{doc}}`{entry['chapter'][:2]} </{chapter}>`"
        number = nodes.inline("", f"({entry['number']})", ids=[f"equation-{entry['number']}"])
        paper = entry["paper"]
        cell = lambda text: self.parse_inline(text)[0]
        return [
            [number],
            [nodes.math(entry["tex"], entry["tex"])],
            entry["what"],
            cell(f"{{cite:p}}`{paper}`") if paper != "ours" else paper,
            cell(linked) if chapter in self.env.found_docs else entry["chapter"][:2],
            cell(f"{{py:obj}}`{own} <{module}.{own}>`"),
            ", ".join(tests_of(module, own)),
        ]


def setup(app):
    app.add_directive("equations", Equations)
