"""Curves on a fixed sample against explicit descent, and the minimum-norm interpolant."""

import numpy as np
import pytest

from lazyrich.theory.scaling import bottleneck, data_curve, draw_sample


def descend(sample, gamma, eta, steps):
    """w and A of the model, full batch."""
    psi, start, target = sample.features, sample.projection, sample.target
    width, a, w = len(start), start.copy(), np.zeros(len(start))
    for _ in range(steps):
        v = target - w @ a / width
        pull = psi.T @ (psi @ v) / len(psi)
        w, a = w + eta * (a @ pull), a + eta * gamma * np.outer(w, (start @ pull) @ start / width)
    v = target - w @ a / width
    return np.mean((psi @ v) ** 2), v**2 @ sample.variances


@pytest.mark.parametrize("gamma", [0.0, 0.5])
@pytest.mark.parametrize("width", [60, 30])
def test_explicit_descent(gamma, width):
    sample = draw_sample(1.5, 0.5, 40, seed=3, width=width, modes=200)
    for steps in (100, 2000):
        train, test = descend(sample, gamma, 0.01, steps)
        curve = data_curve(sample, gamma, [0.01 * steps])
        assert curve.train[0] == pytest.approx(train, rel=5e-3)
        assert curve.test[0] == pytest.approx(test, rel=5e-3)


def test_mean_curves_and_their_end():
    times = [1.0, 10.0, 1e2, 1e3, 1e4]
    samples = [draw_sample(1.5, 0.5, 64, seed) for seed in range(12)]
    lazy, rich = ([data_curve(s, gamma, times) for s in samples] for gamma in (0.0, 1.0))
    mean = lambda curves, name: np.mean([getattr(c, name) for c in curves], axis=0)
    np.testing.assert_allclose(mean(lazy, "train")[:3], [0.771, 0.191, 0.0233], rtol=0.2)
    np.testing.assert_allclose(mean(lazy, "test"), [0.862, 0.306, 0.146, 0.1215, 0.1212], rtol=0.12)
    np.testing.assert_allclose(mean(rich, "train")[:2], [0.625, 0.0888], rtol=0.2)
    np.testing.assert_allclose(mean(rich, "test")[:3], [0.722, 0.207, 0.1226], rtol=0.12)
    np.testing.assert_allclose(mean(rich, "test")[-1], mean(lazy, "test")[-1], rtol=1e-3)
    floor = bottleneck(1.5, 0.5, samples=64, modes=2000)
    assert mean(lazy, "test")[-1] == pytest.approx(floor, rel=0.06)
