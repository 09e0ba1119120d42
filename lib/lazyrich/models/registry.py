"""The networks that a chapter can put on images, under one name each and with one set of arguments."""

from collections.abc import Callable

from flax import nnx

from lazyrich.models.cnn import CNN
from lazyrich.models.conv_resnet import ConvResNet
from lazyrich.models.mlp import MLP
from lazyrich.models.transformer import VisionTransformer


def _mlp(side: int, channels: int, width: int, fan_out: int, **options) -> MLP:
    return MLP(side * side * channels, width, fan_out, **options)


MODELS: dict[str, Callable[..., nnx.Module]] = {
    "mlp": _mlp,
    "cnn": CNN,
    "resnet": ConvResNet,
    "vit": VisionTransformer,
}


def build(
    name: str,
    *,
    side: int,
    channels: int = 1,
    classes: int,
    width: int,
    depth: int,
    rngs: nnx.Rngs,
    **options,
) -> nnx.Module:
    """A network on flat images (batch, side · side · channels), by its name.

    Args:
        name: a key of ``MODELS``: ``mlp``, ``cnn`` (`CNN`), ``resnet`` (`ConvResNet`), ``vit``
            (`VisionTransformer`, whose width is a multiple of 8).
        classes: number of outputs.
        width: hidden units, channels, or size of a token.
        depth: weight matrices of ``mlp`` and ``cnn``, residual blocks of ``resnet`` and ``vit``.
        rngs: ``nnx.Rngs(params=key)``.
        options: of the network, e.g. ``activation``, ``parametrization`` (``"mup"``), ``dtype``.

    In muP the output is divided by N and each parameter's rate is N · η (`learning_rates`).

    Raises ValueError for an unknown name, and as the network does.

    >>> import jax.numpy as jnp
    >>> model = build("cnn", side=8, classes=10, width=16, depth=3, rngs=nnx.Rngs(params=0))
    >>> model(jnp.ones((5, 64), jnp.float32)).shape
    (5, 10)
    """
    if name not in MODELS:
        raise ValueError(f"model = {name!r}: expected one of {', '.join(MODELS)}")
    return MODELS[name](side, channels, width, classes, depth=depth, rngs=rngs, **options)
