"""Build what is kept of a release: the pages, executed notebooks of each preset, ledgers, one PDF, checksums.

    python tools/release.py [HTML] [OUT]

HTML is a built book (`_build/html`), OUT a folder (`dist`). The archive `lazyrich-<version>.zip` opens with
no network and no server: `html/index.html`.
"""

import shutil
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import yaml

from lazyrich.files import repository, sha256, write_atomic

ROOT = repository()
EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest date that a zip can hold: no clock in the archive
KEPT = ("CITATION.cff", "CHANGELOG.md", "LICENSE", "README.md", "uv.lock")


def pages(html: Path) -> list[str]:
    """The pages of the table of contents that the built book has, in order."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    names = [toc["root"], *(entry["file"] for part in toc["parts"] for entry in part["chapters"])]
    return [name for name in names if (html / f"{name}.html").is_file()]


def printed(html: Path) -> bytes:
    """The whole book as one PDF, each page printed by the browser, with an outline of titles."""
    from playwright.sync_api import sync_playwright
    from pypdf import PdfReader, PdfWriter

    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        sys.exit("no Chromium on PATH: make setup installs or names one")
    book = PdfWriter()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        tab = browser.new_page()
        for name in pages(html):
            tab.goto((html / f"{name}.html").as_uri())
            if tab.locator("script[src*='mathjax/']").count():
                tab.wait_for_function("window.MathJax?.startup?.promise")
                tab.evaluate("MathJax.startup.promise")
            margin = dict.fromkeys(("top", "bottom", "left", "right"), "16mm")
            part = PdfReader(BytesIO(tab.pdf(format="A4", margin=margin, print_background=True)))
            first = len(book.pages)
            for page in part.pages:
                book.add_page(page)
            title = tab.locator("h1").first.inner_text().rstrip("#")
            book.add_outline_item(title=title, page_number=first)
        browser.close()
    book.compress_identical_objects()
    file = BytesIO()
    book.write(file)
    return file.getvalue()


def contents(html: Path) -> Iterator[tuple[str, Path]]:
    """What goes into the archive: name there, file here."""
    for path in sorted(p for p in html.rglob("*") if p.is_file() and ".doctrees" not in p.parts):
        yield f"html/{path.relative_to(html)}", path
    for run in sorted((ROOT / "results").glob("*/[0-9][0-9]_*/run.json")):
        preset, stem = run.parts[-3:-1]
        for name in (f"{stem}.ipynb", "claims.json", "run.json"):
            yield f"runs/{preset}/{stem}/{name}", run.with_name(name)
    for path in sorted((ROOT / "data" / "ledger").rglob("*.json")):
        yield f"ledger/{path.name}", path
    for name in KEPT:
        yield name, ROOT / name


def entry(name: str) -> zipfile.ZipInfo:
    """A compressed file of the archive, dated at no time."""
    made = zipfile.ZipInfo(name, EPOCH)
    made.compress_type = zipfile.ZIP_DEFLATED
    return made


def build(html: Path, out: Path) -> Path:
    """Write `lazyrich-<version>.zip` and beside it the PDF and SHA256SUMS; return the archive."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    pdf = out / f"lazyrich-{version}.pdf"
    write_atomic(pdf, printed(html))
    files = [*contents(html), (pdf.name, pdf)]
    sums = "".join(f"{sha256(path)}  {name}\n" for name, path in files)
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in files:
            archive.writestr(entry(f"lazyrich-{version}/{name}"), path.read_bytes())
        archive.writestr(entry(f"lazyrich-{version}/SHA256SUMS"), sums)
    target = out / f"lazyrich-{version}.zip"
    write_atomic(target, packed.getvalue())
    write_atomic(out / "SHA256SUMS", "".join(f"{sha256(path)}  {path.name}\n" for path in (target, pdf)))
    return target


if __name__ == "__main__":
    given = sys.argv[1:]
    html, out = (Path(path) for path in (given + ["_build/html", "dist"][len(given) :])[:2])
    if not (html / "index.html").is_file():
        sys.exit(f"{html} holds no built book: run make book first")
    print(build(html.resolve(), out.resolve()))
