"""files: written whole or not at all, found from the package."""

import os

import pytest

from lazyrich import files


def test_write_replaces_whole_file(tmp_path):
    path = tmp_path / "new" / "a.json"
    files.write_atomic(path, "one")
    files.write_atomic(path, b"two")
    assert path.read_bytes() == b"two"
    assert list(path.parent.iterdir()) == [path]


def test_failed_write_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a"
    files.write_atomic(path, "good")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        files.write_atomic(path, "bad")
    assert path.read_text() == "good"
    assert list(tmp_path.iterdir()) == [path]


def test_sha256_of_file_and_of_bytes(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"abc")
    # FIPS 180-2, appendix B.1
    assert files.sha256(path) == files.sha256(b"abc") == files.sha256(str(path))
    assert files.sha256(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_shipped_files_are_found_from_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert (files.data_path() / "LICENSES.md").is_file()
    assert files.presets_path().is_dir()
    with pytest.raises(FileNotFoundError, match=r"nothing\.npz"):
        files.data_path("nothing.npz")
