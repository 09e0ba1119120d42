"""Equations with their code, notation with its conversions, definitions at hand."""

import re

import pytest
from lazyrich_book import equations, library, paper_figures

from book.conftest import ROOT, Tab
from lazyrich.ledger import load_claims
from lazyrich.runs.chapters import chapters
from lazyrich.theory import conventions

EQUATIONS = equations.load(ROOT)


@pytest.fixture(scope="module")
def disk(browser, html):
    tab = Tab(browser, html.as_uri())
    yield tab
    tab.context.close()


@pytest.mark.parametrize("entry", EQUATIONS, ids=lambda entry: entry["function"])
def test_every_equation_has_a_function_with_a_test(entry):
    assert library.tests_of(*equations.function(entry["function"]))


def test_every_chapter_has_equations():
    assert {path.stem for path in chapters()} <= {entry["chapter"] for entry in EQUATIONS}


def test_the_table_shows_every_equation_with_a_link_to_its_function(disk):
    page = disk.open("book/equations").page
    rows = page.locator("table.equations tbody tr")
    assert rows.count() == len(EQUATIONS)
    assert rows.locator("mjx-container").count() >= len(EQUATIONS)
    for entry, row in zip(EQUATIONS, rows.all(), strict=True):
        assert row.locator(f"a[href*='lazyrich.{entry['function']}']").count() == 1


def test_every_conversion_stands_in_the_notation(html):
    text = (ROOT / "book" / "notation.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+)`", text.split("## From the papers to here")[1].split("\n## ")[0]))
    assert {name for name in conventions.__all__ if name != "Layer"} <= named


def test_the_first_use_of_a_term_shows_its_definition(disk):
    hints = disk.open("book/intro").page.locator("a.hint")
    assert hints.count() >= 3
    for hint in hints.all():
        title = hint.get_attribute("title")
        assert len(title) > 20
        assert not re.search(r"[\\$]", title), "raw maths in a definition"
    words = hints.all_inner_texts()
    assert len(set(words)) == len(words)
    hints.first.click()
    assert disk.page.url.split("#")[1] == f"term-{words[0]}"


def test_every_definition_opens_with_a_sentence_without_maths(disk):
    for entry in disk.open("book/glossary").page.locator("dl.glossary > dd").all_inner_texts():
        assert re.match(r"[A-Z0-9][^\\$]+\.", entry), entry


FIGURES = [(paper, entry) for paper, entries in paper_figures.load(ROOT).items() for entry in entries]


@pytest.mark.parametrize(("paper", "entry"), FIGURES, ids=str)
def test_every_figure_of_a_paper_has_its_claims_or_a_reason(paper, entry):
    assert entry.get("claims") or entry.get("because")
    assert set(entry.get("claims", [])) <= set(load_claims())
    assert "chapter" in entry or "because" in entry


def test_the_table_of_figures_is_whole(disk):
    page = disk.open("book/figures").page
    assert page.locator("table.figures tbody tr").count() == len(FIGURES)
    linked = page.locator("table.figures td:nth-child(3) a").count()
    here = {path.stem for path in chapters()}
    assert linked == sum(entry.get("chapter") in here for _, entry in FIGURES)
