"""`data list|check|fetch`, with a server of our own on the loopback."""

import argparse
import gzip
import hashlib
import shutil
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import numpy as np
import pytest

from image_files import idx, tiny_imagenet
from lazyrich import files
from lazyrich.tasks import command, fetch, in_parts, own_files, sources
from lazyrich.tasks.datasets import DATASETS

RNG = np.random.default_rng(0)


def data(*words):
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return command.data(parser.parse_args([str(word) for word in words]))


class Server(SimpleHTTPRequestHandler):
    """Files of a folder, and paths that misbehave."""

    def do_GET(self):
        if self.path == "/short":
            self.send_response(200)
            self.send_header("Content-Length", "100")
            self.end_headers()
            self.wfile.write(b"cut")
        elif self.path == "/page":
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<html>Sign in</html>")
        elif self.path == "/empty":
            self.send_response(200)
            self.end_headers()
        else:
            super().do_GET()

    def log_message(self, *args):
        pass


@pytest.fixture
def server(tmp_path, monkeypatch):
    """(folder, address)."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    folder = tmp_path / "served"
    folder.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Server, directory=folder)) as server:
        thread = Thread(target=partial(server.serve_forever, poll_interval=0.01))
        thread.start()
        yield folder, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def mnist(server, monkeypatch):
    """MNIST of seven images on the server, with its own hashes."""
    folder, address = server
    known = {}
    for stem in own_files.IDX_SHA256["mnist"]:
        array = np.zeros((7, 28, 28), np.uint8) if "images" in stem else np.arange(7, dtype=np.uint8)
        known[stem] = files.sha256(idx(array))
        (folder / f"{stem}.gz").write_bytes(gzip.compress(idx(array)))
    monkeypatch.setitem(own_files.IDX_SHA256, "mnist", known)
    monkeypatch.setitem(
        sources.SOURCES, "mnist", sources.Source("mnist", "", "", address, sources.SOURCES["mnist"].files)
    )
    return folder


def test_the_list_has_every_data_set_and_nothing_is_fetched_for_it(capsys, monkeypatch):
    monkeypatch.setattr(fetch.urllib.request, "urlopen", None)
    assert data("list") == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]] == list(DATASETS)
    assert set(sources.SOURCES) == set(DATASETS)


@pytest.mark.parametrize("name", ["digits-stream", "mnist-stream", "mnist"])
def test_what_the_package_holds_is_right(name, capsys):
    assert data("check", name) == 0
    assert capsys.readouterr().out.startswith(f"right: {name} train, ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("check", "imagenet"), "data set 'imagenet': expected one of digits-stream, mnist-stream"),
        (("fetch",), "data set '': expected one of"),
        (("check", "cifar10"), "data check cifar10: give --folder"),
        (("fetch", "mnist"), "data fetch mnist: give --folder"),
    ],
)
def test_requests_that_make_no_sense(words, message, capsys):
    assert data(*words) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("name", DATASETS[3:])
def test_missing_files_are_one_line(name, tmp_path, capsys):
    assert data("check", name, "--folder", tmp_path) == 1
    shown = capsys.readouterr()
    assert shown.err.startswith(f"lazyrich: {tmp_path}: none of ")
    assert shown.err.count("\n") == 1


def test_fetch_checks_and_does_not_fetch_twice(mnist, tmp_path, capsys):
    into = tmp_path / "new" / "folder"
    assert data("fetch", "mnist", "--folder", into) == 0
    shown = capsys.readouterr().out
    assert shown.count("fetching http://127.0.0.1") == 4
    assert shown.endswith("right: mnist train, 7 images\nright: mnist test, 7 images\n")
    shutil.rmtree(mnist)
    assert data("fetch", "mnist", "--folder", into) == 0
    assert capsys.readouterr().out.count("there already") == 4
    assert sorted(p.name for p in into.iterdir()) == sorted(sources.SOURCES["mnist"].files)


def test_fetch_of_a_changed_file_is_found_when_it_is_read(mnist, tmp_path, capsys):
    path = mnist / "t10k-labels-idx1-ubyte.gz"
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes())[::-1]))
    assert data("fetch", "mnist", "--folder", tmp_path / "into") == 1
    assert "t10k-labels-idx1-ubyte.gz: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("gone", r"http://127.0.0.1:\d+/gone: the server answers 404 File not found"),
        ("short", "/short: 3 bytes came, expected 100; try again|/short: cannot be fetched"),
        ("page", "this is a web page, not data"),
        ("empty", "the file is empty"),
        ("other", r"/other: what came is not the published file \(SHA256 differs\)"),
    ],
)
def test_a_download_that_fails_leaves_nothing(server, tmp_path, path, message):
    folder, address = server
    (folder / "other").write_bytes(b"\0" * 10_000)
    into = tmp_path / "into"
    into.mkdir()
    with pytest.raises(OSError, match=message):
        fetch.download(f"{address}/{path}", into / "file", ("sha256", "0" * 64))
    assert not list(into.iterdir())


def test_addresses_that_answer_nobody_and_that_are_no_addresses(tmp_path, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with pytest.raises(OSError, match=r"http://127.0.0.1:9/x: cannot be fetched \(.*refused\)"):
        fetch.download("http://127.0.0.1:9/x", tmp_path / "file")
    with pytest.raises(OSError, match=r"file:///etc/passwd: expected an address"):
        fetch.download("file:///etc/passwd", tmp_path / "file")


def test_a_full_disk_is_told_before_it_is_full(server, tmp_path, monkeypatch):
    folder, address = server
    (folder / "other").write_bytes(b"\0" * 10_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=100))
    with pytest.raises(OSError, match="file: 10000 bytes to fetch, the disk has too few left"):
        fetch.download(f"{address}/other", tmp_path / "file")


def test_tiny_imagenet_is_fetched_unpacked_and_read(server, tmp_path, monkeypatch, capsys):
    folder, address = server
    made = tmp_path / "made"
    sizes = tiny_imagenet(made)
    with zipfile.ZipFile(folder / "tiny-imagenet-200.zip", "w") as archive:
        for path in sorted(made.rglob("*")):
            archive.write(path, f"tiny-imagenet-200/{path.relative_to(made)}")
    md5 = hashlib.md5((folder / "tiny-imagenet-200.zip").read_bytes()).hexdigest()
    monkeypatch.setitem(sources.DIGESTS, "tiny-imagenet-200.zip", ("md5", md5))
    here = sources.Source("tiny-imagenet", "", "", address, ("tiny-imagenet-200.zip",))
    monkeypatch.setitem(sources.SOURCES, "tiny-imagenet", here)
    monkeypatch.setattr(in_parts, "tiny_imagenet_files", partial(in_parts.tiny_imagenet_files, **sizes))
    assert data("fetch", "tiny-imagenet", "--folder", tmp_path / "into") == 0
    assert "right: tiny-imagenet train, 12 images" in capsys.readouterr().out
    assert data("check", "tiny-imagenet", "--folder", tmp_path / "into") == 0


def test_cifar5m_is_checked_again(tmp_path, monkeypatch, capsys):
    np.savez(tmp_path / "part0.npz", X=RNG.integers(0, 256, (9, 32, 32, 3), np.uint8), Y=np.arange(9))
    monkeypatch.setattr(in_parts, "cifar5m_files", partial(in_parts.cifar5m_files, parts=(0,), length=9))
    for _ in range(2):
        assert data("check", "cifar5m", "--folder", tmp_path) == 0
        assert capsys.readouterr().out == "right: cifar5m part 0, 9 images\n"


def test_what_is_generated_is_not_fetched(tmp_path, capsys):
    assert data("fetch", "mnist1m", "--folder", tmp_path) == 1
    assert "mnist1m: not fetched; its authors' code generates" in capsys.readouterr().err


def test_the_book_s_page_names_every_data_set():
    page = (Path(__file__).parents[2] / "book" / "data.md").read_text(encoding="utf-8")
    table = page.split("## Data you bring")[1].split("**At first use**")[0]
    first = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert [name.strip("` ") for cell in first for name in cell.split(",")] == list(DATASETS)
