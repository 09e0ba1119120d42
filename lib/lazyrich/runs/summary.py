"""What a sweep gave, from the ledgers of its points: one table of all, one of each quantity that varies."""

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path

from lazyrich.ledger import counts, interval_text, theory_text

from . import records
from .records import RunFailed

COLUMNS = ("id", "predicted", "measured", "low", "high", "verdict")


@dataclass(frozen=True)
class Point:
    """One point: the swept values, and either its seconds and ledger rows, or why there are none."""

    name: str
    values: dict[str, object]
    rows: list[dict]
    seconds: float | None = None
    failure: str | None = None


def collect(folder: Path, manifest: dict) -> list[Point]:
    """Every point of a sweep, in the order of its grid. A damaged file is a failure, never data."""
    return [_point(folder, name, values, manifest) for name, values in manifest["points"].items()]


def _point(folder: Path, name: str, parameters: dict, manifest: dict) -> Point:
    values = {axis: parameters[axis] for axis in manifest["grid"]}
    try:
        found = records.record(folder / "points" / name)
        if found is None:
            return Point(name, values, [], failure=_reason(folder, name))
        if found["parameters"] != parameters:
            raise RunFailed(f"{folder / 'points' / name}: holds a run of other parameters; remove it")
        return Point(name, values, records.rows(folder / "points" / name), found["seconds"])
    except RunFailed as error:
        return Point(name, values, [], failure=str(error))


def _reason(folder: Path, name: str) -> str:
    """What the front said last, else where to look."""
    log = folder / "logs" / f"{name}.txt"
    text = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
    said = [line.removeprefix("lazyrich: ") for line in text.splitlines() if line.startswith("lazyrich: ")]
    if said:
        return said[-1]
    return f"stopped without a word; log: {log}" if text else f"did not start; see {folder / '.snakemake'}"


def varying(points: list[Point]) -> dict[str, list[tuple[Point, dict]]]:
    """The measured quantities that differ between points, those of the reader's own parameters first."""
    found: dict[str, list[tuple[Point, dict]]] = {}
    for point in points:
        for row in point.rows:
            if row.get("measured") is not None:
                found.setdefault(row["id"], []).append((point, row))
    differ = {name: some for name, some in found.items() if len({row["measured"] for _, row in some}) > 1}
    return dict(sorted(differ.items(), key=lambda item: not item[0].startswith("custom.")))


def table(points: list[Point]) -> str:
    """All rows of all points as CSV: a line a row, and one with the reason for a point that failed."""
    text = io.StringIO()
    axes = list(points[0].values)
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(["point", *axes, "seconds", *COLUMNS, "failure"])
    for point in points:
        start = [point.name, *point.values.values(), point.seconds]
        for row in point.rows or [{}]:
            lines.writerow([*start, *(_cell(row.get(name)) for name in COLUMNS), point.failure])
    return text.getvalue()


def page(points: list[Point], manifest: dict, changed: bool = False) -> str:
    """The summary for readers, in Markdown."""
    failed = sum(point.failure is not None for point in points)
    axes = list(manifest["grid"])
    parts = [
        f"# Sweep of {manifest['chapter']}",
        f"{len(points)} points over {', '.join(axes)}; {len(points) - failed} finished, {failed} failed. "
        f"Preset {manifest['preset']}, sources {manifest['sources'][:8]}.",
    ]
    if changed:
        parts.append("**The sources changed while this sweep ran: its points are not all of one state.**")
    lines = [
        [*map(_text, point.values.values()), _verdicts(point), _text(point.seconds), f"`{point.name}`"]
        for point in points
    ]
    parts.append(_markdown([*axes, "verdicts", "seconds", "point"], lines))
    quantities = varying(points)
    if quantities:
        parts.append(f"![The quantities below against {axes[0]}](summary.png)")
    for name, some in quantities.items():
        lines = [
            [*map(_text, point.values.values()), theory_text(row), interval_text(row), row["verdict"]]
            for point, row in some
        ]
        parts += [f"## {name}", _markdown([*axes, "theory", "measured, 95 % interval", "verdict"], lines)]
    return "\n\n".join(parts) + "\n"


def _verdicts(point: Point) -> str:
    if point.failure is not None:
        return f"failed: {point.failure}"
    return ", ".join(f"{n} {verdict}" for verdict, n in counts(point.rows).items()) or "no claims"


def _cell(value):
    return json.dumps(value) if isinstance(value, list | tuple) else value


def _text(value) -> str:
    return "–" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _markdown(header: list[str], lines: list[list[str]]) -> str:
    cells = [header, ["---"] * len(header), *lines]
    return "\n".join(f"| {' | '.join(text.replace('|', chr(92) + '|') for text in line)} |" for line in cells)
