"""Files that a reader brings: found, told apart from error pages, read to their exact length, checked."""

import gzip
import hashlib
import json
import math
import shutil
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from lazyrich import files

IDX_BYTES = b"\0\0\x08"  # of the idx format's types only bytes occur in these data sets


def find(folder: str | Path, names: Iterable[str], what: str) -> Path:
    """The first of several usual names that exists in a folder.

    Raises FileNotFoundError that names the folder, the names and the data set.
    """
    names = list(names)
    for name in names:
        if (Path(folder) / name).is_file():
            return Path(folder) / name
    raise FileNotFoundError(f"{folder}: none of {', '.join(names)} is there; put the files of {what} into it")


def damaged(path: Path, why: str) -> OSError:
    """The error for a file that is not what it should be."""
    return OSError(f"{path}: {why}; download it again")


def head(path: Path, count: int = 16) -> bytes:
    """The first bytes of a file. Raises OSError when they are a web page's or there are none."""
    with path.open("rb") as file:
        start = file.read(max(count, 64))
    if start.lstrip()[:1] == b"<":
        raise damaged(path, "this is a web page, not data")
    if not start:
        raise damaged(path, "the file is empty")
    return start[:count]


def read_idx(path: str | Path, sha256: str | None = None) -> np.ndarray:
    """An array in the idx format of MNIST, plain or gzipped (told by its content, not its name).

    ``sha256`` is that of the decompressed bytes, since mirrors compress again.

    Raises OSError, naming the file, when it is truncated, too long, another format or another content.
    """
    path = Path(path)
    compressed = head(path)[:2] == b"\x1f\x8b"
    try:
        content = gzip.decompress(path.read_bytes()) if compressed else path.read_bytes()
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise damaged(path, f"the compressed data are incomplete ({error})") from error
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


def map_npz(path: str | Path, member: str) -> np.ndarray:
    """One array of an npz file, memory-mapped.

    A member that is stored as it is gets mapped where it lies in the zip file (NumPy's own ``mmap_mode``
    does not reach into npz files). A deflated one is unpacked once to ``<file>.<member>.npy`` beside it,
    under a temporary name until its checksum was right.

    Raises OSError for a file that is no complete zip file, lacks the member, holds Python objects, or is
    shorter than its header says, and when the disk has no room to unpack.
    """
    path = Path(path)
    head(path)
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if f"{member}.npy" not in names:
                raise damaged(path, f"it holds {names}, not {member}.npy")
            entry = archive.getinfo(f"{member}.npy")
            if entry.compress_type == zipfile.ZIP_STORED:
                return _map_npy(path, _data_offset(path, entry), entry.file_size)
            unpacked = _unpack(archive, entry, path.with_name(f"{path.name}.{member}.npy"))
    except (zipfile.BadZipFile, zlib.error) as error:
        raise damaged(path, f"not a complete npz file ({error})") from error
    return _map_npy(unpacked, 0, unpacked.stat().st_size)


def _data_offset(path: Path, entry: zipfile.ZipInfo) -> int:
    """Where a stored member's bytes begin: after its local header, whose extra field may differ."""
    with path.open("rb") as file:
        file.seek(entry.header_offset)
        local = file.read(30)
    name, extra = (int.from_bytes(local[at : at + 2], "little") for at in (26, 28))
    return entry.header_offset + 30 + name + extra


def _unpack(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path) -> Path:
    if target.is_file():
        state = target.stat()
        newer = state.st_mtime_ns >= Path(archive.filename).stat().st_mtime_ns
        if newer and state.st_size == entry.file_size:
            return target
    free = shutil.disk_usage(target.parent).free
    if free < entry.file_size:
        raise OSError(f"{target}: unpacking needs {entry.file_size} bytes, the disk has {free} left")
    draft = target.with_name(f".{target.name}.part")
    try:
        with archive.open(entry) as packed, draft.open("wb") as file:
            shutil.copyfileobj(packed, file, 2**24)  # reading to the end checks the CRC
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
    return target


def _map_npy(path: Path, start: int, size: int) -> np.ndarray:
    with path.open("rb") as file:
        file.seek(start)
        try:
            version = np.lib.format.read_magic(file)
            headers = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}
            shape, fortran, dtype = headers[version[0]](file)
        except (ValueError, KeyError) as error:
            raise damaged(path, f"not an array in the npy format ({error})") from error
        offset = file.tell()
    if dtype.hasobject:
        raise damaged(path, "it holds Python objects, which are never loaded")
    length = math.prod(shape) * dtype.itemsize
    if offset - start + length != size:
        raise damaged(path, f"the array has {size - offset + start} bytes, expected {length} for {shape}")
    return np.memmap(path, dtype, "r", offset, shape, "F" if fortran else "C")


def trust_on_first_use(path: str | Path, lock: str | Path) -> None:
    """Record size and SHA-256 of a file without published hash; refuse it when they have changed since.

    The hash is computed again only when the file's modification time is not the recorded one.

    Raises OSError that names the file and the lock file.
    """
    path, lock = Path(path), Path(lock)
    known = json.loads(lock.read_text()) if lock.is_file() else {}
    state = path.stat()
    entry = known.get(path.name)
    if entry and (entry["size"], entry["mtime_ns"]) == (state.st_size, state.st_mtime_ns):
        return
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    if entry and entry["sha256"] != sha256:
        raise OSError(
            f"{path} has changed since it was first used (SHA-256 recorded in {lock}): "
            f"restore the file, or delete its entry there if you trust the new one"
        )
    known[path.name] = {"size": state.st_size, "mtime_ns": state.st_mtime_ns, "sha256": sha256}
    files.write_atomic(lock, json.dumps(known, indent=2, sort_keys=True) + "\n")
