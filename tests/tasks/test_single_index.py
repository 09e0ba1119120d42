import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special

from lazyrich.tasks.single_index import KINDS, coefficients, index_stream


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("power", [1, 2, 3, 4])
def test_targets_have_mean_square_one_and_are_what_they_are_called(power, kind):
    nodes, weights = special.roots_hermitenorm(12)  # exact for polynomials up to degree 23
    y = np.polyval(coefficients(power, kind), nodes)
    assert weights @ y**2 / weights.sum() == pytest.approx(1, rel=1e-10)
    if kind == "hermite":
        lower = nodes[None, :] ** np.arange(power)[:, None]
        assert np.allclose((lower * weights) @ y, 0, atol=1e-10)
    else:
        assert np.allclose(y / y[0], (nodes / nodes[0]) ** power)


@pytest.mark.parametrize("kind", KINDS)
def test_the_target_depends_on_one_direction_which_belongs_to_the_key(kind):
    draw = index_stream(2, batch=200, dimension=5, kind=kind)

    def direction(key, step):
        x, y = (np.asarray(a, float) for a in draw(key, step))
        square = y[:, 0] * 2**0.5 + 1 if kind == "hermite" else y[:, 0] * 3**0.5
        rows, columns = np.triu_indices(5)
        products = x[:, rows] * x[:, columns]
        (fit, residual, rank, _) = np.linalg.lstsq(products, square)
        assert rank == 15
        assert residual.max() < 1e-8
        form = np.zeros((5, 5))
        form[rows, columns] = fit
        eigenvalues, vectors = np.linalg.eigh((form + form.T) / 2)
        assert np.allclose(eigenvalues, [0, 0, 0, 0, 1], atol=1e-4)  # … that projects on a unit vector
        return vectors[:, -1]

    first, again = direction(jax.random.key(3), 0), direction(jax.random.key(3), 7)
    assert abs(first @ again) == pytest.approx(1, abs=1e-4)
    assert abs(first @ direction(jax.random.key(4), 0)) < 0.99


def test_fixed_and_drawn():
    key = jax.random.key(1)
    fixed, drawn = (index_stream(3, batch=16, fixed=fixed) for fixed in (True, False))
    assert (fixed(key, 0)[0] == fixed(key, 9)[0]).all()
    assert (fixed(key, 0)[1] == fixed(key, 9)[1]).all()
    assert (drawn(key, 0)[0] != drawn(key, 9)[0]).any()
    assert (drawn(key, 0)[0] == fixed(key, 3)[0]).all()
    compiled = jax.jit(drawn)(key, jnp.int32(9))
    assert np.allclose(compiled[0], drawn(key, 9)[0])
    assert np.allclose(compiled[1], drawn(key, 9)[1], rtol=1e-5)
    assert compiled[0].dtype == compiled[1].dtype == jnp.float32


def test_inputs_are_standard_normal():
    x, y = index_stream(3, batch=100_000, dimension=3)(jax.random.key(0), 0)
    x = np.asarray(x, float)
    assert np.allclose(x.mean(axis=0), 0, atol=0.02)
    assert np.allclose(x.T @ x / len(x), np.eye(3), atol=0.02)
    assert np.mean(np.square(y, dtype=float)) == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"power": 0}, "power = 0"),
        ({"batch": 0}, "batch = 0"),
        ({"dimension": 0}, "dimension = 0"),
        ({"kind": "legendre"}, "kind = 'legendre'"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        index_stream(**({"power": 2, "batch": 8} | options))
