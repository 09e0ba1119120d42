"""Networks in Flax NNX: forward maps whose layers know how to scale and how fast to learn."""

from lazyrich.models.centering import centred, difference, functional
from lazyrich.models.cnn import CNN
from lazyrich.models.conv_resnet import ConvResNet
from lazyrich.models.gcn import GCN
from lazyrich.models.layers import learning_rates
from lazyrich.models.mlp import MLP
from lazyrich.models.registry import MODELS, build
from lazyrich.models.resnet import ResNet
from lazyrich.models.ssm import StateSpace
from lazyrich.models.transformer import Transformer, VisionTransformer
from lazyrich.models.two_layer import TwoLayer

__all__ = [
    "CNN",
    "GCN",
    "MLP",
    "MODELS",
    "ConvResNet",
    "ResNet",
    "StateSpace",
    "Transformer",
    "TwoLayer",
    "VisionTransformer",
    "build",
    "centred",
    "difference",
    "functional",
    "learning_rates",
]
