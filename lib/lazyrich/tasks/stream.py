"""An unlimited stream of distinct images: every sample a fresh deformation of a small real base.

Samples are drawn inside the compiled training step as a pure function of the key and the step, so a run
stores nothing and can be resumed. The samples are unlimited, their content is not: the stream is harder
than its base and different from it, and its numbers are not to be compared with those of other data.
"""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.tree_util import Partial
from jaxtyping import Float, Int

GRID = 4  # knots a side of the coarse field from which elastic displacements are interpolated


@dataclass(frozen=True)
class Deformation:
    """How far an image is deformed; every parameter is uniform in ± its value unless said."""

    rotation: float  # radians
    log_scale: float  # the logarithm of the magnification, one for both axes
    shear: float  # x moves by shear·y
    shift: float  # along each axis, in units of the side
    elastic: float = 0.0  # rms displacement in units of the side, of a smooth random field
    noise: float = 0.0  # deviation of normal noise added to every pixel


# One pixel of an 8×8 image is 1/8 of its side, one of a 28×28 image 1/28.
SETTINGS = {
    "portrait": Deformation(rotation=0.25, log_scale=0.12, shear=0.2, shift=0.9 / 8, noise=0.05),
    "mild": Deformation(rotation=np.pi / 18, log_scale=0.1, shear=0.1, shift=0.06, elastic=0.7 / 28),
}


def image_stream(
    images: Float[np.ndarray, "n side side"],
    labels: Int[np.ndarray, "n"],
    batch: int,
    setting: str = "mild",
    *,
    one_hot: bool = True,
    mean: float | None = None,
    deviation: float | None = None,
) -> Partial:
    """A function (key, step) → (inputs, targets) for `lazyrich.training.train`.

    Step t draws with ``fold_in(key, t)``: random images of the base, each with its own rotation,
    magnification, shear, shift, elastic field and noise, resampled bilinearly with zeros outside,
    then standardised.

    Args:
        images, labels: the base, float32 in [0, 1] and int32.
        batch: number of samples a step; 128–256 is fastest on a CPU.
        setting: ``"portrait"`` or ``"mild"``.
        one_hot: targets are (batch, 10) one-hot minus 0.1; otherwise the labels.
        mean, deviation: the inputs are (x − mean)/deviation. None takes those of the base's pixels;
            ``portrait`` always uses 0.3053 and 0.376, with which its published slopes were measured.

    Returns inputs (batch, side·side) float32 and targets.

    Raises ValueError for an unknown setting or a batch below 1.

    >>> from lazyrich.tasks import load
    >>> x, y = image_stream(*load("digits"), batch=32)(jax.random.key(0), 5)
    >>> x.shape, y.shape, x.dtype
    ((32, 64), (32, 10), dtype('float32'))
    """
    if setting not in SETTINGS:
        raise ValueError(f"setting = {setting!r}: expected one of {sorted(SETTINGS)}")
    if batch < 1:
        raise ValueError(f"batch = {batch}: expected at least 1")
    if setting == "portrait":
        mean, deviation = 0.3053, 0.376
    mean = float(images.mean()) if mean is None else mean
    deviation = float(images.std()) if deviation is None else deviation
    draw = _Draw(SETTINGS[setting], images.shape[1], batch, one_hot)
    border = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    return Partial(draw, *map(jnp.asarray, (border, labels)), jnp.float32(mean), jnp.float32(deviation))


@dataclass(frozen=True)
class _Draw:
    """The drawing function. Equal settings are equal functions, so that a program is compiled once."""

    deformation: Deformation
    side: int
    batch: int
    one_hot: bool

    def __call__(
        self, border: Array, labels: Array, mean: Array, deviation: Array, key: Array, step: Array | int
    ) -> tuple[Array, Array]:
        keys = jax.random.split(jax.random.fold_in(key, step), 3)
        index = jax.random.randint(keys[0], (self.batch,), 0, len(labels), jnp.int32)
        x = _bilinear(border, index, *_sources(keys[1], self.deformation, self.batch, self.side))
        if self.deformation.noise:
            x = x + self.deformation.noise * jax.random.normal(keys[2], x.shape, x.dtype)
        y = labels[index]
        if self.one_hot:
            y = jax.nn.one_hot(y, 10, dtype=jnp.float32) - 0.1
        return (x - mean) / deviation, y


def _sources(key: Array, by: Deformation, batch: int, side: int) -> tuple[Array, Array]:
    """Where each pixel of each sample comes from: rows and columns, each (batch, side·side), in pixels."""
    affine, elastic = jax.random.split(key)
    limits = jnp.array([by.rotation, by.log_scale, by.shear, by.shift, by.shift], jnp.float32)
    draws = jax.random.uniform(affine, (5, batch, 1), jnp.float32, -1.0, 1.0) * limits[:, None, None]
    angle, log_scale, shear, down, right = draws
    centre = (side - 1) / 2
    row, column = (a.reshape(1, -1) - centre for a in jnp.indices((side, side), jnp.float32))
    column = column + shear * row
    cos, sin = (jnp.exp(log_scale) * f(angle) for f in (jnp.cos, jnp.sin))
    row, column = cos * row - sin * column + side * down, sin * row + cos * column + side * right
    if by.elastic:
        knots = jax.random.normal(elastic, (2, batch, GRID, GRID), jnp.float32)
        smooth = jnp.asarray(_interpolation(side))
        field = side * by.elastic * jnp.einsum("ik,cbkl,jl->cbij", smooth, knots, smooth)
        row, column = row + field[0].reshape(batch, -1), column + field[1].reshape(batch, -1)
    return row + centre, column + centre


def _interpolation(side: int) -> Float[np.ndarray, "side knots"]:
    """Weights of the coarse field's knots at each pixel; rows of norm 1 keep its variance at 1."""
    pixels, knots = (np.arange(side) + 0.5) / side * (GRID - 1), np.arange(GRID)
    weights = np.exp(-2 * (pixels[:, None] - knots[None, :]) ** 2)
    return (weights / np.linalg.norm(weights, axis=1, keepdims=True)).astype(np.float32)


def _bilinear(border: Array, index: Array, row: Array, column: Array) -> Array:
    """Bilinear samples of images that carry a border of one zero pixel; zero beyond it."""
    size = border.shape[1]
    row, column = (jnp.clip(a + 1, 0, size - 1.001) for a in (row, column))
    top, left = (jnp.floor(a) for a in (row, column))
    below, beside = row - top, column - left
    flat = border.reshape(-1)
    corner = index[:, None] * (size * size) + top.astype(jnp.int32) * size + left.astype(jnp.int32)
    upper = (1 - beside) * flat[corner] + beside * flat[corner + 1]
    lower = (1 - beside) * flat[corner + size] + beside * flat[corner + size + 1]
    return (1 - below) * upper + below * lower
