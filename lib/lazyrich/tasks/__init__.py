"""Data: real images that travel with the book, targets on the circle."""

from lazyrich.tasks.circle import Circle, fourier_target
from lazyrich.tasks.embedded import Images, inputs, load, targets

__all__ = ["Circle", "Images", "fourier_target", "inputs", "load", "targets"]
