"""The simulated plane against a plain loop, and its measured edges against the formulas."""

import numpy as np
import pytest

from lazyrich.theory import deep_linear as dl

LAZY, RICH = np.logspace(-5, -2, 4), np.logspace(2, 5, 4)


def slope(x, y):
    return np.polyfit(np.log(x), np.log(y), 1)[0]


def plain(gamma, rate, steps, depth, gradient, sign=False):
    """Descent on L separate weights, in the textbook form: outputs after each step."""
    a, outputs = np.ones(depth), []
    for _ in range(steps):
        outputs.append((a.prod() - 1) / gamma)
        g = gradient(outputs[-1]) * a.prod() / a / gamma
        a = a - rate * (np.sign(g) if sign else g)
    return np.array([*outputs, (a.prod() - 1) / gamma])


@pytest.mark.parametrize("depth", [1, 2, 3, 6])
@pytest.mark.parametrize("loss", ["mse", "cross-entropy"])
@pytest.mark.parametrize("optimizer", ["sgd", "sign"])
def test_cells_are_runs_of_the_plain_loop(depth, loss, optimizer):
    gammas, scale = np.array([0.1, 3.0]), {"sgd": 1.0, "sign": 0.02}[optimizer]
    rates = scale * np.array([0.1, 0.5, 1.0]) * dl.eta_max(gammas, depth)[:, None]
    found = dl.portrait(gammas, rates, 30, depth=depth, loss=loss, target=0.8, optimizer=optimizer)
    for i, gamma in enumerate(gammas):
        for j, rate in enumerate(rates[i]):
            gradient = (lambda f: f - 0.8) if loss == "mse" else (lambda f: 1 / (1 + np.exp(-f)) - 0.8)
            f = plain(gamma, rate, 30, depth, gradient, optimizer == "sign")
            losses = (f - 0.8) ** 2 / 2 if loss == "mse" else np.log1p(np.exp(f)) - 0.8 * f
            assert found.final_loss[i, j] == pytest.approx(losses[-1], rel=1e-7, abs=1e-11)
            assert found.max_loss[i, j] == pytest.approx(losses.max(), rel=1e-9)
            assert found.max_output[i, j] == pytest.approx(f.max(), rel=1e-9)
    assert not found.diverged.any()


@pytest.mark.parametrize(("depth", "rich"), [(2, 1), (3, 2 / 3), (5, 2 / 5), (8, 2 / 8)])
def test_upper_edge(depth, rich):
    for gamma, expected in ((LAZY, 2), (RICH, rich)):
        trained = lambda eta: dl.portrait(gamma, eta, 10_000, depth=depth).final_loss < 1e-8  # noqa: B023
        formula = dl.eta_max(gamma, depth)
        edge = dl.first_change(trained, formula / 2, 30 * formula)
        np.testing.assert_allclose(edge / formula, 1, rtol=2e-3)
        assert slope(gamma, edge) == pytest.approx(expected, abs=0.005)


@pytest.mark.parametrize("depth", [3, 4, 5])
def test_lower_edge_and_closing(depth):
    for gamma, expected, within in ((LAZY, 2, 0.005), (np.logspace(3, 5, 5), 1, 0.01)):
        reached = lambda eta: dl.portrait(gamma, eta, 1000, depth=depth).max_output >= 0.9  # noqa: B023
        formula = dl.eta_min(gamma, depth, 1000)
        edge = dl.first_change(reached, formula / 20, 20 * formula)
        np.testing.assert_allclose(edge / formula, 1, rtol=5e-3)
        assert slope(gamma, edge) == pytest.approx(expected, abs=within)
    for steps, low, high in ((100, 0.9, 1.0), (1000, 0.97, 1.0)):
        assert low < closing(depth, steps) < high


def closing(depth, steps, fraction=0.9):
    """Measured over formula: up to which γ the largest stable rate reaches q in T steps."""

    def reached(gamma):
        flat = gamma.ravel()
        cells = dl.portrait(flat, dl.eta_max(flat, depth)[:, None], steps, depth=depth)
        return (cells.max_output >= fraction).reshape(gamma.shape)

    formula = dl.closing_strength(steps, depth, fraction)
    return dl.first_change(reached, [formula / 10], [formula * 10])[0] / formula


@pytest.mark.parametrize("fraction", [0.3, 0.9])
def test_two_layers_close_exponentially_late(fraction):
    assert closing(2, 8, fraction) == pytest.approx(1, abs=2e-3)
    assert closing(2, 20, fraction) == pytest.approx(1, abs=1e-3)


def test_balanced_scalar_net_has_no_catapult_and_escapes_at_twice_its_edge():
    gamma = np.array([1e-5, 1e-3])
    finite = lambda eta: ~dl.portrait(gamma, eta, 10_000, depth=2).diverged
    formula = dl.eta_max(gamma, 2)
    np.testing.assert_allclose(dl.first_change(finite, formula, 5 * formula) / formula, 1.995, atol=0.01)


def test_catapult_of_the_two_layer_map():
    gamma = np.logspace(-5, -2, 4)
    run = lambda eta: dl.portrait(gamma, eta, 10_000, model="two-layer")
    monotone = dl.first_change(
        lambda eta: run(eta).max_loss <= 0.5 * (1 + 1e-9), 0.3 * gamma**2, 3 * gamma**2
    )
    np.testing.assert_allclose(monotone, dl.monotone_edge(gamma), rtol=0.002)
    trained = dl.first_change(lambda eta: run(eta).final_loss < 1e-3, 1.2 * gamma**2, 4 * gamma**2)
    np.testing.assert_allclose(trained, dl.catapult_edge(gamma), rtol=0.002)
    sides = run(gamma[:, None] ** 2 * np.array([1.5, 1.99, 2.01]))
    np.testing.assert_array_equal(sides.diverged, [[False, False, True]] * 4)
    assert np.all(sides.final_loss[:, :2] < 1e-20)
    spike = sides.max_loss[:, 0] * gamma**2
    assert np.all((0.1 < spike) & (spike < 0.5))
    wide = dl.portrait(
        gamma, gamma[:, None] ** 2 * np.array([0.99, 1.01]), 10_000, model="two-layer", kernel=4.0
    )
    np.testing.assert_array_equal(wide.diverged, [[False, True]] * 4)


def test_catapult_lands_where_the_kernel_is_smaller():
    gamma, ends = 1e-4, []
    for ratio in (1.01, 1.2, 1.5):
        overlap, kernel = 0.0, 2.0
        for _ in range(3000):
            e = ratio * gamma**2 * (overlap / gamma - 1) / gamma
            rise = dl.two_layer_step(overlap, kernel, e)
            overlap, kernel = overlap + rise[0], kernel + rise[1]
        ends.append(kernel)
    np.testing.assert_allclose(ends, [1.96, 1.22, 0.155], atol=0.01)


@pytest.mark.parametrize("label", [0.55, 0.6])
def test_cross_entropy_blows_up_only_from_gamma_on(label):
    gamma = np.logspace(-5, -2, 4)
    finite = lambda eta: (
        ~dl.portrait(
            gamma, eta, 10_000, model="two-layer", loss="cross-entropy", target=label, bound=1e30
        ).diverged
    )
    edge = dl.first_change(finite, 0.01 * gamma, 10 * gamma)
    np.testing.assert_allclose(edge / gamma, 2 * 2**0.5, atol=0.04)
    np.testing.assert_allclose(edge, dl.cross_entropy_edge(gamma, 10_000), rtol=0.01)
    assert slope(gamma, edge) == pytest.approx(1, abs=0.005)


def test_cross_entropy_minimum_repels_from_gamma_squared_on():
    rest = np.logaddexp(0, np.log(4)) - 0.8 * np.log(4)
    for gamma, expected in ((LAZY, 2), (np.logspace(3, 5, 4), 0.5)):
        run = lambda eta: dl.portrait(gamma, eta, 10_000, depth=4, loss="cross-entropy", target=0.8)  # noqa: B023
        settled = lambda eta: run(eta).final_loss < rest + 1e-9  # noqa: B023
        formula = dl.eta_max_cross_entropy(gamma, 4, 0.8)
        edge = dl.first_change(settled, formula / 2, 3 * formula)
        np.testing.assert_allclose(edge / formula, 1, rtol=5e-3)
        assert slope(gamma, edge) == pytest.approx(expected, abs=0.01)


def test_sign_descent_lives_in_a_strip():
    """Both edges ∝ γ, then γ^{1/L}; nothing diverges."""
    for gamma, power in ((LAZY, 1), (np.logspace(4, 7, 4), 1 / 3)):
        run = lambda eta: dl.portrait(gamma, eta, 1000, depth=3, optimizer="sign")  # noqa: B023
        formula = dl.sign_eta_min(gamma, 3, 1000, 0.9)
        reached = lambda eta: run(eta).max_output >= 0.9  # noqa: B023
        lower = dl.first_change(reached, formula / 10, 10 * formula)
        np.testing.assert_allclose(lower / formula, 1, rtol=2e-3)
        assert slope(gamma, lower) == pytest.approx(power, abs=0.01)
        assert not run(np.logspace(-8, 8, 9)).diverged.any()
        # The floor left at a rate is of the size of the amplitude, over the whole strip.
        rates = dl.sign_eta_max(gamma, 3, 0.1)[:, None] * np.geomspace(0.5, 2, 60)
        floor = np.sqrt(2 * run(rates).final_loss)
        amplitude = dl.sign_amplitude(rates, gamma[:, None], 3)
        assert np.all(floor < 1.3 * amplitude)
        assert np.all(floor.mean(1) > 0.2 * amplitude.mean(1))


def test_losses_beyond_float_are_infinite_not_nan():
    found = dl.portrait([1e-5, 1e5], np.logspace(-12, 12, 7), 200, depth=4)
    assert not np.isnan(found.final_loss).any()
    assert not np.isnan(found.max_loss).any()
    np.testing.assert_array_equal(found.diverged, np.isinf(found.final_loss))
    assert 0 < found.diverged.mean() < 1
    below = dl.portrait([1e-3], [1.5e-6], 300, model="two-layer", bound=100.0)
    assert below.diverged.all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dl.portrait([0.0], [1.0], 3), r"feature_strength = \[0.0\]"),
        (lambda: dl.portrait([[1.0]], [1.0], 3), "feature_strength has shape"),
        (lambda: dl.portrait([1.0], [-1.0], 3), "learning_rate"),
        (lambda: dl.portrait([1.0], [[1.0], [1.0]], 3), r"learning_rate has shape \(2, 1\)"),
        (lambda: dl.portrait([1.0], [1.0], 0), "steps = 0"),
        (lambda: dl.portrait([1.0], [1.0], 3, depth=0), "depth = 0"),
        (
            lambda: dl.portrait([1.0], [1.0], 3, model="mlp"),
            "model = 'mlp': expected one of scalar, two-layer",
        ),
        (lambda: dl.portrait([1.0], [1.0], 3, loss="hinge"), "loss = 'hinge'"),
        (lambda: dl.portrait([1.0], [1.0], 3, optimizer="adam"), "optimizer = 'adam'"),
        (lambda: dl.portrait([1.0], [1.0], 3, optimizer="sign", model="two-layer"), "optimizer = 'sign'"),
        (lambda: dl.portrait([1.0], [1.0], 3, loss="cross-entropy"), r"target = 1.0: .*\(0, 1\)"),
        (lambda: dl.portrait([1.0], [1.0], 3, kernel=0.0), "kernel = 0.0"),
        (lambda: dl.portrait([1.0], [1.0], 3, bound=0.0), "bound = 0.0"),
        (
            lambda: dl.first_change(lambda x: x < 0, [1.0], [2.0]),
            "row 0: no change between learning rates 1 and 2",
        ),
        (lambda: dl.first_change(lambda x: x < 0, [2.0], [1.0]), "expected one axis each, and low < high"),
        (lambda: dl.first_change(lambda x: x < 0, [1.0], [2.0], points=2), "points = 2"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
