"""Files that a reader brings: found, told apart from error pages, read to their exact length, checked."""

import gzip
import math
import zlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from lazyrich import files

IDX_BYTES = b"\0\0\x08"  # of the idx format's types only bytes occur in these data sets
IDX_LIMIT = 2**30  # bytes; the largest of them has 47 million, a hostile gzip file any number


def find(folder: str | Path, names: Iterable[str], what: str) -> Path:
    """The first of several usual names that exists in a folder.

    Raises FileNotFoundError that names the folder, the names and the data set; OSError for one that is
    there and no file: a folder, a broken link, a pipe.
    """
    names, folder = list(names), Path(folder)
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder}: this folder does not exist; put the files of {what} into it")
    for path in (folder / name for name in names):
        if path.is_file():
            return path
        if path.is_symlink() and not path.exists():
            raise OSError(f"{path}: this link leads nowhere; put the file of {what} in its place")
        if path.exists():
            kind = "a folder" if path.is_dir() else "no regular file"
            raise OSError(f"{path}: this is {kind}; put the file of {what} in its place")
    raise FileNotFoundError(f"{folder}: none of {', '.join(names)} is there; put the files of {what} into it")


def damaged(path: Path, why: str) -> OSError:
    """The error for a file that is not what it should be."""
    return OSError(f"{path}: {why}; delete it and download it again")


def head(path: Path, count: int = 16) -> bytes:
    """The first bytes of a file. Raises OSError when they are no data's, or there are none."""
    with path.open("rb") as file:
        start = file.read(max(count, 64))
    if start.lstrip()[:1] == b"<":
        raise damaged(path, "this is a web page, not data")
    if start.startswith(b"version https://git-lfs"):
        raise damaged(path, "this is a Git LFS pointer, not data")
    if not start:
        raise damaged(path, "the file is empty")
    return start[:count]


def read_idx(path: str | Path, sha256: str | None = None, packed: str | None = None) -> np.ndarray:
    """An array in the idx format of MNIST, plain or gzipped (told by its content, not its name).

    ``sha256`` is that of the decompressed bytes, since mirrors compress again; ``packed`` is that of the
    published gzip file, for what has no other published hash.

    Raises OSError, naming the file, when it is truncated, too long, another format or another content.
    """
    path = Path(path)
    compressed = head(path)[:2] == b"\x1f\x8b"
    if compressed and packed is not None and files.sha256(path) != packed:
        raise damaged(path, "it is not the published file (SHA-256 differs)")
    try:
        with gzip.open(path) if compressed else path.open("rb") as file:
            content = file.read(IDX_LIMIT + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise damaged(path, f"the compressed data are incomplete ({error})") from error
    if len(content) > IDX_LIMIT:
        raise damaged(path, f"it holds more than {IDX_LIMIT} bytes")
    if content[:3] != IDX_BYTES:
        raise damaged(path, "this is not an idx file of bytes")
    start = 4 + 4 * int.from_bytes(content[3:4])
    if len(content) < start:
        raise damaged(path, f"{len(content)} bytes, expected at least {start}")
    shape = tuple(np.frombuffer(content[4:start], ">u4").tolist())
    if len(content) != start + math.prod(shape):
        raise damaged(path, f"{len(content)} bytes, expected {start + math.prod(shape)} for shape {shape}")
    if sha256 is not None and files.sha256(content) != sha256:
        raise damaged(path, "its content is not the published one (SHA-256 differs)")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


def labels_within(path: Path, labels: np.ndarray, classes: int) -> np.ndarray:
    """Labels as int32. Raises OSError that names the file when one is not an integer in 0 … classes − 1."""
    found = np.asarray(labels)
    if found.dtype.kind not in "iuf" or found.ndim != 1:
        raise damaged(path, f"labels are {found.dtype} {found.shape}, expected a row of integers")
    with np.errstate(invalid="ignore"):
        numbers = found.astype(np.int32)
    if (numbers != found).any() or (numbers < 0).any() or (numbers >= classes).any():
        wrong = found[(numbers != found) | (numbers < 0) | (numbers >= classes)][0]
        raise damaged(path, f"a label is {wrong}, expected an integer in 0…{classes - 1}")
    return numbers
