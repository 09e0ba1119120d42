"""Arrays in npz and npy files, memory-mapped where they lie and never loaded as Python objects."""

import errno
import math
import mmap
import shutil
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from lazyrich.tasks.disk import damaged, head

# What zipfile raises on a file that is cut, encrypted, or never was one.
BROKEN_ZIP = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, RuntimeError, ValueError)
KINDS = {"iuf": "numbers", "u": "unsigned integers", "f": "floating numbers"}  # NumPy's letters


@contextmanager
def whole_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """A zip file; what shows inside that it is damaged becomes an OSError that names it."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except BROKEN_ZIP as error:
        raise damaged(path, f"not a complete zip file ({error})") from error
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        raise damaged(path, "not a complete zip file (it points to before its start)") from error


def map_npz(
    path: str | Path, member: str, shape: tuple[int, ...] | None = None, kinds: str = "iuf"
) -> np.ndarray:
    """One array of an npz file, memory-mapped.

    A member that is stored as it is gets mapped where it lies in the zip file (NumPy's own ``mmap_mode``
    does not reach into npz files). A deflated one is unpacked once to ``<file>.<member>.npy`` beside it,
    under a temporary name until its checksum was right.

    Args:
        shape, kinds: what the array must be, a key of ``KINDS``; looked at before anything is unpacked.

    Raises OSError for a file that is no complete zip file, lacks the member, holds Python objects or
    another array, or is shorter than its header says, and when the disk has no room to unpack.
    """
    path = Path(path)
    head(path)
    with whole_zip(path) as archive:
        names = archive.namelist()
        if f"{member}.npy" not in names:
            raise damaged(path, f"it holds {names[:5]}, not {member}.npy")
        entry = archive.getinfo(f"{member}.npy")
        with archive.open(entry) as packed:
            _header(path, packed, entry.file_size, shape, kinds)
        if entry.compress_type == zipfile.ZIP_STORED:
            return _map(path, _data_offset(path, entry), entry.file_size, shape, kinds)
        unpacked = _unpack(archive, entry, path.with_name(f"{path.name}.{member}.npy"))
    return map_npy(unpacked, shape, kinds)


def map_npy(path: str | Path, shape: tuple[int, ...] | None = None, kinds: str = "iuf") -> np.ndarray:
    """The array of an npy file, memory-mapped; arguments and errors as `map_npz`."""
    path = Path(path)
    head(path)
    return _map(path, 0, path.stat().st_size, shape, kinds)


def forget(array: np.ndarray) -> None:
    """Give back the memory of the pages that were read of a mapped array; they are read again when needed."""
    while isinstance(array, np.ndarray):
        array = array.base
    if isinstance(array, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        array.madvise(mmap.MADV_DONTNEED)


def crc_is_right(path: Path) -> None:
    """Read a zip file through. Raises OSError, naming the file and the member, when a checksum is wrong."""
    with whole_zip(path) as archive:
        wrong = archive.testzip()
    if wrong:
        raise damaged(path, f"{wrong} in it has a wrong checksum (CRC)")


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


def _map(path: Path, start: int, size: int, shape, kinds: str) -> np.ndarray:
    with path.open("rb") as file:
        file.seek(start)
        shape, fortran, dtype = _header(path, file, size, shape, kinds)
        offset = file.tell()
    if start + size > path.stat().st_size:
        raise damaged(path, f"it ends {start + size - path.stat().st_size} bytes too early")
    return np.memmap(path, dtype, "r", offset, shape, "F" if fortran else "C")


def _header(path: Path, file, size: int, shape, kinds: str) -> tuple:
    """Shape, order and dtype of the npy array that begins here and has size bytes with its header."""
    start = file.tell()
    try:
        version = np.lib.format.read_magic(file)
        headers = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}
        found, fortran, dtype = headers[version[0]](file)
    except (ValueError, KeyError) as error:
        raise damaged(path, f"not an array in the npy format ({error})") from error
    if dtype.hasobject:
        raise damaged(path, "it holds Python objects, which are never loaded")
    if dtype.kind not in kinds or shape not in (None, found):
        expected = f"{KINDS[kinds]}{'' if shape is None else f' {shape}'}"
        raise damaged(path, f"it holds {dtype} {found}, expected {expected}")
    length, rest = math.prod(found) * dtype.itemsize, size - (file.tell() - start)
    if length != rest:
        raise damaged(path, f"the array has {rest} bytes, expected {length} for {found}")
    return found, fortran, dtype
