"""Lazy networks against the infinite-width theory at the same times, with nothing fitted."""

import numpy as np
import pytest

from lazyrich import training
from lazyrich.models import TwoLayer
from lazyrich.tasks import embedded
from lazyrich.tasks.circle import fourier_target
from lazyrich.theory import circle as theory
from lazyrich.theory import kernels


@pytest.mark.parametrize(("power", "rate"), [(1, 0.2), (2, 0.1)])
def test_on_the_circle(power, rate):
    task = fourier_target(0.5, power, points=128, highest=30)
    run = training.train(
        lambda rngs: TwoLayer(2, 512, 1, power=power, equispaced=True, rngs=rngs),
        (task.inputs, task.targets),
        steps=round(60 / rate),
        learning_rate=rate,
        feature_strength=0.02,
    )
    flow = theory.flow(power, task.amplitudes, run.times)
    late = run.times > 5  # a step of descent is not yet the flow
    assert np.abs(2 * run.loss / flow - 1)[late].max() < 0.02


def test_on_mnist():
    """Up to t = 29, where few images at a small width still suffice: the mean of four within 3 %."""
    train = embedded.load("mnist")
    x, y = embedded.inputs(train.images)[:200], embedded.targets(train.labels)[:200]
    steps, rate = 20, 1.45
    run = training.train(
        lambda rngs: TwoLayer(784, 512, 10, rngs=rngs),
        (x, y),
        steps=steps,
        learning_rate=rate,
        feature_strength=0.02,
        seeds=np.arange(4),
    )
    theory = kernels.spectrum(kernels.ntk(x), y).descent(rate, np.arange(steps))
    ratio = 2 * run.loss / theory
    assert np.abs(ratio.mean(axis=0) - 1).max() < 0.03
    assert theory[-1] < 0.6 * theory[0]
