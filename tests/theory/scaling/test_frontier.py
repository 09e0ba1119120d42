"""The compute-optimal frontier against a brute-force envelope and the exponents of FL."""

import numpy as np
import pytest

from lazyrich.theory.scaling import compute_frontier, learning_curve


@pytest.mark.parametrize(
    ("beta", "gamma", "window", "exponent", "width_exponent"),
    [
        (0.5, 0.0, (2, 4), 0.287, None),
        (0.5, 0.0, (6, 8), 0.299, 0.401),
        (0.5, 1.0, (6, 8), 0.350, 0.468),
        (1.2, 0.0, (6, 8), 0.633, None),
        (1.2, 1.0, (6, 8), 0.640, None),
        (1.25, 0.0, (4, 6), 0.6356, None),
        (1.25, 0.0, (6, 8), 0.6448, None),
    ],
)
def test_exponents(beta, gamma, window, exponent, width_exponent):
    frontier = compute_frontier(1.5, beta, gamma, np.logspace(*window, 7), widths_per_decade=6)
    assert frontier.exponent == pytest.approx(exponent, abs=0.003)
    np.testing.assert_allclose(frontier.width * frontier.time, frontier.compute)
    if width_exponent is not None:
        assert frontier.width_exponent == pytest.approx(width_exponent, abs=0.003)


def test_super_easy_tasks_are_limited_by_noise():
    compute = np.logspace(4, 6, 3)
    frontier = compute_frontier(1.5, 2.5, 0.0, compute, 1, 0.1, widths_per_decade=4)
    assert frontier.exponent == pytest.approx(0.691, abs=0.006)


def test_no_width_does_better():
    frontier = compute_frontier(1.5, 0.5, 1.0, [1e5, 1e6])
    for c, best, width in zip(frontier.compute, frontier.loss, frontier.width, strict=True):
        tried = [
            learning_curve(1.5, 0.5, 1.0, n, times=[c / n]).loss[0] for n in width * np.logspace(-0.5, 0.5, 7)
        ]
        assert np.argmin(tried) == 3
        assert best == pytest.approx(tried[3], rel=1e-4)


def test_bad_compute_is_named():
    with pytest.raises(ValueError, match="compute"):
        compute_frontier(1.5, 0.5, compute=[1.0, 10.0])
