"""The ledgers that nbval's runs left, against the committed one. Run by `make test-outputs` by path."""

import os
from pathlib import Path

import pytest

from lazyrich.files import data_path
from lazyrich.ledger import failures, load_rows, read_ledger
from lazyrich.runs.chapters import chapters

RUNS = Path(os.environ["LAZYRICH_OUTPUTS"])


@pytest.mark.parametrize("notebook", chapters(), ids=lambda path: path.stem)
def test_no_verdict_changed_and_no_number_moved(notebook):
    committed = read_ledger(data_path("ledger/laptop.json"))[notebook.stem]["rows"]
    assert failures(load_rows(RUNS / notebook.stem / "claims.json"), committed) == []


def test_there_are_chapters():
    assert chapters()
