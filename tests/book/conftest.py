"""The built book, served to a browser that reaches nothing else."""

import os
import shutil
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
import yaml
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[2]
HTML = Path(os.environ.get("LAZYRICH_HTML", ROOT / "_build" / "html")).resolve()
sys.path.insert(0, str(ROOT / "book" / "_ext"))


def pages() -> list[str]:
    """The pages of the table of contents, root first."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text())
    return [toc["root"], *(entry["file"] for part in toc["parts"] for entry in part["chapters"])]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture(scope="session")
def html() -> Path:
    assert (HTML / "index.html").is_file(), f"{HTML} holds no built book: run make book first"
    return HTML


@pytest.fixture(scope="session")
def address(html):
    """The book's address on localhost."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=html)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="session")
def browser():
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    assert path, "no Chromium on PATH: make setup installs or names one"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


class Tab:
    """A browser tab that reaches only `address` and collects what goes wrong there."""

    def __init__(self, browser, address):
        self.address, self.faults = address, []
        self.context = browser.new_context(viewport={"width": 1280, "height": 900})
        self.context.route(lambda url: not url.startswith((address, "data:", "blob:")), self.refuse)
        self.page = self.context.new_page()
        self.page.on("console", lambda m: m.type == "error" and self.faults.append(f"console: {m.text}"))
        self.page.on("pageerror", lambda error: self.faults.append(f"script: {error}"))
        self.page.on("requestfailed", lambda request: self.faults.append(f"failed: {request.url}"))
        self.page.on("response", lambda r: r.status >= 400 and self.faults.append(f"{r.status}: {r.url}"))

    def refuse(self, route):
        self.faults.append(f"outside: {route.request.url}")
        route.abort()

    def open(self, name):
        """Load a page and wait until its maths is typeset; colours change at once, not by and by."""
        self.page.goto(f"{self.address}/{name}.html", wait_until="load")
        self.page.add_style_tag(content="* { transition: none !important }")
        if self.page.locator("script[src*='mathjax/']").count():
            self.page.wait_for_function("window.MathJax?.startup?.promise")
            self.page.evaluate("MathJax.startup.promise")
        return self

    def show(self, width=1280, scheme="light"):
        """Set the window's width and the colours, as the reader's button does."""
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.evaluate("scheme => { document.documentElement.dataset.theme = scheme }", scheme)
        return self.page


@pytest.fixture(scope="module", params=pages())
def tab(request, browser, address):
    """Each page of the book in turn, opened once for all tests of a module."""
    tab = Tab(browser, address).open(request.param)
    yield tab
    tab.context.close()


@pytest.fixture(scope="module")
def disk(browser, html):
    """A tab on the book's files."""
    tab = Tab(browser, html.as_uri())
    yield tab
    tab.context.close()
