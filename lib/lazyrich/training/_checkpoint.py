"""A folder of finished parts, from which an interrupted computation resumes."""

import io
import shutil
from pathlib import Path
from typing import Any

import jax
import numpy as np

from lazyrich.files import sha256, write_atomic


class Store:
    """Parts of one computation, a file each: the hash of what follows, then the leaves as npz.

    The fingerprint stands for all that the results depend on.

    Raises:
        ValueError: the folder belongs to another computation, or a part (when loaded) is damaged.
        OSError: the folder cannot be written, or its disk has less than `size` bytes left.
    """

    def __init__(self, folder: str | Path, fingerprint: str, size: int):
        self.folder = Path(folder)
        label = self.folder / "fingerprint"
        try:
            known = label.read_text() if label.exists() else None
            if known not in (None, fingerprint):
                raise ValueError(
                    f"checkpoint = {self.folder}: of a sweep with other arguments; "
                    "delete the folder or name another"
                )
            write_atomic(label, fingerprint)
            free = shutil.disk_usage(self.folder).free
        except OSError as error:
            raise OSError(f"checkpoint = {self.folder}: cannot be written ({error})") from error
        left = size - sum(path.stat().st_size for path in self.folder.glob("*.npz"))
        if left > free:
            raise OSError(f"checkpoint = {self.folder}: needs {left} bytes more, its disk has {free} left")

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.npz"

    def save(self, name: str, tree: Any) -> None:
        """Keep a pytree of arrays."""
        buffer = io.BytesIO()
        np.savez(buffer, *(np.asarray(leaf).view(np.uint8) for leaf in map(_flat, jax.tree.leaves(tree))))
        content = buffer.getvalue()
        write_atomic(self._path(name), sha256(content).encode() + content)

    def load(self, name: str, like: Any) -> Any:
        """The part of this name in the structure, shapes and dtypes of `like`; None where there is none."""
        path = self._path(name)
        if not path.exists():
            return None
        content = path.read_bytes()
        if sha256(content[64:]).encode() != content[:64]:
            raise ValueError(f"checkpoint {path}: the file is damaged; delete it, and it is computed again")
        leaves, structure = jax.tree.flatten(like)
        with np.load(io.BytesIO(content[64:])) as file:
            found = [file[f"arr_{i}"] for i in range(len(leaves))]
        return structure.unflatten(
            [a.view(b.dtype).reshape(b.shape) for a, b in zip(found, leaves, strict=True)]
        )


def _flat(leaf: Any) -> np.ndarray:
    return np.ascontiguousarray(leaf).reshape(-1)
