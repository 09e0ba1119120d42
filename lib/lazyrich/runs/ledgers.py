"""Two ledgers side by side: of presets, devices, releases."""

import json
from pathlib import Path

from lazyrich.files import data_path, repository
from lazyrich.ledger import Comparison, compare, load_rows, read_ledger
from lazyrich.ledger.compare import AGREES, STATUSES

from .parameters import ParameterError


def rows_of(name: str) -> list[dict]:
    """The rows that a name or a path means.

    A committed ledger (`laptop`, `record`), a preset that was run here (all chapters under
    `results/<preset>`), the folder of a run, a `claims.json`, or a ledger file: a committed one, or the
    `ledger.json` that the book offers for download.

    Raises ParameterError, naming what was asked for and what is allowed, when there are none.
    """
    path = Path(name)
    committed = data_path("ledger") / f"{name}.json"
    if committed.is_file():
        path = committed
    elif path.is_dir():
        path = path / "claims.json"
    elif (root := repository()) and (
        found := sorted((root / "results" / name).glob("[0-9][0-9]_*/claims.json"))
    ):
        return [row for each in found for row in load_rows(each)]
    if not path.is_file():
        known = sorted(file.stem for file in data_path("ledger").glob("*.json"))
        raise ParameterError(
            f"ledger {name}: expected a committed one ({', '.join(known)}), a preset with results, "
            "the folder of a run, or a ledger file"
        )
    try:
        return _read(path)
    except ValueError as error:
        raise ParameterError(str(error)) from error


def _read(path: Path) -> list[dict]:
    """The rows of a file in one of the three shapes that a ledger has."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: not a JSON file: {error}") from error
    match content:
        case dict():
            return [row for entry in read_ledger(path).values() for row in entry["rows"]]
        case [{"rows": list()}, *_]:
            return [row for entry in content for row in entry["rows"]]
        case _:
            return load_rows(path)


def diff(before: str, after: str) -> tuple[Comparison, str]:
    """How ledger `after` stands to `before`, claim by claim, and as text: counts, then what differs.

    A claim that neither run was large enough for is counted and not listed.
    """
    found = compare(rows_of(after), rows_of(before))
    counts = ", ".join(f"{n} {status}" for status in STATUSES[::-1] if (n := found.count(status)))
    listed = [row for row in found.rows if row.status != AGREES and not row.silent]
    return found, "\n".join([f"{before} → {after}: {counts or 'no claims'}", *map(str, listed)])
