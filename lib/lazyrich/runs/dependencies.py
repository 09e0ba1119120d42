"""Which modules of the library a program uses: what a result depends on, and nothing else."""

import ast
from collections.abc import Iterator
from pathlib import Path

from lazyrich.files import PACKAGE


def modules(code: str) -> list[Path]:
    """The library's files that a program imports, directly or through others, in or out of functions.

    A package counts with what its `__init__` imports. Names built at run time are not seen: the library
    has one such place, the type of a chapter's parameters, which the chapter imports by name as well.

    >>> [path.name for path in modules("from lazyrich.files import sha256")]
    ['__init__.py', 'files.py']
    """
    seen: set[Path] = set()
    new = set(_imported(ast.parse(code), ()))
    while new:
        seen |= new
        new = {found for path in new for found in _imported(*_parsed(path))} - seen
    return sorted(seen)


def _parsed(path: Path) -> tuple[ast.Module, tuple[str, ...]]:
    package = (PACKAGE.name, *path.relative_to(PACKAGE).parent.parts)
    return ast.parse(path.read_text(encoding="utf-8")), package


def _imported(tree: ast.Module, package: tuple[str, ...]) -> Iterator[Path]:
    """The files behind the import statements of one module that lies in `package`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else ()
            base = [*start, *(node.module.split(".") if node.module else [])]
            names = [[*base, alias.name] for alias in node.names]
        else:
            continue
        for first, *rest in names:
            if first == PACKAGE.name:
                yield from _files(rest)


def _files(parts: list[str]) -> Iterator[Path]:
    """The packages on the way to a dotted name, and the module it is or lies in."""
    folder = PACKAGE
    yield folder / "__init__.py"
    for part in parts:
        if (folder / part).is_dir():
            folder /= part
            yield folder / "__init__.py"
        else:
            if (module := folder / f"{part}.py").is_file():
                yield module
            return
