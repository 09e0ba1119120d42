"""Conventions: there and back, and each stated equivalence against a simulation of both sides."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazyrich.theory import conventions as c
from lazyrich.theory import scaling
from tolerance import tol

positive = st.floats(1e-3, 1e3)
widths = st.integers(1, 10_000)


@given(st.floats(1.01, 5), st.floats(0.01, 5))
def test_exponents_there_and_back(alpha, beta):
    np.testing.assert_allclose(c.exponents_from_dm(*c.dm_exponents(alpha, beta)), (alpha, beta), rtol=1e-12)


@given(positive, positive, widths)
def test_rates_there_and_back(eta, gamma, n):
    pairs = [
        c.output_scale(c.rate_ratio(gamma)) / gamma,
        c.function_rate(c.parameter_rate(eta, gamma), gamma) / eta,
        c.mean_square_rate(c.half_square_rate(eta, n), n) / eta,
        c.rate_of_step(c.step_of_rate(eta, n), n) / eta,
        c.steps_of_time(c.time_of_steps(n, eta), eta) / n,
    ]
    np.testing.assert_allclose(pairs, 1, rtol=1e-12)


@given(positive, positive, positive, positive)
def test_reparametrizing_there_and_back(scale, multiplier, rate, factor):
    layer = c.Layer(scale, multiplier, rate)
    np.testing.assert_allclose(
        c.reparametrized(c.reparametrized(layer, factor), 1 / factor), layer, rtol=1e-12
    )


def test_dm_s_exponents_describe_the_same_curve():
    """DM: the lazy loss falls as t^−(a−1)/b."""
    a, b = 1.75, 1.5
    alpha, beta = map(float, c.exponents_from_dm(a, b))
    times = np.array([1e5, 1e6])
    loss = scaling.learning_curve(alpha, beta, times=times).loss
    assert np.log10(loss[0] / loss[1]) == pytest.approx((a - 1) / b, abs=1e-3)


def two_layer(gamma_fl=None, gamma_ge=None, eta=0.02, steps=60):
    """Outputs of a linear network w A x/N along gradient descent, in FL's or in GE's convention."""
    rng = np.random.default_rng(0)
    n, d = 7, 5
    hidden, x = rng.normal(size=(n, d)), rng.normal(size=(4, d))
    y, readout = x @ rng.normal(size=d), np.zeros(n)
    scale, ratio = (1.0, gamma_fl) if gamma_ge is None else (gamma_ge, None)
    rates = (eta, eta * ratio) if ratio else (c.parameter_rate(eta, gamma_ge),) * 2
    outputs = []
    for _ in range(steps):
        f = x @ hidden.T @ readout / (n * scale)
        outputs.append(f)
        pull = (y - f) @ x / len(x)
        moves = hidden @ pull / scale, np.outer(readout, pull) / scale
        readout, hidden = readout + rates[0] * moves[0], hidden + rates[1] * moves[1]
    return np.array(outputs)


@pytest.mark.parametrize("gamma", [0.3, 2.0])
def test_one_strength_is_the_square_of_the_other(gamma):
    there, here = two_layer(gamma_ge=gamma), two_layer(gamma_fl=float(c.rate_ratio(gamma)))
    np.testing.assert_allclose(there, here, rtol=tol("float64", 100))
    assert not np.allclose(there, two_layer(gamma_fl=gamma), rtol=1e-3)


def test_mean_square_and_half_square_step_alike():
    rng = np.random.default_rng(1)
    f, y = rng.normal(size=(2, 6, 10))
    mean_gradient, half_gradient = 2 * (f - y) / f.size, (f - y) / len(f)
    np.testing.assert_allclose(
        0.7 * mean_gradient, c.half_square_rate(0.7, 10) * half_gradient, rtol=tol("float64")
    )


@pytest.mark.parametrize("factor", [0.2, 3.0])
def test_a_reparametrized_layer_trains_alike(factor):
    def trained(layer):
        rng = np.random.default_rng(2)
        w, x, y = layer.scale * rng.normal(size=5), rng.normal(size=(4, 5)), rng.normal(size=4)
        for _ in range(10):
            w = w - 0.01 * layer.rate * layer.multiplier * (layer.multiplier * x @ w - y) @ x
        return layer.multiplier * x @ w

    layer = c.Layer(1.0, 0.5, 2.0)
    np.testing.assert_allclose(
        trained(layer), trained(c.reparametrized(layer, factor)), rtol=tol("float64", 10)
    )


@pytest.mark.parametrize(("call", "message"), [
    (lambda: c.exponents_from_dm(1.0, 1.5), "a = 1.0: expected finite and > 1"),
    (lambda: c.dm_exponents(1.5, -1), "beta = -1.0: expected finite and > 0"),
    (lambda: c.rate_ratio(0), "gamma = 0.0: expected finite and > 0"),
    (lambda: c.parameter_rate(np.nan, 1), "eta = nan"),
    (lambda: c.step_of_rate(1, 0), "width = 0.0"),
    (lambda: c.reparametrized(c.Layer(1, 1, 1), 0), "factor = 0.0"),
])  # fmt: skip
def test_values_out_of_range_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
