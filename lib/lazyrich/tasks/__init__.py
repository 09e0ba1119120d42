"""Data: real images that travel with the book, streams made of them, targets on the circle."""

from lazyrich.tasks.circle import Circle, fourier_target
from lazyrich.tasks.embedded import Images, inputs, load, targets
from lazyrich.tasks.stream import image_stream

__all__ = ["Circle", "Images", "fourier_target", "image_stream", "inputs", "load", "targets"]
