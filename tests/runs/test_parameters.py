"""Parameters: coerced by declared type, held to their range, refused by name, value and range."""

import math
from dataclasses import FrozenInstanceError, dataclass, fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazyrich.runs.parameters import Checked, ParameterError, allowed, names, of_chapter, parameter, read


@dataclass(frozen=True)
class Sample(Checked):
    rate: float = parameter(0.1, "a rate", low=0, high=1, exclusive="low")
    count: int = parameter(3, "a count", low=1)
    time: float = parameter(1.0, "a time, infinite for the end", low=0, high=math.inf)
    free: float = parameter(0.0, "any number")
    flag: bool = parameter(False, "a switch")
    model: str = parameter("mlp", "a model", choices=("mlp", "cnn"))
    label: str = parameter("a", "a text")
    widths: tuple[int, ...] = parameter((8, 32), "widths", low=1)
    rates: tuple[float, ...] = parameter((0.1,), "rates", low=0)
    batch: int | None = parameter(None, "a batch, null for all", low=1)


ACCEPTED = [
    ("rate", "1e-3", 1e-3), ("rate", 1, 1.0), ("rate", np.float32(0.5), 0.5), ("rate", "0.25", 0.25),
    ("count", 3.0, 3), ("count", "7", 7), ("count", "2e3", 2000), ("count", np.int64(4), 4),
    ("time", "inf", math.inf), ("time", math.inf, math.inf), ("free", -1e300, -1e300),
    ("flag", "false", False), ("flag", "False", False), ("flag", "true", True), ("flag", True, True),
    ("model", "cnn", "cnn"), ("label", "1e-3", "1e-3"),
    ("widths", [64], (64,)), ("widths", "[1, 2]", (1, 2)), ("widths", (4.0, "5"), (4, 5)),
    ("rates", ["1e-3", 2], (1e-3, 2.0)), ("rates", "[1e-3]", (1e-3,)),
    ("batch", None, None), ("batch", "null", None), ("batch", "8", 8),
]  # fmt: skip

REFUSED = [
    ("rate", 0, "rate = 0: expected a number in (0, 1]"),
    ("rate", 1.5, "rate = 1.5: expected a number in (0, 1]"),
    ("rate", "fast", "rate = 'fast': expected a number in (0, 1]"),
    ("rate", True, "rate = True: expected a number in (0, 1]"),
    ("rate", None, "rate = None: expected a number in (0, 1]"),
    ("rate", [0.1], "rate = [0.1]: expected a number in (0, 1]"),
    ("rate", math.nan, "rate = nan: expected a number in (0, 1]"),
    ("count", 3.5, "count = 3.5: expected an integer in [1, ∞)"),
    ("count", "3.5", "count = '3.5': expected an integer in [1, ∞)"),
    ("count", "inf", "count = 'inf': expected an integer in [1, ∞)"),
    ("count", False, "count = False: expected an integer in [1, ∞)"),
    ("time", -1, "time = -1: expected a number in [0, ∞]"),
    ("time", math.nan, "time = nan: expected a number in [0, ∞]"),
    ("free", math.inf, "free = inf: expected a number"),
    ("free", "nan", "free = 'nan': expected a number"),
    ("flag", "yes", "flag = 'yes': expected true or false"),
    ("flag", 1, "flag = 1: expected true or false"),
    ("model", "mpl", "model = 'mpl': expected one of mlp, cnn"),
    ("label", 3, "label = 3: expected a text"),
    ("widths", 8, "widths = 8: expected a list, each an integer in [1, ∞)"),
    ("widths", [], "widths = []: expected a list, each an integer in [1, ∞)"),
    ("widths", [8, 0], "widths = 0: expected a list, each an integer in [1, ∞)"),
    ("widths", "[1, 2", "widths = '[1, 2': expected a list, each an integer in [1, ∞)"),
    ("widths", {8: 1}, "widths = {8: 1}: expected a list, each an integer in [1, ∞)"),
    ("batch", 0, "batch = 0: expected an integer in [1, ∞), or null"),
]


@pytest.mark.parametrize(("name", "value", "expected"), ACCEPTED)
def test_accepted(name, value, expected):
    found = getattr(Sample(**{name: value}), name)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(("name", "value", "message"), REFUSED)
def test_refused(name, value, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (the whole message is compared)
        Sample(**{name: value})
    assert str(caught.value) == message


def test_read_takes_a_notebook_s_globals():
    values = {declared.name: declared.default for declared in fields(Sample)}
    assert read(Sample, values | {"np": np, "__name__": "x", "rate": "0.5"}) == Sample(rate=0.5)


def test_a_missing_name_is_not_a_default():
    values = {name: 1 for name in names(Sample) if name != "rate"}
    with pytest.raises(ParameterError, match=r"parameter rate is missing: expected a number in \(0, 1\]"):
        read(Sample, values)


def test_strict_read_suggests_the_nearest_name():
    values = {declared.name: declared.default for declared in fields(Sample)}
    with pytest.raises(ParameterError, match="unknown parameter 'widht'; did you mean widths"):
        read(Sample, values | {"widht": [1]}, strict=True)
    with pytest.raises(ParameterError, match=r"unknown parameter 'zzz'\. Known: rate, count"):
        read(Sample, values | {"zzz": 1}, strict=True)


def test_frozen():
    with pytest.raises(FrozenInstanceError):
        Sample().rate = 0.5


def test_unknown_chapter_type():
    with pytest.raises(ParameterError, match="'99_none' has no parameter type"):
        of_chapter("99_none")


@given(st.floats())
def test_any_float_is_in_range_or_refused_with_the_range(value):
    if 0 < value <= 1:
        assert Sample(rate=value).rate == Sample(rate=repr(value)).rate == value
    else:
        with pytest.raises(ParameterError, match=r"rate = .*\(0, 1\]"):
            Sample(rate=value)


@given(st.integers(-(10**20), 10**20))
def test_any_integer_keeps_all_its_digits(value):
    if value >= 1:
        assert Sample(count=str(value)).count == Sample(count=value).count == value
    else:
        with pytest.raises(ParameterError, match=r"count = .*\[1, ∞\)"):
            Sample(count=value)


@given(
    st.none()
    | st.booleans()
    | st.binary()
    | st.complex_numbers()
    | st.lists(st.integers())
    | st.sets(st.text())
)
def test_no_other_object_is_a_number(value):
    with pytest.raises(ParameterError, match=r"count = "):
        Sample(count=value)


def test_allowed_says_the_range():
    assert allowed(of_chapter("01_scaling_laws"), "alpha") == "a number in [1.05, 10]"
