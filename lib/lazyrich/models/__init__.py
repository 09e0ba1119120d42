"""Networks in Flax NNX: forward maps whose layers know how to scale and how fast to learn."""

from lazyrich.models.cnn import CNN
from lazyrich.models.layers import learning_rates
from lazyrich.models.mlp import MLP
from lazyrich.models.two_layer import TwoLayer

__all__ = ["CNN", "MLP", "TwoLayer", "learning_rates"]
