"""Gradient descent that calibrates itself: rates set once, by the first parameters it sees."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jax import Array

from lazyrich.measure.calibration import balanced_rates


def calibrated(
    objective: Callable[[Any], Array], decay: float, group: Callable[[str], str] = lambda path: path
) -> Callable[[], optax.GradientTransformation]:
    r"""An optimiser for the training loop: SGD at the rates :math:`\eta_k = \delta/(L|g_k|^2)`.

    One backward pass through ``objective`` at the initial parameters sets the rates for good; see
    `balanced_rates` for ``decay`` (δ) and ``group``. Cells of a sweep calibrate each for itself.

    Args:
        objective: params → loss on the batch that is used to calibrate.

    >>> optimiser = calibrated(lambda w: jnp.sum(w**2), decay=0.5)()
    >>> state = optimiser.init(jnp.array([2.0, 0.0]))
    >>> optimiser.update(jnp.array([4.0, 0.0]), state)[0].tolist()  # 4 · (−½/16) · 4 = −½
    [-0.125, -0.0]
    """

    def init(params):
        return balanced_rates(jax.grad(objective)(params), decay, group)

    def update(gradients, rates, params=None):
        step = lambda g, rate: -jnp.asarray(rate, g.dtype) * g
        return jax.tree.map(step, gradients, rates), rates

    return lambda: optax.GradientTransformation(init, update)
