"""A sweep: one folder a point, each a run of the front, scheduled by Snakemake here or on a cluster.

- sweep.json: the manifest, with grid, chapter, preset, sources and every point's parameters
- points/HASH: what `lazyrich run` leaves; the name is the hash of the full parameter set
- logs/HASH.txt: what it said
- summary.csv, .md, .png: tables and a plot from the ledgers
"""

import json
import os
import pkgutil
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from lazyrich import device
from lazyrich.files import repository, sha256, write_atomic

from . import grids, provenance
from .chapters import find
from .locks import held
from .memory import affordable, estimate
from .parameters import Checked, ParameterError, canonical, suggest
from .presets import LAPTOP, with_preset
from .records import RunFailed

MANIFEST = "sweep.json"
SNAKEFILE = Path(__file__).with_name("sweep.smk")
PLUGIN = "snakemake_executor_plugin_"
SUBMITS = {"slurm": "sbatch"}  # the program an executor cannot do without


@dataclass(frozen=True)
class Sweep:
    """What is asked for, checked: nothing of it has started, and nothing is written yet."""

    notebook: Path
    preset: str
    changes: dict[str, str]
    base: Checked
    axes: dict[str, list]
    points: dict[str, Checked]
    folder: Path
    sources: str
    memory: str | None


@dataclass(frozen=True)
class Scheduling:
    """Where points run: Snakemake's executor, how many at a time, and a profile with its other settings."""

    executor: str
    jobs: int
    profile: Path | None

    def arguments(self) -> list[str]:
        """Snakemake's. Its own lock would outlive a kill; each folder has one that does not."""
        chosen = ["--executor", self.executor, "--cores" if self.executor == "local" else "--jobs"]
        profile = ["--profile", str(self.profile)] if self.profile else []
        quiet = ["--quiet", "host", "reason", "progress"]
        kept = ["--nolock", "--rerun-incomplete", "--keep-going", "--rerun-triggers", "mtime"]
        return [*profile, *chosen, str(self.jobs), *kept, *quiet]


def plan(
    chapter: str,
    preset: str | None,
    changes: dict[str, str],
    grid: list[str],
    out: str | None,
    memory: str | None = None,
    elsewhere: bool = False,
) -> Sweep:
    """The sweep that a command line asks for; one that runs `elsewhere` has that machine's memory.

    Raises ParameterError, naming the parameter and what is allowed, for anything that could not run.
    """
    notebook = find(chapter)
    preset = LAPTOP if preset is None else preset
    base = with_preset(notebook, preset, changes)
    axes = grids.axes(base, grid)
    if both := sorted(set(axes) & set(changes)):
        raise ParameterError(f"{both[0]} is given by -p and by --grid, expected one of them")
    points = grids.points(base, axes)
    largest = max(points.values(), key=estimate)
    affordable(largest, "none" if elsewhere and memory is None else memory)
    sources = provenance.sources(notebook, base)
    folder = _folder(out, notebook.stem, sha256(f"{sources} {json.dumps(axes)}".encode())[:8])
    found = manifest(folder)
    if found and (found["chapter"], found["sources"]) != (notebook.stem, sources):
        raise ParameterError(
            f"out = {folder}: holds a sweep of another chapter, other parameters that are not swept, or an "
            "earlier state of the library, the data or the lock; expected another folder"
        )
    return Sweep(notebook, preset, changes, base, axes, points, folder, sources, memory)


def scheduling(executor: str | None, jobs: str | None, profile: str | None) -> Scheduling:
    """How to run the points.

    Raises ParameterError for an executor that is not installed, a bad number or a profile that is none.
    """
    executor = "local" if executor is None else executor
    plugins = [module.name.removeprefix(PLUGIN) for module in pkgutil.iter_modules()
               if module.name.startswith(PLUGIN) and not module.name.endswith("_jobstep")]  # fmt: skip
    known = ["local", *(name.replace("_", "-") for name in plugins)]
    if executor not in known:
        raise ParameterError(f"executor = {executor!r}: not installed{suggest(executor, known)}")
    program = SUBMITS.get(executor)
    if program and not shutil.which(program):
        raise ParameterError(f"executor = {executor!r}: expected {program} on PATH, as on a login node")
    if jobs is None:
        jobs = "1" if executor == "local" else "16"
    if not jobs.isascii() or not jobs.isdigit() or not 1 <= int(jobs[:9]) <= 10_000:
        raise ParameterError(f"jobs = {jobs!r}: expected an integer in [1, 10000]")
    if profile is not None and not any(Path(profile).glob("config*.yaml")):
        raise ParameterError(f"profile = {profile}: expected a folder with a Snakemake config.yaml")
    return Scheduling(executor, int(jobs), Path(profile).absolute() if profile else None)


def run(sweep: Sweep, scheduling: Scheduling) -> None:
    """Run every point that is not finished. What failed is told by `summary.collect`, not here.

    Raises RunFailed when another process is sweeping this folder.
    """
    sweep.folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        with held(sweep.folder):
            write_atomic(sweep.folder / MANIFEST, _manifest(sweep))
            _snakemake(sweep.folder, scheduling)
    except BlockingIOError:
        raise RunFailed(f"{sweep.folder} is being swept by another process") from None


def manifest(folder: Path) -> dict | None:
    """The manifest of a sweep's folder; None where there is nothing yet.

    Raises ParameterError when the manifest is damaged, or something else lies there.
    """
    path = folder / MANIFEST
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if not {"chapter", "sources", "grid", "points"} <= set(found):
            raise ValueError("no manifest of a sweep")
    except FileNotFoundError:
        if folder.is_dir() and any(folder.iterdir()):
            raise ParameterError(f"out = {folder}: this folder holds something else than a sweep") from None
        return None
    except (ValueError, TypeError) as error:
        raise ParameterError(f"{path}: damaged ({error}); restore it, or use another folder") from error
    return found


def changed_since(sweep: Sweep) -> bool:
    """Whether the sources have changed while the sweep ran, so that its points are not all of one state."""
    return provenance.sources(sweep.notebook, sweep.base) != sweep.sources


def _folder(out: str | None, stem: str, name: str) -> Path:
    root = repository() or Path.cwd()
    if out == "":
        raise ParameterError("out = '': expected the path of a folder")
    folder = root / "results" / "sweeps" / stem / name if out is None else Path(out).absolute()
    try:
        there = next(path for path in (folder, *folder.parents) if path.exists())
    except OSError as error:
        raise ParameterError(f"out = {folder}: {error.strerror}") from error
    if not there.is_dir():
        raise ParameterError(f"out = {folder}: {there} is a file, expected a folder")
    if not os.access(there, os.W_OK):
        raise ParameterError(f"out = {folder}: no permission to write there, expected a folder of your own")
    return folder


def _manifest(sweep: Sweep) -> str:
    content = {
        "chapter": sweep.notebook.stem,
        "notebook": str(sweep.notebook),
        "preset": sweep.preset,
        "changes": sweep.changes,
        "grid": sweep.axes,
        "memory": sweep.memory,
        "sources": sweep.sources,
        "commit": provenance.commit(),
        "versions": device.versions(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "points": {name: json.loads(canonical(point)) for name, point in sweep.points.items()},
    }
    return json.dumps(content, indent=1) + "\n"


def _snakemake(folder: Path, scheduling: Scheduling) -> None:
    """In this process, so that a kill takes the scheduler with it; what it had started ends by itself."""
    from snakemake.cli import main

    before = Path.cwd()
    try:
        main(["points", "--snakefile", str(SNAKEFILE), "--directory", str(folder), *scheduling.arguments()])
    except SystemExit:
        pass  # its status says less than the folders of the points
    finally:
        os.chdir(before)
