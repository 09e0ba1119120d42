"""The image data sets that a chapter can be run on, under one name each and in one form."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.tree_util import Partial
from jaxtyping import Float

from lazyrich.tasks import embedded, in_parts, own_files
from lazyrich.tasks.stream import image_stream
from lazyrich.tasks.windows import Windows


@dataclass(frozen=True, eq=False)
class Dataset:
    """Flat standardised inputs and centred one-hot targets, float32, with a source of batches."""

    x: Float[np.ndarray, "n pixels"]
    y: Float[np.ndarray, "n classes"]
    x_test: Float[np.ndarray, "m pixels"]
    y_test: Float[np.ndarray, "m classes"]
    side: int
    channels: int
    batches: Callable[..., Partial]  # (batch size, one_hot=True) → (key, step) → (inputs, targets)

    @property
    def classes(self) -> int:
        """Their number."""
        return self.y.shape[1]


DATASETS = (
    *("digits-stream", "mnist-stream", "mnist"),  # embedded; the last also from files
    *("fashion-mnist", "cifar10"),  # from files, into memory
    *("cifar5m", "mnist1m", "tiny-imagenet"),  # from files, streamed
)
MNIST1M_MEAN, MNIST1M_DEVIATION = 0.1307, 0.3081  # as their authors use
IN_MEMORY = 10_000  # images of a streamed set, unless a limit is given


def open_dataset(
    name: str, folder: str | Path = "", limit: int | None = None, *, setting: str = "mild"
) -> Dataset:
    """A data set by its name; see ``DATASETS``.

    Args:
        name: ``digits-stream`` (8×8), ``mnist-stream`` (28×28) deform the embedded images without end,
            ``x`` and ``x_test`` being the real ones; ``mnist`` is the embedded subset, or the full files
            when ``folder`` is given; all others are read from ``folder``. ``cifar5m``, ``mnist1m`` and
            ``tiny-imagenet`` stay on disk; of the first two the last part is the test set.
        folder: where the reader's own files lie.
        limit: at most so many training and test images are read into memory. None is all, of the sets
            that stay on disk 10,000. Batches of those come from all their files nevertheless.
        setting: of `image_stream`.

    A stream's batches are fresh images, those of a set in memory are drawn with replacement, those of a
    set on disk come in shuffled order, each image once an epoch (`lazyrich.tasks.windows`); step t of all
    is a pure function of the key and t. Targets are one-hot minus 1/classes, with ``one_hot=False`` labels.

    Raises ValueError for an unknown name, a limit below 1, or a set on disk without a folder, and the
    errors of `lazyrich.tasks.own_files` and `in_parts` for bad files.

    >>> data = open_dataset("digits-stream")
    >>> data.x.shape, data.batches(32)(jax.random.key(0), 0)[0].shape
    ((1347, 64), (32, 64))
    """
    if name not in DATASETS:
        raise ValueError(f"dataset = {name!r}: expected one of {DATASETS}")
    if limit is not None and limit < 1:
        raise ValueError(f"limit = {limit}: expected at least 1")
    if name not in DATASETS[:3] and not str(folder):
        raise ValueError(f"dataset = {name!r} needs the folder with its files; it is too large to embed")
    classes = 200 if name == "tiny-imagenet" else 10
    parts = _parts(name, folder) if name in DATASETS[5:] else None
    if parts:
        train, test = (_first(part, limit or IN_MEMORY) for part in parts)
    else:
        train, test = (embedded.Images(*(a[:limit] for a in part)) for part in _read(name, folder))
    if name == "mnist1m":
        mean, deviation = MNIST1M_MEAN, MNIST1M_DEVIATION
        inputs = lambda images: ((images - mean) / deviation).reshape(len(images), -1)
    else:
        mean, deviation = float(train.images.mean()), float(train.images.std())
        inputs = lambda images: embedded.inputs(images, train.images)
    scale = jnp.float32(mean), jnp.float32(deviation)
    if name.endswith("-stream"):
        batches = lambda batch, one_hot=True: image_stream(*train, batch, setting, one_hot=one_hot)
    elif parts:
        windows = Windows(parts[0])
        batches = lambda batch, one_hot=True: Partial(_OnDisk(batch, classes, one_hot, windows), *scale)
    else:
        arrays = [jnp.asarray(a) for a in train]
        batches = lambda batch, one_hot=True: Partial(_Sample(batch, classes, one_hot), *arrays, *scale)
    return Dataset(
        x=inputs(train.images),
        y=embedded.targets(train.labels, classes),
        x_test=inputs(test.images),
        y_test=embedded.targets(test.labels, classes),
        side=train.images.shape[1],
        channels=train.images.shape[3] if train.images.ndim == 4 else 1,
        batches=batches,
    )


def _read(name: str, folder: str | Path) -> list[embedded.Images]:
    """Training and test set, whole."""
    splits = ("train", "test")
    if name == "cifar10":
        return [own_files.cifar10_files(folder, split) for split in splits]
    if name in own_files.IDX_SHA256 and str(folder):
        return [own_files.mnist_files(folder, split, name) for split in splits]
    return [embedded.load(name.removesuffix("-stream"), split) for split in splits]


def _parts(name: str, folder: str | Path) -> list[in_parts.Parts]:
    """Training and test set, mapped."""
    if name == "tiny-imagenet":
        return [in_parts.tiny_imagenet_files(folder, split) for split in ("train", "test")]
    parts = (in_parts.cifar5m_files if name == "cifar5m" else in_parts.mnist1m_files)(folder)
    return [parts[:-1], parts[-1:]]


def _first(parts: in_parts.Parts, limit: int) -> embedded.Images:
    """The first images of mapped parts, read no further than the limit; float32, about in [0, 1]."""
    images, labels = [], []
    for part, classes in parts:
        left = limit - sum(map(len, labels))
        images.append(_unit(np.array(part[:left])))
        labels.append(classes[:left])
    return embedded.Images(np.concatenate(images), np.concatenate(labels))


def _unit(images):
    """Bytes over 255, as float32; what is floating stays as it is. NumPy or JAX."""
    scale = 255 if images.dtype == np.uint8 else 1
    return images.astype(np.float32) / np.float32(scale)


@dataclass(frozen=True)
class _Targets:
    """What functions that give batches have in common; equal fields are equal functions, compiled once."""

    batch: int
    classes: int
    one_hot: bool

    def targets(self, labels: Array) -> Array:
        if not self.one_hot:
            return labels
        return jax.nn.one_hot(labels, self.classes, dtype=jnp.float32) - 1 / self.classes


@dataclass(frozen=True)
class _Sample(_Targets):
    """Draws from a set in memory, with replacement."""

    def __call__(
        self, images: Array, labels: Array, mean: Array, deviation: Array, key: Array, step: Array | int
    ) -> tuple[Array, Array]:
        index = jax.random.randint(jax.random.fold_in(key, step), (self.batch,), 0, len(labels), jnp.int32)
        x = images[index].reshape(self.batch, -1)
        return (x - mean) / deviation, self.targets(labels[index])


@dataclass(frozen=True)
class _OnDisk(_Targets):
    """Asks the host for the samples of step t, in the order that the key decides."""

    windows: Windows

    def __call__(self, mean: Array, deviation: Array, key: Array, step: Array | int) -> tuple[Array, Array]:
        image = self.windows.parts[0][0][0]
        dtype = np.uint8 if image.dtype == np.uint8 else np.float32
        shapes = (
            jax.ShapeDtypeStruct((self.batch, image.size), dtype),
            jax.ShapeDtypeStruct((self.batch,), jnp.int32),
        )
        images, labels = jax.pure_callback(
            self._host, shapes, jax.random.key_data(key), step, vmap_method="sequential"
        )
        return (_unit(images) - mean) / deviation, self.targets(labels)

    def _host(self, key, step) -> tuple[np.ndarray, np.ndarray]:
        seed, start = tuple(np.asarray(key).tolist()), int(step) * self.batch
        images, labels = self.windows.read(seed, start, self.batch)
        return images if images.dtype == np.uint8 else images.astype(np.float32), labels
