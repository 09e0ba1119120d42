import numpy as np
import pytest
from scipy.integrate import quad

from lazyrich.tasks import circle as tasks
from lazyrich.theory import circle, kernels


@pytest.mark.parametrize("power", [0, 1, 2, 3])
def test_modes_are_the_fourier_integrals(power):
    modes = circle.activation_modes(power, 12)
    for k in range(12):
        integral = quad(lambda x, k=k: np.cos(x) ** power * np.cos(k * x), -np.pi / 2, np.pi / 2)[0]
        assert modes[k] == pytest.approx(integral / (2 * np.pi), abs=1e-10)


@pytest.mark.parametrize("power", [1, 2, 3])
def test_eigenvalues_are_the_transform_of_the_kernel(power):
    """The other route: the FFT of the arc-cosine kernel on a grid, at frequencies it resolves."""
    points = 2**14
    angles = 2 * np.pi * np.arange(points) / points
    x = np.sqrt(2) * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    transformed = np.fft.rfft(kernels.ntk(x[:1], x, power=power)[0]).real[:20] / points
    exact = circle.eigenvalues(power, 20)
    assert np.abs(transformed - exact).max() < 1e-8 * exact.max()
    assert ((exact > 1e-15) == (transformed > 1e-7)).all()


@pytest.mark.parametrize(("power", "near", "far"), [(1, 2.010, 2.003), (2, 4.027, 4.009), (3, 6.068, 6.022)])
def test_capacity_is_twice_the_power(power, near, far):
    h, k = circle.eigenvalues(power, 201), tasks.frequencies(power, 200)
    for low, expected in ((8, near), (20, far)):
        window = k[k >= low]
        slope = np.polyfit(np.log(window), np.log(h[window]), 1)[0]
        assert -slope == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("power", [1, 2, 3])
def test_only_one_parity_beyond_the_power(power):
    h = circle.eigenvalues(power, 2000)
    assert (h[tasks.frequencies(power, 1999)] > 0).all()
    other = np.arange(power + 2, 2000, 2)
    assert (h[other] == 0).all()


def test_eigenvalues_keep_their_relative_accuracy_where_an_fft_is_noise():
    h = circle.eigenvalues(3, 100_001)
    assert h[100_000] * 100_000.0**6 / (h[10_000] * 10_000.0**6) == pytest.approx(1, abs=1e-6)


def test_flow_is_the_decay_of_each_mode_on_a_grid():
    task = tasks.fourier_target(0.4, points=256, highest=100, phases="random", seed=3)
    y = task.targets[:, 0].astype(float)
    modes = np.fft.fft(y) / 256
    h = circle.eigenvalues(1, 129)[np.abs(np.fft.fftfreq(256, 1 / 256)).astype(int)]
    times = np.array([0.0, 1.0, 30.0])
    expected = [np.sum(np.abs(modes * np.exp(-h * t)) ** 2) for t in times]
    assert circle.flow(1, task.amplitudes, times) == pytest.approx(np.array(expected), rel=1e-5)
    assert circle.flow(1, task.amplitudes, times)[0] == pytest.approx(1)


@pytest.mark.parametrize(("source", "early"), [(0.4, 0.333), (0.7, 0.534)])
def test_local_exponents_of_the_flow_are_below_the_asymptotic_one(source, early):
    amplitudes = tasks.fourier_target(source).amplitudes
    times = np.geomspace(30, 300, 30)
    slope = -np.polyfit(np.log(times), np.log(circle.flow(1, amplitudes, times)), 1)[0]
    assert slope == pytest.approx(early, abs=0.002)
    assert slope < source


@pytest.mark.parametrize(("arguments", "message"), [((0, 5), "power = 0"), ((1, 0), "count = 0")])
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        circle.eigenvalues(*arguments)
