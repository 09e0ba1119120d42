"""Files: written whole or not at all, named by their hash, found from the package."""

import hashlib
import os
import uuid
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent


def repository() -> Path | None:
    """The checkout this package lies in, or None when it was installed from a wheel."""
    root = PACKAGE.parents[1]
    return root if (root / "pyproject.toml").is_file() and (root / "chapters").is_dir() else None


def data_path(name: str = "") -> Path:
    """A file or folder of `data/`: the repository's own first, else the copy in the wheel.

    Raises FileNotFoundError, naming the file, when it is missing.
    """
    return _shipped("data", "_data", name)


def presets_path(name: str = "") -> Path:
    """The folder of preset files, one folder a chapter: the repository's first, else the wheel's."""
    return _shipped("chapters/presets", "_presets", name)


def _shipped(own: str, packed: str, name: str) -> Path:
    root = repository()
    path = (root / own if root else PACKAGE / packed) / name
    if not path.exists():
        raise FileNotFoundError(f"{path}: this file belongs to the package and is missing; install it again")
    return path


def write_atomic(path: str | Path, content: str | bytes) -> None:
    """Write beside the target, then rename: a reader sees the old file or the new one, never a part."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        with draft.open("xb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def sha256(content: str | Path | bytes) -> str:
    """SHA-256 of bytes, or of the file at a path, in hexadecimal.

    >>> sha256(b"")[:16]
    'e3b0c44298fc1c14'
    """
    if isinstance(content, bytes):
        return hashlib.sha256(content).hexdigest()
    with Path(content).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
