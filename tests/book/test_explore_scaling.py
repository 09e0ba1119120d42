"""The scaling-law explorer: its numbers against the library's, its controls by keyboard, without scripts."""

import re

import numpy as np
import pytest

from book.conftest import ROOT, Tab
from lazyrich.theory.scaling.contour import finite_width
from lazyrich.theory.scaling.curve import FLOW_STEPS
from lazyrich.theory.scaling.reduction import evolve, infinite_width
from lazyrich.theory.scaling.spectrum import power_law

FIRST, LAST, NODES = 0.1, 1e8, 384


@pytest.fixture(scope="module")
def page(browser, html):
    tab = Tab(browser, html.as_uri()).open("book/explore/scaling")
    tab.page.wait_for_function("window.lazyrichScaling.state().frontier")
    yield tab.page
    assert not tab.faults
    tab.context.close()


def settings():
    """Thirty settings within the sliders' ranges, lazy and rich, at finite and infinite width."""
    rng = np.random.default_rng(5)
    for k in range(30):
        gamma = 0.0 if k % 3 == 0 else 10 ** rng.uniform(-2, 2)
        width = None if k % 2 else int(10 ** rng.uniform(1, 4))
        yield rng.uniform(1.1, 2), rng.uniform(0.2, 2), gamma, width


@pytest.mark.parametrize(("alpha", "beta", "gamma", "width"), list(settings()))
def test_the_curve_is_the_library_s(page, alpha, beta, gamma, width):
    mine = page.evaluate(
        """([alpha, beta, gamma, width, nodes, first, last]) => {
            const engine = window.lazyrichScaling, spectrum = engine.powerLaw(alpha, beta);
            const finite = () => engine.finiteWidth(spectrum, width, nodes);
            return engine.curve(width ? finite() : engine.infiniteWidth(spectrum), gamma, first, last);
        }""",
        [alpha, beta, gamma, width, NODES, FIRST, LAST],
    )
    spectrum = power_law(alpha, beta)
    measure = infinite_width(spectrum) if width is None else finite_width(spectrum, width, NODES)
    theirs = evolve(measure, gamma, np.array([FIRST, LAST]), FLOW_STEPS)
    n = min(len(mine["times"]), len(theirs.times))
    assert mine["times"][-1] >= LAST
    for name, expected in (("times", theirs.times), ("loss", theirs.loss), ("growth", theirs.kernel_growth)):
        np.testing.assert_allclose(mine[name][:n], expected[:n], rtol=1e-6, err_msg=name)


def test_the_frontier_has_the_law_s_exponent(page):
    frontier = page.evaluate("window.lazyrichScaling.state().frontier")
    compute, loss = np.array(frontier["compute"]), np.array(frontier["loss"])
    late = compute >= 1e6
    slope = -np.polyfit(np.log(compute[late]), np.log(loss[late]), 1)[0]
    assert slope == pytest.approx(0.353, abs=0.01)  # αβχ/(χ + αβ) at α = 1.5, β = 0.5


def test_a_slider_by_keyboard_moves_the_curve(page):
    state = lambda: page.evaluate(
        "(({parameters, curve}) => [parameters.beta, curve.loss.at(-1)])(window.lazyrichScaling.state())"
    )
    before = state()
    slider = page.get_by_label("source β")
    slider.focus()
    page.keyboard.press("ArrowRight")
    after = state()
    assert after[0] == pytest.approx(before[0] + 0.05)
    assert after[1] < before[1]
    told = re.search(r"the loss is ([\d.e-]+),", page.locator(".explore-readout").inner_text())[1]
    assert float(told) == pytest.approx(after[1], rel=1e-3)
    assert page.locator("output[for=scaling-beta]").inner_text() == f"{after[0]:.2f}"
    page.keyboard.press("ArrowLeft")


MOVE = """() => {
    const input = document.getElementById("scaling-gamma");
    input.value = Number(input.value) === 1 ? 0 : 1;
    input.dispatchEvent(new Event("input", {bubbles: true}));
    return window.lazyrichScaling.state().drawn;
}"""


def test_a_curve_is_quick(page, capsys):
    times = sorted(page.evaluate(MOVE) for _ in range(5))
    with capsys.disabled():
        print(f"\na move of a slider: {times[2]:.0f} ms")
    assert times[2] < 400  # a loaded machine; benchmarks/explore.py measures


def test_without_scripts_the_figure_stays(browser, html):
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(f"{html.as_uri()}/book/explore/scaling.html")
    still = tab.locator(".explore-still img")
    assert still.is_visible()
    assert "0.66" in still.get_attribute("alt")
    context.close()


def test_with_scripts_the_figure_goes(page):
    assert not page.locator(".explore-still").is_visible()
    assert page.locator(".uplot").count() == 4


def test_vendored_files_have_their_licence():
    folder = ROOT / "book" / "_static" / "vendor"
    notice = (ROOT / "data" / "LICENSES.md").read_text(encoding="utf-8")
    for package in folder.iterdir():
        assert (package / "LICENSE").is_file()
        assert package.name.lower() in notice.lower()
