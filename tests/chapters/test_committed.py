"""What a committed chapter must hold: outputs of a run from top to bottom, and nothing about the run."""

import nbformat
import pytest

from lazyrich.files import data_path
from lazyrich.ledger import failures, load_claims, read_ledger
from lazyrich.runs.chapters import cells, chapters
from lazyrich.runs.committed import RUN_METADATA

EVERY_CHAPTER = pytest.mark.parametrize("notebook", chapters(), ids=lambda path: path.stem)


@EVERY_CHAPTER
def test_a_valid_notebook_for_any_python_kernel(notebook):
    found = nbformat.read(notebook, as_version=4)
    nbformat.validate(found)
    assert found.metadata.kernelspec.name == "python3"
    assert set(found.metadata) == {"kernelspec", "language_info"}
    assert not [name for cell in found.cells for name in RUN_METADATA if name in cell.metadata]


@EVERY_CHAPTER
def test_executed_from_top_to_bottom_with_no_error_and_no_stderr(notebook):
    code = [cell for cell in nbformat.read(notebook, as_version=4).cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    kinds = {(out.output_type, out.get("name")) for cell in code for out in cell.outputs}
    assert kinds <= {("stream", "stdout"), ("display_data", None), ("execute_result", None)}


@EVERY_CHAPTER
def test_one_cell_at_most_escapes_nbval(notebook):
    tags = [tag for cell in cells(notebook) for tag in cell["metadata"].get("tags", [])]
    assert sum("nbval" in tag.lower() for tag in tags) <= 1
    assert "nbval-skip" not in tags
    assert tags.count("parameters") == 1


@EVERY_CHAPTER
def test_figures_say_what_they_show(notebook):
    found = nbformat.read(notebook, as_version=4).cells
    outputs = [out for cell in found for out in cell.get("outputs", []) if "image/png" in out.get("data", {})]
    for output in outputs:
        about = output.metadata["image/png"]
        assert min(len(about["alt"]), len(about["caption"])) >= 30
    names = [output.metadata["image/png"]["name"] for output in outputs]
    assert names
    assert len(set(names)) == len(names)


@EVERY_CHAPTER
def test_the_committed_ledger_is_that_of_the_laptop_preset_and_passes(notebook):
    entry = read_ledger(data_path("ledger/laptop.json"))[notebook.stem]
    assert entry["run"]["preset"] == "laptop"
    declared = {row["id"] for row in entry["rows"] if not row["id"].startswith("custom.")}
    assert declared == set(load_claims(notebook.stem))
    assert failures(entry["rows"]) == []


def test_recorded_ledgers_pass():
    path = data_path("ledger") / "record.json"
    for stem, entry in (read_ledger(path) if path.is_file() else {}).items():
        assert entry["run"]["preset"] == "record"
        assert failures(entry["rows"]) == [], stem
