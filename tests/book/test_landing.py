"""The landing page: every chapter has its headline, with the number that its ledger holds."""

import pytest
from lazyrich_book import cite, headlines
from sphinx.errors import ExtensionError

from book.conftest import ROOT, Tab
from lazyrich.ledger import load_claims
from lazyrich.runs.chapters import chapters

ENTRIES = headlines.load(ROOT)


@pytest.fixture(scope="module")
def landing(browser, html):
    tab = Tab(browser, html.as_uri()).open("book/intro")
    yield tab.page
    tab.context.close()


def test_every_chapter_has_a_headline():
    assert list(ENTRIES) == [path.stem for path in chapters()]


@pytest.mark.parametrize("chapter", ENTRIES)
def test_a_headline_is_a_claim_and_a_figure_of_its_chapter(chapter):
    assert ENTRIES[chapter]["claim"] in load_claims(chapter)
    notebook = ROOT / "chapters" / f"{chapter}.ipynb"
    image, alt = headlines.figure(notebook, ENTRIES[chapter]["figure"])
    assert image.startswith(b"\x89PNG")
    assert len(alt) > 30
    with pytest.raises(ExtensionError, match="no figure named 'none'"):
        headlines.figure(notebook, "none")


def test_headlines_show_figure_number_and_verdict(landing):
    blocks = landing.locator(".headline")
    assert blocks.count() == len(ENTRIES)
    for block in blocks.all():
        image = block.locator("img")
        image.scroll_into_view_if_needed()
        assert image.evaluate("i => i.decode().then(() => i.naturalWidth)") > 100
        text = block.inner_text()
        assert block.locator(".verdict").count() or "not measured at this preset" in text


def test_three_ways_in(landing):
    cards = landing.locator(".sd-card").all_inner_texts()
    assert [card.split()[0] for card in cards] == ["Read", "Run", "Reuse"]


def test_bibtex_of_the_book():
    citation = {"authors": [{"name": "The authors"}], "title": "A book", "version": "1.0"}
    assert cite.bibtex(citation) == (
        "@software{lazyrich,\n  author = {{The authors}},\n  title = {{A book}},\n  version = {1.0}\n}"
    )
