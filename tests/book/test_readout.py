"""Figures that read out their data: the cell or point under the pointer, as the CSV file beside has it."""

import csv
import math

import pytest

from book.conftest import ROOT, Tab

CHAPTER = "chapters/03_phase_portrait"
PORTRAITS = ("network-portraits", "beyond-the-mlp")
CURVES = ("catapults", "silent-alignment")

pytestmark = pytest.mark.skipif(not (ROOT / f"{CHAPTER}.ipynb").is_file(), reason="the chapter is not here")


@pytest.fixture(scope="module")
def page(browser, html):
    tab = Tab(browser, html.as_uri()).open(CHAPTER)  # from the disk: no file may be fetched
    yield tab.page
    assert not tab.faults
    tab.context.close()


def figure(page, name):
    found = page.locator(f"#fig-03-{name}")
    found.scroll_into_view_if_needed()
    return found


def columns(figure, html):
    link = figure.locator("a.figure-data").evaluate("a => a.href")
    with (html / link.removeprefix(html.as_uri() + "/")).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def panels(figure):
    return figure.locator("script.figure-panels").evaluate("s => JSON.parse(s.textContent)")


def share(axis, value):
    log = math.log if axis[0] == "log" else float
    return (log(value) - log(axis[1])) / (log(axis[2]) - log(axis[1]))


def point_at(page, figure, panel, x, y):
    """Move the mouse to data coordinates, found from the panel's box alone."""
    box = figure.locator("img").bounding_box()
    left, top, width, height = panel["box"]
    page.mouse.move(
        box["x"] + (left + width * share(panel["x"], x)) * box["width"],
        box["y"] + (top + height * (1 - share(panel["y"], y))) * box["height"],
    )
    page.wait_for_function(
        "f => !f.querySelector('.readout-text').textContent.startsWith('Point')", arg=figure.element_handle()
    )
    return figure.locator(".readout-text").inner_text()


@pytest.mark.parametrize("name", PORTRAITS)
def test_a_cell_of_a_portrait_is_read_out(page, html, name):
    shown = figure(page, name)
    for panel in panels(shown):
        if "cells" not in panel:
            continue
        x, y, *_, verdict = panel["cells"]
        rows = [row for row in columns(shown, html) if row[x]]
        for row in rows[:: len(rows) // 7]:
            gamma, rate = float(row[x]), float(row[y])
            text = point_at(page, shown, panel, gamma, rate)
            said = dict(part.split(" = ") for part in text.split(": ")[-1].split(", ")[:-1])
            assert float(said["γ"]) == pytest.approx(gamma, rel=5e-3)
            assert float(said["η"]) == pytest.approx(rate, rel=5e-3)
            assert text.endswith(row[verdict])
            assert ("∞" in text) == (row[verdict] == "diverged")
        assert {row[verdict] for row in rows} <= {"trained", "not trained", "diverged"}


@pytest.mark.parametrize("name", CURVES)
def test_a_point_of_a_loss_curve_is_read_out(page, html, name):
    shown = figure(page, name)
    panel = panels(shown)[-1]
    x, y, label = panel["lines"][0]
    row = columns(shown, html)[3]
    text = point_at(page, shown, panel, float(row[x]), float(row[y]))
    assert text.startswith(f"{label}: 1 + step = {row[x]}, ")
    assert "ends at" in text or "diverged at" in text


def test_the_mark_lies_on_the_point(page):
    shown = figure(page, "network-portraits")
    panel = panels(shown)[0]
    page.mouse.move(0, 0)
    point_at(page, shown, panel, 1.0, 10.0)
    mark, box = shown.locator(".readout-mark").bounding_box(), shown.locator("img").bounding_box()
    x = (mark["x"] + mark["width"] / 2 - box["x"]) / box["width"]
    assert x == pytest.approx(panel["box"][0] + panel["box"][2] * share(panel["x"], 1.0), abs=0.01)


def test_by_keyboard(page):
    shown = figure(page, "network-portraits")
    glass, text = shown.locator(".readout-glass"), shown.locator(".readout-text")
    glass.focus()
    seen = []
    for key in ("ArrowRight", "ArrowRight", "ArrowUp", "PageDown", "ArrowDown", "ArrowLeft"):
        page.keyboard.press(key)
        seen.append(text.inner_text())
    assert len(set(seen)) == len(seen)


def test_without_scripts_the_figure_stays(browser, html):
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(f"{html.as_uri()}/{CHAPTER}.html")
    shown = tab.locator("#fig-03-network-portraits")
    assert shown.locator("img").is_visible()
    assert not shown.locator(".readout-text").count()
    context.close()


def test_every_phase_portrait_and_most_figures_say_where_their_data_lie(page):
    with_panels = page.locator("article figure:has(script.figure-panels)").count()
    assert with_panels > 0.9 * page.locator("article figure").count()
    for name in ("toy-portrait", "toy-cross-entropy", "sign-and-adam", *PORTRAITS):
        assert any("cells" in panel for panel in panels(figure(page, name)))
