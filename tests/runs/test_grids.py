"""Grids: ranges, log ranges and lists become checked values, and points named by their whole set."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazyrich.runs.grids import axes, name_of, points, words
from lazyrich.runs.parameters import Checked, ParameterError, parameter, read
from lazyrich.runs.parameters.ch01 import Parameters


@dataclass(frozen=True)
class Sample(Checked):
    rate: float = parameter(0.1, "a rate", low=0, high=1)
    count: int = parameter(3, "a count", low=1)
    flag: bool = parameter(False, "a switch")
    model: str = parameter("mlp", "a model", choices=("mlp", "cnn"))
    label: str = parameter("a", "a text")
    widths: tuple[int, ...] = parameter((8, 32), "widths", low=1)
    batch: int | None = parameter(None, "a batch, null for all", low=1)


ACCEPTED = [
    ("rate=0:1:3", [0.0, 0.5, 1.0]),
    ("rate=0.3:0.9:7", [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]),
    ("rate=1e-4:1:5log", [1e-4, 1e-3, 1e-2, 1e-1, 1.0]),
    ("rate=1e-3, 1,0.5", [1e-3, 1.0, 0.5]),
    ("rate=0.5", [0.5]),
    ("count=1:100:3log", [1, 10, 100]),
    ("count=2:8:4", [2, 4, 6, 8]),
    ("flag=true,false", [True, False]),
    ("model=cnn,mlp", ["cnn", "mlp"]),
    ("label=a:b:3,c", ["a:b:3", "c"]),
    ("widths=[8],[8, 16]", [(8,), (8, 16)]),
    ("batch=null,8", [None, 8]),
]


@pytest.mark.parametrize(("text", "expected"), ACCEPTED)
def test_accepted(text, expected):
    (found,) = axes(Sample(), [text]).values()
    assert found == expected
    assert [type(value) for value in found] == [type(value) for value in expected]


FORMS = "expected low:high:n, low:high:nlog or a list a,b,c"
REFUSED = [
    ("rate", f"--grid rate: expected rate= and {FORMS[9:]}"),
    ("rate=", f"--grid rate=: an empty value; {FORMS}, with a number in [0, 1]"),
    ("rate=0,,1", f"--grid rate=0,,1: an empty value; {FORMS}"),
    ("rate=0:1", "--grid rate=0:1: no range;"),
    ("rate=0:1:2:3", "no range"),
    ("rate=0:1:x", "no range"),
    ("rate=0:1:2.5", "no range"),
    ("rate=0:1:log", "no range"),
    ("rate=0:1:1", "n must be in [2, 10000]"),
    ("rate=0:1:-3", "n must be in [2, 10000]"),
    ("rate=0:1:99999999", "n must be in [2, 10000]"),
    ("rate=1:0:3", "a range must rise from one finite number to another"),
    ("rate=0:nan:3", "a range must rise"),
    ("rate=0:inf:3", "a range must rise"),
    ("rate=0:1:3log", "a log range must start above 0"),
    ("rate=0:2:3", "rate = 2.0: expected a number in [0, 1]"),
    ("rate=0.5,0.50", "0.5 stands twice, expected different values"),
    ("rate=fast", "rate = 'fast': expected a number in [0, 1]"),
    ("count=1:4:3", "count = 2.5: expected an integer in [1, ∞)"),
    ("model=mlp,vit", "model = 'vit': expected one of mlp, cnn"),
    ("model=1:3:3", "model = '1:3:3': expected one of mlp, cnn"),
    ("widths=8,16", "widths = 8: expected a list, each an integer in [1, ∞)"),
    ("rat=1", "unknown parameter 'rat'; did you mean rate?"),
    ("=1", "unknown parameter ''"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_refused(text, message):
    with pytest.raises(ParameterError) as caught:
        axes(Sample(), [text])
    assert message in str(caught.value)


def test_a_parameter_is_swept_once():
    with pytest.raises(ParameterError, match="rate is given twice, expected once"):
        axes(Sample(), ["rate=0,1", "rate=0:1:3"])


def test_too_many_points_are_counted_before_they_are_made():
    with pytest.raises(ParameterError, match="1000000 points in all, expected at most 10000"):
        axes(Sample(), ["rate=0:1:1000", "count=1:1000:1000"])


def test_points_are_the_product_named_by_their_full_set():
    swept = axes(Sample(), ["rate=0,1", "model=mlp,cnn"])
    found = points(Sample(count=7), swept)
    assert [(point.rate, point.model) for point in found.values()] == [
        (0, "mlp"), (0, "cnn"), (1, "mlp"), (1, "cnn"),
    ]  # fmt: skip
    assert {point.count for point in found.values()} == {7}
    assert len(set(found)) == 4
    assert set(found) == {name_of(point) for point in found.values()}
    assert set(found).isdisjoint(points(Sample(count=8), swept))


@given(st.floats(0.05, 10), st.floats(0, 1e6), st.integers(3, 100))
def test_the_command_line_s_words_mean_the_point_itself(beta, gamma, seeds):
    point = Parameters(beta=beta, gamma=gamma, seeds=seeds)
    values = {name: getattr(point, name) for name in ("alpha", "beta", "gamma", "seeds")}
    assert read(Parameters, vars(point) | words(values)) == point


@given(st.floats(0.01, 0.4), st.floats(0.5, 1), st.integers(2, 50))
def test_ranges_hold_both_ends_and_even_steps(low, high, n):
    found = np.array(axes(Sample(), [f"rate={low!r}:{high!r}:{n}"])["rate"])
    assert len(found) == n
    np.testing.assert_allclose(found[[0, -1]], [low, high], rtol=1e-11)
    np.testing.assert_allclose(np.diff(found), (high - low) / (n - 1), rtol=1e-7)
    logarithmic = np.array(axes(Sample(), [f"rate={low!r}:{high!r}:{n}log"])["rate"])
    np.testing.assert_allclose(np.diff(np.log(logarithmic)), np.log(high / low) / (n - 1), rtol=1e-7)
