"""Formulas of the deep linear net against autodiff, ODE solvers and quadrature."""

from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

from lazyrich.theory import deep_linear as dl

GAMMAS = [1e-6, 1e-2, 1.0, 30.0, 1e4]


@jax.jit
def curvature(at, gamma, target):
    return jax.hessian(lambda delta: (dl.output(delta, gamma) - target) ** 2 / 2)(at)


@jax.jit
def cross_entropy_curvature(at, gamma, label):
    return jax.hessian(lambda d: jax.nn.softplus(dl.output(d, gamma)) - label * dl.output(d, gamma))(at)


def hessian(gamma, depth, target, at):
    return np.linalg.eigvalsh(curvature(jnp.full(depth, at, jnp.float64), gamma, target))


@pytest.mark.parametrize("depth", [1, 2, 3, 5])
@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("target", [1.0, 0.3])
def test_hessian_at_start_and_at_the_minimum(gamma, depth, target):
    along, across = dl.initial_eigenvalues(gamma, depth, target)
    found = hessian(gamma, depth, target, 0.0)
    expected = np.sort([along] + [across] * (depth - 1))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12 * abs(expected).max())
    step = dl.minimum(gamma, depth, target) - 1
    assert hessian(gamma, depth, target, step)[-1] == pytest.approx(dl.sharpness(gamma, depth, target), 1e-8)
    assert dl.eta_max(gamma, depth, target) * dl.sharpness(gamma, depth, target) == pytest.approx(2, 1e-14)
    top = max(along, across) if depth > 1 else along
    assert dl.sharpening(gamma, depth, target) == pytest.approx(dl.sharpness(gamma, depth, target) / top)


def test_output_keeps_its_digits():
    delta = np.array([1e-12, -3e-12, 7e-12])
    assert dl.output(delta, 1e-12) == pytest.approx(5 + (7 - 3 - 21) * 1e-12, 1e-15)


def test_sharpening_in_the_rich_limit():
    gamma = np.array([1e6, 1e8])
    for depth in (3, 4, 6):
        limit = depth * gamma ** (1 - 2 / depth)
        np.testing.assert_allclose(dl.sharpening(gamma, depth) / limit, 1, rtol=1e-4)
    assert dl.sharpening(1e6, 2) == pytest.approx(2, 1e-4)


@pytest.mark.parametrize("depth", [2, 4])
@pytest.mark.parametrize("label", [0.5, 0.6, 0.99])
def test_cross_entropy_stability_is_the_curvature_at_its_minimum(depth, label):
    rest = np.log(label / (1 - label))
    for gamma in (1e-3, 1.0, 1e3):
        at = jnp.full(depth, dl.minimum(gamma, depth, rest) - 1, jnp.float64)
        top = np.linalg.eigvalsh(cross_entropy_curvature(at, gamma, label))[-1]
        assert dl.eta_max_cross_entropy(gamma, depth, label) == pytest.approx(2 / top, 1e-6)


@pytest.mark.parametrize("depth", [1, 2, 3, 5])
@pytest.mark.parametrize("gamma", [1e-4, 1.0, 1e3])
def test_hitting_time_is_that_of_the_flow(gamma, depth):
    arrive = lambda t, f: f[0] - 0.9 * 0.7
    arrive.terminal = True
    expected = dl.hitting_time(0.9, gamma, depth, 0.7)
    speed = lambda f: expected * depth * (1 + gamma * f) ** (2 - 2 / depth) * (0.7 - f) / gamma**2
    flow = solve_ivp(
        lambda _, f: speed(f), (0, 2), [0.0], events=arrive, rtol=1e-10, atol=1e-13, max_step=0.05
    )  # fmt: skip
    assert flow.t_events[0][0] == pytest.approx(1, abs=1e-7)


def test_hitting_time_is_the_integral():
    for depth, gamma, q in ((2, 1e5, 0.999), (3, 1e-5, 0.05), (4, 10.0, 0.5), (8, 1e3, 1 - 1e-4)):
        integrand = lambda f: (1 + gamma * f) ** (2 / depth - 2) / (1 - f)  # noqa: B023
        knots = [
            0,
            *np.geomspace(min(1e-3 / gamma, q / 9), q / 2, 30),
            *(1 - np.geomspace(1 - q / 2, 1 - q, 30)),
        ]
        pieces = [quad(integrand, a, b, epsabs=0, epsrel=1e-12)[0] for a, b in pairwise(knots) if b > a]
        assert dl.hitting_time(q, gamma, depth) == pytest.approx(gamma**2 / depth * sum(pieces), 1e-9)


def test_hitting_time_in_closed_form_and_in_its_limits():
    gamma = np.logspace(-6, 8, 15)
    np.testing.assert_allclose(
        dl.hitting_time(0.9, gamma, 2, 0.7), dl.two_layer_hitting_time(0.9, gamma, 0.7), rtol=1e-12
    )
    for depth in (2, 3, 4, 5):
        assert dl.hitting_time(0.9, 1e-5, depth) / dl.lazy_hitting_time(0.9, 1e-5, depth) == pytest.approx(
            1, 2e-5
        )
    ratios = [dl.hitting_time(0.9, g, L) / dl.plateau_time(g, L) for L in (3, 4, 5) for g in (1e2, 1e4)]
    np.testing.assert_allclose(ratios, [0.979, 0.998, 1.056, 1.007, 1.067, 1.006], atol=6e-4)
    np.testing.assert_allclose(dl.hitting_time(0.5, 1e9, 3, 2.0) / dl.plateau_time(1e9, 3, 2.0), 1, rtol=1e-2)


def test_two_clocks():
    """At η ∝ γ^{2/L} the plateau takes γ^{1−2/L} steps, the drop a number that does not know γ."""
    gamma = np.array([1e5, 1e6, 1e7])
    slope = lambda y: np.diff(np.log(y)) / np.diff(np.log(gamma))
    for depth in (3, 4):
        at = {loss: dl.hitting_time(1 - loss**0.5, gamma, depth) for loss in (0.99, 0.5, 0.1)}
        np.testing.assert_allclose(slope(at[0.5] / dl.drop_time(gamma, depth)), 1 - 2 / depth, atol=0.02)
        np.testing.assert_allclose(slope((at[0.1] - at[0.5]) / dl.drop_time(gamma, depth)), 0, atol=0.01)


def test_lower_edge_of_the_wedge():
    lazy, rich = np.logspace(-5, -2, 4), np.logspace(3, 5, 5)
    slope = lambda x, y: np.polyfit(np.log(x), np.log(y), 1)[0]
    for depth in (3, 4, 5):
        assert slope(lazy, dl.eta_min(lazy, depth, 1000)) == pytest.approx(2, abs=0.002)
        assert slope(rich, dl.eta_min(rich, depth, 1000)) == pytest.approx(1, abs=0.005)
        crossing = dl.closing_strength(10**6, depth)
        assert dl.eta_min(crossing, depth, 10**6) == pytest.approx(dl.eta_max(crossing, depth), 0.01)
    assert slope(rich, dl.eta_min(rich, 2, 1000)) == pytest.approx(1 + 1 / np.log(1e4), abs=0.03)
    assert dl.closing_strength(100, 4, target=2.0) == pytest.approx(dl.closing_strength(100, 4) / 2)


def test_sign_descent():
    """The amplitude is that of one step off the minimum, the lower edge that of walking to it."""
    for gamma in (1e-3, 1.0, 1e4):
        for depth in (2, 3):
            at, rate = dl.minimum(gamma, depth), 1e-6 * dl.minimum(gamma, depth) * min(gamma, 1)
            jump = (at + rate) ** depth / gamma - at**depth / gamma
            assert dl.sign_amplitude(rate, gamma, depth) == pytest.approx(jump, 1e-4)
            assert dl.sign_amplitude(dl.sign_eta_max(gamma, depth, 0.1), gamma, depth) == pytest.approx(0.1)
            walked = 1 + 50 * dl.sign_eta_min(gamma, depth, 50, 0.8)
            assert (walked**depth - 1) / gamma == pytest.approx(0.8, 1e-6)


def test_two_layer_map_is_descent_of_a_network_of_any_width():
    """e as the map sees it, from a network of width 7 that knows nothing of s and K."""
    rng = np.random.default_rng(0)
    width, gamma, rate = 7, 0.3, 0.05
    u, v = rng.standard_normal((2, width))
    start = overlap = u @ v / width
    kernel = (u @ u + v @ v) / width
    for _ in range(40):
        f = (u @ v / width - start) / gamma
        slope = (f - 1.0) / (gamma * width)
        u, v = u - width * rate * slope * v, v - width * rate * slope * u
        rise = dl.two_layer_step(overlap, kernel, rate * ((overlap - start) / gamma - 1.0) / gamma)
        overlap, kernel = overlap + rise[0], kernel + rise[1]
        assert overlap == pytest.approx(u @ v / width, 1e-11)
        assert kernel == pytest.approx((u @ u + v @ v) / width, 1e-11)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dl.eta_max(0.0, 2), r"gamma = 0.0: expected finite numbers in \(0, inf\)"),
        (lambda: dl.eta_max([1.0, np.nan], 2), "gamma"),
        (lambda: dl.minimum(1.0, 2.5), r"depth = 2.5: expected an integer in \[1, inf\)"),
        (lambda: dl.sharpness(1.0, True), "depth = True"),
        (lambda: dl.minimum(1.0, 2, -0.1), "target = -0.1"),
        (lambda: dl.eta_max_cross_entropy(1.0, 2, 0.3), "label"),
        (lambda: dl.eta_max_cross_entropy(1.0, 2, 1.0), "label = 1.0"),
        (lambda: dl.hitting_time(1.0, 1.0, 2), r"fraction = 1.0: expected finite numbers in \(0, 1\)"),
        (lambda: dl.plateau_time(1.0, 2), r"depth = 2: expected an integer in \[3"),
        (lambda: dl.eta_min(1.0, 3, 0), "steps = 0"),
        (lambda: dl.closing_strength(10**4, 2), "steps = 10000"),
        (lambda: dl.catapult_edge(1.0, 0.0), "kernel = 0.0"),
        (lambda: dl.cross_entropy_edge("much"), "gamma = 'much'"),
        (lambda: dl.cross_entropy_edge(1.0, 10, 0.5), "bound = 0.5"),
        (lambda: dl.sign_eta_max(1.0, 2, 0.0), "amplitude = 0.0"),
        (lambda: dl.sign_eta_min(1.0, 2, 10, 1.1), "fraction = 1.1"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
