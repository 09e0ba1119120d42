"""Grids of a sweep: `beta=0.3:0.9:7`, `gamma=1e-5:1e5:11log` or a list, `model=mlp,cnn`.

A range is low:high:n, both ends among its n values, evenly spaced, or by equal factors with `log`.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import numpy as np

from lazyrich.files import sha256

from .parameters import Checked, ParameterError, allowed, canonical, names, suggest

FORMS = "low:high:n, low:high:nlog or a list a,b,c"
MOST_POINTS = 10_000
OUTSIDE_BRACKETS = re.compile(r",(?![^\[]*\])")


def axes(base: Checked, texts: list[str]) -> dict[str, list]:
    """The swept parameters, name to checked values, of `name=range or list` texts.

    Raises ParameterError that names the parameter and what is allowed: for a name that the chapter does
    not have or that is given twice, for a malformed or repeating grid, for any value out of range, and
    for more than 10,000 points.

    >>> from .parameters.ch01 import Parameters
    >>> axes(Parameters(), ["beta=0.3:0.5:3", "gamma=1e-1:1e1:3log", "seeds=3,5"])
    {'beta': [0.3, 0.4, 0.5], 'gamma': [0.1, 1.0, 10.0], 'seeds': [3, 5]}
    """
    found: dict[str, list] = {}
    known = names(type(base))
    for text in texts:
        name, sign, values = text.partition("=")
        if name not in known:
            raise ParameterError(f"--grid {text}: unknown parameter {name!r}{suggest(name, known)}")
        if not sign:
            raise ParameterError(f"--grid {text}: expected {name}= and {FORMS}")
        if name in found:
            raise ParameterError(f"--grid {text}: {name} is given twice, expected once")
        found[name] = _checked(base, name, values)
        count = math.prod(map(len, found.values()))
        if count > MOST_POINTS:
            raise ParameterError(f"--grid {text}: {count} points in all, expected at most {MOST_POINTS}")
    return found


def points(base: Checked, swept: Mapping[str, list]) -> dict[str, Checked]:
    """Every point of the grid by its name, the hash of its full parameter set, the last axis fastest."""
    found = [replace(base, **dict(zip(swept, values, strict=True))) for values in product(*swept.values())]
    return {name_of(point): point for point in found}


def name_of(point: Checked) -> str:
    """The name of a point's folder: a hash of its full parameter set."""
    return sha256(canonical(point).encode())[:16]


def words(values: Mapping[str, object]) -> dict[str, str]:
    """Parameters, stored or not, as the texts that the command line takes for them, all digits kept.

    >>> words({"beta": 0.1, "widths": [8, 16], "batch": None})
    {'beta': '0.1', 'widths': '[8, 16]', 'batch': 'null'}
    """
    return {name: _text(value) for name, value in values.items()}


def _text(value) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_text, value))}]"
    return "null" if value is None else str(value)


def _checked(base: Checked, name: str, text: str) -> list:
    """The values of one axis, each as the declared type and inside its range."""
    found: dict[object, None] = {}
    for value in _values(base, name, text):
        value = getattr(replace(base, **{name: value}), name)  # making the object checks it
        if value in found:
            raise ParameterError(f"--grid {name}={text}: {value} stands twice, expected different values")
        found[value] = None
    return list(found)


def _values(base: Checked, name: str, text: str) -> list:
    numeric = isinstance(getattr(base, name), int | float) and not isinstance(getattr(base, name), bool)
    if ":" not in text or not numeric:
        values = [value.strip() for value in OUTSIDE_BRACKETS.split(text)]
        if "" in values:
            raise _malformed(base, name, text, "an empty value")
        return values
    try:
        low, high, count = text.split(":")
        low, high, n = float(low), float(high), int(count.removesuffix("log"))
    except ValueError:
        raise _malformed(base, name, text, "no range") from None
    logarithmic = count.endswith("log")
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise _malformed(base, name, text, "a range must rise from one finite number to another")
    if logarithmic and low <= 0:
        raise _malformed(base, name, text, "a log range must start above 0")
    if not 2 <= n <= MOST_POINTS:
        raise _malformed(base, name, text, f"n must be in [2, {MOST_POINTS}]")
    # Twelve digits, so that 0.3:0.9:7 holds 0.4 and not 0.39999999999999997.
    return [float(f"{value:.12g}") for value in (np.geomspace if logarithmic else np.linspace)(low, high, n)]


def _malformed(base: Checked, name: str, text: str, why: str) -> ParameterError:
    return ParameterError(f"--grid {name}={text}: {why}; expected {FORMS}, with {allowed(type(base), name)}")
