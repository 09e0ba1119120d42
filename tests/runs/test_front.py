"""The front: refuses before anything starts, and replaces a good result only by another good one."""

import json
import os
import subprocess
import sys

import pytest

from lazyrich.device import versions
from lazyrich.runs.locks import held
from lazyrich.runs.parameters import allowed
from lazyrich.runs.parameters.ch01 import Parameters

ALPHA = allowed(Parameters, "alpha")


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
    left = tmp_path / ".out.running-0"
    left.mkdir()
    (left / "claims.json").write_text("[")
    assert lazyrich("run", chapter, "--out", tmp_path / "out").returncode == 0
    assert not left.exists()


def test_a_good_run_that_a_kill_caught_in_moving_comes_back(chapter, lazyrich, tmp_path):
    assert lazyrich("run", chapter, "--out", tmp_path / "out").returncode == 0
    (tmp_path / "out").rename(tmp_path / ".out.old")
    assert lazyrich("run", chapter, "-p", "beta=7", "--out", tmp_path / "out").returncode == 1
    assert (tmp_path / "out" / "run.json").is_file()


def test_two_runs_do_not_write_one_folder(chapter, lazyrich, tmp_path):
    with held(tmp_path / "out"):
        done = lazyrich("run", chapter, "--out", tmp_path / "out")
    assert done.returncode == 1
    assert "is being written by another run" in done.stderr


def test_once_keeps_the_run_of_these_parameters_and_sources(chapter, lazyrich, tmp_path):
    out = tmp_path / "out"
    written = lambda: (out / "run.json").stat().st_mtime_ns
    assert lazyrich("run", chapter, "--once", "--out", out).returncode == 0
    first = written()
    assert lazyrich("run", chapter, "--once", "--out", out).returncode == 0
    assert written() == first
    assert lazyrich("run", chapter, "--once", "-p", "beta=0.6", "--out", out).returncode == 0
    second = written()
    assert second > first
    chapter.write_text(chapter.read_text().replace("at beta = 7", "at beta = 7!"))
    assert lazyrich("run", chapter, "--once", "-p", "beta=0.6", "--out", out).returncode == 0
    assert written() > second


PARTS = """\
from lazyrich.runs import checkpoint
part = checkpoint("plane") / "part"
print("goes on" if part.exists() else "starts")
part.parent.mkdir(parents=True, exist_ok=True)
part.touch()
if not pathlib.Path("MENDED").exists():
    raise RuntimeError("stopped")
print(p.beta, steps)"""


def test_a_run_goes_on_from_its_own_checkpoints(chapter, lazyrich, tmp_path, printed):
    mended = tmp_path / "mended"
    code = json.dumps(PARTS.replace("MENDED", str(mended)))[1:-1]
    chapter.write_text(chapter.read_text().replace("print(p.beta, steps)", code))
    run = lambda beta: lazyrich("run", chapter, "-p", f"beta={beta}", "--out", tmp_path / "out").returncode
    assert run(1) == 1
    mended.touch()
    assert run(2) == 0  # other parameters
    assert printed(tmp_path / "out" / chapter.name) == "starts\n2.0 5\n"
    mended.unlink()
    assert run(1) == 1
    mended.touch()
    assert run(1) == 0
    assert printed(tmp_path / "out" / chapter.name) == "goes on\n1.0 5\n"
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("name", ["run.json", "claims.json"])
def test_a_damaged_record_is_named_and_stays(name, chapter, lazyrich, tmp_path):
    assert lazyrich("run", chapter, "--out", tmp_path / "out").returncode == 0
    whole = (tmp_path / "out" / name).read_text()
    (tmp_path / "out" / name).write_text(whole[: len(whole) // 2])
    done = lazyrich("run", chapter, "--once", "--out", tmp_path / "out")
    assert done.returncode == 1
    assert done.stderr.startswith(f"lazyrich: {tmp_path / 'out' / name}: ")
    assert f"remove {tmp_path / 'out'} to run it again" in done.stderr
    assert (tmp_path / "out" / name).read_text() == whole[: len(whole) // 2]


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
