"""What a chapter depends on: all that it imports, seen by importing it, and nothing of other rooms."""

import subprocess
import sys
from pathlib import Path

import pytest

from lazyrich.files import PACKAGE
from lazyrich.runs.chapters import chapters, code
from lazyrich.runs.dependencies import modules


def loaded(code: str) -> set[Path]:
    """The library's files in `sys.modules` after a program, in a process of its own."""
    tail = "import sys\nprint(*(m.__file__ for n, m in sys.modules.items() if n.split('.')[0] == 'lazyrich'))"
    command = [sys.executable, "-c", f"{code}\n{tail}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(map(Path, done.stdout.split()))


@pytest.mark.parametrize("notebook", chapters(), ids=lambda path: path.stem)
def test_nothing_that_a_chapter_imports_is_missed(notebook):
    lines = [line.strip() for line in code(notebook).splitlines() if "lazyrich" in line]
    imports = [line for line in lines if line.startswith(("from lazyrich", "import lazyrich"))]
    assert imports
    found = set(modules(code(notebook)))
    assert loaded("\n".join(imports)) <= found
    assert PACKAGE / "runs" / "front.py" not in found


@pytest.mark.parametrize("statement", [
    "import lazyrich.runs.front",
    "from lazyrich.runs import front",
    "def later():\n    from lazyrich.runs.front import run",
])  # fmt: skip
def test_every_form_of_import_is_seen(statement):
    found = {path.name for path in modules(statement)}
    assert {"front.py", "provenance.py", "dependencies.py", "files.py", "device.py"} <= found


def test_other_packages_are_no_part_of_the_library():
    assert modules("import numpy\nfrom os import path") == []
