"""What is committed from a run: outputs by cell id, nothing about the run itself."""

import json

import nbformat
import pytest

from lazyrich.runs import ParameterError, committed, provenance, with_preset
from lazyrich.runs.front import RunFailed

ROW = {
    "id": "ours.tiny", "chapter": "01_tiny", "relation": "equals", "measured": 1.0, "low": 0.9, "high": 1.1,
    "allowance": 0.0, "verdict": "reproduced", "known": None,
}  # fmt: skip


def test_outputs_come_without_papermill_s_cell_and_notes(chapter, lazyrich, tmp_path):
    assert lazyrich("run", chapter, "--out", tmp_path / "out").returncode == 0
    executed = tmp_path / "out" / chapter.name
    stored = nbformat.read(executed, as_version=4)
    assert "papermill" in stored.metadata
    assert len(stored.cells) == 5
    chapter.write_text(committed.with_outputs(chapter, executed))
    mine = nbformat.read(chapter, as_version=4)
    nbformat.validate(mine)
    assert "papermill" not in chapter.read_text()
    assert [cell.id for cell in mine.cells] == ["title", "cell", "read", "run"]
    assert [cell.execution_count for cell in mine.cells[1:]] == [1, 2, 3]
    assert mine.cells[3].outputs[0].text == "0.5 5\n"
    assert mine.metadata.language_info == {"name": "python"}
    assert committed.with_outputs(chapter, executed) == chapter.read_text()


@pytest.fixture
def repository(chapter, tmp_path, monkeypatch):
    """A repository of one chapter, in which nothing else is a source."""
    monkeypatch.setattr(committed, "repository", lambda: tmp_path)
    monkeypatch.setattr(committed, "data_path", lambda: tmp_path / "data")
    monkeypatch.setattr(committed, "chapters", lambda: [chapter])
    monkeypatch.setattr(provenance, "inputs", lambda notebook: [])
    return tmp_path


def finished(chapter, preset, folder, **row):
    """What the front leaves of a run, made in no time."""
    parameters = with_preset(chapter, preset)
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps(provenance.origin(chapter, preset, parameters)))
    (folder / "claims.json").write_text(json.dumps([ROW | row]))
    (folder / chapter.name).write_text(chapter.read_text())


def test_refresh_stores_the_rows_beside_their_run(chapter, repository):
    with pytest.raises(RunFailed, match="01_tiny has no run at preset laptop"):
        committed.refresh()
    run = repository / "results" / "laptop" / "01_tiny"
    finished(chapter, "laptop", run)
    (run / "figures").mkdir()
    (run / "figures" / "curve.csv").write_text("t,loss\n1,2\n")
    stored = repository / "data" / "ledger"
    figures = stored / "figures" / "01_tiny"
    figures.mkdir(parents=True)
    (figures / "gone.csv").write_text("of a run before")
    assert committed.refresh() == [chapter, figures / "curve.csv", stored / "laptop.json"]
    assert [path.name for path in figures.iterdir()] == ["curve.csv"]
    ledger = json.loads((repository / "data" / "ledger" / "laptop.json").read_text())
    assert ledger["01_tiny"]["rows"] == [ROW]
    assert ledger["01_tiny"]["run"]["preset"] == "laptop"
    # Outputs are no source: what was refreshed is still what ran. A changed cell is.
    assert committed.last_run(chapter, "laptop")
    chapter.write_text(chapter.read_text().replace("at beta = 7", "at beta = 7!"))
    with pytest.raises(RunFailed, match="changed since"):
        committed.refresh()


def test_a_run_is_compared_with_the_committed_ledger(chapter, repository):
    same, other = repository / "same", repository / "other"
    finished(chapter, "laptop", same)
    finished(chapter, "laptop", other, verdict="differs")
    with pytest.raises(ParameterError, match="no committed ledger to compare with"):
        committed.agreement(str(same))
    finished(chapter, "laptop", repository / "results" / "laptop" / "01_tiny")
    committed.refresh()
    assert committed.agreement(str(same)).agrees
    assert not committed.agreement(str(other)).agrees
    with pytest.raises(ParameterError, match="expected the folder of a run"):
        committed.agreement(str(repository / "none"))
