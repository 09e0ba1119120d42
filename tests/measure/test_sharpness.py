"""Lanczos against dense Hessians."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lazyrich.measure.sharpness import spectral_density, top_eigenvalues
from lazyrich.models.centering import difference
from tolerance import tol

KEY = jax.random.key(0)


def quadratic(values, seed=0, dtype=jnp.float64):
    """A loss whose Hessian has these eigenvalues in a random basis, and a point."""
    rotation = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(values),) * 2))[0]
    matrix = jnp.asarray(rotation * values @ rotation.T, dtype)
    return lambda w: w @ matrix @ w / 2, jnp.ones(len(values), dtype)


def network(params, x):
    return jnp.tanh(x @ params["in"]) @ params["out"]


@pytest.fixture(scope="module", params=[jnp.float32, jnp.float64])
def trained(request):
    """A small network in a pytree, a loss, and the eigenvalues of its dense Hessian in float64."""
    draw = lambda i, *shape: jax.random.normal(jax.random.key(i), shape, jnp.float64)
    params, x, y = {"in": draw(1, 8, 12), "out": draw(2, 12, 2)}, draw(3, 20, 8), draw(4, 20, 2)
    loss = lambda p, x, y: jnp.mean(jnp.square(network(p, x) - y))
    flat, restore = jax.flatten_util.ravel_pytree(params)
    dense = np.linalg.eigvalsh(jax.jit(jax.hessian(lambda w: loss(restore(w), x, y)))(flat))
    low = lambda tree: jax.tree.map(lambda a: a.astype(request.param), tree)
    x, y = low((x, y))
    return (lambda p: loss(p, x, y)), low(params), dense


def test_eigenvalues_of_a_network(trained):
    loss, params, dense = trained
    top = lambda loss, p, by: top_eigenvalues(loss, p, 10, key=KEY, by=by)
    found = jax.jit(
        lambda p: {
            "algebraic": top(loss, p, "algebraic"),
            "modulus": top(loss, p, "modulus"),
            "smallest": top(lambda p: -loss(p), p, "algebraic"),
        }
    )(params)
    slack = tol(params["in"]) * dense.max()
    for by, sort in (("algebraic", -dense), ("modulus", -abs(dense)), ("smallest", dense)):
        expected = dense[np.argsort(sort)][:10] * (-1 if by == "smallest" else 1)
        assert found[by].values.dtype == params["in"].dtype
        values, residuals = (np.asarray(a, np.float64) for a in (found[by].values, found[by].residuals))
        np.testing.assert_allclose(values, expected, rtol=0, atol=slack)
        assert np.all(abs(values - expected) <= residuals + slack)
    assert dense[0] < 0


def test_as_many_steps_as_parameters_give_the_whole_spectrum():
    values = np.linspace(-1, 2, 12)
    loss, at = quadratic(values)
    found = jax.jit(lambda w: top_eigenvalues(loss, w, 12, key=KEY, steps=100))(at)
    np.testing.assert_allclose(found.values, values[::-1], atol=1e-12)
    np.testing.assert_allclose(found.residuals, 0, atol=1e-12)


def test_residual_bounds_the_error_where_lanczos_has_not_converged():
    values = np.geomspace(0.8, 1, 200)
    loss, at = quadratic(values)
    for steps in (4, 30):
        found = jax.jit(lambda w: top_eigenvalues(loss, w, 2, key=KEY, steps=steps))(at)  # noqa: B023
        nearest = abs(np.asarray(found.values)[:, None] - values).min(1)
        assert np.all(nearest <= found.residuals + 1e-12)
    assert found.residuals[0] < 1e-2


def test_low_rank_and_zero_hessians():
    loss, at = quadratic(np.array([5.0, -3.0] + [0.0] * 60), dtype=jnp.float32)

    @jax.jit
    def find(at):
        return (
            top_eigenvalues(loss, at, 4, key=KEY, by="modulus").values,
            top_eigenvalues(lambda w: w.sum(), at, 2, key=KEY).values,
            spectral_density(loss, at, key=KEY, probes=200),
        )

    low, zero, full = find(at)
    np.testing.assert_allclose(low, [5, -3, 0, 0], atol=tol(at, 5))
    np.testing.assert_array_equal(zero, [0, 0])
    assert float((full.weights * full.nodes).sum()) == pytest.approx(2 / 62, abs=0.03)


def test_cells_in_one_program():
    losses = [quadratic(np.linspace(0, top, 30), seed=top) for top in (1, 2, 3)]
    rows = jnp.stack([jax.vmap(jax.grad(loss))(jnp.eye(30, dtype=jnp.float64)) for loss, _ in losses])
    sharpness = lambda m: top_eigenvalues(lambda w: w @ m @ w / 2, jnp.ones(30, m.dtype), key=KEY).values[0]
    np.testing.assert_allclose(jax.jit(jax.vmap(sharpness))(rows), [1, 2, 3], rtol=1e-10)


def test_lazy_sharpness_in_float32_at_any_gamma():
    """γ²λ of the centred network at Δ = 0.2γ·direction, in difference form, tends to a constant."""
    draw = lambda i, *shape: jax.random.normal(jax.random.key(i), shape, jnp.float32)
    params, x, y = {"in": draw(1, 8, 12), "out": draw(2, 12, 2)}, draw(3, 20, 8), draw(4, 20, 2)

    @jax.jit
    def scaled(gamma):
        loss = lambda d: jnp.mean(jnp.square(difference(network)(params, d, x) / gamma - y))
        at = jax.tree.map(lambda w: 0.2 * gamma * w, params)
        return gamma**2 * top_eigenvalues(loss, at, 3, key=KEY, by="modulus").values

    reference = scaled(jnp.float32(1e-4))
    np.testing.assert_allclose(scaled(jnp.float32(1e-6)), reference, rtol=1e-3)
    np.testing.assert_allclose(scaled(jnp.float32(1e-8)), reference, rtol=1e-3)


def test_spectral_density_against_the_dense_spectrum():
    values = np.concatenate([np.linspace(-1, 1, 150), [6.0, 8.0]])
    loss, at = quadratic(values)
    measure = jax.jit(lambda w: spectral_density(loss, w, key=KEY, probes=60, steps=40))(at)
    assert measure.weights.sum() == pytest.approx(1)
    for power in (1, 2, 3):
        spread = np.std(values**power) * (2 / 60 / len(values)) ** 0.5
        moment = (measure.weights * measure.nodes**power).sum()
        assert moment == pytest.approx(np.mean(values**power), abs=4 * spread)
    grid = np.linspace(-3, 10, 2001)
    density = np.asarray(measure.density(jnp.asarray(grid), 0.3))
    exact = np.exp(-(((grid[:, None] - values) / 0.3) ** 2) / 2).mean(1) / (0.3 * (2 * np.pi) ** 0.5)
    assert np.trapezoid(density, grid) == pytest.approx(1, abs=1e-6)
    assert np.trapezoid(abs(density - exact), grid) < 0.04


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(count=0), "count = 0: expected from 1 to the number of parameters, 4"),
        (dict(count=5), "count = 5"),
        (dict(by="size"), "by = 'size'"),
        (dict(count=3, steps=2), "steps = 2: expected at least count = 3"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        top_eigenvalues(*quadratic(np.arange(4.0)), key=KEY, **arguments)
    for name in ("probes", "steps"):
        with pytest.raises(ValueError, match=f"{name} = 0"):
            spectral_density(*quadratic(np.arange(4.0)), key=KEY, **{name: 0})
