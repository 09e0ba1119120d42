"""Every built page, opened in a browser with no network."""

import json
import re

import pytest
from axe_playwright_python.sync_playwright import Axe

from book.conftest import ROOT, pages

CHAPTERS = [name for name in pages() if name.startswith("chapters/")]


def check_maths(page):
    """All maths is typeset: bad TeX is not caught by the build."""
    maths = page.locator(".math")
    bare = maths.evaluate_all(
        "all => all.filter(m => !m.querySelector('mjx-container')).map(m => m.textContent)")
    wrong = page.locator("mjx-merror, [data-mjx-error]").evaluate_all("all => all.map(m => m.textContent)")
    assert not bare
    assert not wrong
    assert "\\(" not in page.locator("article").inner_text()


@pytest.mark.parametrize("name", pages())
def test_page_is_complete_and_makes_no_outside_request(name, visit):
    tab = visit()
    page = tab.open(name)
    check_maths(page)
    for image in page.locator("article img").all():
        alt = image.get_attribute("alt") or ""
        assert len(alt) >= 30, f"no description: {alt!r}"
        assert not re.search(r"\.(png|svg|jpe?g)$", alt), f"a file name: {alt!r}"
        assert image.evaluate("i => i.complete && i.naturalWidth > 0")
    paragraphs = page.locator("article p").all_inner_texts()
    assert not [text for text in paragraphs if re.match(r"\|.*\|$", text.strip(), re.DOTALL)], "a raw table"
    assert not tab.faults


@pytest.mark.parametrize("name", pages())
def test_page_works_from_the_disk(name, visit, html):
    tab = visit(address=html.resolve().as_uri())
    check_maths(tab.open(name))
    assert not tab.faults


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", pages())
def test_page_is_accessible(name, scheme, visit):
    page = visit(scheme=scheme).open(name)
    assert page.locator("html").get_attribute("data-theme") == scheme
    violations = Axe().run(page).response["violations"]
    assert not [f"{v['id']}: {n['html'][:200]}" for v in violations for n in v["nodes"]]


@pytest.mark.parametrize("name", pages())
def test_page_fits_a_phone(name, visit):
    """At 360 px wide, tables and formulas scroll inside their boxes and the page itself does not."""
    page = visit(width=360).open(name)
    wide = page.evaluate("""() => [...document.querySelectorAll('article *')]
        .filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(
            '.pst-scrollable-table-container, .highlight, pre, div.math, mjx-container, .output'))
        .map(e => e.outerHTML.slice(0, 200))""")
    assert not wide
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("name", CHAPTERS)
def test_chapter_shows_every_figure_with_measured_numbers(name, visit):
    cells = json.loads((ROOT / f"{name}.ipynb").read_text())["cells"]
    stored = sum("image/png" in o.get("data", {}) for c in cells for o in c.get("outputs", []))
    figures = visit().open(name).locator("article figure")
    assert figures.count() >= max(stored, 1)
    for figure in figures.all():
        assert re.search(r"\d", figure.locator("img").get_attribute("alt")), "alt text without a number"
        assert figure.locator("figcaption").inner_text().strip()


def test_figures_stay_on_white_in_the_dark(visit):
    for name in CHAPTERS:
        for image in visit(scheme="dark").open(name).locator("article figure img").all():
            assert image.evaluate("i => getComputedStyle(i).backgroundColor") == "rgb(255, 255, 255)"
