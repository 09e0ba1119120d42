"""The explorers' speed in Chromium: milliseconds a move of a slider, and until the frontier stands.

    python benchmarks/explore.py [HTML]

Goal: at most 50 ms a curve, a second for the frontier.
"""

import shutil
import sys
from pathlib import Path
from statistics import median

from playwright.sync_api import sync_playwright

MOVE = """async () => {
    const input = document.getElementById("scaling-beta"), now = performance.now();
    input.value = Number(input.value) > 0.6 ? 0.5 : 0.75;
    input.dispatchEvent(new Event("input", {bubbles: true}));
    const curve = window.lazyrichScaling.state().drawn;
    while (!window.lazyrichScaling.state().frontier) await new Promise(done => setTimeout(done, 5));
    return [curve, performance.now() - now];
}"""


def main(html="_build/html"):
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto((Path(html).resolve() / "book" / "explore" / "scaling.html").as_uri())
        page.wait_for_function("window.lazyrichScaling?.state().frontier")
        curves, frontiers = zip(*(page.evaluate(MOVE) for _ in range(15)), strict=True)
        print(f"scaling laws: {median(curves):.0f} ms a move, frontier after {median(frontiers):.0f} ms")
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
