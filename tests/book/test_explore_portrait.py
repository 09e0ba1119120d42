"""The toy phase portrait's explorer: its runs against the library's, by keyboard, without scripts."""

import numpy as np
import pytest
from scipy.integrate import quad

from book.conftest import Tab
from lazyrich.theory.deep_linear import closing_strength, eta_max, eta_max_cross_entropy, eta_min, portrait

STATE = "window.lazyrichPortrait.state()"


@pytest.fixture(scope="module")
def page(browser, html):
    tab = Tab(browser, html.as_uri()).open("book/explore/portrait")
    tab.page.wait_for_function(f"{STATE}.done")
    yield tab.page
    assert not tab.faults
    tab.context.close()


def settings():
    """Thirty settings within the sliders' ranges, half of each loss."""
    rng = np.random.default_rng(7)
    for k in range(30):
        kind = "cross-entropy" if k % 2 else "mse"
        target = rng.uniform(0.55, 0.95) if k % 2 else rng.uniform(0.2, 3)
        yield kind, target, int(rng.integers(2, 9)), int(10 ** rng.uniform(1, 4))


# As many cells near the edges, where something happens, as anywhere on the map.
def cells(kind, target, depth, seed):
    rng = np.random.default_rng(seed)
    gamma = 10 ** rng.uniform(-5, 5, 48)
    edge = eta_max(gamma, depth, target) if kind == "mse" else eta_max_cross_entropy(gamma, depth, target)
    return gamma, np.stack([10 ** rng.uniform(-12, 12, 48), edge * 10 ** rng.uniform(-4, 1, 48)], axis=1)


RUN = """([cells, kind, target, depth, steps]) => {
    const engine = window.lazyrichPortrait, model = engine.lossOf(kind, target);
    return cells.map(([gamma, rate]) => {
        const end = engine.run(gamma, rate, depth, steps, model);
        return [end.diverged, end.diverged ? 0 : end.loss];
    });
}"""


@pytest.mark.parametrize(("kind", "target", "depth", "steps"), list(settings()))
def test_a_run_is_the_library_s(page, kind, target, depth, steps):
    gamma, rates = cells(kind, target, depth, steps)
    options = {"steps": steps, "depth": depth, "loss": kind, "target": target}
    theirs = portrait(gamma, rates, **options)
    flat = [[g, r] for g, row in zip(gamma.tolist(), rates.tolist(), strict=True) for r in row]
    mine = np.array(page.evaluate(RUN, [flat, kind, target, depth, steps])).reshape(*rates.shape, 2)
    diverged, loss = mine[..., 0].astype(bool), mine[..., 1]

    # Rounding decides where training is chaotic: those cells are the ones where the library's own answer
    # changes with the rate's thirteenth digit. A loss is known to rounding of f, not of itself.
    least = 0.0 if kind == "mse" else -(target * np.log(target) + (1 - target) * np.log1p(-target))
    floor = 1e-12 * (target**2 / 2 if kind == "mse" else np.log(2))
    moved = [portrait(gamma, rates * (1 + e), **options) for e in (-1e-13, 1e-13)]
    same = lambda a, b, rtol: np.isclose(a, b, rtol=rtol, atol=rtol * floor) | ((a == np.inf) & (b == np.inf))
    certain = np.all([same(m.final_loss, theirs.final_loss, 1e-7) for m in moved], axis=0)
    assert certain.mean() > 0.85
    np.testing.assert_array_equal(diverged[certain], theirs.diverged[certain])
    finite = certain & ~diverged
    wrong = finite & ~same(loss, theirs.final_loss, 1e-6)
    assert not wrong.any(), np.column_stack([loss[wrong], theirs.final_loss[wrong]])
    assert diverged.any()
    assert np.any(finite & (loss - least > floor))
    assert np.any(loss[finite] < theirs.final_loss[finite].max())


@pytest.mark.parametrize(("kind", "target"), [("mse", 0.7), ("cross-entropy", 0.8)])
@pytest.mark.parametrize("depth", [2, 4, 7])
def test_skipped_periods_change_nothing(page, kind, target, depth):
    """Against the same run without the short cut, past the edge, where weights cycle."""
    apart = page.evaluate(
        """([kind, target, depth]) => {
            const engine = window.lazyrichPortrait, model = engine.lossOf(kind, target), apart = [];
            for (let k = 0; k < 200; k++) {
                const gamma = 10 ** (k / 20 - 5);
                const rate = engine.etaMax(gamma, depth, model) * 10 ** (k % 9 / 16 - 0.3);
                for (const steps of [997, 998]) {
                    const short = engine.run(gamma, rate, depth, steps, model);
                    const full = engine.run(gamma, rate, depth, steps, model, () => {});
                    if (short.loss !== full.loss || short.worst !== full.worst) apart.push([gamma, rate]);
                }
            }
            return apart;
        }""",
        [kind, target, depth],
    )
    assert not apart


EDGES = """([gammas, kind, target, depth, steps]) => {
    const engine = window.lazyrichPortrait, model = engine.lossOf(kind, target);
    return {
        max: gammas.map(g => engine.etaMax(g, depth, model)),
        min: gammas.map(g => engine.etaMin(g, depth, steps, model)),
        closing: engine.closing(depth, steps, model),
    };
}"""


@pytest.mark.parametrize("depth", [2, 3, 5, 8])
def test_the_edges_are_the_library_s(page, depth):
    gamma = np.logspace(-5, 5, 11)
    mine = page.evaluate(EDGES, [gamma.tolist(), "mse", 0.7, depth, 300])
    np.testing.assert_allclose(mine["max"], eta_max(gamma, depth, 0.7), rtol=1e-12)
    np.testing.assert_allclose(mine["min"], eta_min(gamma, depth, 300, target=0.7), rtol=1e-10)
    if depth > 2:
        assert mine["closing"] == pytest.approx(closing_strength(300, depth, target=0.7), rel=1e-12)


@pytest.mark.parametrize("depth", [3, 6])
def test_the_edges_of_cross_entropy(page, depth):
    label, steps, gamma = 0.8, 300, np.logspace(-3, 3, 7)
    best = np.log(label / (1 - label))
    mine = page.evaluate(EDGES, [gamma.tolist(), "cross-entropy", label, depth, steps])
    np.testing.assert_allclose(mine["max"], eta_max_cross_entropy(gamma, depth, label), rtol=1e-12)
    pull = lambda f: label - 1 / (1 + np.exp(-f))
    waits = [
        quad(
            lambda f, g=g: (1 + g * f) ** (2 / depth - 2) / pull(f),
            0,
            0.9 * best,
            points=[min(1 / g, 0.5)],
            epsrel=1e-11,
        )[0]
        for g in gamma
    ]
    np.testing.assert_allclose(mine["min"], gamma**2 / depth * np.array(waits) / steps, rtol=1e-8)
    # η_min ≈ γ/((L − 2)(p − ½)T) meets the rich limit of η_max.
    closing = mine["closing"]
    far = page.evaluate(EDGES, [[closing * 1e6], "cross-entropy", label, depth, steps])["max"][0]
    rich_max = far * 1e6 ** (-2 / depth)
    assert rich_max == pytest.approx(closing / ((depth - 2) * (label - 0.5) * steps), rel=1e-3)


def test_the_map_holds_the_library_s_losses(page):
    state = page.evaluate(
        f"(({{parameters, losses}}) => [parameters, [...losses].map(v => v === Infinity ? -1 : v)])({STATE})"
    )
    parameters, losses = state
    theirs = portrait(
        np.logspace(-5, 5, 81), np.logspace(-12, 12, 97), parameters["steps"], depth=parameters["depth"]
    )
    mine = np.reshape(losses, (97, 81)).T
    agree = (mine == -1) == theirs.diverged
    assert agree.mean() > 0.99
    both = agree & ~theirs.diverged & (theirs.final_loss > 1e-12)
    close = np.isclose(mine[both], theirs.final_loss[both], rtol=1e-6)
    assert close.mean() > 0.98  # the rest is chaotic


def test_the_cell_moves_by_keyboard(page):
    readout, cell = (
        page.locator("#portrait-readout"),
        lambda: page.evaluate(f"(({{gamma, rate}}) => [gamma, rate])({STATE}.cell)"),
    )
    before, text = cell(), readout.inner_text()
    page.locator("canvas.portrait-map").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    after = cell()
    assert after == pytest.approx([before[0] * 10 ** (1 / 8), before[1] * 10 ** (1 / 4)])
    assert readout.inner_text() != text
    page.keyboard.press("End")
    for _ in range(10):
        page.keyboard.press("PageUp")
    assert "γ = 1.00e+5, η = 1.00e+12: diverged." in readout.inner_text()
    for _ in range(10):
        page.keyboard.press("PageDown")
    assert "too slow" in readout.inner_text()
    assert page.evaluate("location.pathname").endswith("portrait.html")


def test_the_cell_follows_the_mouse(page):
    box = page.locator("canvas.portrait-map").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    middle = page.evaluate(f"{STATE}.cell")
    page.mouse.move(box["x"] + box["width"] / 2 + 60, box["y"] + box["height"] / 2)
    right = page.evaluate(f"{STATE}.cell")
    assert right["gamma"] > middle["gamma"]
    assert right["rate"] == middle["rate"]
    assert right["verdict"] in page.locator("#portrait-readout").inner_text()


def test_a_slider_by_keyboard_runs_everything_again(page):
    sum_ = f"{STATE}.losses.reduce((sum, v) => sum + (v < 1 ? v : 0), 0)"
    before = page.evaluate(sum_)
    page.get_by_label("steps T").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(f"{STATE}.done")
    assert page.evaluate(f"{STATE}.parameters.steps") == round(10**2.1)
    assert page.evaluate(sum_) < before  # more steps train more cells
    assert page.locator("output[for=portrait-steps]").inner_text() == "126"
    page.get_by_label("loss", exact=True).select_option("cross-entropy")
    page.wait_for_function(f"{STATE}.done")
    assert page.evaluate(f"{STATE}.parameters.loss") == "cross-entropy"
    assert page.get_by_label("soft label p").is_visible()
    assert not page.get_by_label("target y").is_visible()
    page.get_by_label("loss", exact=True).select_option("mse")
    page.get_by_label("steps T").focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_function(f"{STATE}.done")


def test_the_longest_run_is_quick_and_never_blocks(page, capsys):
    page.get_by_label("steps T").focus()
    page.keyboard.press("End")
    page.get_by_label("depth L").focus()
    page.keyboard.press("End")
    cell = page.evaluate(f"{STATE}.cell.milliseconds")
    page.wait_for_function(f"{STATE}.done", timeout=60_000)
    longest = page.evaluate(f"{STATE}.longest")
    with capsys.disabled():
        print(f"\nT = 10⁴, L = 8: a curve {cell:.1f} ms, the longest slice {longest:.0f} ms")
    assert cell < 200
    assert longest < 200  # a loaded machine; 12 ms are meant


def test_without_scripts_the_figure_stays(browser, html):
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(f"{html.as_uri()}/book/explore/portrait.html")
    still = tab.locator(".explore-still img")
    assert still.is_visible()
    assert "γ = 10000" in still.get_attribute("alt")
    context.close()


def test_with_scripts_the_figure_goes(page):
    assert not page.locator(".explore-still").is_visible()
    assert page.locator("#explore-portrait canvas").count() == 2
