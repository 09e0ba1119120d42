"""The index of the library: each public name, what it is, and the tests that exercise it."""

import re
from importlib import import_module
from inspect import getdoc
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from lazyrich.files import repository

from .tables import table


class LibraryIndex(SphinxDirective):
    """A table of the public names of the packages given as arguments."""

    has_content = True

    def run(self):
        rows = [row for package in self.content for row in self.rows(package)]
        return [table(["name", "what it is", "tested in"], rows, "index")]

    def rows(self, package: str):
        module = import_module(package)
        for name in module.__all__:
            link = self.parse_inline(f"{{py:obj}}`{name} <{package}.{name}>`")[0]
            yield [link, self.parse_inline(markdown(summary(getattr(module, name))))[0],
                   [nodes.Text(", ".join(tests_of(package, name)) or "–")]]


def summary(thing) -> str:
    """The first sentence of a docstring; a plain value itself, whose type's docstring is not its own."""
    if not callable(thing):
        return f"`{thing!r}`"
    return " ".join((getdoc(thing) or "").split("\n\n")[0].split()).split(". ")[0]


def markdown(text: str) -> str:
    """Escape what Markdown would read as markup, outside of maths and literals."""
    return re.sub(r"(`[^`]*`|\$[^$]*\$)|([*_<\[|])", lambda m: m[1] or "\\" + m[2], text)


def tests_of(package: str, name: str) -> list[str]:
    """The test modules of the package's room that use a name."""
    root = repository()
    room = Path("tests", *package.split(".")[1:2])
    modules = sorted((root / room).rglob("test_*.py")) if root else []
    using = [path for path in modules if re.search(rf"\b{name}\b", path.read_text(encoding="utf-8"))]
    return [str(path.relative_to(root / "tests")) for path in using]


def setup(app):
    app.add_directive("library-index", LibraryIndex)
