"""The runs behind the book: those of this build, else the committed ledgers."""

import json
from dataclasses import dataclass
from pathlib import Path

from lazyrich.files import data_path

VERDICTS = ("reproduced", "differs", "inconclusive", "measured", "not supported by this preset")


@dataclass(frozen=True)
class Run:
    """One chapter's run: its stem, its ledger rows, and how it ran."""

    chapter: str
    rows: list[dict]
    record: dict
    origin: str  # "this build", "committed" or "recorded"


def read_runs(source: Path) -> list[Run]:
    """The runs of a book's source directory, by chapter, then the recorded ones.

    A staging tree holds `runs/<chapter>/`; a fresh clone only `data/ledger/laptop.json`.
    """
    staged = [
        Run(folder.name, _json(folder / "claims.json"), _json(folder / "run.json"), "this build")
        for folder in sorted((source / "runs").glob("*")) if folder.is_dir()
    ]
    return (staged or _ledger("laptop", "committed")) + _ledger("record", "recorded")


def _ledger(name: str, origin: str) -> list[Run]:
    path = data_path() / "ledger" / f"{name}.json"
    if not path.is_file():
        return []
    return [Run(chapter, entry["rows"], entry["run"], origin) for chapter, entry in sorted(_json(path).items())]


def _json(path: Path):
    return json.loads(path.read_text(encoding="utf-8"))


def decided(run: Run, verdicts) -> list[dict]:
    """A run's rows with one of the verdicts."""
    return [row for row in run.rows if row["verdict"] in verdicts]
