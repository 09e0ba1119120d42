"""A sweep: points by name, finished ones never again, failures listed, tables and a plot at the end."""

import csv
import json

import pytest

from lazyrich.runs import summary, sweep
from lazyrich.runs.locks import held

GRID = ("--grid", "beta=0.5,7", "--grid", "gamma=1e-1:1e1:2log")


def test_a_sweep_with_failing_points(chapter, lazyrich, tmp_path):
    folder = tmp_path / "my sweep"
    words = ("sweep", chapter, "--preset", "ci", "-p", "seeds=5", *GRID, "--out", folder, "--jobs", "2")
    done = lazyrich(*words)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        f"sweep: 4 points of 01_tiny in {folder}", f"summary: {folder / 'summary.md'}",
    ]  # fmt: skip
    told = [line for line in done.stderr.splitlines() if line.startswith("lazyrich: ")]
    assert len(told) == 3
    assert "failed: beta = 7.0, gamma = 0.1" in told[0]
    assert "RuntimeError: this cell fails at beta = 7" in told[1]
    assert "2 of 4 points failed" in told[2]

    manifest = json.loads((folder / "sweep.json").read_text())
    assert manifest["grid"] == {"beta": [0.5, 7.0], "gamma": [0.1, 10.0]}
    good = [name for name, point in manifest["points"].items() if point["beta"] == 0.5]
    assert sorted(path.parent.name for path in folder.glob("points/*/run.json")) == sorted(good)
    record = json.loads((folder / "points" / good[0] / "run.json").read_text())
    assert record["parameters"] == manifest["points"][good[0]]
    assert (record["parameters"]["seeds"], record["parameters"]["seed0"]) == (5, 20)

    rows = list(csv.DictReader((folder / "summary.csv").read_text().splitlines()))
    assert [(row["beta"], row["gamma"], row["measured"]) for row in rows] == [
        ("0.5", "0.1", "1.001"), ("0.5", "10.0", "1.1"), ("7.0", "0.1", ""), ("7.0", "10.0", ""),
    ]  # fmt: skip
    assert "this cell fails" in rows[2]["failure"]
    page = (folder / "summary.md").read_text()
    assert "4 points over beta, gamma; 2 finished, 2 failed" in page
    assert "| 0.5 | 10 | 1 | 1.10 [1.00, 1.20] | reproduced |" in page
    assert (folder / "summary.png").read_bytes().startswith(b"\x89PNG")

    # Finished points stay; a point that failed is tried again, and a wider grid adds to them.
    before = {name: (folder / "points" / name / "run.json").stat().st_mtime_ns for name in good}
    done = lazyrich(*words[:6], "--grid", "gamma=0.1,10,100", "--out", folder, "--jobs", "2")
    assert done.returncode == 0, done.stderr
    assert {name: (folder / "points" / name / "run.json").stat().st_mtime_ns for name in good} == before
    assert len(list(folder.glob("points/*/run.json"))) == 3

    # Other sources do not mix with these points.
    chapter.write_text(chapter.read_text().replace("at beta = 7", "at beta = 7!"))
    written = (folder / "sweep.json").read_text()
    done = lazyrich(*words)
    assert done.returncode == 2
    assert "holds a sweep of another chapter, other parameters" in done.stderr
    assert (folder / "sweep.json").read_text() == written


@pytest.fixture
def planned(chapter, tmp_path):
    """A sweep of two points whose manifest is written, with nothing run."""
    what = sweep.plan(str(chapter), "ci", {}, ["beta=0.5,1"], str(tmp_path / "out"))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "sweep.json").write_text(sweep._manifest(what))
    return what


def finish(what, number, **changes):
    """Make a point look finished."""
    name = list(what.points)[number]
    folder = what.folder / "points" / name
    folder.mkdir(parents=True)
    parameters = json.loads((what.folder / "sweep.json").read_text())["points"][name]
    (folder / "run.json").write_text(
        json.dumps({"parameters": parameters | changes, "sources": "", "seconds": 1})
    )
    (folder / "claims.json").write_text("[]")
    return folder


def collected(what):
    return summary.collect(what.folder, sweep.manifest(what.folder))


def test_what_is_not_whole_is_a_failure_and_never_data(planned):
    first, second = finish(planned, 0), finish(planned, 1)
    assert [point.failure for point in collected(planned)] == [None, None]
    (first / "claims.json").write_text('[{"id": "custom.ti')
    (second / "run.json").write_text('{"parameters": {}')
    for point, folder in zip(collected(planned), (first, second), strict=True):
        assert point.rows == []
        assert str(folder) in point.failure
        assert "to run it again" in point.failure
    (second / "run.json").write_text("[1]")
    assert "no record of a run" in collected(planned)[1].failure


def test_a_point_of_other_parameters_is_a_failure(planned):
    finish(planned, 0, beta=0.75)
    assert "holds a run of other parameters" in collected(planned)[0].failure
    assert collected(planned)[1].failure.startswith("did not start; see ")


def test_a_point_that_was_killed_says_where_its_log_is(planned):
    (planned.folder / "logs").mkdir()
    log = planned.folder / "logs" / f"{next(iter(planned.points))}.txt"
    log.write_text("01_tiny: counting: 40%\n")
    assert collected(planned)[0].failure == f"stopped without a word; log: {log}"


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"chapter": "01_tiny"}', "\udc80"])
def test_a_damaged_manifest_is_told_before_anything_starts(text, planned, chapter, lazyrich):
    path = planned.folder / "sweep.json"
    path.write_bytes(text.encode(errors="surrogateescape"))
    done = lazyrich("sweep", chapter, "--preset", "ci", "--grid", "beta=0.5,1", "--out", planned.folder)
    assert done.returncode == 2
    assert done.stderr.startswith(f"lazyrich: {path}: damaged (")
    assert "restore it, or use another folder" in done.stderr
    assert list(planned.folder.iterdir()) == [path]


def test_two_sweeps_do_not_share_a_folder(planned, chapter, lazyrich):
    with held(planned.folder):
        done = lazyrich("sweep", chapter, "--preset", "ci", "--grid", "beta=0.5,1", "--out", planned.folder)
    assert done.returncode == 1
    assert "is being swept by another process" in done.stderr


def test_without_out_the_folder_is_named_by_what_is_swept(chapter, tmp_path, monkeypatch):
    monkeypatch.setattr(sweep, "repository", lambda: tmp_path)
    folders = {
        sweep.plan(str(chapter), preset, {}, [grid], None).folder
        for preset in ("ci", "laptop") for grid in ("beta=0.5,1", "beta=1,2")
    }  # fmt: skip
    assert len(folders) == 4
    assert {folder.parent for folder in folders} == {tmp_path / "results" / "sweeps" / "01_tiny"}
    assert not (tmp_path / "results").exists()


def test_a_cluster_has_its_own_memory(chapter, tmp_path):
    words = (str(chapter), "ci", {}, ["beta=0.5,1"], str(tmp_path / "out"))
    sweep.plan(*words, None, elsewhere=True)
    with pytest.raises(sweep.ParameterError, match="memory: this run would take about"):
        sweep.plan(*words, "10M", elsewhere=True)
