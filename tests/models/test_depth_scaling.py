"""The rows' rates: each layer's share of the decay, and the sensitivity's exponents."""

import numpy as np
import pytest

from lazyrich.models.depth_scaling import ROWS, depth_scaling
from lazyrich.theory.angles import mlp_sensitivity, resnet_sensitivity


@pytest.mark.parametrize("row", ROWS)
def test_rates_balance_the_contributions(row):
    """η |in|² |b|² L is 1 with |in|² = d, m and |b|² = σ² m; of u, used as σ u, |in|² counts."""
    d, m, L = 16, 128, 10
    one = depth_scaling(row, d, m, L)
    back = one.readout**2 * m
    beta = one.branch_scale or 1.0
    assert one.rates["input"] * d * back * L == pytest.approx(1)
    assert one.rates["hidden"] * m * beta**2 * back * L == pytest.approx(1)
    assert one.rates["output"] * one.readout**2 * m * L == pytest.approx(1)


def test_the_table():
    """Entries of the docstring's table."""
    d, m, L = 16, 128, 10
    assert depth_scaling("ntk", d, m, L).rates["hidden"] == pytest.approx(1 / (m * L))
    assert depth_scaling("mup", d, m, L).rates["input"] == pytest.approx(m / (d * L))
    assert depth_scaling("fsc", d, m, L).rates["hidden"] == pytest.approx(1 / L**2)
    assert depth_scaling("res-inv", d, m, L).rates["hidden"] == pytest.approx((L - 2) ** 2 / L)
    # of σ u: 1/(mL) in every row
    for row in ROWS:
        one = depth_scaling(row, d, m, L)
        assert one.rates["output"] * one.readout**2 == pytest.approx(1 / (m * L))


@pytest.mark.parametrize(("row", "width", "depth"), [("ntk", -0.5, 0.5), ("mup", 0, 0.5), ("fsc", 0, 0)])
def test_exponents_of_plain_rows(row, width, depth):
    s = lambda m, L: mlp_sensitivity(L, m, depth_scaling(row, 16, m, L).readout)
    assert np.log2(s(512, 8) / s(256, 8)) == pytest.approx(width, abs=1e-9)
    assert np.log2(s(256, 4096) / s(256, 2048)) == pytest.approx(depth, abs=0.01)


@pytest.mark.parametrize("row", ["res-sqrt", "res-inv"])
def test_residual_rows_do_not_see_the_depth(row):
    def s(L):
        one = depth_scaling(row, 16, 256, L)
        return resnet_sensitivity(L, 256, one.readout, one.branch_scale)

    assert np.log2(s(4096) / s(2048)) == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [(("mu", 1, 8, 4), "row = 'mu'"), (("mup", 1, 8, 2), "fan_in, width, depth = 1, 8, 2")],
)
def test_bad_input_is_named(arguments, named):
    with pytest.raises(ValueError, match=named):
        depth_scaling(*arguments)
