"""The tiny chapter, the front in a process of its own, and what a notebook printed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tiny_chapter import write_chapter

CALL = """\
import sys
from lazyrich.__main__ import main
status = main()
assert "jax" not in sys.modules
sys.exit(status)"""


@pytest.fixture
def chapter(tmp_path) -> Path:
    """The path of the tiny chapter's notebook, with presets laptop and ci."""
    return write_chapter(tmp_path)


@pytest.fixture
def lazyrich(tmp_path):
    """Call `python -m lazyrich …` in a process of its own, from a folder that is not the repository.

    The process fails when it has imported jax.
    """

    def call(*words) -> subprocess.CompletedProcess:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("LAZYRICH_")}
        return subprocess.run(
            [sys.executable, "-W", "error", "-c", CALL, *map(str, words)],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env=kept,
        )

    return call


@pytest.fixture
def printed():
    """All text that the cells of a notebook printed, of its path."""

    def text(notebook: Path) -> str:
        cells = json.loads(notebook.read_text())["cells"]
        return "".join("".join(o.get("text", "")) for cell in cells for o in cell.get("outputs", []))

    return text
