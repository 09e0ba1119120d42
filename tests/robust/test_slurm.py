"""The switch `--executor slurm`, on a real SLURM of one node."""

import subprocess

import pytest

from lazyrich.files import repository

TOOL = repository() / "tools" / "slurm_up.sh"
PROFILE = repository() / "workflow" / "profiles" / "slurm-test"
GRID = ("--grid", "beta=0.5,7", "--grid", "gamma=1,10")

pytestmark = pytest.mark.slurm


@pytest.fixture
def cluster(tmp_path):
    """The node, up."""
    subprocess.run([TOOL, tmp_path / "slurm"], check=True)
    yield
    subprocess.run([TOOL, tmp_path / "slurm", "down"], check=True)


@pytest.mark.usefixtures("cluster")
def test_a_sweep_gives_on_the_cluster_what_it_gives_here(chapter, lazyrich, results, tmp_path):
    here = lazyrich("sweep", chapter, *GRID, "--jobs", "2", "--out", tmp_path / "here")
    there = lazyrich(
        "sweep", chapter, *GRID, "--jobs", "4", "--out", tmp_path / "there", "--executor", "slurm",
        "--profile", PROFILE,
    )  # fmt: skip
    assert "submitted with SLURM jobid" in there.stderr
    assert (here.returncode, there.returncode) == (1, 1)
    assert len(results(tmp_path / "there")) == 2
    assert results(tmp_path / "there") == results(tmp_path / "here")
    told = [line for line in there.stderr.splitlines() if line.startswith("lazyrich: failed: ")]
    assert len(told) == 2
    assert all("RuntimeError: this cell fails at beta = 7" in line for line in told)
