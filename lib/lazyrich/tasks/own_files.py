"""Small data sets on a reader's machine: MNIST, Fashion-MNIST and CIFAR-10 in their published files."""

import gzip
import io
import pickle
import tarfile
import zlib
from pathlib import Path

import numpy as np

from lazyrich import files
from lazyrich.tasks.disk import damaged, find, head, labels_within, read_idx
from lazyrich.tasks.embedded import Images
from lazyrich.tasks.locks import trust_on_first_use

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
# SHA-256 of the published gzip files, for those.
GZIP_SHA256 = {
    "t10k-images-idx3-ubyte": "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
    "t10k-labels-idx1-ubyte": "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
}
IDX_LOCK = "fashion-mnist.lock.json"
# What a damaged or hostile pickle raises before anything it names is called.
PICKLE_ERRORS = (
    *(pickle.UnpicklingError, EOFError, MemoryError),
    *(KeyError, TypeError, ValueError, IndexError, AttributeError),
)
CIFAR10_LIMIT = 2**26  # bytes of a batch; the published ones have 31 million
CIFAR10_FILE = "cifar-10-python.tar.gz"
CIFAR10_SHA256 = "6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce"


def mnist_files(folder: str | Path, split: str = "train", name: str = "mnist") -> Images:
    """MNIST or Fashion-MNIST from idx files, plain or gzipped: float32 in [0, 1], int32 labels.

    Args:
        folder: holds ``train-images-idx3-ubyte`` and the like, with or without ``.gz``.
        split: ``"train"`` or ``"test"``.
        name: ``"mnist"`` or ``"fashion-mnist"``; decides the checksums.

    Raises ValueError for an unknown split or name; FileNotFoundError or OSError, naming the file and what
    to do, for one that is missing, truncated or not the published one. Fashion-MNIST's test files have a
    published hash only as gzip files; unpacked, what they were at first use is recorded beside them.
    """
    if split not in ("train", "test") or name not in IDX_SHA256:
        raise ValueError(f"split, name = {split!r}, {name!r}: expected train or test, {sorted(IDX_SHA256)}")
    prefix = "train" if split == "train" else "t10k"
    stems = f"{prefix}-images-idx3-ubyte", f"{prefix}-labels-idx1-ubyte"
    paths = [find(folder, [stem, f"{stem}.gz"], name) for stem in stems]
    known = [IDX_SHA256[name][stem] for stem in stems]
    packed = [None if sha256 else GZIP_SHA256[stem] for sha256, stem in zip(known, stems, strict=True)]
    images, labels = map(read_idx, paths, known, packed)
    if images.ndim != 3 or labels.shape != images.shape[:1]:
        raise OSError(f"{folder}: {images.shape} images and {labels.shape} labels do not belong together")
    labels = labels_within(paths[1], labels, 10)
    for path, sha256 in zip(paths, known, strict=True):
        if sha256 is None and path.suffix != ".gz":
            trust_on_first_use(path, Path(folder) / IDX_LOCK)
    return Images(images.astype(np.float32) / np.float32(255), labels)


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
    return Images(images.astype(np.float32) / np.float32(255), labels_within(path, labels, 10))


def _batch(path: Path, archive: tarfile.TarFile, name: str) -> tuple[np.ndarray, np.ndarray]:
    member = f"cifar-10-batches-py/{name}"
    if member not in archive.getnames():
        raise damaged(path, f"{member} is missing")
    entry = archive.getmember(member)
    if not entry.isfile() or entry.size > CIFAR10_LIMIT:
        raise damaged(path, f"{member} is no file of at most {CIFAR10_LIMIT} bytes")
    content = archive.extractfile(entry).read()
    try:
        batch = _ArraysOnly(io.BytesIO(content), encoding="bytes").load()
        data, labels = batch[b"data"], np.asarray(batch[b"labels"])
    except PICKLE_ERRORS as error:
        raise damaged(path, f"{member} is not a batch of images ({error})") from error
    if not isinstance(data, np.ndarray) or data.dtype != np.uint8 or data.shape != (len(labels), 3072):
        raise damaged(path, f"{member} holds {_described(data)} for {len(labels)} labels")
    return data.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), labels


def _described(data) -> str:
    return f"{data.dtype} {data.shape}" if isinstance(data, np.ndarray) else type(data).__name__
