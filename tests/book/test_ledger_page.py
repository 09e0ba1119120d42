"""The ledger page: every claim leads to its cell, filters show what they say, downloads hold the rows."""

import csv
import json
from io import StringIO

import pytest
from lazyrich_book.cells import patterns, recording_cells, target

from book.conftest import ROOT, Tab
from lazyrich.ledger import load_claims

CHAPTERS = sorted((ROOT / "chapters").glob("[0-9][0-9]_*.ipynb"))


@pytest.fixture(scope="module")
def ledger(browser, html):
    tab = Tab(browser, html.as_uri()).open("book/ledger")
    yield tab.page
    tab.context.close()


@pytest.mark.parametrize("notebook", CHAPTERS, ids=lambda path: path.stem)
def test_every_claim_is_named_by_a_cell(notebook):
    assert set(recording_cells(notebook)) == set(load_claims(notebook.stem))


def test_f_strings_are_read_as_patterns():
    full, part, *_ = patterns('record("fl.a.b"); record(f"ge.net.{kind}.L{depth}"); print(f"{x}.y")')
    assert full.fullmatch("fl.a.b")
    assert part.fullmatch("ge.net.rich.L3")
    assert not part.fullmatch("ge.toy.rich.L3")


def test_a_claim_leads_to_the_cell_that_measures_it(ledger, html):
    links = ledger.locator("table.ledger[class*=of-] td:first-child a").all()
    assert len(links) == ledger.locator("table.ledger[class*=of-] tbody tr").count()
    for link in links:
        page, _, anchor = link.evaluate("a => a.href").partition("#")
        if not anchor:
            assert link.inner_text().startswith("custom.")
            continue
        text = (html / page.removeprefix(html.as_uri() + "/")).read_text(encoding="utf-8")
        assert f'id="{anchor}"' in text, link


def test_filters(ledger):
    rows = ledger.locator("table.ledger[class*=of-] tbody tr")
    shown = lambda: rows.evaluate_all("all => all.filter(row => row.offsetParent).length")
    total = shown()
    assert total == rows.count() > 0
    for name in ("chapter", "paper", "verdict"):
        select = ledger.get_by_label(name, exact=True)
        values = select.locator("option").all_text_contents()[1:]
        counts = []
        for value in values:
            select.select_option(value)
            counts.append(shown())
            assert f"{counts[-1]} of {total}" in ledger.locator(".ledger-filters output").inner_text()
        assert sum(counts) == total
        assert min(counts) > 0
        select.select_option("")
    ledger.get_by_label("words").fill("fl.time.lazy.b050")
    assert shown() == 1
    ledger.get_by_label("words").fill("no such words")
    assert shown() == 0
    ledger.get_by_label("words").fill("")
    assert shown() == total


def test_downloads_hold_every_row(ledger, html):
    rows = list(csv.DictReader(StringIO((html / "_static" / "ledger.csv").read_text(encoding="utf-8"))))
    runs = json.loads((html / "_static" / "ledger.json").read_text(encoding="utf-8"))
    assert [row["id"] for row in rows] == [row["id"] for run in runs for row in run["rows"]]
    shown = ledger.locator("table.ledger[class*=of-] tbody td:first-child code").all_inner_texts()
    assert [row["id"] for row in rows] == shown
    assert all(row["verdict"] for row in rows)


def test_targets_are_unique():
    names = [target(claim) for claim in load_claims()]
    assert len(set(names)) == len(names)
