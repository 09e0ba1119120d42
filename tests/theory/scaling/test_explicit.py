"""Weights and all: the conservation law, the one spike, and the reduced solution."""

import numpy as np
import pytest

from lazyrich.theory.scaling.explicit import explicit_descent
from lazyrich.theory.scaling.reduction import Measure, evolve

TIMES = np.array([1.0, 10.0, 40.0])


@pytest.fixture(scope="module")
def model():
    width, modes, alpha, beta = 24, 200, 1.5, 0.5
    k = np.arange(1.0, modes + 1)
    projection = np.random.default_rng(0).standard_normal((width, modes))
    return projection, k ** (-(alpha * beta + 1 - alpha) / 2), k**-alpha


def reduced(projection, target, variances, gamma):
    """The one-dimensional solution on this very projection."""
    width = len(projection)
    x, vectors = np.linalg.eigh(projection * variances @ projection.T / width)
    start = vectors.T @ (projection @ (variances * target))
    floor = variances @ target**2 - start**2 / x @ np.ones(width) / width
    path = evolve(Measure(x, start**2 / width, np.ones(width), floor, x[-1]), gamma, TIMES)
    return path.at(TIMES, path.loss), path.at(TIMES, path.kernel_growth)


@pytest.mark.parametrize("gamma", [0.3, 2.0])
def test_errors_against_the_reduction_halve_with_the_learning_rate(model, gamma):
    loss, growth = reduced(*model, gamma)
    errors = []
    for rate in (0.02, 0.01):
        run = explicit_descent(*model, gamma, rate, TIMES)
        assert np.allclose(run.loss, loss, rtol=0.02)
        errors.append([run.drift, abs(run.bulk / growth - 1), abs(run.loss / loss - 1)])
    assert np.allclose(np.divide(*errors), 2, rtol=0.25)


def test_one_spike_and_a_bulk_that_stays_flat(model):
    gamma = 2.0
    run = explicit_descent(*model, gamma, 0.01, TIMES)
    assert np.allclose(run.next, run.bulk, rtol=1e-12)
    share = gamma * (reduced(*model, gamma)[1] - 1) / gamma
    assert np.allclose(run.spike / run.bulk, (1 + 2 * share) / (1 + share), rtol=0.01)
    assert (run.spike < 2 * run.bulk).all()


def test_a_covariance_of_its_own_trains_on_it(model):
    _, target, variances = model
    samples = np.random.default_rng(1).standard_normal((30, len(target))) * np.sqrt(variances)
    run = explicit_descent(*model, 0.5, 0.02, [0, 100], samples.T @ samples / 30)
    assert run.train_loss[0] == pytest.approx(np.mean((samples @ target) ** 2))
    assert run.train_loss[1] < 0.2 * run.loss[1]
    same = explicit_descent(*model, 0.5, 0.02, TIMES, np.diag(variances))
    assert np.allclose(same.loss, explicit_descent(*model, 0.5, 0.02, TIMES).loss, rtol=1e-10)


def test_bad_input_is_refused_by_name(model):
    projection, target, variances = model
    with pytest.raises(ValueError, match="learning_rate = 0"):
        explicit_descent(*model, 1.0, 0, TIMES)
    with pytest.raises(ValueError, match="gamma = -1"):
        explicit_descent(*model, -1, 0.1, TIMES)
    with pytest.raises(ValueError, match="target has shape"):
        explicit_descent(projection, target[1:], variances, 1.0, 0.1, TIMES)
    with pytest.raises(ValueError, match="covariance has shape"):
        explicit_descent(*model, 1.0, 0.1, TIMES, np.eye(3))
