"""The runs behind the book: those of this build, else the committed ledgers."""

import json
from dataclasses import dataclass
from pathlib import Path

from lazyrich.files import data_path, repository
from lazyrich.ledger import load_rows, read_ledger
from lazyrich.runs.chapters import chapters


@dataclass(frozen=True)
class Run:
    """One chapter's run: its stem, its ledger rows, and how it ran."""

    chapter: str
    rows: list[dict]
    record: dict
    origin: str  # "this build", "committed", "recorded" or "on this machine"


def read_runs(source: Path) -> list[Run]:
    """The runs of a book's source directory, by chapter, then the recorded ones.

    A staging tree holds `runs/<chapter>/`; a fresh clone only `data/ledger/laptop.json`.
    """
    folders = sorted(folder for folder in (source / "runs").glob("*") if folder.is_dir())
    staged = [Run(f.name, load_rows(f / "claims.json"), record(f), "this build") for f in folders]
    return (staged or committed("laptop", "committed")) + committed("record", "recorded")


def local(known: list[Run]) -> list[Run]:
    """The other runs of chapters at presets that lie under `results/` of this checkout."""
    root = repository()
    listed = {(run.chapter, run.record["preset"]) for run in known}
    stems = {path.stem for path in chapters()}
    found = sorted(root.glob("results/*/*/run.json")) if root else []
    folders = [path.parent for path in found if path.parent.name in stems]
    runs = [Run(folder.name, [], record(folder), "on this machine") for folder in folders]
    return [run for run in runs if (run.chapter, run.record["preset"]) not in listed]


def record(folder: Path) -> dict:
    """How the run in a folder went."""
    return json.loads((folder / "run.json").read_text(encoding="utf-8"))


def committed(name: str, origin: str) -> list[Run]:
    """The runs of a committed ledger; none where there is no such ledger yet."""
    path = data_path() / "ledger" / f"{name}.json"
    ledger = read_ledger(path) if path.is_file() else {}
    return [Run(chapter, entry["rows"], entry["run"], origin) for chapter, entry in ledger.items()]


def with_verdict(runs: list[Run], *verdicts: str) -> list[dict]:
    """The rows of all runs that have one of the verdicts."""
    return [row for run in runs for row in run.rows if row["verdict"] in verdicts]


UNSUPPORTED = "not supported by this preset"


def best_rows(runs: list[Run]) -> list[dict]:
    """One row a claim: the first run's, or the first's that was large enough for it."""
    rows = {}
    for row in (row for run in runs for row in run.rows):
        if rows.setdefault(row["id"], row)["verdict"] == UNSUPPORTED:
            rows[row["id"]] = row
    return list(rows.values())
