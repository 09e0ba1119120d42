"""One process writes one folder: a lock beside it, void when its holder dies, however it dies."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


@contextmanager
def held(folder: Path, wait: bool = False) -> Iterator[None]:
    """Hold a folder until the end of the block; with `wait`, once nobody else does.

    Raises BlockingIOError when another process holds it, unless it is to be waited for.
    """
    path = folder.with_name(f".{folder.name}.lock")
    handle = _acquired(path, wait)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        handle.close()


def _acquired(path: Path, wait: bool) -> TextIO:
    """The open, locked file. Its last holder removed it before letting go, so it is looked at again."""
    while True:
        handle = path.open("a")  # writable: a network file system locks no other
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            if os.path.samestat(os.fstat(handle.fileno()), path.stat()):
                return handle
        except FileNotFoundError:
            pass
        except BaseException:
            handle.close()
            raise
        handle.close()
