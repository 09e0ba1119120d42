"""Drawn kernels and data sets: the modes that are not drawn one by one, and the means over draws."""

import numpy as np
import pytest

from lazyrich.theory.scaling import bottleneck, learning_curve, solve
from lazyrich.theory.scaling.draws import draw_kernel, draw_sample_floor

SEEDS = range(60)


def agrees(drawn, expected, allowance):
    """The mean over draws covers `expected` within three standard errors and a known relative bias."""
    error = np.std(drawn, axis=0, ddof=1) / np.sqrt(len(drawn))
    return np.all(np.abs(np.mean(drawn, axis=0) - expected) < 3 * error + allowance * expected)


@pytest.mark.parametrize("beta", [0.5, 1.5])
def test_the_mean_floor_of_drawn_kernels_is_the_bottleneck(beta):
    assert agrees([draw_kernel(1.5, beta, 48, s, 2048).floor for s in SEEDS], bottleneck(1.5, beta, 48), 0.02)


def test_the_mean_floor_of_drawn_data_sets_is_the_bottleneck():
    drawn = [draw_sample_floor(1.5, 0.5, 48, s, 2048) for s in SEEDS]
    assert agrees(drawn, bottleneck(1.5, 0.5, samples=48), 0.02)


def test_modes_that_enter_by_their_means_are_as_good_as_drawn_ones():
    """Few drawn modes with a tail against many: without the tail the floor would be off by a fifth."""
    few = [draw_kernel(1.5, 0.5, 32, s, 256).floor for s in SEEDS]
    many = [draw_kernel(1.5, 0.5, 32, 1000 + s, 8192).floor for s in SEEDS]
    difference, error = np.mean(few) - np.mean(many), np.hypot(np.std(few), np.std(many)) / np.sqrt(len(few))
    assert abs(difference) < 3 * error
    assert bottleneck(1.5, 0.5, 32, modes=256) < 0.85 * bottleneck(1.5, 0.5, 32)


def test_the_mean_curve_of_drawn_kernels_is_the_finite_width_theory():
    times = np.logspace(0, 6, 7)
    drawn = [solve(draw_kernel(1.5, 0.5, 64, s, 2048), 1.0, times).loss for s in SEEDS]
    assert agrees(drawn, learning_curve(1.5, 0.5, 1.0, 64, times=times).loss, 0.02)


def test_a_draw_is_a_function_of_its_seed():
    assert np.array_equal(draw_kernel(1.5, 0.5, 8, 3, 64).mass, draw_kernel(1.5, 0.5, 8, 3, 64).mass)
    assert draw_sample_floor(1.5, 0.5, 8, 3, 64) != draw_sample_floor(1.5, 0.5, 8, 4, 64)


@pytest.mark.parametrize(
    ("draw", "name"), [(lambda: draw_kernel(1.5, 0.5, 64, 0, 64), "width"),
                       (lambda: draw_sample_floor(1.5, 0.5, 0, 0), "samples"),
                       (lambda: draw_kernel(0.9, 0.5, 8, 0), "alpha")],
)  # fmt: skip
def test_bad_sizes_are_named(draw, name):
    with pytest.raises(ValueError, match=f"^{name} = "):
        draw()
