"""Damaged and hostile files: each gives one clear error that names the file, runs nothing, leaves nothing."""

import gzip
import io
import json
import os
import pickle
import stat
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

from image_files import idx
from lazyrich import files
from lazyrich.tasks import in_parts, own_files
from lazyrich.tasks.fetch import unpack

RNG = np.random.default_rng(0)
X, Y = RNG.integers(0, 256, (9, 32, 32, 3), np.uint8), np.arange(9)
PAGE = b"<!DOCTYPE html><html><body>Sign in to continue</body></html>"


def bomb(size):
    """What asks a reader for far more than it has: a header of a large array, then zeros, gzipped."""
    file = io.BytesIO()
    with gzip.open(file, "wb") as packed:
        packed.write(bytes([0, 0, 8, 1]) + size.to_bytes(4, "big"))
        for _ in range(size // 2**24 + 1):
            packed.write(bytes(2**24))
    return file.getvalue()


class Executed:
    """A pickle that would leave a file behind."""

    def __reduce__(self):
        return os.system, ("touch executed",)


# ── one small data set of each kind ───────────────────────────────────────────────────────────────


def mnist(folder):
    """Fashion-MNIST's test files, whose lock holds what has no published hash."""
    (folder / "t10k-images-idx3-ubyte").write_bytes(idx(RNG.integers(0, 256, (7, 28, 28), np.uint8)))
    (folder / "t10k-labels-idx1-ubyte").write_bytes(idx(np.arange(7, dtype=np.uint8)))


def cifar10(folder, batch=None, name="cifar-10-batches-py/test_batch", kind=tarfile.REGTYPE, link=""):
    batch = pickle.dumps({b"data": X.reshape(9, -1), b"labels": Y.tolist()}, 2) if batch is None else batch
    with tarfile.open(folder / own_files.CIFAR10_FILE, "w:gz") as archive:
        entry = tarfile.TarInfo(name)
        entry.size, entry.type, entry.linkname = len(batch) * (kind == tarfile.REGTYPE), kind, link
        archive.addfile(entry, io.BytesIO(batch))


def cifar5m(folder, save=np.savez, **arrays):
    save(folder / "part0.npz", **dict(X=X, Y=Y) | arrays)


def mnist1m(folder, images=None, labels=None):
    images = RNG.normal(size=(9, 1, 28, 28)).astype(np.float32) if images is None else images
    np.savez(folder / "MNIST_images_0.npz", images)
    np.save(folder / "MNIST_labels_0.npy", Y if labels is None else labels)


def tiny(folder, picture=None):
    from PIL import Image

    (folder / "wnids.txt").write_text("n00000001\n")
    (folder / "train/n00000001/images").mkdir(parents=True)
    path = folder / "train/n00000001/images/n00000001_0.JPEG"
    Image.new("RGB", (64, 64)).save(path)
    if picture is not None:
        path.write_bytes(picture)


OPEN = {
    mnist: lambda folder: own_files.mnist_files(folder, "test", "fashion-mnist"),
    cifar10: lambda folder: own_files.cifar10_files(folder, "test", sha256=None),
    cifar5m: lambda folder: in_parts.cifar5m_files(folder, (0,), 9),
    mnist1m: lambda folder: in_parts.mnist1m_files(folder, (0,), 9),
    tiny: lambda folder: in_parts.tiny_imagenet_files(folder, classes=1, per_class=1),
}
LABELS, PART = "t10k-labels-idx1-ubyte", "part0.npz"


# ── ways to spoil it ──────────────────────────────────────────────────────────────────────────────


def content(name, new):
    """Another content: bytes, or a function of the old ones."""

    def spoil(folder):
        path = folder / name
        path.write_bytes(new(path.read_bytes()) if callable(new) else new)

    return spoil


def later(spoil):
    """Spoiled after a first use."""
    return lambda folder, read: (read(folder), spoil(folder))


def stored(folder):
    """A zip file whose X is what it should be and whose directory promises more than there is."""
    path = folder / PART
    data = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        entry = archive.getinfo("X.npy")
        at = data.index(entry.filename.encode(), archive.start_dir) - 46
    larger = (entry.file_size + 10**6).to_bytes(4, "little")
    path.write_bytes(data[: at + 20] + larger + larger + data[at + 28 :])


def encrypted(folder):
    path = folder / PART
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            data[entry.header_offset + 6] |= 1
            data[data.index(entry.filename.encode(), archive.start_dir) - 46 + 8] |= 1
    path.write_bytes(data)


def replaced(name, make):
    def spoil(folder):
        (folder / name).unlink()
        make(folder / name)

    return spoil


def forbidden(name):
    return lambda folder: (folder / name).chmod(0)


def header(folder):
    """An npy header that is a program."""
    with zipfile.ZipFile(folder / PART, "w") as archive:
        code = b"{'descr': __import__('os').system('touch executed'), 'fortran_order': False, 'shape': ()}"
        code = code.ljust(118) + b"\n"
        archive.writestr("X.npy", b"\x93NUMPY\x01\x00" + len(code).to_bytes(2, "little") + code)
        archive.writestr("Y.npy", b"")


def flipped(data):
    """One byte of the images changed, the checksum left as it was."""
    at = data.index(X.tobytes()) + 500
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def nan():
    images = np.zeros((9, 1, 28, 28), np.float32)
    images[5, 0, 3, 3] = np.nan
    return images


CASES = {
    # files of any kind
    "missing": (mnist, lambda f: (f / LABELS).unlink(), f"none of {LABELS}"),
    "folder missing": (mnist, lambda f: f.rename(f.with_name("away")), "this folder does not exist"),
    "empty": (mnist, content(LABELS, b""), "the file is empty"),
    "web page": (cifar5m, content(PART, PAGE), "this is a web page"),
    "pointer": (mnist, content(LABELS, b"version https://git-lfs.github.com/spec/v1\n"), "Git LFS pointer"),
    "a folder": (mnist, replaced(LABELS, Path.mkdir), "this is a folder"),
    "a loop of links": (mnist, replaced(LABELS, lambda p: p.symlink_to(p)), "this link leads nowhere"),
    "a broken link": (cifar5m, replaced(PART, lambda p: p.symlink_to("gone")), "this link leads nowhere"),
    "a pipe": (mnist, replaced(LABELS, os.mkfifo), "this is no regular file"),
    "no permission": (mnist, forbidden(LABELS), "Permission denied"),
    # idx
    "idx truncated": (mnist, content(LABELS, lambda b: b[:-1]), "14 bytes, expected 15"),
    "idx too long": (mnist, content(LABELS, lambda b: b + b"x"), "16 bytes, expected 15"),
    "idx magic": (mnist, content(LABELS, lambda b: b"\x93NUMPY" + b), "not an idx file of bytes"),
    "idx of floats": (mnist, content(LABELS, lambda b: b[:2] + b"\x0d" + b[3:]), "not an idx file of bytes"),
    "idx gzip truncated": (mnist, content(LABELS, lambda b: gzip.compress(b)[:-6]), "not the published file"),
    "idx label": (
        mnist,
        content(LABELS, idx(np.full(7, 10, np.uint8))),
        "a label is 10, expected an integer",
    ),
    "idx of other length": (mnist, content(LABELS, idx(Y.astype(np.uint8))), "do not belong together"),
    "idx changed": (
        mnist,
        later(content(LABELS, idx(np.zeros(7, np.uint8)))),
        "has changed since it was first used",
    ),
    # a tar file of pickles
    "tar truncated": (cifar10, content(own_files.CIFAR10_FILE, lambda b: b[:80]), "not a complete archive"),
    "no tar": (cifar10, content(own_files.CIFAR10_FILE, b"PK\3\4" * 40), "not a complete archive"),
    "pickle that runs a program": (cifar10, dict(batch=pickle.dumps(Executed(), 2)), "asks for"),
    "pickle of a string": (cifar10, dict(batch=pickle.dumps("no batch", 2)), "not a batch of images"),
    "pickle without end": (cifar10, dict(batch=b"\x80\x02}"), "not a batch of images"),
    "pickle label": (
        cifar10,
        dict(batch=pickle.dumps({b"data": X.reshape(9, -1), b"labels": [99] * 9}, 2)),
        "a label is 99",
    ),
    "member is a link": (cifar10, dict(kind=tarfile.SYMTYPE, link="/etc/passwd"), "is no file of at most"),
    "member elsewhere": (cifar10, dict(name="../../test_batch"), "test_batch is missing"),
    # zip files of arrays
    "npz truncated": (cifar5m, content(PART, lambda b: b[:-30]), "not a complete zip file"),
    "npz cut in front": (cifar5m, content(PART, lambda b: b[4000:]), "zip file"),
    "npz byte flipped": (cifar5m, content(PART, flipped), r"X.npy in it has a wrong checksum \(CRC\)"),
    "npz promises more": (cifar5m, stored, "the array has 1027648 bytes, expected 27648"),
    "npz encrypted": (cifar5m, encrypted, "encrypted"),
    "npz other keys": (cifar5m, lambda f: np.savez(f / PART, images=X), "not X.npy"),
    "npz shape": (cifar5m, dict(X=X[:, :8]), r"integers \(9, 32, 32, 3\)"),
    "npz dtype": (cifar5m, dict(X=X.astype(np.float32)), "holds float32 .*, expected unsigned integers"),
    "npz objects": (cifar5m, dict(X=np.array([Executed()] * 9)), "Python objects, which are never loaded"),
    "npz of a program": (cifar5m, header, "not an array in the npy format"),
    "npz label": (cifar5m, dict(Y=Y - 1), "a label is -1, expected an integer in 0…9"),
    "npz label no number": (cifar5m, dict(Y=np.full(9, "cat")), "holds <U3 .*, expected numbers"),
    "npz changed": (cifar5m, later(lambda f: cifar5m(f, X=255 - X)), "has changed since it was first used"),
    "lock damaged": (
        cifar5m,
        later(lambda f: ((f / "cifar5m.lock.json").write_text("{"), os.utime(f / PART))),
        "cifar5m.lock.json: this is no lock file",
    ),
    "pixel not finite": (mnist1m, dict(images=nan()), "a pixel among images 0… is not finite"),
    "pixels of bytes": (
        mnist1m,
        dict(images=np.zeros((9, 1, 28, 28), np.uint8)),
        "expected floating numbers",
    ),
    "label not whole": (mnist1m, dict(labels=Y + 0.5), "a label is 0.5"),
    # a folder of pictures
    "picture truncated": (tiny, dict(picture=b"\xff\xd8\xff\xe0" + bytes(80)), "not a complete JPEG file"),
    "picture is a page": (tiny, dict(picture=PAGE), "this is a web page"),
    "picture of another format": (tiny, dict(picture=b"GIF89a" + bytes(80)), "not a complete JPEG file"),
    "class outside": (tiny, content("wnids.txt", b"../../etc\n"), "expected 1 different names like"),
    "pictures missing": (
        tiny,
        lambda f: (f / "train/n00000001/images/n00000001_0.JPEG").unlink(),
        "0 JPEG files, expected 1",
    ),
}


def as_nobody(read):
    """With no right to read what is forbidden, also where tests run as root."""

    def lowered(folder):
        if os.geteuid():
            return read(folder)
        for parent in (folder, *folder.parents[:2]):
            parent.chmod(0o755)
        os.seteuid(65534)
        try:
            return read(folder)
        finally:
            os.seteuid(0)

    return lowered


@pytest.mark.parametrize("case", CASES)
def test_one_clear_error(case, tmp_path, monkeypatch):
    make, spoil, message = CASES[case]
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.chdir(tmp_path)
    read = as_nobody(OPEN[make]) if case == "no permission" else OPEN[make]
    if isinstance(spoil, dict):
        make(folder, **spoil)
    else:
        make(folder)
        spoil(folder, read) if "later" in spoil.__qualname__ else spoil(folder)
    there = sorted(tmp_path.rglob("*"))
    with pytest.raises(OSError, match=message) as caught:
        read(folder)
    assert str(folder) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert sorted(tmp_path.rglob("*")) == there  # no draft, no lock, nothing run


def test_a_gzip_bomb_stops_at_the_limit(tmp_path, monkeypatch):
    monkeypatch.setattr("lazyrich.tasks.disk.IDX_LIMIT", 2**20)
    content = bomb(2**28)
    (tmp_path / LABELS).write_bytes(content)
    monkeypatch.setitem(own_files.GZIP_SHA256, LABELS, files.sha256(content))
    mnist_images = idx(np.zeros((7, 28, 28), np.uint8))
    (tmp_path / "t10k-images-idx3-ubyte").write_bytes(mnist_images)
    with pytest.raises(OSError, match="it holds more than 1048576 bytes"):
        OPEN[mnist](tmp_path)


def test_a_deflated_array_is_looked_at_before_it_is_unpacked(tmp_path):
    cifar5m(tmp_path, np.savez_compressed, X=np.zeros((9, 320, 320, 3), np.uint8))
    with pytest.raises(OSError, match=r"integers \(9, 32, 32, 3\)"):
        OPEN[cifar5m](tmp_path)
    assert not list(tmp_path.glob("*.npy")) + list(tmp_path.glob(".*"))


@pytest.mark.parametrize("name", ["../outside", "/tmp/outside", "a/../../outside", "..\\outside"])
def test_a_zip_file_that_leads_out_of_its_folder(tmp_path, name):
    path, folder = tmp_path / "archive.zip", tmp_path / "into"
    folder.mkdir()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("inside", "fine")
        archive.writestr(name, "not fine")
    with pytest.raises(OSError, match=r"archive.zip: its member .* leads out of the folder"):
        unpack(path, folder)
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["archive.zip", "into"]


def test_a_zip_file_with_a_link_and_one_that_is_too_large(tmp_path):
    path, folder = tmp_path / "archive.zip", tmp_path / "into"
    folder.mkdir()
    with zipfile.ZipFile(path, "w") as archive:
        entry = zipfile.ZipInfo("link")
        entry.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(entry, "/etc/passwd")
    with pytest.raises(OSError, match="its member 'link' is a link"):
        unpack(path, folder)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(10**6))
    with pytest.raises(OSError, match="1000000 bytes unpacked, more than expected"):
        unpack(path, folder, limit=10**5)
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(OSError, match="not a complete zip file"):
        unpack(path, folder)
    assert not list(folder.iterdir())


def test_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    cifar5m(tmp_path)

    def full(path, content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("lazyrich.files.write_atomic", full)
    with pytest.raises(OSError, match=r"cifar5m.lock.json: cannot be written \(No space left on device\)"):
        OPEN[cifar5m](tmp_path)


def test_a_lock_of_another_kind_is_refused(tmp_path):
    cifar5m(tmp_path)
    for text in ("[]", '{"part0.npz": 3}', json.dumps({"part0.npz": {"sha256": 1}}), "\x00"):
        (tmp_path / "cifar5m.lock.json").write_text(text)
        with pytest.raises(OSError, match="this is no lock file"):
            OPEN[cifar5m](tmp_path)
