"""Locks: one holder, none after a kill, and waiting ones take turns."""

import subprocess
import sys
import time

import pytest

from lazyrich.runs.locks import held

HOLD = """\
import sys, time
from pathlib import Path
from lazyrich.runs.locks import held
with held(Path(sys.argv[1]), wait=True):
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
"""


def holder(folder, seconds) -> subprocess.Popen:
    """Another process that holds the folder; it does by the time this returns."""
    command = [sys.executable, "-c", HOLD, str(folder), str(seconds)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    return process


def test_held_once_and_gone_afterwards(tmp_path):
    with held(tmp_path / "out"), pytest.raises(BlockingIOError), held(tmp_path / "out"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_killed_holder_holds_nothing(tmp_path):
    with holder(tmp_path / "out", 60) as process:
        with pytest.raises(BlockingIOError), held(tmp_path / "out"):
            pass
        process.kill()
        process.wait()
        with held(tmp_path / "out"):
            pass


def test_waiting_ones_take_turns(tmp_path):
    with holder(tmp_path / "out", 0.5) as first:
        began = time.monotonic()
        with held(tmp_path / "out", wait=True):
            assert first.poll() is not None or time.monotonic() - began > 0.1
            with pytest.raises(BlockingIOError), held(tmp_path / "out"):
                pass
