"""A full disk, a folder of somebody else's: told in one line, and what was there stays."""

import os
import subprocess
from pathlib import Path

import pytest


def told(done) -> str:
    """The front's last word, on one line and with no traceback before it."""
    assert "Traceback" not in done.stderr
    assert done.returncode == 1
    return done.stderr.splitlines()[-1]


def test_a_file_that_cannot_grow_fails_the_run_and_keeps_the_good_one(chapter, lazyrich, tmp_path):
    assert lazyrich("run", chapter, "--out", tmp_path / "out").returncode == 0
    before = (tmp_path / "out" / "run.json").read_bytes()
    limited = ("bash", "-c", 'ulimit -f 8192; exec "$@"', "bash")  # KiB
    done = lazyrich("run", chapter, "-p", "beta=9", "--out", tmp_path / "out", through=limited)
    assert "OSError: [Errno 27] File too large" in told(done)
    assert (tmp_path / "out" / "run.json").read_bytes() == before


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 8 MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "none", folder], check=True)
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


def fill(disk: Path, left: int) -> None:
    """Leave so many bytes of a disk free."""
    found = os.statvfs(disk)
    (disk / "ballast").write_bytes(bytes(found.f_bavail * found.f_frsize - left))


@pytest.mark.root
def test_a_full_disk_is_told_and_a_rerun_ends_well(chapter, lazyrich, small_disk):
    assert lazyrich("run", chapter, "--out", small_disk / "out").returncode == 0
    before = (small_disk / "out" / "run.json").read_bytes()
    for left in (0, 2**14):
        fill(small_disk, left)
        done = lazyrich("run", chapter, "-p", "beta=9", "--out", small_disk / "out")
        assert "No space left on device" in told(done)
        assert (small_disk / "out" / "run.json").read_bytes() == before
        (small_disk / "ballast").unlink()
    assert lazyrich("run", chapter, "-p", "beta=2", "--out", small_disk / "out").returncode == 0
    assert (small_disk / "out" / "run.json").read_bytes() != before


@pytest.mark.root
@pytest.mark.parametrize("left", [0, 2**12, 2**15])
def test_a_sweep_on_a_full_disk_is_told_and_resumed(left, chapter, lazyrich, results, small_disk):
    words = ("sweep", chapter, "--grid", "beta=0.5,1", "--out", small_disk / "out")
    fill(small_disk, left)
    done = lazyrich(*words)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("lazyrich: ")
    there = results(small_disk / "out")  # whole, or not there
    (small_disk / "ballast").unlink()
    done = lazyrich(*words)
    assert done.returncode == 0, done.stderr
    assert len(results(small_disk / "out")) == 2
    assert all(results(small_disk / "out")[name] == found for name, found in there.items())


@pytest.fixture
def closed(tmp_path):
    """A folder that this user may not write to; root may write to any, but for a read-only file system."""
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o555)
    if os.geteuid() == 0:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "none", folder], check=True)
    yield folder
    if os.geteuid() == 0:
        subprocess.run(["umount", "--lazy", folder], check=True)


def test_a_closed_folder_is_refused_before_anything_starts(chapter, lazyrich, closed):
    for words in (["run", chapter], ["sweep", chapter, "--grid", "beta=0.5,1"]):
        done = lazyrich(*words, "--out", closed / "out")
        assert done.returncode == 2
        assert done.stderr.startswith(f"lazyrich: out = {closed / 'out'}: no permission to write there")
        assert done.stderr.count("\n") == 1
