import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.ndimage import map_coordinates

from lazyrich.tasks import load
from lazyrich.tasks import stream as streams
from lazyrich.tasks.stream import SETTINGS, Deformation, image_stream

DIGITS = load("digits")
STILL = Deformation(rotation=0.0, log_scale=0.0, shear=0.0, shift=0.0)


def draw(monkeypatch, deformation, batch=64, **options):
    monkeypatch.setitem(SETTINGS, "mild", deformation)
    batches = image_stream(*DIGITS, batch=batch, mean=0.0, deviation=1.0, **options)
    return batches(jax.random.key(0), 4)


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_batch_is_a_pure_function_of_key_and_step(setting):
    batches = jax.jit(image_stream(*DIGITS, batch=16, setting=setting))
    x, y = batches(jax.random.key(3), 7)
    assert x.shape == (16, 64)
    assert x.dtype == y.dtype == jnp.float32
    for key, step, same in ((3, 7, True), (3, 8, False), (4, 7, False)):
        again, _ = batches(jax.random.key(key), step)
        assert bool((again == x).all()) is same


def test_without_deformation_the_base_comes_back_with_its_labels(monkeypatch):
    x, labels = draw(monkeypatch, STILL, one_hot=False)
    base = DIGITS.images.reshape(-1, 64)
    for image, label in zip(np.asarray(x), labels, strict=True):
        nearest = np.abs(base - image).max(axis=1)
        assert nearest.min() < 1e-6
        assert label in DIGITS.labels[nearest < 1e-6]
    assert len(np.unique(labels)) == 10


def test_one_hot_targets_are_centred(monkeypatch):
    _, y = draw(monkeypatch, STILL)
    assert np.allclose(y.sum(axis=1), 0, atol=1e-6)
    assert np.allclose((y**2).sum(axis=1), 0.9)


@pytest.mark.parametrize("setting", SETTINGS)
def test_resampling_is_scipys_bilinear_interpolation(setting):
    image = DIGITS.images[:1]
    rows, columns = streams._sources(jax.random.key(1), SETTINGS[setting], 5, 8)
    border = jnp.pad(jnp.asarray(image), ((0, 0), (1, 1), (1, 1)))
    mine = streams._bilinear(border, jnp.zeros(5, jnp.int32), rows, columns)
    for sample, row, column in zip(mine, rows, columns, strict=True):
        theirs = map_coordinates(image[0], [row, column], order=1, mode="grid-constant")
        assert np.allclose(sample, theirs, atol=2e-3)


@pytest.mark.parametrize(
    ("field", "size", "rms"),
    [("shift", 0.1, 0.8 / 3**0.5), ("rotation", 0.2, 0.2 / 3**0.5 * (21 / 4) ** 0.5), ("elastic", 0.05, 0.4)],
)
def test_displacements_have_their_declared_size(field, size, rms):
    """Root mean square displacement along one axis, in pixels of an 8×8 image (mean column² is 21/4)."""
    values = {name: 0.0 for name in ("rotation", "log_scale", "shear", "shift")} | {field: size}
    rows, _ = streams._sources(jax.random.key(2), Deformation(**values), 4000, 8)
    moved = np.asarray(rows) - np.repeat(np.arange(8), 8)
    assert np.sqrt(np.mean(moved**2)) == pytest.approx(rms, rel=0.05)


def test_portrait_is_standardised_with_its_own_constants():
    x, _ = image_stream(*DIGITS, batch=2000, setting="portrait")(jax.random.key(0), jnp.int32(0))
    raw = np.asarray(x) * 0.376 + 0.3053
    assert raw.min() > -0.4
    assert raw.max() < 1.4
    assert abs(raw.mean() - 0.29) < 0.02


def test_equal_settings_are_one_program():
    count = 0

    @jax.jit
    def traced(batches):
        nonlocal count
        count += 1
        return batches(jax.random.key(0), jnp.int32(0))

    traced(image_stream(*DIGITS, batch=8))
    traced(image_stream(*DIGITS, batch=8))
    assert count == 1
    traced(image_stream(*DIGITS, batch=8, setting="portrait"))
    assert count == 2


@pytest.mark.parametrize(
    ("options", "message"), [({"setting": "wild"}, "setting = 'wild'"), ({"batch": 0}, "batch = 0")]
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        image_stream(*DIGITS, **(dict(batch=8) | options))
