"""Every network of the image chapters through a sweep, at toy size, from lazy to rich."""

from functools import cache

import jax
import numpy as np
import pytest

from lazyrich.models import MODELS, build
from lazyrich.tasks import image_stream, load
from lazyrich.training import sweep

GAMMA = np.array([1e-6, 1.0, 30.0])
DEPTH = {"mlp": 3, "cnn": 3, "resnet": 1, "vit": 1}


@cache
def network(name):
    return lambda rngs: build(name, side=8, classes=10, width=8, depth=DEPTH[name], rngs=rngs)


@pytest.mark.parametrize("name", MODELS)
def test_it_learns_at_every_strength(name):
    stream = image_stream(*load("digits"), batch=16, setting="portrait")
    rate = np.where(GAMMA < 1, GAMMA**2, GAMMA ** (2 / 3))
    run = sweep(network(name), stream, steps=60, feature_strength=GAMMA, learning_rate=2 * rate, chunk=20)
    assert not run.diverged.any()
    start, end = run.loss[0, :, :10].mean(axis=-1), run.loss[0, :, -10:].mean(axis=-1)
    assert (end < start).all(), (start, end)
    x = stream(jax.random.key(3), 0)[0]
    assert np.isfinite(np.asarray(run.apply(0, 0)(x))).all()
