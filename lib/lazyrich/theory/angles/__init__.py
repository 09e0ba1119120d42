"""Laws of the backward-feature angle, and the speeds that follow from it, at initialisation."""

from lazyrich.theory.angles.joint_batch import (
    joint_batch_cosine,
    joint_batch_readout,
    joint_batch_sensitivity,
)
from lazyrich.theory.angles.mlp import (
    ACTIVATIONS,
    activation_moments,
    mlp_cosines,
    mlp_deep_constant,
)
from lazyrich.theory.angles.resnet import resnet_cosines, resnet_deep_limit
from lazyrich.theory.angles.sensitivity import mlp_sensitivity, resnet_sensitivity

__all__ = [
    "ACTIVATIONS",
    "activation_moments",
    "joint_batch_cosine",
    "joint_batch_readout",
    "joint_batch_sensitivity",
    "mlp_cosines",
    "mlp_deep_constant",
    "mlp_sensitivity",
    "resnet_cosines",
    "resnet_deep_limit",
    "resnet_sensitivity",
]
