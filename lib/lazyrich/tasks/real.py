"""Real input by name: what a network is trained on and what its kernel is measured on, in one place."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.tree_util import Partial
from jax.typing import ArrayLike
from jaxtyping import Float

from lazyrich.tasks import own_files
from lazyrich.tasks.embedded import load
from lazyrich.tasks.stream import image_stream

EMBEDDED = ("digits-stream", "mnist-stream", "mnist")
OWN = ("cifar10", "cifar5m")
SPLITS = ("train", "test")


@dataclass(frozen=True, eq=False)
class RealInput:
    """Images of one data set, standardised by the mean and deviation of its training pixels.

    ``endless``: every sample is fresh; otherwise the images come round again after an epoch.
    ``side``, ``channels``: inputs are flat, side · side · channels, channels last.
    """

    name: str
    side: int
    channels: int
    endless: bool
    pools: dict[str, tuple[np.ndarray, np.ndarray]]  # split → (images, labels)
    scale: tuple[float, float]  # mean and deviation, in the units of the pools

    def batches(self, batch: int, split: str = "train") -> Callable:
        """A function (key, step) → (inputs, one-hot − 0.1) for `lazyrich.training.train`.

        Fixed images are read in one shuffled order that starts where the key says: no image twice before
        all were seen.

        Raises ValueError for another split or a batch below 1.
        """
        images, labels = self._pool(split)
        mean, deviation = self.scale
        if self.endless:
            return image_stream(images, labels, batch, mean=mean, deviation=deviation)
        if batch < 1:
            raise ValueError(f"batch = {batch}: expected at least 1")
        order = np.random.default_rng(0).permutation(len(labels))
        arrays = jnp.asarray(images[order].reshape(len(labels), -1)), jnp.asarray(labels[order], jnp.int32)
        return Partial(_Rows(batch), *arrays, jnp.float32(mean), jnp.float32(deviation))

    def sample(
        self, count: int, seed: int, split: str = "train"
    ) -> tuple[Float[np.ndarray, "n pixels"], Float[np.ndarray, "n 10"]]:
        """Inputs and targets (one-hot − 0.1), float64: fresh ones of a stream, distinct ones of fixed images.

        Raises ValueError for another split or more images than there are.
        """
        images, labels = self._pool(split)
        if self.endless:
            x, y = self.batches(count, split)(jax.random.key(seed), 0)
            return np.asarray(x, np.float64), np.asarray(y, np.float64)
        if not 1 <= count <= len(labels):
            raise ValueError(f"count = {count}: {self.name} has {len(labels)} {split} images")
        rows = np.sort(np.random.default_rng(seed).choice(len(labels), count, replace=False))
        mean, deviation = self.scale
        x = (images[rows].reshape(count, -1).astype(np.float64) - mean) / deviation
        return x, np.eye(10)[labels[rows]] - 0.1

    def _pool(self, split: str) -> tuple[np.ndarray, np.ndarray]:
        if split not in SPLITS:
            raise ValueError(f"split = {split!r}: expected one of {SPLITS}")
        return self.pools[split]


def real_input(name: str, folder: str | Path = "", most: int = 400_000) -> RealInput:
    """Open a data set.

    Args:
        name: ``"digits-stream"``, ``"mnist-stream"`` (endless, deformed), ``"mnist"`` (the embedded subset),
            or ``"cifar10"``, ``"cifar5m"`` from the reader's own files.
        folder: where those lie.
        most: images of CIFAR-5M to read into memory, in the order of its files; 3 kB each.

    Raises ValueError for an unknown name or own files without a folder, and what the file readers raise.

    >>> data = real_input("digits-stream")
    >>> x, y = data.sample(32, seed=0)
    >>> x.shape, y.shape, data.endless
    ((32, 64), (32, 10), True)
    """
    if name not in EMBEDDED + OWN:
        raise ValueError(f"name = {name!r}: expected one of {', '.join(EMBEDDED + OWN)}")
    if name in OWN and not str(folder):
        raise ValueError(f"data_folder = '': {name} is not embedded; say where your files lie")
    if name == "cifar5m":
        pools = {"train": _cifar5m(folder, range(5), most), "test": _cifar5m(folder, [5], 10_000)}
    elif name == "cifar10":
        pools = {split: tuple(own_files.cifar10_files(folder, split)) for split in SPLITS}
    else:
        pools = {split: tuple(load(name.removesuffix("-stream"), split)) for split in SPLITS}
    images = pools["train"][0]
    some = images[:50_000]
    return RealInput(
        name,
        side=images.shape[1],
        channels=images.shape[3] if images.ndim == 4 else 1,
        endless=name.endswith("-stream"),
        pools=pools,
        scale=(float(some.mean(dtype=np.float64)), float(some.std(dtype=np.float64))),
    )


def _cifar5m(folder, parts, most: int) -> tuple[np.ndarray, np.ndarray]:
    """The first `most` images of some parts, opened one after the other, as uint8."""
    found, missing = [], most
    for part in parts:
        if missing > 0:
            ((images, labels),) = own_files.cifar5m_files(folder, (part,))
            found.append((np.asarray(images[:missing]), np.asarray(labels[:missing], np.int32)))
            missing -= len(found[-1][1])
    return tuple(np.concatenate(column) for column in zip(*found, strict=True))


@dataclass(frozen=True)
class _Rows:
    """Consecutive rows of fixed arrays. Equal settings are equal functions, so a program is compiled once."""

    batch: int

    def __call__(
        self, images: Array, labels: Array, mean: Array, deviation: Array, key: Array, step: ArrayLike
    ):
        start = jax.random.randint(key, (), 0, len(labels), jnp.int32)
        rows = (start + jnp.int32(self.batch) * step + jnp.arange(self.batch, dtype=jnp.int32)) % len(labels)
        x = (images[rows].astype(jnp.float32) - mean) / deviation
        return x, jax.nn.one_hot(labels[rows], 10, dtype=jnp.float32) - 0.1
