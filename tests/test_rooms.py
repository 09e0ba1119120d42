"""The house: imports go down only, public names are listed and documented, docstring examples hold."""

import ast
import doctest
import inspect
import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import lazyrich

PACKAGE = Path(lazyrich.__file__).parent
# What each room may import, besides the root's device and files.
ALLOWED = {
    "tasks": set(),
    "models": set(),
    "training": {"models", "tasks"},
    "theory": set(),
    "fits": set(),
    "measure": {"models"},
    "ledger": {"fits"},
    "runs": {"ledger"},
    "plots": {"fits", "ledger"},
}
ROOT = {"device", "files"}
FOUND = [*pkgutil.walk_packages([str(PACKAGE)], "lazyrich.")]
MODULES = sorted(found.name for found in FOUND if found.name != "lazyrich.__main__")
PACKAGES = sorted(found.name for found in FOUND if found.ispkg)
ROOMS = sorted({name.split(".")[1] for name in MODULES} - ROOT)


def imported(path: Path) -> set[str]:
    """The rooms and root modules of the library that a file imports, anywhere in it."""
    package = ("lazyrich", *path.relative_to(PACKAGE).parent.parts)
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = [*package[: len(package) - node.level + 1]] if node.level else []
            base = ".".join(start + ([node.module] if node.module else []))
            names = [f"{base}.{alias.name}" for alias in node.names]
        else:
            continue
        found |= {name.split(".")[1] for name in names if name.startswith("lazyrich.")}
    return found


def test_every_room_is_in_the_table():
    assert set(ROOMS) <= set(ALLOWED)


@pytest.mark.parametrize("room", ROOMS)
def test_imports_go_down_only(room):
    for path in (PACKAGE / room).rglob("*.py"):
        assert imported(path) <= ALLOWED[room] | ROOT | {room}, path


def test_the_root_imports_no_room():
    assert [imported(PACKAGE / f"{name}.py") - ROOT for name in ("__init__", "device", "files")] == [
        set()
    ] * 3


def test_the_front_imports_lazily():
    top = ast.parse((PACKAGE / "__main__.py").read_text()).body
    names = [ast.unparse(node) for node in top if isinstance(node, ast.Import | ast.ImportFrom)]
    assert not [name for name in names if "lazyrich" in name]


def test_no_jax_without_training():
    code = (
        "import lazyrich, lazyrich.fits, lazyrich.ledger, lazyrich.runs.front, lazyrich.runs.committed, sys\n"
        "assert 'jax' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", PACKAGES)
def test_public_names_are_listed_and_documented(name):
    module = import_module(name)
    assert module.__doc__
    statements = ast.parse(Path(module.__file__).read_text()).body
    assert len(statements) == 1 or module.__all__  # a package may be a docstring over its packages
    for public in getattr(module, "__all__", []):
        found = getattr(module, public)
        if callable(found) or inspect.ismodule(found):
            assert inspect.getdoc(found), public


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.testmod(import_module(name), optionflags=flags).failed == 0
