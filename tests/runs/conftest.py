"""A chapter of four cells, made from chapter 01's own parameter type, with presets beside it."""

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import nbformat
import pytest

from lazyrich.runs.parameters.ch01 import Parameters

READ = """\
from lazyrich.runs.parameters import ch01, read
p = read(ch01.Parameters, globals())"""
RUN = """\
import json, os, pathlib
from lazyrich.runs import progress
steps = sum(1 for _ in progress(range(5), "counting"))
if p.beta == 7:
    raise RuntimeError("this cell fails at beta = 7")
if p.beta == 8:
    os._exit(1)
results = os.environ.get("LAZYRICH_RESULTS")
if results:
    row = {"id": "tiny", "device": "cpu", "precision": "float32"}
    pathlib.Path(results, "claims.json").write_text(json.dumps([row]))
print(p.beta, steps)"""

CALL = """\
import sys
from lazyrich.__main__ import main
status = main()
assert "jax" not in sys.modules
sys.exit(status)"""


def source_of(parameters: Parameters) -> str:
    """A parameters cell: plain annotated literals, one a line."""
    return "\n".join(
        f"{name}: {type(value).__name__} = {value!r}" for name, value in asdict(parameters).items()
    )


def write_presets(folder: Path, **presets: Parameters) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, parameters in presets.items():
        lines = [f"{key}: {value}\n" for key, value in asdict(parameters).items()]
        (folder / f"{name}.yaml").write_text("".join(lines))


@pytest.fixture
def chapter(tmp_path) -> Path:
    """The path of the tiny chapter's notebook, with presets laptop and ci."""
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_markdown_cell("# Tiny", id="title"),
            nbformat.v4.new_code_cell(source_of(Parameters()), id="cell", metadata={"tags": ["parameters"]}),
            nbformat.v4.new_code_cell(READ, id="read"),
            nbformat.v4.new_code_cell(RUN, id="run"),
        ],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )
    path = tmp_path / "chapters" / "01_tiny.ipynb"
    write_presets(path.parent / "presets" / path.stem, laptop=Parameters(), ci=Parameters(seed0=20))
    nbformat.write(notebook, path)
    return path


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
