"""Refuse bad input before anything is computed, naming parameter, value and allowed range."""

import math

import numpy as np


def require(name, value, low, high=math.inf, *, low_open=False, integer=False):
    """Return `value` if it is a finite number in [low, high] (`low_open`: without low), else ValueError."""
    bracket = "(" if low_open else "["
    kind = "an integer" if integer else "a number"
    allowed = f"{kind} in {bracket}{low:g}, {high:g}{')' if math.isinf(high) else ']'}"
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} = {value!r}: expected {allowed}") from None
    below = number <= low if low_open else number < low
    if not math.isfinite(number) or below or number > high or (integer and number != int(number)):
        raise ValueError(f"{name} = {value!r}: expected {allowed}")
    return int(number) if integer else number


def require_times(times):
    """Return `times` as a float array if it is increasing, finite and not negative, else ValueError."""
    times = np.atleast_1d(np.asarray(times, dtype=np.float64))
    if times.ndim != 1 or times.size == 0:
        raise ValueError(f"times has shape {times.shape}: expected one non-empty axis")
    if not np.all(np.isfinite(times)) or times[0] < 0 or np.any(np.diff(times) <= 0):
        raise ValueError(f"times = {times}: expected finite, increasing values in [0, inf)")
    return times


def require_exponents(alpha, beta, gamma=0.0):
    """Check the three parameters of the model: α > 1 (a trace), β > 0 (a finite target), γ ≥ 0."""
    return (
        require("alpha", alpha, 1, 20, low_open=True),
        require("beta", beta, 0, 20, low_open=True),
        require("gamma", gamma, 0),
    )


def require_model(alpha, beta, gamma=0.0, width=None, batch=None, learning_rate=None):
    """Check a whole model; a batch without a learning rate has no meaning and is refused."""
    require_exponents(alpha, beta, gamma)
    if width is not None:
        require("width", width, 1)
    if batch is not None:
        require("batch", batch, 1)
        if learning_rate is None:
            raise ValueError(f"batch = {batch!r} needs a learning_rate: the noise is learning_rate / batch")
    if learning_rate is not None:
        require("learning_rate", learning_rate, 0, low_open=True)
