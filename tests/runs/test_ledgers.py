"""Ledgers compared by name, folder or file."""

import json

import pytest

from lazyrich.files import data_path
from lazyrich.ledger import dump_rows, load_rows, read_ledger
from lazyrich.runs import ParameterError, ledgers

LAPTOP = data_path("ledger") / "laptop.json"


@pytest.fixture
def rows():
    return [row for entry in read_ledger(LAPTOP).values() for row in entry["rows"]]


def test_a_ledger_agrees_with_itself(rows):
    comparison, text = ledgers.diff("laptop", str(LAPTOP))
    assert comparison.agrees
    claims = [row for row in rows if not row["id"].startswith("custom.")]
    small = sum(row["verdict"] == "not supported by this preset" for row in claims)
    assert text == f"laptop → {LAPTOP}: {len(claims) - small} in agreement, {small} not compared"


def test_a_claim_that_only_one_run_could_judge_is_listed(rows, tmp_path):
    missed = next(row for row in rows if row["verdict"] == "reproduced")
    others = [row for row in rows if row is not missed]
    (tmp_path / "claims.json").write_text(
        dump_rows([*others, missed | {"verdict": "not supported by this preset"}])
    )
    comparison, text = ledgers.diff("laptop", str(tmp_path))
    assert comparison.agrees
    assert [line.split(":")[0] for line in text.splitlines()[1:]] == [missed["id"]]


def test_every_shape_of_ledger_is_read(rows, tmp_path):
    (tmp_path / "claims.json").write_text(dump_rows(rows))
    download = tmp_path / "ledger.json"
    download.write_text(json.dumps([{"chapter": "all", "rows": json.loads(dump_rows(rows))}]))
    for name in ("laptop", str(LAPTOP), str(tmp_path), str(tmp_path / "claims.json"), str(download)):
        assert {row["id"] for row in ledgers.rows_of(name)} == {row["id"] for row in rows}


def test_what_changed_is_listed(rows, tmp_path):
    changed = next(row for row in rows if row["verdict"] == "reproduced")
    others = [row for row in rows if row is not changed]
    (tmp_path / "claims.json").write_text(dump_rows([*others, changed | {"verdict": "differs"}]))
    comparison, text = ledgers.diff("laptop", str(tmp_path))
    assert not comparison.agrees
    assert ", 1 verdict changed" in text.splitlines()[0]
    assert text.splitlines()[1].startswith(f"{changed['id']}: verdict changed")
    assert load_rows(tmp_path / "claims.json")


@pytest.mark.parametrize("content", ["{", "[1]", '{"a": 1}', "null"])
def test_a_damaged_ledger_is_named(content, tmp_path):
    path = tmp_path / "claims.json"
    path.write_text(content)
    with pytest.raises(ParameterError, match=r"claims\.json"):
        ledgers.diff("laptop", str(path))


def test_an_unknown_ledger_is_named():
    with pytest.raises(ParameterError, match=r"ledger nowhere: expected a committed one .*laptop"):
        ledgers.diff("nowhere", "laptop")


def test_the_command(lazyrich, tmp_path):
    same = lazyrich("ledger", "diff", "laptop", "laptop")
    assert (same.returncode, same.stderr) == (0, "")
    assert "agree" in same.stdout
    refused = lazyrich("ledger", "diff", "laptop", "nowhere")
    assert refused.returncode == 2
    assert "ledger nowhere" in refused.stderr
