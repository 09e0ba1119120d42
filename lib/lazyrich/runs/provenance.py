"""Where a result comes from: what ran, on what, when, from which sources."""

import json
import resource
import shutil
import subprocess
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from lazyrich import device
from lazyrich.files import data_path, repository, sha256

from .chapters import code
from .dependencies import modules
from .parameters import Checked, canonical


def inputs(notebook: Path) -> list[Path]:
    """Every file that a chapter's result depends on, its own and its preset aside.

    These are the library's modules that it imports, directly or through others, the data that travel
    with the book, the chapter's claims, and the lock.
    """
    claims = data_path("claims") / f"{notebook.stem}.yaml"
    others = [*data_path().glob("*.npz"), claims, *([root / "uv.lock"] if (root := repository()) else [])]
    return sorted([*modules(code(notebook)), *(path for path in others if path.is_file())])


def sources(notebook: Path, parameters: Checked) -> str:
    """One hash of everything a run depends on: inputs, the notebook's code cells, its parameters."""
    files = "".join(f"{path.name} {sha256(path)}\n" for path in inputs(notebook))
    return sha256(f"{files}\n{code(notebook)}\n{canonical(parameters)}".encode())


def origin(notebook: Path, preset: str, parameters: Checked) -> dict:
    """What is about to run; taken before, so that an edit during the run is not credited to it."""
    return {
        "chapter": notebook.stem,
        "preset": preset,
        "parameters": asdict(parameters),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": device.machine(),
        "versions": device.versions(),
        "commit": commit(),
        "sources": sources(notebook, parameters),
    }


def outcome(folder: Path, seconds: float) -> dict:
    """What a run took, with the device and precision that its ledger in `folder` names.

    Peak memory is in bytes, of the largest process this one has waited for: the kernel.
    """
    ledger = folder / "claims.json"
    rows = json.loads(ledger.read_text(encoding="utf-8")) if ledger.is_file() else []
    first = rows[0] if rows else {}
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return {
        "seconds": round(seconds, 1),
        "peak_memory": peak if sys.platform == "darwin" else peak * 1024,
        "device": first.get("device"),
        "precision": first.get("precision"),
    }


def commit() -> str | None:
    """The repository's commit, marked when the working tree differs from it; None without git."""
    root = repository()
    if root is None or not (root / ".git").exists() or shutil.which("git") is None:
        return None

    def git(*words: str) -> str | None:
        done = subprocess.run(["git", "-C", root, *words], capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else None

    head = git("rev-parse", "HEAD")
    return head and head + (" and changes" if git("status", "--porcelain") else "")
