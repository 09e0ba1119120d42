"""Claim files: what a good one becomes, and how a bad one is refused."""

import pytest
import yaml

from lazyrich.ledger import Claim, Known, load_claims

GOOD = {
    "id": "fl.time.lazy.b050",
    "paper": "FL",
    "statement": "the loss falls as\n t^−β",
    "quantity": "−d log L / d log t",
    "relation": "equals",
    "kind": "seeds",
    "predicted": 0.5,
    "theory": "beta",
    "at": {"alpha": 1.5, "beta": 0.5},
    "window": {"t": [1.0e5, 1.0e7]},
    "allowance": 0.02,
    "allowance_reason": "finite width",
    "needs": {"seeds": 3, "width": 64},
}


def load(tmp_path, *claims, **defaults):
    path = tmp_path / "01_test.yaml"
    path.write_text(yaml.safe_dump({"defaults": defaults, "claims": list(claims)}, allow_unicode=True))
    return load_claims("01_test", tmp_path)


def test_a_good_claim(tmp_path):
    (claim,) = load(tmp_path, GOOD).values()
    assert isinstance(claim, Claim)
    assert (claim.chapter, claim.place, claim.statement) == (
        "01_test",
        "not located",
        "the loss falls as t^−β",
    )
    assert claim.window["t"] == (1e5, 1e7)
    assert claim.resolution == 0.04  # twice the allowance: more than 5 % of the theory's value
    with pytest.raises(TypeError):
        claim.needs["seeds"] = 1
    with pytest.raises(AttributeError):
        claim.allowance = 1.0


def test_default_resolution_is_five_percent_where_the_allowance_is_small(tmp_path):
    claims = load(tmp_path, GOOD | {"allowance": 0.001}, GOOD | {"id": "fl.b", "resolution": 0.2})
    assert [claim.resolution for claim in claims.values()] == [0.025, 0.2]


def test_percentage_and_known_and_defaults(tmp_path):
    known = {"verdict": "differs", "reason": "too few pixels"}
    (claim,) = load(
        tmp_path, GOOD | {"predicted": -2, "allowance": "5 %", "known": known}, place="Eq. 3"
    ).values()
    assert claim.allowance == pytest.approx(0.1)
    assert claim.known == Known("differs", "too few pixels")
    assert claim.place == "Eq. 3"


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"relation": "equal"}, "relation = 'equal', allowed: one of equals, greater"),
        ({"paper": "XY"}, "paper = 'XY', allowed: one of FL, DM"),
        ({"kind": "run"}, "kind = 'run'"),
        ({"statement": ""}, "statement = ''"),
        ({"predicted": "1e-3"}, "predicted = '1e-3', allowed: a number .*write .* 1.0e-3"),
        ({"predicted": [0, 1]}, r"predicted = \[0, 1\]"),
        ({"relation": "between", "allowance": 0, "predicted": [1, 0]}, "low < high"),
        ({"relation": "measured", "allowance": 0}, "predicted = 0.5, allowed: nothing"),
        ({"relation": "less"}, "allowance = 0.02, allowed: 0"),
        ({"allowance": -1}, "allowance = -1"),
        ({"allowance_reason": None}, "allowance_reason = None, allowed: the cause"),
        ({"predicted": 0, "allowance": 0}, "resolution = None"),
        ({"resolution": 0}, "resolution = 0"),
        ({"tolerance": "big"}, "tolerance = 'big'"),
        ({"window": {"t": [2, 1]}}, "window"),
        ({"window": {"t": ["1e5", 1.0e7]}}, r"write 1\.0e\+5"),
        ({"needs": {"seeds": 2}}, "needs = .* seeds of at least 3"),
        ({"needs": {"seeds": 3, "width": "wide"}}, "needs"),
        ({"kind": "solver"}, "no seeds"),
        ({"known": {"verdict": "reproduced", "reason": "x"}}, "known"),
        ({"known": {"verdict": "differs"}}, "known"),
        ({"alowance": 1}, "alowance = 1.*did you mean allowance"),
        ({"id": "custom.x"}, "id = 'custom.x'"),
        ({"id": "fl time"}, "id = 'fl time'"),
    ],
)
def test_a_bad_claim_is_refused_by_file_id_and_field(tmp_path, change, named):
    with pytest.raises(ValueError, match=named) as error:
        load(tmp_path, GOOD | change)
    assert f"claims/01_test.yaml: claim {(GOOD | change)['id']}: " in str(error.value)


def test_an_id_belongs_to_one_claim_in_all_files(tmp_path):
    with pytest.raises(ValueError, match="no other claim has"):
        load(tmp_path, GOOD, GOOD)
    load(tmp_path, GOOD)
    (tmp_path / "02_test.yaml").write_text((tmp_path / "01_test.yaml").read_text())
    with pytest.raises(ValueError, match=r"claims/02_test\.yaml.*no other claim has"):
        load_claims(folder=tmp_path)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[1, 2]", "list 'claims'"),
        ("claims: [1]", "mapping with an id"),
        ("claims: [", "not a YAML file"),
        ("claims: []\nmore: 1", "nothing else"),
    ],
)
def test_a_bad_file_is_refused_by_name(tmp_path, text, named):
    (tmp_path / "03_test.yaml").write_text(text)
    with pytest.raises(ValueError, match=named) as error:
        load_claims(folder=tmp_path)
    assert "claims/03_test.yaml" in str(error.value)


def test_an_unknown_chapter_is_refused(tmp_path):
    load(tmp_path, GOOD)
    with pytest.raises(ValueError, match="'09_none' has no claims; claims exist for 01_test"):
        load_claims("09_none", tmp_path)
