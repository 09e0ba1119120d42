"""The records that finished runs left: read whole or refused, and told from those of other runs."""

import json
from dataclasses import asdict
from pathlib import Path

from lazyrich.ledger import load_rows

from . import provenance
from .parameters import Checked


class RunFailed(Exception):
    """A run that stopped, or whose files cannot be read: the message says where, and what lies where."""


def record(folder: Path) -> dict | None:
    """The content of a run's `run.json`; None where there is none, so no run.

    Raises RunFailed when the file is none of ours.
    """
    path = folder / "run.json"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (ValueError, OSError) as error:
        raise RunFailed(f"{path}: damaged ({error}); remove {folder} to run it again") from error
    if not isinstance(found, dict) or not {"parameters", "sources", "seconds"} <= set(found):
        raise RunFailed(f"{path}: damaged (no record of a run); remove {folder} to run it again")
    return found


def rows(folder: Path) -> list[dict]:
    """The ledger rows of a finished run.

    Raises RunFailed when there are none to read.
    """
    try:
        return load_rows(folder / "claims.json")
    except (ValueError, OSError) as error:
        raise RunFailed(f"{error}; remove {folder} to run it again") from error


def of(parameters: Checked, found: dict) -> bool:
    """Whether a record is that of a run at these parameters."""
    return found["parameters"] == json.loads(json.dumps(asdict(parameters)))


def finished(folder: Path, notebook: Path, parameters: Checked) -> bool:
    """Whether a folder holds the run of just these parameters and of the sources as they are now.

    Raises RunFailed when what lies there cannot be read.
    """
    found = record(folder)
    if found is None:
        return False
    rows(folder)
    return of(parameters, found) and found["sources"] == provenance.sources(notebook, parameters)
