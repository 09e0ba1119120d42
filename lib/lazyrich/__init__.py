"""lazyrich: the theory of lazy and rich training of neural networks, made executable.

Importing this package imports no JAX and changes nothing in the process. Call
``lazyrich.device.setup()`` before JAX is imported to run under the book's precision policy.
"""

__version__ = "0.1.0"
