"""One place for how close two computations of the same number must come."""

import jax
import numpy as np


def tol(dtype_or_array, factor: float = 1.0) -> float:
    """Relative tolerance of a dtype (or of an array's): eps^(3/4), four times that on a GPU.

    float32: 6e-6, float64: 2e-12, each times `factor`.
    """
    dtype = np.dtype(getattr(dtype_or_array, "dtype", dtype_or_array))
    device = 1.0 if jax.default_backend() == "cpu" else 4.0
    return factor * device * float(np.finfo(dtype).eps) ** 0.75
