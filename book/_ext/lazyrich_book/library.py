"""The library's pages: an index of public names with their tests, and their documentation."""

import re
from importlib import import_module
from pathlib import Path

from sphinx.util.docutils import SphinxDirective

from lazyrich.files import repository

from .docstrings import summary
from .tables import markdown, table


class LibraryIndex(SphinxDirective):
    """A table of the public names of some packages: name, what it is, where it is tested."""

    has_content = True

    def run(self):
        packages = map(import_module, self.content)
        rows = [self.row(package.__name__, name) for package in packages for name in package.__all__]
        return [table(["name", "what it is", "tested in"], rows, "index")]

    def row(self, package: str, name: str) -> list:
        link, meaning = (self.parse_inline(text)[0] for text in (
            f"{{py:obj}}`{name} <{package}.{name}>`",
            markdown(summary(getattr(import_module(package), name))),
        ))
        return [link, meaning, ", ".join(tests_of(package, name)) or "–"]


class Api(SphinxDirective):
    """The documentation of some modules, plain public values included, which automodule leaves out."""

    has_content = True

    def run(self):
        text = "\n".join(f".. automodule:: {name}\n   :members:\n\n{values(name)}" for name in self.content)
        return self.parse_text_to_nodes(f"```{{eval-rst}}\n{text}\n```")


def values(module: str) -> str:
    """An autodata directive for each public value that is neither function nor class."""
    public = import_module(module)
    plain = [name for name in getattr(public, "__all__", []) if not callable(getattr(public, name))]
    return "".join(f".. autodata:: {module}.{name}\n   :no-value:\n\n" for name in plain)


def tests_of(package: str, name: str) -> list[str]:
    """The test modules of the package's room that use a name."""
    root = repository()
    room = Path("tests", *package.split(".")[1:2])
    modules = sorted((root / room).rglob("test_*.py")) if root else []
    using = [path for path in modules if re.search(rf"\b{name}\b", path.read_text(encoding="utf-8"))]
    return [str(path.relative_to(root / "tests")) for path in using]


def setup(app):
    app.add_directive("library-index", LibraryIndex)
    app.add_directive("api", Api)
