"""A sweep killed at twenty random moments and started again ends as one that nobody disturbed."""

import os
import random
import signal
import subprocess
import sys

KILLS = 20
GRID = ("--grid", "beta=0.5:2:6", "--grid", "gamma=1,10", "--jobs", "2")


def test_nothing_is_lost(chapter, lazyrich, results, tmp_path, environment):
    assert lazyrich("sweep", chapter, *GRID, "--out", tmp_path / "calm").returncode == 0
    expected = results(tmp_path / "calm")
    assert len(expected) == 12

    folder = tmp_path / "killed"
    command = [sys.executable, "-m", "lazyrich", "sweep", str(chapter), *GRID, "--out", str(folder)]
    moments = random.Random(0)
    seen, unfinished = {}, 0
    for kill in range(KILLS):
        with subprocess.Popen(
            command, cwd=tmp_path, env=environment, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        ) as process:  # fmt: skip
            try:
                process.wait(moments.uniform(0.5, 7))
            except subprocess.TimeoutExpired:
                unfinished += 1
            # Every other time what it has started goes on for a while, beside the next try.
            (os.killpg if kill % 2 else os.kill)(process.pid, signal.SIGKILL)
        # What is in place is whole at every moment, and stays as it is.
        for name, content in results(folder).items():
            assert content == expected[name]
            assert seen.setdefault(name, record(folder, name)) == record(folder, name)
    assert unfinished >= KILLS // 2  # or the moments come too late to tell anything

    done = lazyrich("sweep", chapter, *GRID, "--out", folder)
    assert done.returncode == 0, done.stderr
    assert results(folder) == expected
    assert {name: record(folder, name) for name in seen} == seen  # nothing finished ran again
    assert not list(folder.glob("points/.*.running-*"))
    assert tables(folder) == tables(tmp_path / "calm")


def record(folder, name) -> str:
    """With the date and the seconds of the run."""
    return (folder / "points" / name / "run.json").read_text()


def tables(folder) -> list[list[str]]:
    """The summary without the seconds, which stand third after the two swept parameters."""
    lines = (folder / "summary.csv").read_text().splitlines()
    return [cells[:3] + cells[4:] for cells in (line.split(",") for line in lines)]
