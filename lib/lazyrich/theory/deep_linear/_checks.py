"""Refuse bad input before anything is computed, naming parameter, value and allowed range."""

import math

import numpy as np


def within(name, value, low, high=math.inf, *, closed=False):
    """`value` as float64 if all of it is finite and in (low, high), or in [low, high] if closed."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.asarray(math.nan)
    inside = (low <= array) & (array <= high) if closed else (low < array) & (array < high)
    if array.size == 0 or not np.all(inside & np.isfinite(array)):
        bounds = f"[{low:g}, {high:g}]" if closed else f"({low:g}, {high:g})"
        raise ValueError(f"{name} = {value!r}: expected finite numbers in {bounds}")
    return array


def whole(name, value, low):
    """`value` as an int if it is one, at least `low`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
        raise ValueError(f"{name} = {value!r}: expected an integer in [{low}, inf)")
    return int(value)


def choice(name, value, allowed):
    if value not in allowed:
        raise ValueError(f"{name} = {value!r}: expected one of {', '.join(allowed)}")
    return value
