"""The front: refuses before anything starts, and replaces a good result only by another good one."""

import fcntl
import json
import os
import subprocess
import sys

import pytest

from lazyrich.__main__ import main
from lazyrich.device import versions
from lazyrich.runs.parameters import allowed
from lazyrich.runs.parameters.ch01 import Parameters

ALPHA = allowed(Parameters, "alpha")

# What is asked for (C is the chapter's path), and what the one line must say.
REFUSED = [
    ("run C -p alhpa=2", "unknown parameter 'alhpa'; did you mean alpha?"),
    ("run C -p zzz=2", "unknown parameter 'zzz'. Known: alpha"),
    ("run C -p alpha=0.9", f"alpha = '0.9': expected {ALPHA}"),
    ("run C -p alpha=1", f"alpha = '1': expected {ALPHA}"),
    ("run C -p alpha=wide", f"alpha = 'wide': expected {ALPHA}"),
    ("run C -p alpha=nan", "alpha = 'nan': expected"),
    ("run C -p alpha=inf", "alpha = 'inf': expected"),
    ("run C -p alpha=", "alpha = '': expected"),
    ("run C -p seeds=2.5", "seeds = '2.5': expected an integer"),
    ("run C -p seeds=[1,2]", "seeds = '[1,2]': expected an integer"),
    ("run C -p seeds=2", "seeds = '2': expected an integer"),
    ("run C -p alpha", "-p alpha: expected name=value"),
    ("run C -p =2", "unknown parameter ''"),
    ("run C -p alpha=2 -p alpha=3", "alpha is given twice"),
    ("run C --preset labtop", "unknown preset 'labtop'; did you mean laptop?"),
    ("run C --preset ../../x", "unknown preset '../../x'"),
    ("run C --out taken", "this folder holds something else than a run"),
    ("run C --out file", "this is a file, expected a folder"),
    ("run C --out file/below", "out = "),
    ("run C --speed 3", "unrecognized arguments: --speed 3"),
    ("run none.ipynb", "chapter none.ipynb: there is no such file"),
    ("run torn.ipynb", "torn.ipynb: not a notebook"),
    ("run bare.ipynb", "bare.ipynb: no cell is tagged 'parameters'"),
    ("run 77", "unknown chapter '77'"),
    ("run 01_scaling_lawz", "unknown chapter '01_scaling_lawz'"),
    ("run", "the following arguments are required: CHAPTER"),
    ("rum C", "invalid choice: 'rum'"),
    ("record 77", "unknown chapter '77'"),
    ("compare none", "run = none: expected the folder of a run"),
]


FILES = {
    "taken/thesis.txt": "mine",
    "file": "mine",
    "torn.ipynb": '{"cells": [',
    "bare.ipynb": '{"cells": []}',
}


@pytest.mark.parametrize(("words", "message"), REFUSED)
def test_refused_in_one_line_with_nothing_started(words, message, chapter, tmp_path, monkeypatch, capsys):
    (tmp_path / "taken").mkdir()
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.chdir(tmp_path)
    try:
        status = main([str(chapter) if word == "C" else word for word in words.split()])
    except SystemExit as error:  # argparse's way out
        status = error.code
    out, err = capsys.readouterr()
    assert status == 2
    assert err.startswith("lazyrich: ")
    assert message in err
    assert err.count("\n") == 1
    assert not out
    assert sorted(tmp_path.rglob("*")) == before


def test_refusing_imports_no_jax(chapter, lazyrich):
    done = lazyrich("run", chapter, "-p", "alpha=0.9")
    assert (done.returncode, done.stderr) == (2, f"lazyrich: alpha = '0.9': expected {ALPHA}\n")


@pytest.mark.parametrize("text", ["alpha: [1.5", "- alpha", "1.5: alpha", ""])
def test_a_broken_preset_file_is_named(text, chapter, lazyrich):
    broken = chapter.parent / "presets" / chapter.stem / "broken.yaml"
    broken.write_text(text)
    done = lazyrich("run", chapter, "--preset", "broken")
    assert done.returncode == 2
    assert str(broken) in done.stderr


def test_help(lazyrich):
    assert "run a chapter with checked parameters" in lazyrich().stdout
    assert lazyrich().returncode == 0


def test_a_run_leaves_notebook_ledger_and_record(chapter, lazyrich, tmp_path, printed):
    out = tmp_path / "out"
    done = lazyrich("run", chapter, "--preset", "ci", "-p", "beta=1e-1", "--out", out)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"results: {out}\n"
    assert "counting: 100%" in done.stderr
    assert sorted(path.name for path in out.iterdir()) == ["01_tiny.ipynb", "claims.json", "run.json"]
    assert printed(out / "01_tiny.ipynb") == "0.1 5\n"
    assert "stderr" not in (out / "01_tiny.ipynb").read_text()
    record = json.loads((out / "run.json").read_text())
    assert record["preset"].startswith("custom-")
    assert record["parameters"]["beta"] == 0.1
    assert record["parameters"]["seed0"] == 20
    assert record["device"] == "cpu"
    assert record["versions"] == versions()
    assert 0 < record["seconds"] < 60
    assert 20e6 < record["peak_memory"] < 2e9
    assert len(record["sources"]) == 64
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_failed_run_keeps_the_good_one_and_says_where_it_lies(chapter, lazyrich, tmp_path):
    out = tmp_path / "out"
    assert lazyrich("run", chapter, "--out", out).returncode == 0
    before = (out / "run.json").read_text()
    done = lazyrich("run", chapter, "-p", "beta=7", "--out", out)
    assert done.returncode == 1
    failed = tmp_path / "out.failed" / "01_tiny.ipynb"
    assert (
        f"RuntimeError: this cell fails at beta = 7); its notebook: {failed}" in done.stderr.splitlines()[-1]
    )
    assert "this cell fails" in failed.read_text()
    assert (out / "run.json").read_text() == before


def test_a_kernel_that_dies_is_a_failed_run(chapter, lazyrich, tmp_path):
    done = lazyrich("run", chapter, "-p", "beta=8", "--out", tmp_path / "out")
    assert done.returncode == 1
    assert "01_tiny failed (DeadKernelError" in done.stderr.splitlines()[-1]
    assert not (tmp_path / "out").exists()


def test_what_a_killed_run_left_is_cleared(chapter, lazyrich, tmp_path):
    left = tmp_path / ".out.running"
    left.mkdir()
    (left / "claims.json").write_text("[")
    assert lazyrich("run", chapter, "--out", tmp_path / "out").returncode == 0
    assert not left.exists()


def test_two_runs_do_not_write_one_folder(chapter, lazyrich, tmp_path):
    running = tmp_path / ".out.running"
    running.mkdir()
    handle = os.open(running, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    done = lazyrich("run", chapter, "--out", tmp_path / "out")
    os.close(handle)
    assert done.returncode == 1
    assert "is being written by another run" in done.stderr


def test_plain_papermill_works_and_writes_no_results(chapter, tmp_path, printed):
    preset = chapter.parent / "presets" / chapter.stem / "ci.yaml"
    preset.write_text(preset.read_text().replace("beta: 0.5", "beta: 5e-1"))  # YAML reads a text here
    done = tmp_path / "done.ipynb"
    command = [sys.executable, "-m", "papermill", "-f", preset, "-p", "gamma", "2", chapter, done]
    kept = {k: v for k, v in os.environ.items() if not k.startswith("LAZYRICH_")}
    subprocess.run(command, check=True, capture_output=True, env=kept)
    assert printed(done) == "0.5 5\n"
    assert not list(tmp_path.rglob("claims.json"))


def test_plain_papermill_refuses_a_bad_value_inside_the_notebook(chapter, tmp_path):
    command = [sys.executable, "-m", "papermill", "-p", "alpha", "0.5", chapter, tmp_path / "done.ipynb"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode != 0
    assert f"alpha = 0.5: expected {ALPHA}" in done.stderr
