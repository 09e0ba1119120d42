import gzip
import os
import shutil
import zipfile
from types import SimpleNamespace

import numpy as np
import pytest

from image_files import idx
from lazyrich import files
from lazyrich.tasks import disk, mapped
from lazyrich.tasks.locks import trust_on_first_use

ARRAY = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)


@pytest.mark.parametrize("pack", [lambda b: b, gzip.compress])
def test_idx_plain_or_gzipped_under_any_name(tmp_path, pack):
    path = tmp_path / "images.gz"
    path.write_bytes(pack(idx(ARRAY)))
    assert (disk.read_idx(path) == ARRAY).all()
    assert (disk.read_idx(path, files.sha256(idx(ARRAY))) == ARRAY).all()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"  <!DOCTYPE html><html>", "this is a web page"),
        (idx(ARRAY)[:-1], "39 bytes, expected 40"),
        (idx(ARRAY) + b"\0", "41 bytes, expected 40"),
        (gzip.compress(idx(ARRAY))[:-9], "compressed data are incomplete"),
        (b"\x93NUMPY" + bytes(60), "not an idx file of bytes"),
        (idx(ARRAY)[:9], "9 bytes, expected at least 16"),
        (gzip.compress(idx(ARRAY))[:12] + b"\xff" * 20, "compressed data are incomplete"),
    ],
)
def test_files_that_are_not_what_they_should_be(tmp_path, content, message):
    path = tmp_path / "train-images-idx3-ubyte"
    path.write_bytes(content)
    with pytest.raises(OSError, match=f"train-images-idx3-ubyte: .*{message}.*; delete it and"):
        disk.read_idx(path)


def test_idx_with_another_content(tmp_path):
    path = tmp_path / "labels"
    path.write_bytes(idx(ARRAY))
    with pytest.raises(OSError, match="SHA-256 differs"):
        disk.read_idx(path, "0" * 64)


def test_find_names_the_folder_and_the_names(tmp_path):
    (tmp_path / "b").touch()
    assert disk.find(tmp_path, ["a", "b"], "these data") == tmp_path / "b"
    with pytest.raises(FileNotFoundError, match=r"none of a, c is there; put the files of these data"):
        disk.find(tmp_path, ["a", "c"], "these data")


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("order", ["C", "F"])
def test_members_of_an_npz_are_mapped(tmp_path, save, order):
    path = tmp_path / "part0.npz"
    save(path, Y=np.arange(5), X=np.asarray(ARRAY, order=order))
    array = mapped.map_npz(path, "X")
    assert isinstance(array, np.memmap)
    assert (array == ARRAY).all()
    assert (mapped.map_npz(path, "Y") == np.arange(5)).all()
    unpacked = sorted(p.name for p in tmp_path.glob("*.npy"))
    assert unpacked == ([] if save is np.savez else ["part0.npz.X.npy", "part0.npz.Y.npy"])


def test_a_deflated_member_is_unpacked_once(tmp_path):
    path = tmp_path / "part0.npz"
    np.savez_compressed(path, X=ARRAY)
    mapped.map_npz(path, "X")
    before = (tmp_path / "part0.npz.X.npy").stat().st_mtime_ns
    mapped.map_npz(path, "X")
    assert (tmp_path / "part0.npz.X.npy").stat().st_mtime_ns == before
    np.savez_compressed(path, X=ARRAY + 1)
    assert (mapped.map_npz(path, "X") == ARRAY + 1).all()


def test_unpacking_checks_the_checksum_and_the_room(tmp_path, monkeypatch):
    path = tmp_path / "part0.npz"
    np.savez_compressed(path, X=np.random.default_rng(0).integers(0, 255, 5000, np.uint8))
    content = bytearray(path.read_bytes())
    content[2000] ^= 255
    broken = tmp_path / "part1.npz"
    broken.write_bytes(content)
    with pytest.raises(OSError, match=r"part1.npz: not a complete zip file .*CRC"):
        mapped.map_npz(broken, "X")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=10))
    with pytest.raises(OSError, match="unpacking needs 5128 bytes, the disk has 10 left"):
        mapped.map_npz(path, "X")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["part0.npz", "part1.npz"]


def test_npz_files_that_are_not_what_they_should_be(tmp_path):
    path = tmp_path / "part0.npz"
    np.savez(path, X=ARRAY)
    with pytest.raises(OSError, match=r"holds \['X.npy'\], not Y.npy"):
        mapped.map_npz(path, "Y")
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(OSError, match="not a complete zip file"):
        mapped.map_npz(path, "X")
    np.savez(path, X=np.array([{}], dtype=object))
    with pytest.raises(OSError, match="Python objects, which are never loaded"):
        mapped.map_npz(path, "X")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X.npy", b"no array")
    with pytest.raises(OSError, match="not an array in the npy format"):
        mapped.map_npz(path, "X")


def test_trust_on_first_use(tmp_path):
    path, lock = tmp_path / "part0.npz", tmp_path / "lock.json"
    path.write_bytes(b"one")
    trust_on_first_use(path, lock)
    recorded = lock.read_text()
    trust_on_first_use(path, lock)
    assert lock.read_text() == recorded
    os.utime(path, ns=(1, 1))  # touched, not changed
    trust_on_first_use(path, lock)
    path.write_bytes(b"two")
    with pytest.raises(OSError, match=r"part0.npz has changed since it was first used .*lock.json"):
        trust_on_first_use(path, lock)
