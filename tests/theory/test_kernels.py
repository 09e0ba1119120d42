import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

from lazyrich.tasks import embedded
from lazyrich.theory import kernels


@pytest.mark.parametrize("power", [0, 1, 2, 3, 4])
def test_arc_cosine_is_the_gaussian_average(power):
    """Against the polar integral of E[u₊^q v₊^q] over two correlated normals."""
    for angle in (0.0, 0.4, 1.5, 2.9):
        radial = 2**power * np.prod(np.arange(1, power + 1.0))  # ∫ r^{2q+1} e^{−r²/2} dr
        integrand = lambda w, angle=angle: np.cos(w) ** power * np.cos(w - angle) ** power
        angular = quad(integrand, angle - np.pi / 2, np.pi / 2)[0]
        value = kernels.arc_cosine(np.array([np.cos(angle)]), power)[0]
        assert value == pytest.approx(radial * angular, rel=1e-7)


@pytest.mark.parametrize("power", [1, 2])
def test_ntk_is_the_average_over_random_units(power):
    rng = np.random.default_rng(0)
    d, units = 5, 200_000
    x = rng.normal(size=(4, d))
    w, a = rng.normal(size=(units, d)), rng.normal(size=units)
    u = x @ w.T / np.sqrt(d)
    value = np.maximum(u, 0) ** power
    slope = (power * np.maximum(u, 0) ** (power - 1) if power > 1 else (u > 0)) * a
    sampled = (value @ value.T + x @ x.T / d * (slope @ slope.T)) / units
    exact = kernels.ntk(x, power=power)
    size = np.sqrt(np.outer(exact.diagonal(), exact.diagonal()))
    assert (np.abs(exact - sampled) / size).max() < 0.03


def test_ntk_blocks_do_not_matter_and_cross_is_consistent():
    x = np.random.default_rng(1).normal(size=(37, 6))
    whole = kernels.ntk(x)
    assert np.abs(kernels.ntk(x, block=8) - whole).max() < 1e-14
    assert np.abs(kernels.ntk(x[:5], x) - whole[:5]).max() < 1e-14
    assert np.linalg.eigvalsh(whole)[0] > 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: kernels.ntk(x, power=0), "power = 0"),
        (lambda x: kernels.ntk(x, x[:, :2]), "z has 2 dimensions, x has 3"),
        (lambda x: kernels.ntk(0 * x), "x has an input that is zero"),
        (lambda x: kernels.ntk(x, np.nan * x), "z has an input that is zero or not finite"),
        (lambda x: kernels.spectrum(np.ones((2, 2)), x), r"targets \(4, 3\)"),
        (lambda x: kernels.spectrum(np.triu(np.ones((4, 4))), x), "not symmetric"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call(np.arange(1.0, 13.0).reshape(4, 3))


@pytest.fixture(scope="module")
def small():
    """Kernel, targets and other inputs of a problem small enough to integrate directly."""
    rng = np.random.default_rng(2)
    x, z = rng.normal(size=(12, 4)), rng.normal(size=(7, 4))
    return kernels.ntk(x), rng.normal(size=(12, 2)), kernels.ntk(z, x), rng.normal(size=(7, 2))


def test_flow_and_test_flow_solve_the_kernel_equation(small):
    kernel, y, cross, y_test = small
    times = np.array([0.0, 0.7, 5.0, 40.0])

    def velocity(_, state):
        f = state[:24].reshape(12, 2)
        return np.concatenate([(kernel @ (y - f) / 12).ravel(), (cross @ (y - f) / 12).ravel()])

    path = solve_ivp(velocity, (0, 40), np.zeros(38), t_eval=times, rtol=1e-10, atol=1e-12).y.T
    train = ((path[:, :24].reshape(-1, 12, 2) - y) ** 2).sum(axis=2).mean(axis=1)
    test = ((path[:, 24:].reshape(-1, 7, 2) - y_test) ** 2).sum(axis=2).mean(axis=1)
    spectrum = kernels.spectrum(kernel, y)
    assert spectrum.flow(times) == pytest.approx(train, rel=1e-7)
    assert spectrum.test_flow(cross, y_test, times) == pytest.approx(test, rel=1e-7)


def test_descent_iterates_the_kernel_and_knows_its_bound(small):
    kernel, y, _, _ = small
    spectrum = kernels.spectrum(kernel, y)
    rate = 1.5 / spectrum.eigenvalues[0]
    f, losses = np.zeros_like(y), []
    for _ in range(30):
        losses.append(((f - y) ** 2).sum(axis=1).mean())
        f = f + rate * kernel @ (y - f) / 12
    assert spectrum.descent(rate, np.arange(30)) == pytest.approx(np.array(losses), rel=1e-10)
    with pytest.raises(ValueError, match=r"learning_rate = .*below 2/h_1"):
        spectrum.descent(2.01 / spectrum.eigenvalues[0], np.arange(3))


def test_a_mode_without_eigenvalue_stays_unlearned():
    spectrum = kernels.spectrum(np.diag([2.0, 0.0]), np.ones((2, 1)))
    assert spectrum.flow(np.array([1e9])) == pytest.approx([0.5])
    assert spectrum.test_flow(np.diag([2.0, 0.0]), np.ones((2, 1)), np.array([1e9])) == pytest.approx([0.5])


@pytest.mark.parametrize("window", [(0, 10), (10, 10), (10, 13)])
def test_windows_outside_the_spectrum(small, window):
    with pytest.raises(ValueError, match="window ="):
        kernels.exponents(kernels.spectrum(small[0], small[1]), window)


@pytest.fixture(scope="module")
def mnist():
    train = embedded.load("mnist")
    return embedded.inputs(train.images), embedded.targets(train.labels)


def test_exponents_of_mnist_depend_on_the_number_of_images(mnist):
    """2,500 images, measured apart: source .233, at 1,250 .25; the interval's other values differ."""
    x, y = mnist
    kernel = kernels.ntk(x[:2500])
    many = kernels.spectrum(kernel, y[:2500])
    few = kernels.spectrum(kernel[:1250, :1250], y[:1250])
    measured = kernels.exponents(many, (10, 100))
    assert measured.source == pytest.approx(0.233, abs=0.005)
    assert kernels.exponents(few, (10, 100)).source == pytest.approx(0.256, abs=0.01)
    down, up, fewer = kernels.exponent_changes(many, few, (10, 100))
    assert down.window == (7, 67)
    assert up.window == (15, 150)
    assert fewer == kernels.exponents(few, (10, 100))
    assert many.flow(np.array([0.0])) == pytest.approx([0.9])
