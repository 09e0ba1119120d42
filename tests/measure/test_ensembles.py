"""Many networks in one program, and the means that angles are formed of."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lazyrich.measure.ensembles import over_networks, pooled_angle, pooled_cosine


def draw(key, scale):
    return {"value": scale * jax.random.normal(key, (2,), jnp.float32)}


@pytest.mark.parametrize("devices", [None, 1])
def test_seeds_are_keys_in_their_order(devices):
    found = over_networks(draw, range(3, 8), jnp.float32(2), devices=devices)["value"]
    expected = [2 * jax.random.normal(jax.random.key(seed), (2,), jnp.float32) for seed in range(3, 8)]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_compiled_once():
    traces = []

    def counted(key, scale):
        traces.append(1)
        return scale * jax.random.uniform(key, (), jnp.float32)

    for scale, networks in ((1, 4), (2, 4), (2, 7)):
        over_networks(counted, range(networks), jnp.float32(scale))
    assert len(traces) == 1


def test_pooled_angle_averages_the_square_of_the_velocity():
    cosines = np.array([[0.5, 1.0], [0.25, 1.0]])
    np.testing.assert_allclose(pooled_angle(cosines), [((4 + 16) / 2) ** -0.5, 1])
    equal = np.ones((2, 2))
    np.testing.assert_allclose(pooled_cosine(equal, equal, 1 / cosines), pooled_angle(cosines))


def test_no_seeds():
    with pytest.raises(ValueError, match="seeds is empty"):
        over_networks(draw, [], jnp.float32(1))
