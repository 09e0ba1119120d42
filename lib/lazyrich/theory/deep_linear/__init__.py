r"""The deep linear network on one example, the smallest model with lazy and rich training.

Conventions: output f = (Π a_l − 1)/γ from a_l(0) = 1, loss ½(f − y)², plain gradient descent with
learning rate η on the a_l. "Lazy" is γ ≪ 1, "rich" γ ≫ 1. For a loss that is the mean square over C
outputs, multiply every learning rate here by C/2.
"""

from lazyrich.theory.deep_linear.edges import first_change
from lazyrich.theory.deep_linear.hitting import (
    closing_strength,
    drop_time,
    eta_min,
    hitting_time,
    lazy_hitting_time,
    plateau_time,
    two_layer_hitting_time,
)
from lazyrich.theory.deep_linear.plane import Portrait, portrait
from lazyrich.theory.deep_linear.scalar import (
    eta_max,
    eta_max_cross_entropy,
    initial_eigenvalues,
    minimum,
    output,
    sharpening,
    sharpness,
)
from lazyrich.theory.deep_linear.sign import sign_amplitude, sign_eta_max, sign_eta_min
from lazyrich.theory.deep_linear.two_layer import (
    catapult_edge,
    cross_entropy_edge,
    monotone_edge,
    two_layer_step,
)

__all__ = [
    "Portrait",
    "catapult_edge",
    "closing_strength",
    "cross_entropy_edge",
    "drop_time",
    "eta_max",
    "eta_max_cross_entropy",
    "eta_min",
    "first_change",
    "hitting_time",
    "initial_eigenvalues",
    "lazy_hitting_time",
    "minimum",
    "monotone_edge",
    "output",
    "plateau_time",
    "portrait",
    "sharpening",
    "sharpness",
    "sign_amplitude",
    "sign_eta_max",
    "sign_eta_min",
    "two_layer_hitting_time",
    "two_layer_step",
]
