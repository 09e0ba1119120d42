"""Typed parameters of a chapter: declared once, coerced, checked, and refused by name.

A chapter's type is a frozen dataclass derived from `Checked`, in a module of its own (`ch01`, …)
free of jax. Its fields are declared with `parameter`; its defaults are the laptop preset.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import Field, asdict, dataclass, field, fields
from difflib import get_close_matches
from importlib import import_module
from numbers import Integral, Real
from pathlib import Path
from types import NoneType
from typing import get_args, get_origin

import yaml

__all__ = ["Checked", "ParameterError", "names", "of_chapter", "parameter", "read"]


class ParameterError(ValueError):
    """A parameter's name, type or value is not one the chapter takes."""


def parameter(
    default,
    help: str,
    *,
    low: float | None = None,
    high: float | None = None,
    exclusive: str = "",
    choices: tuple = (),
):
    """Declare one field: its default, what it means, and what it may be.

    `exclusive` names the ends that do not belong to the range: "low", "high" or "low high". Without
    a bound a number is any finite one; only `high=math.inf` (inclusive) lets infinity in.
    Bounds and choices of a list hold for each of its elements, and a list is never empty.
    """
    metadata = {"help": help, "low": low, "high": high, "exclusive": exclusive.split(), "choices": choices}
    return field(default=default, metadata=metadata)


@dataclass(frozen=True)
class Checked:
    """Base of every chapter's parameters: a value is coerced and checked when the object is made."""

    def __post_init__(self):
        for declared in fields(self):
            value = _coerce(declared, declared.type, getattr(self, declared.name))
            object.__setattr__(self, declared.name, value)

    def memory(self) -> dict[str, float]:
        """Bytes that a run needs at its peak, for each parameter that can make it large."""
        return {}


def names(cls: type[Checked]) -> list[str]:
    """The parameters' names, in the order of the parameters cell."""
    return [declared.name for declared in fields(cls)]


def of_chapter(stem: str) -> type[Checked]:
    """The parameter type of a chapter, by the number its file name starts with."""
    number = stem[:2]
    try:
        return import_module(f"{__name__}.ch{number}").Parameters
    except ModuleNotFoundError as error:
        raise ParameterError(f"chapter {stem!r} has no parameter type (no {__name__}.ch{number})") from error


def read(cls: type[Checked], values: Mapping, strict: bool = False) -> Checked:
    """Parameters from a mapping: a notebook's `globals()`, or, strictly, a preset or a command line.

    Every declared parameter must be there; with `strict`, nothing else may be.
    Raises ParameterError (a ValueError) that names the parameter, the value and what is allowed.
    """
    known = names(cls)
    if strict:
        for name in values:
            if name not in known:
                raise ParameterError(f"unknown parameter {name!r}{suggest(name, known)}")
    for name in known:
        if name not in values:
            raise ParameterError(f"parameter {name} is missing: expected {allowed(cls, name)}")
    return cls(**{name: values[name] for name in known})


def allowed(cls: type[Checked], name: str) -> str:
    """What a parameter may be, in words, for a message or a table."""
    declared = {declared.name: declared for declared in fields(cls)}[name]
    return _allowed(declared, declared.type)


def suggest(name: str, known) -> str:
    """The end of a message on an unknown name: the nearest known one, and all of them."""
    near = get_close_matches(name, known, n=1, cutoff=0.5)
    return (f"; did you mean {near[0]}?" if near else ".") + f" Known: {', '.join(known)}"


def canonical(parameters: Checked) -> str:
    """One line of JSON that is equal for equal parameters, for hashing and storing."""
    return json.dumps(asdict(parameters), sort_keys=True)


def preset_values(path: Path) -> dict:
    """The names and values in a preset file.

    Raises ParameterError, naming the file, when it is not YAML or not a mapping.
    """
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ParameterError(f"{path}: not a YAML file ({' '.join(str(error).split())})") from error
    if not isinstance(values, dict) or not all(isinstance(name, str) for name in values):
        raise ParameterError(f"{path}: expected one 'name: value' a line")
    return values


def _coerce(declared: Field, kind, value):
    """`value` as the declared type, inside the declared range. Strings are read as their text says,
    because a command line has nothing else and YAML takes 1e-3 for a string."""
    if get_origin(kind) is tuple:
        element = get_args(kind)[0]
        if isinstance(value, str):
            try:
                value = yaml.safe_load(value)
            except yaml.YAMLError:
                raise _refusal(declared, value) from None
        if not isinstance(value, list | tuple) or not value:
            raise _refusal(declared, value)
        return tuple(_coerce(declared, element, one) for one in value)
    if NoneType in get_args(kind):
        if value is None or value in ("null", "None"):
            return None
        kind = get_args(kind)[0]
    try:
        read_value = READERS[kind](value)
    except (ValueError, TypeError, OverflowError):
        raise _refusal(declared, value) from None
    if not _inside(declared.metadata, read_value):
        raise _refusal(declared, value)
    return read_value


def _inside(metadata: Mapping, value) -> bool:
    if metadata["choices"]:
        return value in metadata["choices"]
    if isinstance(value, bool | str):
        return True
    low, high, exclusive = metadata["low"], metadata["high"], metadata["exclusive"]
    if math.isnan(value) or (math.isinf(value) and value not in (low, high)):
        return False
    above = low is None or value > low or (value == low and "low" not in exclusive)
    below = high is None or value < high or (value == high and "high" not in exclusive)
    return above and below


def _refusal(declared: Field, value) -> ParameterError:
    return ParameterError(f"{declared.name} = {value!r}: expected {_allowed(declared, declared.type)}")


def _allowed(declared: Field, kind) -> str:
    if get_origin(kind) is tuple:
        return f"a list, each {_allowed(declared, get_args(kind)[0])}"
    if NoneType in get_args(kind):
        return f"{_allowed(declared, get_args(kind)[0])}, or null"
    m = declared.metadata
    if m["choices"]:
        return f"one of {', '.join(map(str, m['choices']))}"
    if kind in (bool, str):
        return {bool: "true or false", str: "a text"}[kind]
    number = {int: "an integer", float: "a number"}[kind]
    if m["low"] is None and m["high"] is None:
        return number
    opening = "(" if m["low"] is None or "low" in m["exclusive"] else "["
    closing = ")" if m["high"] is None or "high" in m["exclusive"] else "]"
    low = "-∞" if m["low"] is None else f"{m['low']:g}"
    high = "∞" if m["high"] in (None, math.inf) else f"{m['high']:g}"
    return f"{number} in {opening}{low}, {high}{closing}"


def _bool(value) -> bool:
    if isinstance(value, str):
        value = {"true": True, "false": False}.get(value.lower())
    if not isinstance(value, bool):
        raise TypeError
    return value


def _int(value) -> int:
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            value = float(value)
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError
    if not isinstance(value, Integral) and not float(value).is_integer():
        raise ValueError
    return int(value)


def _float(value) -> float:
    if isinstance(value, bool) or not isinstance(value, Real | str):
        raise TypeError
    return float(value)


def _str(value) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


READERS = {bool: _bool, int: _int, float: _float, str: _str}
