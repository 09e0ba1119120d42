"""Every preset file against its chapter's typed parameters, and the laptop preset against the cell."""

import ast
from pathlib import Path

import pytest

from lazyrich.files import presets_path
from lazyrich.runs import presets, with_preset
from lazyrich.runs.chapters import cells, chapters
from lazyrich.runs.parameters import names, of_chapter, preset_values

NAMES = ["ci", "gpu", "laptop", "paper", "record"]
FOLDERS = [path.name for path in sorted(presets_path().iterdir()) if path.is_dir()]
FILES = [path for folder in FOLDERS for path in sorted((presets_path() / folder).iterdir())]


def cell_values(notebook: Path) -> dict:
    """What the parameters cell defines, having held nothing but annotated literals."""
    (cell,) = [cell for cell in cells(notebook) if "parameters" in cell["metadata"].get("tags", [])]
    found = {}
    for statement in ast.parse("".join(cell["source"])).body:
        assert isinstance(statement, ast.AnnAssign), ast.unparse(statement)
        found[statement.target.id] = ast.literal_eval(statement.value)
    return found


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_chapter_has_every_preset(folder):
    assert list(presets(folder)) == NAMES


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_preset_is_complete_typed_and_in_range(path):
    parameters = of_chapter(path.parent.name)
    assert list(preset_values(path)) == names(parameters)
    assert with_preset(path.parent.name, path.stem)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_preset_means_to_papermill_what_it_means_to_the_front(path):
    """YAML reads 1e-3 as a text; plain papermill injects that text, and the typed object mends it."""
    for name, value in preset_values(path).items():
        assert isinstance(value, str) == isinstance(getattr(of_chapter(path.parent.name)(), name), str), name


@pytest.mark.parametrize("notebook", chapters(), ids=lambda path: path.stem)
def test_the_parameters_cell_is_the_laptop_preset(notebook):
    values = cell_values(notebook)
    assert values == preset_values(presets(notebook)["laptop"])
    assert of_chapter(notebook.stem)(**values) == of_chapter(notebook.stem)()
