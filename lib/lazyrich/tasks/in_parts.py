"""Data sets too large for memory, in parts, each (images, labels) with the images memory-mapped.

None has a published hash of its files as they lie on disk: the first use reads and checks them, and
records what they were in a lock file beside them; a later change is an error.
"""

import re
from pathlib import Path

import numpy as np

from lazyrich import files
from lazyrich.tasks.disk import damaged, find, head, labels_within
from lazyrich.tasks.locks import changed, locked, record, trust_on_first_use
from lazyrich.tasks.mapped import crc_is_right, forget, map_npy, map_npz

Parts = list[tuple[np.ndarray, np.ndarray]]

CIFAR5M_PARTS = 6
CIFAR5M_LENGTH = 1_000_448
MNIST1M_PARTS = 10
MNIST1M_LENGTH = 100_000
LOCK = "{}.lock.json"


def cifar5m_files(
    folder: str | Path,
    parts: tuple[int, ...] = tuple(range(CIFAR5M_PARTS)),
    length: int = CIFAR5M_LENGTH,
    again: bool = False,
) -> Parts:
    """Parts of CIFAR-5M: uint8 (1,000,448, 32, 32, 3) and int32 labels.

    Args:
        folder: holds ``part0.npz`` … ``part5.npz``, or ``cifar5m_part0.npz`` ….
        parts: which to open; the last is customarily the test set.
        length: images a part.
        again: compute the recorded hashes again.

    The first use takes a few minutes for 18 GB.

    Raises FileNotFoundError or OSError, naming the file and what to do, for one that is missing, damaged
    or not what it was at first use.
    """
    opened = []
    for part in parts:
        path = find(folder, [f"part{part}.npz", f"cifar5m_part{part}.npz"], "CIFAR-5M")
        images = map_npz(path, "X", (length, 32, 32, 3), "u")
        labels = labels_within(path, map_npz(path, "Y", (length,)), 10)
        trust_on_first_use(path, Path(folder) / LOCK.format("cifar5m"), crc_is_right, again)
        opened.append((images, labels))
    return opened


def mnist1m_files(
    folder: str | Path,
    parts: tuple[int, ...] = tuple(range(MNIST1M_PARTS)),
    length: int = MNIST1M_LENGTH,
    again: bool = False,
) -> Parts:
    """Parts of MNIST-1M: floating (100,000, 28, 28), about in [0, 1] but not clipped, and int32 labels.

    Args:
        folder: holds ``MNIST_images_0.npz`` … as the authors' generator writes them, and their labels,
            ``MNIST_labels_0.npy`` … or ``MNIST_labels_0.npz.npy`` ….
        parts, length, again: as for `cifar5m_files`.

    Raises as `cifar5m_files` does.
    """
    opened, lock = [], Path(folder) / LOCK.format("mnist1m")
    for part in parts:
        path = find(folder, [f"MNIST_images_{part}.npz"], "MNIST-1M")
        names = [f"MNIST_labels_{part}.npy", f"MNIST_labels_{part}.npz.npy"]
        beside = find(folder, names, "MNIST-1M")
        images = map_npz(path, "arr_0", (length, 1, 28, 28), "f")
        labels = labels_within(beside, map_npy(beside, (length,)), 10)
        trust_on_first_use(path, lock, _finite, again)
        trust_on_first_use(beside, lock, again=again)
        opened.append((images[:, 0], labels))
    return opened


def _finite(path: Path) -> None:
    crc_is_right(path)
    images = map_npz(path, "arr_0", kinds="f")
    for start in range(0, len(images), 4096):
        if not np.isfinite(images[start : start + 4096]).all():
            raise damaged(path, f"a pixel among images {start}… is not finite")
        forget(images)


def tiny_imagenet_files(
    folder: str | Path, split: str = "train", classes: int = 200, per_class: int = 500, test: int = 10_000
) -> Parts:
    """TinyImageNet as one part: uint8 (n, 64, 64, 3) and int32 labels, in a fixed shuffled order.

    The JPEG files are decoded once, to an array beside them (1.2 GB for the training images); what is
    locked are their names and sizes.

    Args:
        folder: ``tiny-imagenet-200`` or the folder that holds it.
        split: ``"train"``, or ``"test"`` for the validation images, whose labels are published.
        classes, per_class, test: how many there are.

    Raises ValueError for an unknown split, and as `cifar5m_files` does.
    """
    if split not in ("train", "test"):
        raise ValueError(f"split = {split!r}: expected train or test")
    folder = Path(folder)
    root = next((f for f in (folder / "tiny-imagenet-200", folder) if (f / "wnids.txt").is_file()), folder)
    listed = find(root, ["wnids.txt"], "TinyImageNet").read_text(encoding="utf-8", errors="replace").split()
    if len(set(listed)) != classes or not all(re.fullmatch(r"n\d{8}", name) for name in listed):
        raise damaged(root / "wnids.txt", f"expected {classes} different names like n01443537")
    pictures = _training(root, listed, per_class) if split == "train" else _validation(root, listed, test)
    order = np.random.default_rng(0).permutation(len(pictures))
    paths, labels = zip(*(pictures[i] for i in order), strict=True)
    sizes = "\n".join(f"{path.relative_to(root).as_posix()} {_size(path)}" for path, _ in pictures)
    sha256, lock = files.sha256(sizes.encode()), root / LOCK.format("tiny-imagenet")
    entry, decoded = locked(lock).get(split), root / f"lazyrich-{split}.npy"
    if entry and entry["sha256"] != sha256:
        raise changed(root / split, lock)
    shape = (len(paths), 64, 64, 3)
    if not (entry and decoded.is_file()):
        _decode(paths, decoded, shape)
        record(lock, split, {"sha256": sha256})
    return [(map_npy(decoded, shape, "u"), np.array(labels, np.int32))]


def _training(root: Path, names: list[str], per_class: int) -> list[tuple[Path, int]]:
    found = []
    for label, name in enumerate(names):
        pictures = sorted((root / "train" / name / "images").glob("*.JPEG"))
        if len(pictures) != per_class:
            images = root / "train" / name / "images"
            raise OSError(f"{images}: {len(pictures)} JPEG files, expected {per_class}; unpack it again")
        found += [(path, label) for path in pictures]
    return found


def _validation(root: Path, names: list[str], test: int) -> list[tuple[Path, int]]:
    path = find(root / "val", ["val_annotations.txt"], "TinyImageNet")
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8", errors="replace").splitlines()]
    label = {name: k for k, name in enumerate(names)}
    found = [row[:2] for row in rows if len(row) >= 2 and re.fullmatch(r"val_\d+\.JPEG", row[0])]
    unknown = [name for _, name in found if name not in label]
    if len(found) != test or len(rows) != test or unknown:
        raise damaged(path, f"expected {test} lines, each a picture and one of the classes {unknown[:1]}")
    return [(root / "val" / "images" / picture, label[name]) for picture, name in found]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: this picture is missing; unpack the archive again") from None


def _decode(paths: tuple[Path, ...], target: Path, shape: tuple[int, ...]) -> None:
    """Write the pictures as one array, under a temporary name until it is whole."""
    draft = target.with_name(f".{target.name}.part")
    try:
        array = np.lib.format.open_memmap(draft, "w+", np.uint8, shape)
        for row, path in zip(array, paths, strict=True):
            row[:] = _picture(path)
        array.flush()
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def _picture(path: Path) -> np.ndarray:
    from PIL import Image

    head(path)
    try:
        with Image.open(path, formats=["JPEG"]) as picture:
            size = picture.size  # known before anything is decoded
            pixels = np.asarray(picture.convert("RGB")) if size == (64, 64) else None
    except (OSError, SyntaxError, ValueError) as error:
        raise damaged(path, f"not a complete JPEG file ({error})") from error
    if pixels is None:
        raise damaged(path, f"a picture of {size[0]} × {size[1]} pixels, expected 64 × 64")
    return pixels
