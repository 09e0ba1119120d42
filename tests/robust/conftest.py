"""What `make test` has no time or no right to do: kills, full disks, other processors, a cluster."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tiny_chapter import write_chapter

ROOT = os.geteuid() == 0
SLURM = (
    ROOT
    and all(map(shutil.which, ("slurmctld", "slurmd", "munged", "sbatch")))
    and not os.path.lexists("/etc/slurm/slurm.conf")
)
# Marker: whether this user and machine can do it, and what it needs.
NEEDS = {
    "root": (ROOT, "root, to mount small disks"),
    "slurm": (SLURM, "root, slurm-wlm and munge, and no other SLURM"),
}


def pytest_configure(config):
    for name, (_, needs) in NEEDS.items():
        config.addinivalue_line("markers", f"{name}: needs {needs}")


def pytest_collection_modifyitems(config, items):
    """What cannot be done here is left out, and said."""
    for name, (possible, needs) in NEEDS.items():
        out = [] if possible else [item for item in items if item.get_closest_marker(name)]
        if out:
            print(f"left out: {len(out)} tests that need {needs}")
            config.hook.pytest_deselected(items=out)
            items[:] = [item for item in items if item not in out]


@pytest.fixture
def chapter(tmp_path) -> Path:
    return write_chapter(tmp_path)


@pytest.fixture
def environment() -> dict[str, str]:
    """That of these tests, without what a run would take for its own."""
    return {name: value for name, value in os.environ.items() if not name.startswith("LAZYRICH_")}


@pytest.fixture
def lazyrich(tmp_path, environment):
    """Call `python -m lazyrich …` in a process of its own, from a folder that is not the repository."""

    def call(*words, through=(), **variables) -> subprocess.CompletedProcess:
        return subprocess.run(
            [*through, sys.executable, "-m", "lazyrich", *map(str, words)],
            capture_output=True, text=True, check=False, cwd=tmp_path, env=environment | variables,
        )  # fmt: skip

    return call


@pytest.fixture
def results():
    """Of a sweep's folder: what each finished point holds, its time and date aside."""

    def read(folder: Path) -> dict[str, tuple]:
        found = {}
        for path in folder.glob("points/*/run.json"):
            cells = json.loads((path.parent / "01_tiny.ipynb").read_text())["cells"]
            outputs = [output for cell in cells for output in cell.get("outputs", [])]
            rows = json.loads((path.parent / "claims.json").read_text())
            found[path.parent.name] = (json.loads(path.read_text())["parameters"], rows, outputs)
        return found

    return read
