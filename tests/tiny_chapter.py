"""A chapter of four cells, made from chapter 01's own parameter type, with presets beside it.

It fails at beta = 7, its kernel dies at beta = 8, and it fills the disk at beta = 9.
"""

from dataclasses import asdict
from pathlib import Path

import nbformat

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
    if p.beta == 9:
        pathlib.Path(results, "large").write_bytes(bytes(2**26))
    measured = 2 * p.beta + p.gamma / 100
    row = {
        "id": "custom.tiny", "relation": "equals", "predicted": 2 * p.beta, "verdict": "reproduced",
        "measured": measured, "low": measured - 0.1, "high": measured + 0.1, "device": "cpu",
        "precision": "float32",
    }
    pathlib.Path(results, "claims.json").write_text(json.dumps([row]))
print(p.beta, steps)"""


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


def write_chapter(folder: Path) -> Path:
    """Write the chapter, with presets laptop and ci, under a folder; its notebook's path."""
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_markdown_cell("# Tiny", id="title"),
            nbformat.v4.new_code_cell(source_of(Parameters()), id="cell", metadata={"tags": ["parameters"]}),
            nbformat.v4.new_code_cell(READ, id="read"),
            nbformat.v4.new_code_cell(RUN, id="run"),
        ],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )
    path = folder / "chapters" / "01_tiny.ipynb"
    write_presets(path.parent / "presets" / path.stem, laptop=Parameters(), ci=Parameters(seed0=20))
    nbformat.write(notebook, path)
    return path
