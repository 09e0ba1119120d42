"""A run against the committed ledger, and the gate that stops a run."""

import math

import pytest

from lazyrich.ledger import compare, counts, example_rows, failures, interval_text, markdown_table


def row(name="fl.x", measured=0.5, verdict="reproduced", **more):
    ends = {"low": measured - 0.02, "high": measured + 0.02}
    return {
        "id": name, "chapter": "01", "relation": "equals", "predicted": 0.5, "measured": measured, **ends,
        "allowance": 0.0, "tolerance": None, "verdict": verdict, "known": None, "seeds": 3,
    } | more  # fmt: skip


def status(after, before):
    (one,) = compare([after], [before]).rows
    return one.status


@pytest.mark.parametrize(
    ("after", "before", "expected"),
    [
        (row(), row(), "in agreement"),
        (row(measured=0.519), row(), "in agreement"),  # inside the committed interval
        (row(measured=0.521), row(), "number moved"),
        (row(measured=0.521, tolerance=0.05), row(), "in agreement"),
        (row(measured=0.501, tolerance=1e-4), row(), "number moved"),
        (row(verdict="differs"), row(), "verdict changed"),
        (row(verdict="differs"), row(verdict="differs"), "in agreement"),
        (row(measured=9.0, verdict="not supported by this preset"), row(), "not compared"),
        (row(measured=9.0, relation="greater"), row(relation="greater"), "in agreement"),
        (
            row(measured=math.inf, relation="greater"),
            row(measured=math.inf, relation="greater"),
            "in agreement",
        ),
        (
            row(measured=math.nan, verdict="differs"),
            row(measured=math.nan, verdict="differs"),
            "in agreement",
        ),
        (row(measured=math.nan, verdict="differs"), row(verdict="differs"), "number moved"),
    ],
)
def test_status(after, before, expected):
    assert status(after, before) == expected


def test_the_first_line_says_it_all_and_the_worst_comes_first():
    committed = [row("fl.a"), row("fl.b"), row("fl.gone"), row("ge.other", chapter="03"), row("custom.y")]
    result = compare([row("fl.a"), row("fl.b", verdict="differs"), row("fl.new"), row("custom.x")], committed)
    first, *below = str(result).split("\n")
    assert first == (
        "The run does not agree with the committed ledger: "
        "1 verdict changed, 1 missing from the run, 1 new, 1 in agreement."
    )
    assert [line.split(":")[0] for line in below] == ["fl.b", "fl.gone", "fl.new", "fl.a"]
    assert "0.500 [0.480, 0.520] reproduced → 0.500 [0.480, 0.520] differs" in below[0]
    assert not result.agrees
    assert compare([row()], [row()]).agrees


def test_the_gate():
    missed = row("fl.b", measured=0.6, verdict="differs")
    assert failures([row(), row("fl.u", verdict="not supported by this preset")]) == []
    assert len(failures([row(), missed, row("fl.c", verdict="inconclusive")])) == 2
    assert failures([missed | {"known": "too early"}]) == []
    assert failures([missed | {"id": "custom.b"}]) == []
    (reason,) = failures([missed | {"known": "too early"}], [row("fl.b", measured=0.6)])
    assert reason.startswith("fl.b: verdict changed")
    assert len(failures([row()], [row(), row("fl.gone")])) == 1


def test_example_rows_show_each_verdict():
    rows = example_rows()
    assert [one["verdict"] for one in rows] == [
        "reproduced", "reproduced", "differs", "inconclusive", "not supported by this preset",
    ]  # fmt: skip
    excused, wide = rows[1], rows[3]
    assert excused["high"] < excused["predicted"] <= excused["high"] + excused["allowance"]
    assert wide["low"] < wide["predicted"] < wide["high"]
    assert counts(rows) == {
        "reproduced": 2,
        "differs": 1,
        "inconclusive": 1,
        "not supported by this preset": 1,
    }
    assert len(markdown_table(rows).split("\n")) == 7


@pytest.mark.parametrize(
    ("ends", "text"),
    [
        ((None, None, None), "–"),
        ((0.5, 0.5, 0.5), "0.5"),
        ((-0.25, -0.26, -0.24), "−0.250 [−0.260, −0.240]"),
        ((3e-13, 1e-13, 5e-13), "3e−13 [1e−13, 5e−13]"),
        ((math.inf, math.inf, math.inf), "∞"),
        ((1.0, -math.inf, math.inf), "1 [−∞, ∞]"),
        ((math.nan, math.nan, math.nan), "no number [no number, no number]"),
    ],
)
def test_numbers_for_readers(ends, text):
    assert interval_text(dict(zip(("measured", "low", "high"), ends, strict=True))) == text


def test_a_table_survives_bars_in_its_text():
    lines = markdown_table([row(statement="|x| grows", paper="ours")]).split("\n")
    assert r"\|x\| grows" in lines[2]
