"""The declared claims: each predicted number is what its formula gives."""

import ast
import math
import operator

import pytest
from scipy.special import zeta

from lazyrich.ledger import load_claims

CLAIMS = load_claims()
OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
}
FUNCTIONS = {"min": min, "max": max, "sqrt": math.sqrt, "zeta": zeta}
# Numbers without a closed formula; the tests of the theory compute them.
COMPUTED = {"ours.tuned-rate.ratio", "ours.alignment.easy", "fs.angle.mlp.slope"}
COMPUTED |= {f"fs.scaling.{rule}.depth" for rule in ("ntk", "mup", "fsc", "res-sqrt", "res-inv")}


def evaluate(formula: str, names) -> float:
    """The value of an arithmetic formula; anything but arithmetic is a KeyError."""

    def value(node):
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return names[node.id]
            case ast.BinOp():
                return OPERATORS[type(node.op)](value(node.left), value(node.right))
            case ast.UnaryOp():
                return OPERATORS[type(node.op)](value(node.operand))
            case ast.Call():
                return FUNCTIONS[node.func.id](*map(value, node.args))
        raise KeyError(ast.dump(node))

    return value(ast.parse(formula, mode="eval").body)


def test_the_evaluator_knows_arithmetic_and_nothing_else():
    assert evaluate("-2*beta/(1 + beta)**2 + min(1, beta)", {"beta": 0.5}) == pytest.approx(-1 / 2.25 + 0.5)
    with pytest.raises(KeyError):
        evaluate("open('x')", {})


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS.keys())
def test_the_formula_gives_the_predicted_number(claim):
    if claim.theory is not None:
        assert evaluate(claim.theory, claim.at) == pytest.approx(claim.predicted, rel=2e-6)
    elif claim.relation == "equals" and claim.id not in COMPUTED:
        assert claim.predicted in (0, 1), "a ratio of one or a difference of zero is its own theory"


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS.keys())
def test_a_claim_is_a_sentence_that_could_fail(claim):
    assert claim.statement[0].isupper()
    assert claim.statement.endswith(".")
    assert not set(claim.statement + claim.quantity) & set("|*`_<>"), "marks that a table would read"
    if claim.relation == "equals":
        assert claim.resolution < max(1, abs(claim.predicted))
