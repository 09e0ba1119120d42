"""The runs at preset ci that `make test` has just made, through the front."""

import json
import subprocess
import sys

import nbformat
import pytest

from lazyrich.files import repository
from lazyrich.ledger import failures, load_claims, load_rows
from lazyrich.runs.chapters import chapters
from lazyrich.runs.committed import last_run

EVERY_CHAPTER = pytest.mark.parametrize("notebook", chapters(), ids=lambda path: path.stem)
SECONDS = 120  # 40 on two idle cores; a busy machine may take three times that


@EVERY_CHAPTER
def test_the_run_is_of_these_sources_and_in_time(notebook):
    run = json.loads((last_run(notebook, "ci") / "run.json").read_text())
    assert run["preset"] == "ci"
    assert run["device"]
    assert run["seconds"] <= SECONDS


@EVERY_CHAPTER
def test_every_claim_has_a_verdict_and_none_fails(notebook):
    rows = load_rows(last_run(notebook, "ci") / "claims.json")
    assert {row["id"] for row in rows if not row["id"].startswith("custom.")} == set(
        load_claims(notebook.stem)
    )
    assert failures(rows) == []


def test_nothing_changed_is_nothing_to_do():
    wanted = ["book", "--config", "preset=ci", "html=_build/test/html"]
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--nolock", "--cores", "1", *wanted]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=repository())
    assert "Nothing to be done" in done.stdout + done.stderr


@EVERY_CHAPTER
def test_nothing_reached_stderr(notebook):
    cells = nbformat.read(last_run(notebook, "ci") / notebook.name, as_version=4).cells
    outputs = [out for cell in cells for out in cell.get("outputs", [])]
    assert [out.text for out in outputs if out.get("name") == "stderr"] == []


@EVERY_CHAPTER
def test_every_figure_left_its_data(notebook):
    folder = last_run(notebook, "ci")
    cells = nbformat.read(folder / notebook.name, as_version=4).cells
    outputs = [out for cell in cells for out in cell.get("outputs", []) if "image/png" in out.get("data", {})]
    drawn = {out.metadata["image/png"]["name"] for out in outputs}
    assert {path.stem for path in (folder / "figures").glob("*.csv")} <= drawn
    assert drawn
