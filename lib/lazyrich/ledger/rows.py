"""Ledger rows on disk: strict JSON, in which a number that is not finite is a string.

`null` means that there is no such number; "inf", "-inf" and "nan" are the outcomes of a measurement
that diverged or gave no number. Readers get floats back.
"""

import json
import math
from collections.abc import Mapping
from pathlib import Path

from lazyrich import files

NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
NUMBERS = ("measured", "low", "high", "allowance", "resolution", "tolerance")


def dump_rows(rows: list[dict]) -> str:
    """Rows as the text of a claims.json.

    >>> print(dump_rows([{"id": "ours.x", "measured": math.inf}]), end="")
    [
     {
      "id": "ours.x",
      "measured": "inf"
     }
    ]
    """
    return json.dumps([_strict(row) for row in rows], indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def load_rows(path: str | Path) -> list[dict]:
    """Rows of a claims.json.

    Raises:
        ValueError: the file is no list of rows; the message names it.
    """
    rows = _load(path)
    if not isinstance(rows, list) or not all(isinstance(row, dict) and "id" in row for row in rows):
        raise ValueError(f"{path}: must hold a list of ledger rows, each with an id")
    return [_loose(row) for row in rows]


def write_ledger(path: str | Path, chapters: Mapping[str, Mapping]) -> None:
    """Write a committed ledger: {chapter's stem: {"rows": [...], "run": the record of its run}}."""
    content = {
        stem: {"rows": [_strict(row) for row in entry["rows"]], "run": entry["run"]}
        for stem, entry in sorted(chapters.items())
    }
    files.write_atomic(path, json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def read_ledger(path: str | Path) -> dict[str, dict]:
    """Read a committed ledger; the inverse of `write_ledger`.

    Raises:
        ValueError: the file is not such a ledger; the message names it.
    """
    content = _load(path)
    if not isinstance(content, dict) or not all(
        isinstance(entry, dict) and {"rows", "run"} <= set(entry) for entry in content.values()
    ):
        raise ValueError(f"{path}: must map each chapter's stem to its rows and run")
    return {stem: entry | {"rows": [_loose(row) for row in entry["rows"]]} for stem, entry in content.items()}


def _load(path: str | Path):
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}: not a JSON file: {error}") from error


def _strict(row: Mapping) -> dict:
    return {
        key: str(value) if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in row.items()
    }


def _loose(row: Mapping) -> dict:
    return {
        key: NOT_FINITE[value] if key in NUMBERS and isinstance(value, str) else value
        for key, value in row.items()
    }
