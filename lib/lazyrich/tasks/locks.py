"""Lock files: what data without a published hash were at first use."""

import json
from collections.abc import Callable
from pathlib import Path

from lazyrich import files


def trust_on_first_use(
    path: str | Path,
    lock: str | Path,
    verify: Callable[[Path], None] = lambda path: None,
    again: bool = False,
) -> None:
    """Record size and SHA-256 of a file without published hash; refuse it when they have changed since.

    ``verify`` is called at first use, before anything is recorded. The hash is computed again only when
    the file's modification time is not the recorded one, or on ``again``.

    Raises OSError that names the file and the lock file, and what ``verify`` does.
    """
    path, lock = Path(path), Path(lock)
    state = path.stat()
    entry = locked(lock).get(path.name)
    if entry and (entry["size"], entry["mtime_ns"]) == (state.st_size, state.st_mtime_ns) and not again:
        return
    sha256 = files.sha256(path)
    if not entry:
        verify(path)
    elif entry["sha256"] != sha256:
        raise changed(path, lock)
    record(lock, path.name, {"size": state.st_size, "mtime_ns": state.st_mtime_ns, "sha256": sha256})


def changed(path: Path, lock: Path) -> OSError:
    """The error for what is no longer what it was at first use."""
    return OSError(
        f"{path} has changed since it was first used (SHA-256 recorded in {lock}): "
        f"restore it, or delete its entry there if you trust the new one"
    )


def locked(lock: Path) -> dict:
    """What a lock file records. Raises OSError that names it when it cannot be read as one."""
    if not lock.is_file():
        return {}
    try:
        known = json.loads(lock.read_text(encoding="utf-8"))
        if all(isinstance(entry["sha256"], str) for entry in known.values()):
            return known
    except (ValueError, TypeError, KeyError, AttributeError):
        pass
    raise OSError(f"{lock}: this is no lock file; delete it if you trust the files beside it")


def record(lock: Path, name: str, entry: dict) -> None:
    """Write one entry. Raises OSError that names the lock file when its folder cannot be written."""
    text = json.dumps(locked(lock) | {name: entry}, indent=2, sort_keys=True)
    try:
        files.write_atomic(lock, text + "\n")
    except OSError as error:
        raise OSError(
            f"{lock}: cannot be written ({error.strerror}); the first use of data without a published "
            "hash records one there, so use them once from where the folder can be written"
        ) from error
