"""Balanced rates: each layer causes its share of the decay."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from architectures import batch, gradients, measured, network
from lazyrich.measure.calibration import balanced_rates


def test_every_layer_causes_its_share():
    """Checked by the feature speeds: D grows in equal steps from node to node."""
    params, data = network("ssm")[1], batch("ssm", 32)
    g = gradients("ssm", params, data)
    layer = lambda path: path if path[:5] in ("embed", "reado") else path.split("/")[1]  # else its block
    rates = balanced_rates(g, 0.3, layer)
    speed = measured("ssm", params, data, jax.tree.map(lambda g, rate: -rate * g, g, rates))
    stream = np.array([float(speed[node]["decay"]) for node in ("h0", "h1", "h2", "output")])
    np.testing.assert_allclose(np.diff(stream, prepend=0), 0.3 / 4, rtol=1e-12)


def test_by_default_each_parameter_is_a_layer():
    rates = balanced_rates({"a": jnp.array([2.0]), "b": jnp.array([3.0, 4.0])}, 1.0)
    assert (float(rates["a"]), float(rates["b"])) == (1 / 8, 1 / 50)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="decay = 0"):
        balanced_rates({"a": jnp.array([2.0])}, 0.0)
