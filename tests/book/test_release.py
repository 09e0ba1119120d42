"""The archive of a release: whole, checked, readable without a network."""

import hashlib
import subprocess
import sys
import zipfile

import pytest
from pypdf import PdfReader

from book.conftest import ROOT, Tab, pages


@pytest.fixture(scope="module")
def archive(html, tmp_path_factory):
    out = tmp_path_factory.mktemp("dist")
    # in a process of its own: the release starts a browser, and one of this thread's is open
    subprocess.run([sys.executable, ROOT / "tools" / "release.py", html, out], check=True)
    (path,) = out.glob("*.zip")
    with zipfile.ZipFile(path) as packed:
        packed.extractall(out)
    (folder,) = (path for path in out.iterdir() if path.is_dir())
    return folder


def test_every_file_has_its_checksum(archive):
    lines = (archive / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    listed = {name: digest for digest, name in (line.split("  ", 1) for line in lines)}
    found = {str(path.relative_to(archive)) for path in archive.rglob("*") if path.is_file()}
    assert set(listed) | {"SHA256SUMS"} == found
    for name, digest in listed.items():
        assert hashlib.sha256((archive / name).read_bytes()).hexdigest() == digest, name
    assert {"ledger/laptop.json", "CITATION.cff", "uv.lock", "html/index.html"} <= found


def test_the_archive_is_a_book(archive, browser):
    tab = Tab(browser, archive.as_uri()).open("html/book/ledger")
    assert tab.page.locator("table.ledger").count()
    assert not tab.faults
    tab.context.close()


def test_the_printed_book_holds_every_page(archive, disk):
    (path,) = archive.glob("*.pdf")
    book = PdfReader(path)
    titles = [disk.open(name).page.locator("h1").first.inner_text().rstrip("#") for name in pages()]
    assert [item.title for item in book.outline] == titles
    assert len(book.pages) >= len(titles)
    first = book.get_destination_page_number(book.outline[titles.index("Claim ledger")])
    assert "fl.time.lazy.b050" in book.pages[first].extract_text()
