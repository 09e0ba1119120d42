"""The built wheel, in an environment of its own, runs chapter 01 at ci from a folder of its own."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from lazyrich.files import repository
from lazyrich.ledger import failures, load_rows

ROOT = repository()


@pytest.fixture(scope="module")
def python(tmp_path_factory) -> Path:
    """The interpreter of an environment with the wheel, and with the packages it needs by reference."""
    folder = tmp_path_factory.mktemp("wheel")
    uv = shutil.which("uv", path=f"{ROOT / '.tools' / 'bin'}{os.pathsep}{os.environ['PATH']}")
    assert uv, "no uv in .tools or on PATH: run make setup"
    subprocess.run([uv, "build", "--quiet", "--wheel", "--out-dir", folder, ROOT], check=True)
    (wheel,) = folder.glob("lazyrich-*.whl")
    venv.create(folder / "env")
    python = folder / "env" / "bin" / "python"
    install = [uv, "pip", "install", "--quiet", "--no-deps", "--offline", "--python", python, wheel]
    subprocess.run(install, check=True)
    # A path file read from here is not followed further, so the editable install does not come along.
    (site,) = (folder / "env" / "lib").glob("python*/site-packages")
    (site / "needed.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    return python


def test_chapter_01_runs_from_the_wheel(python, tmp_path):
    notebook = tmp_path / "01_scaling_laws.ipynb"
    shutil.copy(ROOT / "chapters" / notebook.name, notebook)
    out = tmp_path / "out"
    command = [python, "-m", "lazyrich", "run", notebook, "--preset", "ci", "--out", out]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads((out / "run.json").read_text())["preset"] == "ci"
    rows = load_rows(out / "claims.json")
    assert rows
    assert failures(rows) == []


def test_it_is_the_wheel_that_ran(python, tmp_path):
    code = "import lazyrich, lazyrich.files as f; print(lazyrich.__file__, f.repository(), f.data_path())"
    done = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True, cwd=tmp_path)
    where, root, data = done.stdout.split()
    assert Path(where).is_relative_to(python.parents[1])
    assert root == "None"
    assert Path(data).name == "_data"
    assert sys.prefix not in done.stdout
