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

from lazyrich.tasks import embedded, own_files
from lazyrich.tasks.stream import image_stream


@dataclass(frozen=True, eq=False)
class Dataset:
    """Flat standardised inputs and centred one-hot targets, float32, with a source of batches."""

    x: Float[np.ndarray, "n pixels"]
    y: Float[np.ndarray, "n 10"]
    x_test: Float[np.ndarray, "m pixels"]
    y_test: Float[np.ndarray, "m 10"]
    side: int
    channels: int
    batches: Callable[[int], Partial]  # batch size → (key, step) → (inputs, targets)


DATASETS = ("digits-stream", "mnist-stream", "mnist", "cifar10", "cifar5m")


def open_dataset(name: str, folder: str | Path = "", limit: int | None = None) -> Dataset:
    """A data set by its name; see ``DATASETS``.

    Args:
        name: ``digits-stream`` (8×8), ``mnist-stream`` (28×28) deform the embedded images without end,
            ``x`` and ``x_test`` being the real ones; ``mnist`` is the embedded subset, or the full files
            when ``folder`` is given; ``cifar10`` and ``cifar5m`` are read from ``folder``, of CIFAR-5M
            the last part being the test set.
        folder: where the reader's own files lie.
        limit: at most so many training and test images are read into memory.

    Batches of a fixed set are drawn with replacement.

    Raises ValueError for an unknown name, a limit below 1, or CIFAR without a folder, and the errors of
    `lazyrich.tasks.own_files` for bad files.

    >>> data = open_dataset("digits-stream")
    >>> data.x.shape, data.batches(32)(jax.random.key(0), 0)[0].shape
    ((1347, 64), (32, 64))
    """
    if name not in DATASETS:
        raise ValueError(f"dataset = {name!r}: expected one of {DATASETS}")
    if limit is not None and limit < 1:
        raise ValueError(f"limit = {limit}: expected at least 1")
    if name.startswith("cifar") and not str(folder):
        raise ValueError(f"dataset = {name!r} needs the folder with its files; it is too large to embed")
    train, test = (embedded.Images(*(a[:limit] for a in part)) for part in _read(name, folder, limit))
    mean, deviation = float(train.images.mean()), float(train.images.std())
    if name.endswith("-stream"):
        batches = lambda batch: image_stream(*train, batch=batch)
    else:
        batches = lambda batch: Partial(
            _Sample(batch), *map(jnp.asarray, train), jnp.float32(mean), jnp.float32(deviation)
        )
    return Dataset(
        x=embedded.inputs(train.images),
        y=embedded.targets(train.labels),
        x_test=embedded.inputs(test.images, train.images),
        y_test=embedded.targets(test.labels),
        side=train.images.shape[1],
        channels=train.images.shape[3] if train.images.ndim == 4 else 1,
        batches=batches,
    )


def _read(name: str, folder: str | Path, limit: int | None) -> list[embedded.Images]:
    if name == "cifar5m":
        parts = own_files.cifar5m_files(folder)
        train, test = _concatenated(parts[:-1], limit), _concatenated(parts[-1:], limit)
        return [train, test]
    if name == "cifar10":
        return [own_files.cifar10_files(folder, split) for split in ("train", "test")]
    if name == "mnist" and str(folder):
        return [own_files.mnist_files(folder, split) for split in ("train", "test")]
    return [embedded.load(name.removesuffix("-stream"), split) for split in ("train", "test")]


def _concatenated(parts: list[tuple[np.ndarray, np.ndarray]], limit: int | None) -> embedded.Images:
    """The first images of mapped parts, read no further than the limit; float32 in [0, 1]."""
    images, labels, left = [], [], limit
    for part, classes in parts:
        images.append(np.asarray(part[:left], np.float32) / np.float32(255))
        labels.append(np.asarray(classes[:left], np.int32))
        left = None if left is None else left - len(images[-1])
        if left == 0:
            break
    return embedded.Images(np.concatenate(images), np.concatenate(labels))


@dataclass(frozen=True)
class _Sample:
    """Draws from a fixed set, with replacement; equal batch sizes are equal functions."""

    batch: int

    def __call__(
        self, images: Array, labels: Array, mean: Array, deviation: Array, key: Array, step: Array | int
    ) -> tuple[Array, Array]:
        index = jax.random.randint(jax.random.fold_in(key, step), (self.batch,), 0, len(labels), jnp.int32)
        x = images[index].reshape(self.batch, -1)
        return (x - mean) / deviation, jax.nn.one_hot(labels[index], 10, dtype=jnp.float32) - 0.1
