"""The status page: a line for every run behind the book, and for every preset what it takes."""

import re

import pytest

from lazyrich.files import data_path
from lazyrich.ledger import read_ledger
from lazyrich.runs import presets
from lazyrich.runs.chapters import chapters


@pytest.fixture
def tables(html):
    """The page's tables, each a list of rows of texts."""
    page = (html / "book" / "status.html").read_text(encoding="utf-8")
    text = lambda cell: " ".join(re.sub(r"<[^>]+>", "", cell).split())
    rows = lambda table: re.findall(r"<tr.*?</tr>", table, re.S)
    cells = lambda row: [text(cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.S)]
    return [[cells(row) for row in rows(table)] for table in re.findall(r"<table.*?</table>", page, re.S)]


def test_every_run_has_time_memory_device_versions_date_and_commit(tables):
    took, ran_on = tables[:2]
    assert took[0] == ["chapter", "preset", "run", "time", "peak memory", "date", "commit"]
    assert ran_on[0] == ["chapter", "preset", "device", "machine", "precision", "versions"]
    assert len(took) == len(ran_on) >= 1 + len(chapters())
    for row in took[1:]:
        assert re.fullmatch(r"\d+ s", row[3])
        assert re.fullmatch(r"\d+ MiB", row[4])
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", row[5])
        assert all(row)
    assert all("jax" in row[5] and row[2] for row in ran_on[1:])


def test_recorded_runs_are_listed(tables):
    path = data_path("ledger") / "record.json"
    recorded = len(read_ledger(path)) if path.is_file() else 0
    assert sum(row[2] == "recorded" for row in tables[0]) == recorded


def test_every_preset_says_what_it_takes(tables):
    costs = tables[2]
    assert len(costs) == 1 + sum(len(presets(path.stem)) for path in chapters())
    for _, name, about, memory, _, time in costs[1:]:
        assert about.endswith(".")
        assert re.fullmatch(r"[\d.]+ (MiB|GiB)", memory)
        assert name not in ("gpu", "paper") or time != "–"
