"""Data: real images that travel with the book or lie on disk, streams of them, and synthetic targets."""

from lazyrich.tasks.circle import Circle, fourier_target
from lazyrich.tasks.datasets import DATASETS, Dataset, open_dataset
from lazyrich.tasks.embedded import Images, inputs, load, targets
from lazyrich.tasks.single_index import index_stream
from lazyrich.tasks.stream import image_stream

__all__ = [
    "DATASETS",
    "Circle",
    "Dataset",
    "Images",
    "fourier_target",
    "image_stream",
    "index_stream",
    "inputs",
    "load",
    "open_dataset",
    "targets",
]
