import pytest

from lazyrich.models.parametrization import RULES, Shape, scaling

KINDS = ("input", "hidden", "output")


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("kind", KINDS[:2])
def test_preactivations_have_unit_size_at_every_width(name, kind):
    """scale · multiplier · √fan_in = 1: inputs of unit size give pre-activations of unit size."""
    for width in (16, 1024):
        rule = scaling(name, kind, Shape(width, width, 3))
        assert rule.scale * rule.multiplier * width**0.5 == pytest.approx(1)


@pytest.mark.parametrize(("name", "power"), [("ntk", 0.0), ("standard", 1.0), ("mup", 0.0)])
def test_the_kernel_of_a_layer_scales_with_width(name, power):
    """Readout part of the kernel, rate · multiplier² · fan_in: its exponent in the width."""
    parts = []
    for width in (64, 256):
        rule = scaling(name, "output", Shape(width, width, 3))
        parts.append(rule.rate * rule.multiplier**2 * width)
    assert parts[1] / parts[0] == pytest.approx(4**power)


@pytest.mark.parametrize(("name", "power"), [("ntk", -0.5), ("mup", 0.0)])
def test_features_move_in_the_rich_parametrization_only(name, power):
    """Change of a pre-activation, rate · multiplier_in² · |x|² · multiplier_out · scale_out."""
    moves = []
    for width in (64, 256):
        first = scaling(name, "input", Shape(8, width, 3))
        last = scaling(name, "output", Shape(width, width, 3))
        moves.append(first.rate * first.multiplier**2 * last.multiplier * last.scale)
    assert moves[1] / moves[0] == pytest.approx(4**power)


def test_unknown_parametrization():
    with pytest.raises(ValueError, match=r"parametrization = 'spectral': expected one of \['mup'"):
        scaling("spectral", "input", Shape(1, 1, 1))
