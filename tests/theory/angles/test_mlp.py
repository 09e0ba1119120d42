"""The MLP's law against its closed forms, the recursion it was derived from, and networks in NumPy."""

import numpy as np
import pytest
from scipy.special import roots_hermitenorm

import numpy_networks
from lazyrich.theory.angles import activation_moments, mlp_cosines, mlp_deep_constant

RELU = (lambda z: np.maximum(z, 0), lambda z: (z > 0) * 1.0)
LINEAR = (lambda z: z, np.ones_like)
LEAKY = (lambda z: np.where(z > 0, z, 0.3 * z), lambda z: np.where(z > 0, 1.0, 0.3))
TANH = (np.tanh, lambda z: np.cosh(z) ** -2)


def recursion(c, chi, v):
    """s = ⟨−b, ḟ⟩/|b|², u = |ḟ|²/|b|², layer by layer, as first derived."""
    s = u = 0.0
    cosines = []
    for c_l, chi_l, v_l in zip(c, [1.0, *chi], [0.0, *v], strict=True):
        u = chi_l**2 * (u + v_l * s**2) + 2 * c_l * chi_l * s + c_l**2
        s = chi_l * s + c_l
        cosines.append(s / np.sqrt(u))
    return np.array(cosines)


def test_relu_closed_form():
    l = np.arange(1, 513)
    np.testing.assert_allclose(mlp_cosines(512), np.sqrt(3 * l / (2 * l**2 + 1)), rtol=1e-13)
    assert mlp_cosines(512)[-1] * np.sqrt(512) == pytest.approx(mlp_deep_constant(), rel=1e-5)
    assert mlp_deep_constant() == pytest.approx(np.sqrt(1.5), rel=1e-13)


def test_closed_forms_of_the_other_weights():
    l = np.arange(1, 65)
    linear = np.sqrt(6 * l / ((l + 1) * (2 * l + 1)))
    np.testing.assert_allclose(mlp_cosines(64, "linear"), linear, rtol=1e-13)
    np.testing.assert_allclose(mlp_cosines(64, weights="orthogonal"), linear, rtol=1e-13)
    np.testing.assert_allclose(mlp_cosines(64, "linear", "orthogonal"), 1, rtol=1e-14)
    kappa = 2 * (1 + 0.3**4) / (1 + 0.3**2) ** 2
    leaky = 1 / np.sqrt(1 + kappa * (l - 1) * (2 * l - 1) / (6 * l))
    np.testing.assert_allclose(mlp_cosines(64, LEAKY[0]), leaky, rtol=1e-11)


@pytest.mark.parametrize("variance", [0.5, 1.5, 3.0])
def test_off_criticality_the_derivation_s_recursion(variance):
    chi = variance / 2
    expected = recursion(np.ones(24), [chi] * 23, [2.0] * 23)
    np.testing.assert_allclose(mlp_cosines(24, weight_variance=variance), expected, rtol=1e-12)


def test_unequal_contributions_are_the_recursion_at_other_rates():
    contributions = np.random.default_rng(0).uniform(0.1, 3, 16)
    expected = recursion(contributions, [1.0] * 15, [2.0] * 15)
    np.testing.assert_allclose(mlp_cosines(16, contributions=contributions), expected, rtol=1e-12)
    # given the decays, criticality does not matter: it only turns rates into decays
    noncritical = mlp_cosines(16, contributions=contributions, weight_variance=5.0)
    np.testing.assert_allclose(noncritical, expected, rtol=1e-12)


def test_very_deep_and_off_criticality_stays_finite():
    assert np.isfinite(mlp_cosines(3000, "linear", weight_variance=np.full(2999, 1.2))).all()


@pytest.mark.parametrize("variance", [0.01, 1.0, 9.0])
def test_moments_against_gauss_hermite(variance):
    """Another quadrature, another derivative: a smooth function given with no derivative."""
    z, w = roots_hermitenorm(200)
    z, w = z * np.sqrt(variance), w / w.sum()
    square, slope2, kurtosis = activation_moments(lambda z: np.sin(z) + 0.5 * z, variance)
    slope = np.cos(z) + 0.5
    expected = w @ (np.sin(z) + 0.5 * z) ** 2, w @ slope**2, (w @ slope**4) / (w @ slope**2) ** 2
    np.testing.assert_allclose((square, slope2, kurtosis), expected, rtol=1e-10)


@pytest.mark.parametrize("name", ["relu", "relu2", "relu3", "linear", "tanh", "gelu"])
def test_named_derivatives_are_the_functions_own(name):
    from lazyrich.theory.angles import ACTIVATIONS

    np.testing.assert_allclose(activation_moments(ACTIVATIONS[name][0]), activation_moments(name), rtol=1e-10)


def test_relu_moments_are_exact():
    assert activation_moments("relu", 7.0) == pytest.approx((3.5, 0.5, 2.0), rel=1e-14)


@pytest.mark.parametrize(
    ("phi", "scales", "law", "more"),
    [
        (RELU, [2.0] * 9, {}, {}),
        (LEAKY, [2 / 1.09] * 9, dict(activation=LEAKY[0]), {}),
        (TANH, [1.5] * 9, dict(activation="tanh", weight_variance=1.5), {}),
        (RELU, [3.0] * 9, dict(weight_variance=3.0), {}),
        (
            RELU,
            [1.0] * 9,
            dict(contributions=np.linspace(3, 1, 10)),
            dict(contributions=np.linspace(3, 1, 10)),
        ),
        (RELU, [2.0] * 9, dict(weights="orthogonal"), dict(orthogonal=True)),
        (LINEAR, [1.0] * 9, dict(activation="linear"), {}),
    ],
    ids=["relu", "leaky", "tanh", "noncritical", "unequal", "orthogonal", "linear"],
)
def test_law_holds_in_networks(phi, scales, law, more):
    """Mean of 48 networks of width 192: within 6 %, which is 4 standard errors where they scatter most."""
    rng = np.random.default_rng(0)
    measured = numpy_networks.mlp_cosines(rng, 48, 192, 10, *phi, np.sqrt(scales), **more)
    np.testing.assert_allclose(numpy_networks.pooled(measured), mlp_cosines(10, **law), rtol=0.06)


def test_the_wrong_law_would_be_seen():
    """Gaussian and orthogonal, ReLU and linear differ by more than the networks scatter."""
    rng = np.random.default_rng(0)
    measured = numpy_networks.pooled(numpy_networks.mlp_cosines(rng, 24, 192, 10, *RELU, [2**0.5] * 9))
    assert measured[-1] < 0.8 * mlp_cosines(10, "linear")[-1]
    assert measured[-1] < 0.8 * mlp_cosines(10, weights="orthogonal")[-1]


def test_linear_orthogonal_networks_are_isometries():
    rng = np.random.default_rng(0)
    measured = numpy_networks.mlp_cosines(rng, 2, 64, 16, *LINEAR, [1.0] * 15, orthogonal=True)
    assert np.abs(measured - 1).max() < 1e-12


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: mlp_cosines(0), "depth = 0"),
        (lambda: mlp_cosines(3, "swish"), "activation = 'swish'"),
        (lambda: mlp_cosines(3, weights="sparse"), "weights = 'sparse'"),
        (lambda: mlp_cosines(3, weight_variance=-1.0), "weight_variance = -1.0"),
        (lambda: mlp_cosines(3, weight_variance=[1.0]), "depth − 1 = 2"),
        (lambda: mlp_cosines(3, contributions=[1.0, 1.0]), "contributions = "),
        (lambda: mlp_cosines(3, contributions=[0.0, 1.0, 1.0]), "contributions = "),
        (lambda: mlp_cosines(3, first_variance=0.0), "variance = 0.0"),
        (lambda: activation_moments(lambda z: 0 * z), "expected positive"),
        (lambda: mlp_deep_constant(weights="sparse"), "weights = 'sparse'"),
    ],
)
def test_bad_input_is_named(call, named):
    with pytest.raises(ValueError, match=named):
        call()
