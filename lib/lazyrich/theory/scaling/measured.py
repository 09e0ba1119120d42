"""Lazy learning curves of a measured kernel: its eigenvalues and the target's power on them, no fit."""

import numpy as np

from .checks import require, require_times


def kernel_curve(eigenvalues, power, times, learning_rate=None, floor=0.0):
    """floor + Σ_k power_k e^(−2 h_k t), or floor + Σ_k power_k (1 − η h_k)^(2n) with t = ηn; shape (times,).

    eigenvalues: h of the kernel matrix divided by the number of samples, for the loss ½·mean whose gradient
    the network follows. power: squared coefficients of the target, divided by the number of samples, so
    that floor + Σ power is the initial mean squared error (no ½). times are moved to whole steps if a
    learning_rate is given; beyond 2/h_max the loss grows, up to inf.

    >>> kernel_curve([1.0, 0.1], [0.5, 0.5], [0.0, 1.0]).round(4)
    array([1.   , 0.477])
    """
    h, power = np.asarray(eigenvalues, np.float64), np.asarray(power, np.float64)
    if h.ndim != 1 or h.shape != power.shape:
        raise ValueError(f"eigenvalues has shape {h.shape}, power {power.shape}: expected one shape (modes,)")
    for name, values in (("eigenvalues", h), ("power", power)):
        if not np.all(np.isfinite(values)) or np.any(values < 0):
            raise ValueError(f"{name} has its least value {values.min()}: expected finite values in [0, inf)")
    times = require_times(times)
    if learning_rate is None:
        return floor + np.exp(-2 * np.multiply.outer(times, h)) @ power
    eta = require("learning_rate", learning_rate, 0, low_open=True)
    steps = np.rint(times / eta)
    with np.errstate(over="ignore", invalid="ignore"):
        return floor + np.abs(1 - eta * h) ** (2 * steps[:, None]) @ power
