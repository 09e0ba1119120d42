"""A run's ledger, from the first row to the file it leaves."""

import json
import math

import pytest

from lazyrich.fits import Interval
from lazyrich.ledger import Claim, Known, Ledger, load_rows, read_ledger, write_ledger

KEYS = {
    "id", "paper", "statement", "relation", "predicted", "measured", "low", "high", "allowance", "resolution",
    "seeds", "window", "verdict", "known", "preset", "device", "precision", "versions", "seconds", "cell",
}  # fmt: skip
GOOD = Interval(0.5, 0.49, 0.51, 5)


@pytest.fixture
def ledger():
    def claim(name, kind="seeds", **more):
        given = {"relation": "equals", "predicted": 0.5, "allowance": 0.01} | more
        return Claim(name, "00_test", "FL", f"Claim {name}", "x", kind=kind, **given)

    claims = [
        claim("fl.seeds", needs={"seeds": 3, "width": 32}, window={"t": (1.0, 10.0)}),
        claim("fl.solver", "solver"),
        claim("fl.known", "solver", known=Known("differs", "too early")),
    ]
    return Ledger("00_test", preset="laptop", claims={one.id: one for one in claims})


def fill(ledger):
    ledger.record("fl.seeds", GOOD, have={"width": 64})
    ledger.record("fl.solver", Interval(0.5, 0.5, 0.5))
    ledger.record("fl.known", 0.9)


def test_a_row_says_all_about_itself(ledger):
    assert ledger.record("fl.seeds", GOOD, have={"width": 64}, note="fine") == "reproduced"
    (row,) = ledger.rows
    assert set(row) >= KEYS
    assert (row["seeds"], row["window"], row["note"]) == (5, {"t": (1.0, 10.0)}, "fine")
    assert (row["measured"], row["low"], row["high"], row["allowance"]) == (0.5, 0.49, 0.51, 0.01)
    assert row["preset"] == "laptop"
    assert "x64" in row["precision"]
    assert row["versions"]["numpy"]


def test_a_run_too_small_is_not_judged(ledger):
    assert (
        ledger.record("fl.seeds", Interval(9.0, 8.0, 10.0, 2), have={"width": 64})
        == "not supported by this preset"
    )


def test_a_known_miss_bears_its_reason_and_a_hit_does_not(ledger):
    assert ledger.record("fl.known", 0.9) == "differs"
    assert ledger.rows[0]["known"] == "too early"
    other = Ledger("00_test", claims=ledger.claims)
    assert other.record("fl.known", 0.5) == "reproduced"
    assert other.rows[0]["known"] is None


def test_of_several_cells_the_worst_is_recorded_and_named(ledger):
    cells = {"step 5": Interval(0.5, 0.49, 0.51, 4), "step 80": Interval(0.6, 0.59, 0.61, 8)}
    assert ledger.record("fl.seeds", cells, have={"width": 64}) == "differs"
    row = ledger.rows[0]
    assert (row["cell"], row["measured"], row["seeds"]) == ("step 80", 0.6, 8)


def test_the_cell_with_the_fewest_seeds_decides_whether_the_run_may_speak(ledger):
    cells = {"step 5": Interval(0.5, 0.49, 0.51, 2), "step 80": Interval(0.6, 0.59, 0.61, 8)}
    assert ledger.record("fl.seeds", cells, have={"width": 64}) == "not supported by this preset"


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda ledger: ledger.record("fl.seed", GOOD), "no claim 'fl.seed'; did you mean fl.seeds"),
        (lambda ledger: ledger.record("fl.seeds", GOOD), "must also state width"),
        (lambda ledger: ledger.record("fl.seeds", 0.5, have={"width": 64}), "state how many"),
        (
            lambda ledger: ledger.record("fl.seeds", GOOD, have={"width": 64}, window={"t": (1, 9)}),
            "not the claim's",
        ),
        (lambda ledger: [ledger.record("fl.known", 0.9) for _ in range(2)], "recorded already"),
        (lambda ledger: ledger.skip("fl.known", " "), "for a reason"),
        (lambda ledger: ledger.close(), "neither recorded nor skipped: fl.seeds, fl.solver, fl.known"),
    ],
)
def test_mistakes_are_named(ledger, call, named):
    with pytest.raises(ValueError, match=named):
        call(ledger)


def test_custom_rows_are_judged_but_belong_to_the_reader(ledger):
    assert ledger.custom("slope", GOOD, 0.7, allowance=0.05) == "differs"
    assert ledger.custom("level", GOOD) == "measured"
    assert (
        ledger.custom("one-seed", Interval(0.5, -math.inf, math.inf, 1), 0.5)
        == "not supported by this preset"
    )
    assert [row["id"] for row in ledger.rows] == ["custom.slope", "custom.level", "custom.one-seed"]


def test_close_writes_strict_json_where_the_run_says(ledger, tmp_path, monkeypatch):
    monkeypatch.delenv("LAZYRICH_RESULTS", raising=False)
    fill(ledger)
    ledger.close()  # nothing to write to
    monkeypatch.setenv("LAZYRICH_RESULTS", str(tmp_path))
    ledger.close()
    strict = json.loads((tmp_path / "claims.json").read_text(), parse_constant=pytest.fail)
    assert [row["id"] for row in strict] == ["fl.seeds", "fl.solver", "fl.known"]
    assert strict[0]["window"] == {"t": [1.0, 10.0]}
    assert strict[1]["seeds"] is None


def test_divergence_survives_the_file(ledger, tmp_path, monkeypatch):
    monkeypatch.setenv("LAZYRICH_RESULTS", str(tmp_path))
    ledger.record("fl.seeds", Interval(math.inf, math.nan, math.nan, 3), have={"width": 64})
    ledger.record("fl.solver", math.nan)
    ledger.skip("fl.known", "needs a larger machine")
    ledger.close()
    strict = json.loads((tmp_path / "claims.json").read_text(), parse_constant=pytest.fail)
    assert [strict[0]["measured"], strict[0]["low"], strict[1]["measured"], strict[2]["measured"]] == [
        "inf", "nan", "nan", None,
    ]  # fmt: skip
    rows = load_rows(tmp_path / "claims.json")
    assert rows[0]["measured"] == math.inf
    assert math.isnan(rows[1]["high"])
    assert rows[2]["note"] == "needs a larger machine"


def test_the_committed_ledger_comes_back(ledger, tmp_path):
    fill(ledger)
    ledger.custom("x", math.inf)
    write_ledger(tmp_path / "laptop.json", {"00_test": {"rows": ledger.rows, "run": {"seconds": 1.5}}})
    entry = read_ledger(tmp_path / "laptop.json")["00_test"]
    assert entry["run"] == {"seconds": 1.5}
    assert [row["measured"] for row in entry["rows"]] == [0.5, 0.5, 0.9, math.inf]


@pytest.mark.parametrize(("read", "text"), [(load_rows, "{}"), (load_rows, "[1]"), (read_ledger, '{"a": 1}')])
def test_files_that_are_no_ledger_are_named(tmp_path, read, text):
    path = tmp_path / "claims.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"claims\.json: must"):
        read(path)
    path.write_text("{")
    with pytest.raises(ValueError, match="not a JSON file"):
        read(path)


def test_tables(ledger):
    fill(ledger)
    table = ledger.table()
    assert table._repr_markdown_() == table
    assert "0.500 [0.490, 0.510]" in table
    assert "**differs**: too early" in table
    assert "3 claims: 2 reproduced, 1 differs." in table
    assert "0.49" not in ledger.verdicts()
    assert "| `fl.known` | 0.5 | differs |" in ledger.verdicts()
