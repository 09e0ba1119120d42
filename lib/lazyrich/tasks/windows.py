"""Data too large for memory, in an order that is shuffled and yet read in long pieces.

Each epoch permutes blocks of consecutive samples, then the samples within every window of a few blocks:
a pure function of the seed and the epoch, in which every sample comes once. A window is read block by
block from the mapped files, and only the last windows stay in memory.
"""

from functools import lru_cache

import numpy as np
from jaxtyping import Int

from lazyrich.tasks.in_parts import Parts
from lazyrich.tasks.mapped import forget

BLOCK, BLOCKS = 256, 8  # samples of a block, blocks of a window
KEEP = 8  # windows in memory; each seed that has its own order needs two


def window(
    length: int, seed: tuple[int, ...], epoch: int, index: int, block: int = BLOCK, blocks: int = BLOCKS
) -> tuple[list[tuple[int, int]], Int[np.ndarray, "samples"]]:
    """The index-th window of an epoch: the pieces (start, stop) to read, and a permutation of what they hold.

    The last block of the data may be short and then comes last; all other windows have block · blocks
    samples.

    >>> pieces, order = window(10, (0,), epoch=0, index=1, block=2, blocks=2)
    >>> len(pieces), sorted(order.tolist())
    (2, [0, 1, 2, 3])
    """
    chosen = _blocks(length, seed, epoch, block)[index * blocks : (index + 1) * blocks]
    pieces = [(int(b) * block, min((int(b) + 1) * block, length)) for b in chosen]
    count = sum(stop - start for start, stop in pieces)
    return pieces, np.random.default_rng([*seed, epoch, 1 + index]).permutation(count)


@lru_cache(maxsize=4 * KEEP)
def _blocks(length: int, seed: tuple[int, ...], epoch: int, block: int) -> np.ndarray:
    order = np.random.default_rng([*seed, epoch, 0]).permutation(length // block)
    return np.append(order, length // block) if length % block else order


class Windows:
    """The samples of mapped parts in shuffled order, without end.

    Args:
        parts: pairs (images, labels); together they are rows 0 … length − 1.
        block, blocks: of `window`.

    >>> parts = [(np.arange(6.0).reshape(3, 2), np.arange(3)), (np.ones((2, 2)), np.arange(2))]
    >>> images, labels = Windows(parts).read((0,), start=0, count=5)
    >>> sorted(labels.tolist())
    [0, 0, 1, 1, 2]
    """

    def __init__(self, parts: Parts, block: int = BLOCK, blocks: int = BLOCKS):
        self.parts, self.block, self.blocks = parts, block, blocks
        self.ends = np.cumsum([len(labels) for _, labels in parts]).tolist()
        self.length = self.ends[-1]
        self._window = lru_cache(maxsize=KEEP)(self._load)

    def read(self, seed: tuple[int, ...], start: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Samples start … start + count − 1 of the endless order of a seed: flat images and labels."""
        images, labels = [], []
        while count:
            epoch, place = divmod(start, self.length)
            index, offset = divmod(place, self.block * self.blocks)
            here = [a[offset : offset + count] for a in self._window(seed, epoch, index)]
            images.append(here[0])
            labels.append(here[1])
            start, count = start + len(here[1]), count - len(here[1])
        return np.concatenate(images), np.concatenate(labels)

    def _load(self, seed: tuple[int, ...], epoch: int, index: int) -> tuple[np.ndarray, np.ndarray]:
        pieces, order = window(self.length, seed, epoch, index, self.block, self.blocks)
        copies = [copy for piece in pieces for copy in self._copies(*piece)]
        images, labels = (np.concatenate(column) for column in zip(*copies, strict=True))
        for part, _ in self.parts:
            forget(part)
        return images[order], labels[order]

    def _copies(self, start: int, stop: int):
        """Consecutive rows, from each part that they lie in."""
        for (images, labels), end in zip(self.parts, self.ends, strict=True):
            begin = end - len(labels)
            low, high = max(start, begin) - begin, min(stop, end) - begin
            if low < high:
                yield np.array(images[low:high]).reshape(high - low, -1), labels[low:high]
