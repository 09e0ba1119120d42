"""Data sets on a reader's machine: MNIST, Fashion-MNIST, CIFAR-10 and CIFAR-5M in their published files."""

import gzip
import io
import pickle
import tarfile
import zlib
from pathlib import Path

import numpy as np

from lazyrich import files
from lazyrich.tasks.disk import damaged, find, head, map_npz, read_idx, trust_on_first_use
from lazyrich.tasks.embedded import Images

# SHA-256 of the decompressed idx files; None where no published hash is known to us.
IDX_SHA256 = {
    "mnist": {
        "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
        "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
        "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
        "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    },
    "fashion-mnist": {
        "train-images-idx3-ubyte": "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
        "train-labels-idx1-ubyte": "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
        "t10k-images-idx3-ubyte": None,
        "t10k-labels-idx1-ubyte": None,
    },
}
CIFAR10_FILE = "cifar-10-python.tar.gz"
CIFAR10_SHA256 = "6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce"
CIFAR5M_PARTS = 6
CIFAR5M_LENGTH = 1_000_448
CIFAR5M_LOCK = "cifar5m.lock.json"


def mnist_files(folder: str | Path, split: str = "train", name: str = "mnist") -> Images:
    """MNIST or Fashion-MNIST from idx files, plain or gzipped: float32 in [0, 1], int32 labels.

    Args:
        folder: holds ``train-images-idx3-ubyte`` and the like, with or without ``.gz``.
        split: ``"train"`` or ``"test"``.
        name: ``"mnist"`` or ``"fashion-mnist"``; decides the checksums.

    Raises ValueError for an unknown split or name; FileNotFoundError or OSError, naming the file and what
    to do, for one that is missing, truncated or not the published one.
    """
    if split not in ("train", "test") or name not in IDX_SHA256:
        raise ValueError(f"split, name = {split!r}, {name!r}: expected train or test, {sorted(IDX_SHA256)}")
    prefix = "train" if split == "train" else "t10k"
    images, labels = (
        read_idx(find(folder, [stem, f"{stem}.gz"], name), IDX_SHA256[name][stem])
        for stem in (f"{prefix}-images-idx3-ubyte", f"{prefix}-labels-idx1-ubyte")
    )
    if images.ndim != 3 or labels.shape != images.shape[:1]:
        raise OSError(f"{folder}: {images.shape} images and {labels.shape} labels do not belong together")
    return Images(images.astype(np.float32) / np.float32(255), labels.astype(np.int32))


class _ArraysOnly(pickle.Unpickler):
    """Unpickles dictionaries of arrays, lists, strings and numbers, and refuses any other object."""

    def find_class(self, module: str, name: str):
        allowed = {
            ("numpy.core.multiarray", "_reconstruct"): np._core.multiarray._reconstruct,
            ("numpy._core.multiarray", "_reconstruct"): np._core.multiarray._reconstruct,
            ("numpy", "ndarray"): np.ndarray,
            ("numpy", "dtype"): np.dtype,
            ("_codecs", "encode"): _latin1,
        }
        if (module, name) not in allowed:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which no batch of images needs")
        return allowed[module, name]


def _latin1(text: str, encoding: str) -> bytes:
    """How protocol 2 writes bytes; no other codec is let through."""
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"it asks for the codec {encoding!r}")
    return text.encode("latin1")


def cifar10_files(folder: str | Path, split: str = "train", sha256: str | None = CIFAR10_SHA256) -> Images:
    """CIFAR-10 from ``cifar-10-python.tar.gz``: (n, 32, 32, 3) float32 in [0, 1], int32 labels.

    The archive is read in memory, never unpacked; its pickles are loaded by an unpickler that knows
    arrays only.

    Raises as `mnist_files` does, and OSError for a pickle that asks for anything but arrays.
    """
    if split not in ("train", "test"):
        raise ValueError(f"split = {split!r}: expected train or test")
    path = find(folder, [CIFAR10_FILE], "CIFAR-10 (python version)")
    head(path)
    if sha256 is not None and files.sha256(path) != sha256:
        raise damaged(path, "its content is not the published one (SHA-256 differs)")
    names = [f"data_batch_{i}" for i in range(1, 6)] if split == "train" else ["test_batch"]
    try:
        with tarfile.open(path, "r:gz") as archive:
            batches = [_batch(path, archive, name) for name in names]
    except (tarfile.ReadError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise damaged(path, f"not a complete archive ({error})") from error
    images = np.concatenate([images for images, _ in batches])
    labels = np.concatenate([labels for _, labels in batches])
    return Images(images.astype(np.float32) / np.float32(255), labels.astype(np.int32))


def _batch(path: Path, archive: tarfile.TarFile, name: str) -> tuple[np.ndarray, np.ndarray]:
    member = f"cifar-10-batches-py/{name}"
    if member not in archive.getnames():
        raise damaged(path, f"{member} is missing")
    content = archive.extractfile(member).read()
    try:
        batch = _ArraysOnly(io.BytesIO(content), encoding="bytes").load()
        data, labels = batch[b"data"], np.asarray(batch[b"labels"])
    except (pickle.UnpicklingError, KeyError, TypeError, EOFError) as error:
        raise damaged(path, f"{member} is not a batch of images ({error})") from error
    if data.dtype != np.uint8 or data.shape != (len(labels), 3072):
        raise damaged(path, f"{member} holds {data.dtype} {data.shape} for {len(labels)} labels")
    return data.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), labels


def cifar5m_files(
    folder: str | Path, parts: tuple[int, ...] = tuple(range(CIFAR5M_PARTS)), length: int = CIFAR5M_LENGTH
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Parts of CIFAR-5M, each (images, labels): uint8 (1,000,448, 32, 32, 3) and integers, memory-mapped.

    Args:
        folder: holds ``part0.npz`` … ``part5.npz``, or ``cifar5m_part0.npz`` ….
        parts: which to open; the last is customarily the test set.
        length: images a part.

    No hash of these files is published, so the first use records size and SHA-256 in
    ``cifar5m.lock.json`` beside them (a few minutes for 18 GB), and a later change is an error.

    Raises as `mnist_files` does.
    """
    opened = []
    for part in parts:
        path = find(folder, [f"part{part}.npz", f"cifar5m_part{part}.npz"], "CIFAR-5M")
        head(path)
        trust_on_first_use(path, Path(folder) / CIFAR5M_LOCK)
        images, labels = map_npz(path, "X"), map_npz(path, "Y")
        if images.shape != (length, 32, 32, 3) or images.dtype != np.uint8 or labels.shape != (length,):
            found = f"X {images.dtype} {images.shape}, Y {labels.shape}"
            raise damaged(path, f"{found}: expected {length} images")
        opened.append((images, labels))
    return opened
