"""The ledger behind the pages as files: ``_static/ledger.json`` and ``_static/ledger.csv``."""

import csv
import json
from io import StringIO
from pathlib import Path

from lazyrich.files import write_atomic

from .results import Run, read_runs

COLUMNS = (
    "chapter", "origin", "preset", "id", "paper", "place", "statement", "relation", "predicted", "measured",
    "low", "high", "allowance", "resolution", "seeds", "window", "verdict", "known", "note",
    "device", "precision",
)  # fmt: skip


def as_json(runs: list[Run]) -> str:
    """All runs with all that is known of them."""
    found = [{"chapter": r.chapter, "origin": r.origin, "run": r.record, "rows": r.rows} for r in runs]
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def as_csv(runs: list[Run]) -> str:
    """One line a row; windows and ranges as JSON."""
    text = StringIO()
    writer = csv.DictWriter(text, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for run in runs:
        for row in run.rows:
            flat = {k: json.dumps(v) if isinstance(v, dict | list) else v for k, v in row.items()}
            writer.writerow(flat | {"chapter": run.chapter, "origin": run.origin})
    return text.getvalue()


def write(app, exception):
    if exception is None and app.builder.format == "html":
        runs = read_runs(Path(app.srcdir))
        for name, content in (("ledger.json", as_json(runs)), ("ledger.csv", as_csv(runs))):
            write_atomic(Path(app.outdir, "_static", name), content)


def setup(app):
    app.connect("build-finished", write)
