"""Two independent routes to the same curves: inverse Laplace transform and two-time mean field."""

import numpy as np
import pytest

from lazyrich.theory.scaling import learning_curve, talbot_curve, two_time_curve


@pytest.mark.parametrize("width", [16, 256, 100_000])
@pytest.mark.parametrize("beta", [0.5, 1.2, 1.75])
def test_inverse_laplace_transform(width, beta):
    times = 10.0 ** np.arange(0, 7.1, 1)
    expected = talbot_curve(1.5, beta, width, times)
    np.testing.assert_allclose(learning_curve(1.5, beta, width=width, times=times).loss, expected, rtol=2e-8)


def test_two_time_flow_in_the_rich_regime():
    run = two_time_curve(1.5, 0.5, 1.0, 64, times=np.logspace(-1, 3, 60))
    curve = learning_curve(1.5, 0.5, 1.0, 64, times=run.times)
    np.testing.assert_allclose(run.loss, curve.loss, rtol=2e-3)
    np.testing.assert_allclose(1 + run.readout, curve.kernel_growth, rtol=4e-3)


def test_truncated_two_time_values():
    times = np.sort(np.append(np.logspace(-1, 3, 59), 60.47))
    run = two_time_curve(1.5, 0.5, 1.0, 64, times=times, modes=4700)
    middle = np.argmin(np.abs(run.times - 60.47))
    np.testing.assert_allclose([run.loss[middle], run.loss[-1]], [0.16513, 0.16210], rtol=3e-3)
    assert run.readout[middle] == pytest.approx(3.411, abs=0.01)


@pytest.mark.parametrize(
    ("width", "batch", "gamma"),
    [(32, None, 0.0), (32, 16, 0.0), (32, None, 0.2), (32, 16, 0.2), (128, 32, 0.2)],
)
def test_two_time_descent(width, batch, gamma):
    run = two_time_curve(1.5, 0.5, gamma, width, batch, 0.2, steps=80, modes=1024, bins=6)
    curve = learning_curve(1.5, 0.5, gamma, width, batch, 0.2, times=run.times, modes=1024)
    np.testing.assert_allclose(run.loss, curve.loss, rtol=0.01)


def test_infinite_width_descent_is_explicit():
    run = two_time_curve(1.5, 0.5, learning_rate=0.2, steps=20, modes=12)
    k = np.arange(1.0, 13)
    expected = [(k**-1.75) @ (1 - 0.2 * k**-1.5) ** (2 * n) for n in range(21)]
    np.testing.assert_allclose(run.loss, expected, rtol=1e-3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "exactly one"),
        ({"steps": 3}, "steps = 3 needs a learning_rate"),
        ({"steps": 0, "learning_rate": 0.1}, "steps = 0"),
        ({"times": [1.0, 2.0], "batch": 2, "learning_rate": 0.1}, "batch = 2"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        two_time_curve(1.5, 0.5, 0.0, 32, **arguments)


def test_unfinished_sweeps_are_an_error():
    with pytest.raises(RuntimeError, match="after 2 sweeps"):
        two_time_curve(1.5, 0.5, 1.0, 64, times=np.logspace(-1, 3, 20), most_sweeps=2)
