"""The small real images that travel with the book: 8×8 digits and a subset of MNIST."""

import io
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from lazyrich import files

DIGITS_TEST = 450  # the last ones: written by people who wrote none of the others
FILES = {
    ("digits", "train"): "digits8x8.npz",
    ("digits", "test"): "digits8x8.npz",
    ("mnist", "train"): "mnist5k_train.npz",
    ("mnist", "test"): "mnist1k_test.npz",
}


class Images(NamedTuple):
    """Images and their classes."""

    images: Float[np.ndarray, "n side side *channels"]  # float32 in [0, 1]; colours last
    labels: Int[np.ndarray, "n"]  # int32 in 0…9


def load(name: str, split: str = "train", side: int | None = None) -> Images:
    """Embedded images, compared with their checksum first.

    Args:
        name: ``"digits"`` (8×8; 1,347 train, 450 test) or ``"mnist"`` (28×28; 5,000 train, 1,000 test,
            the same number of each class).
        split: ``"train"`` or ``"test"``. The test digits were written by other people; MNIST's are
            from its own test set.
        side: 16 pads 28×28 images to 32×32 and averages 2×2; None keeps the side.

    MNIST comes in one fixed shuffled order, so that the first n are a subset of all classes.

    Raises:
        ValueError: unknown name, split or side.
        FileNotFoundError: the file is missing.
        OSError: the file was truncated or changed; the message names it and says what to do.

    >>> load("digits", "test").images.shape
    (450, 8, 8)
    """
    if (name, split) not in FILES:
        raise ValueError(f"name, split = {name!r}, {split!r}: expected one of {sorted(FILES)}")
    images, labels = _read(FILES[name, split])
    if name == "digits":
        part = slice(-DIGITS_TEST, None) if split == "test" else slice(None, -DIGITS_TEST)
        images, labels = images[part] / np.float32(16), labels[part]
    else:
        order = np.random.default_rng(0).permutation(len(labels))
        images, labels = images[order] / np.float32(255), labels[order]
    if side == 16 and images.shape[1] == 28:
        images = halve(images)
    elif side not in (None, images.shape[1]):
        raise ValueError(f"side = {side}: {name} has {images.shape[1]}" + " or 16" * (name == "mnist"))
    return Images(images.astype(np.float32), labels.astype(np.int32))


def halve(images: Float[np.ndarray, "n 28 28"]) -> Float[np.ndarray, "n 16 16"]:
    """28×28 to 16×16: two pixels of padding on each side, then the mean of every 2×2 square."""
    padded = np.pad(images, ((0, 0), (2, 2), (2, 2)))
    return padded.reshape(len(images), 16, 2, 16, 2).mean(axis=(2, 4))


def inputs(
    images: Float[np.ndarray, "n side side *channels"],
    reference: Float[np.ndarray, "m side side *channels"] | None = None,
) -> Float[np.ndarray, "n pixels"]:
    """Flat inputs, globally standardised: one mean and one deviation over all pixels of ``reference``.

    Test images take their training images as the reference; None takes the images themselves.

    >>> x = inputs(load("digits").images)
    >>> x.shape, abs(float(x.mean())) < 1e-6, round(float(x.std()), 5)
    ((1347, 64), True, 1.0)
    """
    reference = images if reference is None else reference
    mean, deviation = reference.mean(dtype=np.float64), reference.std(dtype=np.float64)
    return ((images - mean) / deviation).reshape(len(images), -1).astype(np.float32)


def targets(labels: Int[np.ndarray, "n"], classes: int = 10) -> Float[np.ndarray, "n classes"]:
    """One-hot minus 1/classes: centred over the classes, Σ_c y_c² = 1 − 1/classes.

    >>> targets(np.array([1]), classes=2)
    array([[-0.5,  0.5]], dtype=float32)
    """
    return (np.eye(classes)[labels] - 1 / classes).astype(np.float32)


def _read(name: str) -> tuple[np.ndarray, np.ndarray]:
    """The arrays of one file. Checked against SHA256SUMS before anything is unpacked."""
    path = files.data_path(name)
    sums = dict(line.split()[::-1] for line in files.data_path("SHA256SUMS").read_text().splitlines())
    content = path.read_bytes()
    if files.sha256(content) != sums.get(name):
        raise OSError(
            f"{path} is truncated or was changed ({len(content)} bytes, SHA-256 differs from SHA256SUMS): "
            f"restore it with `git checkout -- data/{name}`, or rebuild it with `python data/make_data.py`"
        )
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return arrays["images"], arrays["labels"]
