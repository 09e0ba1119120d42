"""Every built page, opened in a browser with no network."""

import json
import re

import pytest
from axe_playwright_python.sync_playwright import Axe

from book.conftest import ROOT, pages

SCHEMES = ("light", "dark")
# What may be wider than a phone, because it scrolls inside its own box.
SCROLLING = ".pst-scrollable-table-container, .highlight, pre, div.math, mjx-container"


def check_maths(page):
    """All maths is typeset: the build does not notice bad TeX."""
    bare = page.locator(".math").evaluate_all(
        "all => all.filter(m => !m.querySelector('mjx-container')).map(m => m.textContent)"
    )
    wrong = page.locator("mjx-merror, [data-mjx-error]").evaluate_all("all => all.map(m => m.textContent)")
    assert not bare
    assert not wrong
    assert "\\(" not in page.locator("article").inner_text()


def test_page_is_complete_and_makes_no_outside_request(tab):
    check_maths(tab.page)
    for image in tab.page.locator("article img").all():
        alt = image.get_attribute("alt") or ""
        assert len(alt) >= 30, f"no description: {alt!r}"
        assert not re.search(r"\.(png|svg|jpe?g)$", alt), f"a file name: {alt!r}"
        assert image.evaluate("i => i.complete && i.naturalWidth > 0")
    paragraphs = tab.page.locator("article p").all_inner_texts()
    assert not [text for text in paragraphs if re.match(r"\|.*\|$", text.strip(), re.DOTALL)], "a raw table"
    assert not tab.faults


@pytest.mark.parametrize("scheme", SCHEMES)
def test_page_is_accessible(tab, scheme):
    violations = Axe().run(tab.show(scheme=scheme)).response["violations"]
    assert not [f"{v['id']}: {n['html'][:200]}" for v in violations for n in v["nodes"]]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_figures_stand_on_white(tab, scheme):
    for image in tab.show(scheme=scheme).locator("article figure img").all():
        assert image.evaluate("i => getComputedStyle(i).backgroundColor") == "rgb(255, 255, 255)"


def test_page_fits_a_phone(tab):
    page = tab.show(width=360)
    wide = page.evaluate(
        """boxes => [...document.querySelectorAll('article *')]
            .filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(boxes))
            .map(e => e.outerHTML.slice(0, 200))""",
        SCROLLING,
    )
    assert not wide
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_book_works_from_the_disk(disk):
    for name in pages():
        check_maths(disk.open(name).page)
    assert not disk.faults


def test_chapters_show_every_figure_with_measured_numbers(disk, html):
    for name in pages():
        notebook = html / "_sources" / f"{name}.ipynb"  # as it was run for this book
        if not notebook.is_file():
            continue
        outputs = [o for c in json.loads(notebook.read_text())["cells"] for o in c.get("outputs", [])]
        figures = disk.open(name).page.locator("article figure")
        assert figures.count() == sum("image/png" in o.get("data", {}) for o in outputs) > 0
        for figure in figures.all():
            assert re.search(r"\d", figure.locator("img").get_attribute("alt")), "alt text without a number"
            assert figure.locator("figcaption").inner_text().strip()


def test_the_data_behind_every_figure_lies_beside_it(disk, html):
    for name in pages():
        if not (ROOT / f"{name}.ipynb").is_file():
            continue
        for figure in disk.open(name).page.locator("article figure").all():
            link = figure.locator("a.figure-data")
            assert link.count() == 1, figure.locator("img").get_attribute("alt")
            path = html / link.evaluate("a => a.href").removeprefix(html.as_uri() + "/")
            header, *rows = path.read_text(encoding="utf-8").splitlines()
            assert header
            assert rows
