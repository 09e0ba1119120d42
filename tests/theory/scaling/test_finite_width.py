"""The contour integral against ODEs on sampled kernels, exact sums and its own refinement."""

import numpy as np
import pytest

from lazyrich.theory.scaling import bottleneck, learning_curve
from lazyrich.theory.scaling.contour import converge, edges, finite_width
from lazyrich.theory.scaling.curve import solve
from lazyrich.theory.scaling.reduction import Measure
from lazyrich.theory.scaling.spectrum import power_law

SIZES = np.array([8, 32, 128, 512, 2048, 8192])


def sampled(alpha, beta, width, modes, seed):
    """K and g₀ of one draw of A₀: the measure without any mean-field limit."""
    k = np.arange(1.0, modes + 1)
    eigenvalues, power = k**-alpha, k ** (-alpha * beta - 1)
    features = np.random.default_rng(seed).standard_normal((width, modes)) * np.sqrt(eigenvalues)
    x, vectors = np.linalg.eigh(features @ features.T / width)
    mass = (vectors.T @ (features @ np.sqrt(power))) ** 2 / width
    return Measure(x, mass, np.ones(width), float(power.sum() - (mass / x).sum()), float(x[-1]))


@pytest.mark.parametrize("beta", [0.5, 1.25])
@pytest.mark.parametrize("gamma", [0.0, 1.0])
def test_mean_over_draws(beta, gamma):
    times = 10.0 ** np.arange(0, 6.01, 1)
    draws = np.array([solve(sampled(1.5, beta, 128, 4000, seed), gamma, times).loss for seed in range(8)])
    theory = learning_curve(1.5, beta, gamma, width=128, times=times, modes=4000).loss
    error = draws.std(axis=0, ddof=1) / np.sqrt(len(draws))
    assert np.all(np.abs(draws.mean(axis=0) - theory) < 3.5 * error + 0.005 * theory)


def test_the_curve_stands_when_the_nodes_are_doubled_again():
    times = 10.0 ** np.arange(-1, 8.01, 0.5)
    for width in (16, 4096, 1e6):
        spectrum = power_law(1.5, 1.25)
        loss = learning_curve(1.5, 1.25, width=width, times=times).loss
        fine = solve(finite_width(spectrum, width, 3072), 0.0, times).loss
        np.testing.assert_allclose(loss, fine, rtol=1e-6)


@pytest.mark.parametrize("width", [8, 300, 1e6])
def test_moments_of_the_measure(width):
    spectrum = power_law(1.5, 0.5)
    measure, x = finite_width(spectrum, width), spectrum.eigenvalues
    one = np.ones_like(measure.nodes)
    trace = spectrum.counts @ x
    assert measure.integrate(one) == pytest.approx(spectrum.power @ x, rel=1e-10)
    # E g₀ᵀ K g₀ / N = Σ λ³ w*² (1 + 1/N) + Σ λ² w*² trΛ / N, at leading order in 1/N
    assert measure.integrate(measure.nodes) == pytest.approx(
        spectrum.power @ x**2 + spectrum.power @ x * trace / width, rel=1e-9
    )
    assert measure.total(one) == pytest.approx(width, rel=1e-10)
    assert measure.total(measure.nodes) == pytest.approx(trace, rel=1e-7)
    assert measure.loss(0 * one) == pytest.approx(spectrum.power.sum(), rel=1e-9)


def test_edges():
    spectrum = power_law(1.5, 0.5)
    assert edges(spectrum, 4096)[1] == pytest.approx(1.03, abs=0.005)
    assert edges(spectrum, 64)[1] == pytest.approx(1.29, abs=0.005)


def test_a_contour_that_does_not_converge_is_an_error():
    with pytest.raises(RuntimeError, match="still changes by"):
        converge(power_law(1.5, 0.5), 4096, lambda m: solve(m, 0.0, np.array([1e3])), nodes=16, most=32)


def test_width_bottleneck():
    floor = bottleneck(1.5, 0.5, width=SIZES)
    np.testing.assert_allclose(floor, [0.69387, 0.28193, 0.10433, 0.03745, 0.013308, 0.004713], rtol=1e-3)
    assert learning_curve(1.5, 0.5, 1.0, width=512, times=[1e10]).loss[0] == pytest.approx(floor[3], rel=1e-8)


@pytest.mark.parametrize(
    ("beta", "first", "last"), [(0.5, -0.65, -0.750), (1.25, -1.18, -1.487), (2.5, None, -1.5)]
)
def test_width_exponent_saturates_at_alpha(beta, first, last):
    sizes = 8 * 4 ** np.arange(7)
    local = np.diff(np.log(bottleneck(1.5, beta, width=sizes))) / np.log(4)
    if first is not None:
        assert local[0] == pytest.approx(first, abs=0.01)
    assert local[-1] == pytest.approx(last, abs=0.015)


@pytest.mark.parametrize(("beta", "expected"), [(0.5, 0.750), (1.25, 1.875), (1.75, 2.615), (2.5, 2.999)])
def test_sample_exponent_saturates_at_two_alpha(beta, expected):
    sizes = np.array([4096, 16384])
    local = -np.diff(np.log(bottleneck(1.5, beta, samples=sizes))) / np.log(4)
    assert local[0] == pytest.approx(expected, abs=0.01)


def test_width_transient():
    times = 10.0 ** np.arange(2, 5.01, 0.5)
    wide, infinite = (learning_curve(1.5, 2.5, width=n, times=times).loss for n in (1e6, None))
    excess = wide - infinite
    local = np.diff(np.log(excess)) / np.diff(np.log(times))
    assert np.all((local > -0.345) & (local < -0.329))


def test_what_double_precision_cannot_hold_is_an_error():
    with pytest.raises(ValueError, match="below the spectrum"):
        bottleneck(9.0, 0.5, width=1e6)
    with pytest.raises(RuntimeError, match="still changes by"):
        learning_curve(9.0, 3.0, 1e4, width=1000)


@pytest.mark.parametrize("alpha", [1.02, 1.5, 3.0])
@pytest.mark.parametrize("beta", [0.05, 0.5, 1.5])
@pytest.mark.parametrize("gamma", [0.0, 1.0, 1e4])
@pytest.mark.parametrize("width", [1, 7.5, 300])
def test_curves_fall_from_the_targets_power_to_the_floor(alpha, beta, gamma, width):
    curve = learning_curve(alpha, beta, gamma, width, times=[0.0, 1e-6, 1.0, 1e3, 1e15])
    assert np.all(np.diff(curve.loss) <= 1e-9)
    assert np.all(np.diff(curve.kernel_growth) >= -1e-9)
    assert curve.loss[0] == pytest.approx(power_law(alpha, beta).power.sum(), rel=1e-9)
    if beta > 0.1:
        assert curve.loss[-1] == pytest.approx(curve.floor, rel=1e-6)


def test_bottleneck_arguments():
    assert bottleneck(1.5, 0.5, samples=20, modes=20) == 0
    with pytest.raises(ValueError, match="exactly one"):
        bottleneck(1.5, 0.5)
    with pytest.raises(ValueError, match="exactly one"):
        bottleneck(1.5, 0.5, width=8, samples=8)
    with pytest.raises(ValueError, match="samples = 0"):
        bottleneck(1.5, 0.5, samples=0)
