"""Predicted sensitivities against networks with the rates of the scaling tables."""

import numpy as np
import pytest

from lazyrich.theory.angles import mlp_sensitivity, resnet_sensitivity
from numpy_networks import column, dot, draw, transposed


def relu(f):
    return np.maximum(f, 0)


def sensitivity(rng, networks, width, depth, readout, branch_scale=None, d=16):
    """rms(ḟ_{L−1}) over the whole decay, at the rates 1/(L |in|² |b|²) of the tables."""
    x = rng.standard_normal((networks, d))
    x *= np.sqrt(d) / np.linalg.norm(x, axis=1, keepdims=True)
    f = [column(draw(rng, networks, width, d), x)]
    weights = [draw(rng, networks, width, width, 2**0.5) for _ in range(depth - 2)]
    plain = branch_scale is None
    beta = 1.0 if plain else branch_scale
    for w in weights:
        f.append(beta * column(w, relu(f[-1])) + (0 if plain else f[-1]))
    b = [readout * rng.standard_normal((networks, width))]
    last = relu(f[-1]) if plain else f[-1]
    if plain:
        b[0] = b[0] * (f[-1] > 0)
    for w, features in zip(weights[::-1], f[-2::-1], strict=True):
        b.insert(0, beta * (features > 0) * transposed(w, b[0]) + (0 if plain else b[0]))
    # m |b|² ~ (m σ)², so 1/(L |in|² |b|²) is, for inputs of square d and m, 1/(L d m σ²) and 1/(L m² σ²)
    base = 1 / (depth * width * readout**2)
    velocity = -base / d * dot(x, x)[:, None] * b[0]
    decay = base / d * dot(x, x) * dot(b[0], b[0])
    for w, features, back in zip(weights, f[:-1], b[1:], strict=True):
        rate = base / width / beta**2
        act = beta**2 * dot(relu(features), relu(features))
        moved = beta * column(w, (features > 0) * velocity) + (0 if plain else velocity)
        velocity = moved - rate * act[:, None] * back
        decay += rate * act * dot(back, back)
    decay += dot(last, last) / (depth * width)
    return np.mean(np.sqrt(dot(velocity, velocity) / width) / decay)


@pytest.mark.parametrize("power", [0.5, 1.0])
@pytest.mark.parametrize("depth", [4, 12])
def test_mlp(depth, power):
    readout = 192**-power
    measured = sensitivity(np.random.default_rng(0), 48, 192, depth, readout)
    assert measured == pytest.approx(mlp_sensitivity(depth, 192, readout), rel=0.06)


@pytest.mark.parametrize("power", [0.5, 1.0])
@pytest.mark.parametrize("depth", [4, 12])
def test_resnet(depth, power):
    branch_scale = (depth - 2) ** -power
    measured = sensitivity(np.random.default_rng(0), 24, 192, depth, 1 / 192, branch_scale)
    assert measured == pytest.approx(resnet_sensitivity(depth, 192, 1 / 192, branch_scale), rel=0.04)


@pytest.mark.parametrize(
    ("values", "table"),
    [
        ([mlp_sensitivity(L, 256, 1 / 16) for L in (4, 8, 16, 32)], [0.0955, 0.1635, 0.2568, 0.3843]),
        ([mlp_sensitivity(L, 256, 1 / 256) for L in (4, 8, 16, 32)], [1.528, 2.615, 4.108, 6.149]),
        ([mlp_sensitivity(L, 256, L**0.5 / 256) for L in (4, 8, 16, 32)], [0.764, 0.925, 1.027, 1.087]),
        (
            [resnet_sensitivity(L, 256, 1 / 256, (L - 2) ** -0.5) for L in (4, 8, 16, 32)],
            [0.807, 1.003, 1.135, 1.210],
        ),
        (
            [resnet_sensitivity(L, 256, 1 / 256, 1 / (L - 2)) for L in (4, 8, 16, 32)],
            [0.751, 0.843, 0.910, 0.952],
        ),
        ([resnet_sensitivity(L, 256, 1 / 256, 1.0) for L in (4, 8, 16, 32)], [0.878, 1.376, 2.081, 3.08]),
    ],
    ids=["ntk", "mup", "fsc", "res-sqrt", "res-inv", "res-one"],
)
def test_frozen_table(values, table):
    np.testing.assert_allclose(values, table, rtol=1e-3)


def test_depth_limits():
    assert mlp_sensitivity(20000, 1, 20000**0.5) == pytest.approx(2 / np.sqrt(3), rel=1e-3)
    assert resnet_sensitivity(20000, 1, 1.0, 20000**-0.5) == pytest.approx(np.sqrt(5 / 3), rel=1e-3)
    assert resnet_sensitivity(20000, 1, 1.0, 1 / 20000) == pytest.approx(1, rel=1e-3)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: mlp_sensitivity(1, 8, 1.0), "depth = 1"),
        (lambda: mlp_sensitivity(4, 0, 1.0), "width = 0"),
        (lambda: mlp_sensitivity(4, 8, 0.0), "readout = 0.0"),
        (lambda: resnet_sensitivity(2, 8, 1.0, 1.0), "depth = 2"),
        (lambda: resnet_sensitivity(4, 8, 1.0, -1.0), "branch_scale = -1.0"),
    ],
)
def test_bad_input_is_named(call, named):
    with pytest.raises(ValueError, match=named):
        call()
