import jax
import numpy as np
import pytest

from lazyrich.tasks import embedded, in_parts
from lazyrich.tasks.datasets import DATASETS, open_dataset

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("name", "count", "side"), [("digits-stream", 1347, 8), ("mnist-stream", 5000, 28), ("mnist", 5000, 28)]
)
def test_embedded_sets(name, count, side):
    data = open_dataset(name)
    assert data.x.shape == (count, side * side)
    assert (data.side, data.channels) == (side, 1)
    assert abs(data.x.std() - 1) < 1e-4
    assert len(data.x_test) == len(data.y_test)
    x, y = data.batches(64)(jax.random.key(0), 3)
    assert x.shape == (64, side * side)
    assert x.dtype == y.dtype == np.float32
    drawn = {tuple(row) for row in np.round(np.asarray(x), 3)}
    real = {tuple(row) for row in np.round(data.x, 3)}
    assert drawn <= real if name == "mnist" else not drawn & real


def test_batches_of_a_fixed_set_keep_images_and_labels_together():
    data = open_dataset("mnist", limit=50)
    assert data.x.shape == (50, 784)
    x, y = data.batches(200)(jax.random.key(1), 0)
    for image, target in zip(np.asarray(x), np.asarray(y), strict=True):
        match = np.abs(data.x - image).max(axis=1) < 1e-5
        assert (data.y[match] == target).all()
        assert match.any()


def test_of_a_set_on_disk_no_more_than_the_limit_is_in_memory_and_batches_come_from_all(monkeypatch):
    images = RNG.integers(0, 256, (3, 600, 32, 32, 3), np.uint8)
    labels = RNG.integers(0, 10, (3, 600), np.int32)
    parts = list(zip(images, labels, strict=True))
    monkeypatch.setattr(in_parts, "cifar5m_files", lambda folder: parts)
    data = open_dataset("cifar5m", "somewhere", limit=602)
    assert data.x.shape == (602, 3072)
    assert data.x_test.shape == (600, 3072)
    assert (data.side, data.channels, data.classes) == (32, 3, 10)
    assert (data.y == embedded.targets(np.concatenate([labels[0], labels[1][:2]]))).all()
    key, (mean, deviation) = jax.random.key(4), data.batches(1).args
    draw = jax.jit(lambda batches, step: batches(key, step))
    steps = [draw(data.batches(400, one_hot=False), step) for step in range(3)]
    x, y = (np.concatenate(column) for column in zip(*steps, strict=True))
    pixels = np.rint(255 * (x * deviation + mean)).astype(np.uint8)
    known = {row.tobytes(): y for row, y in zip(images.reshape(1800, -1), labels.ravel(), strict=True)}
    assert len({row.tobytes() for row in pixels}) == 1200  # an epoch: each training image once
    assert [known[row.tobytes()] for row in pixels] == y.tolist()
    assert (draw(data.batches(400, one_hot=False), 1)[1] == y[400:800]).all()
    assert (draw(data.batches(400), 2)[1] == embedded.targets(y[800:])).all()
    assert not (data.batches(400, one_hot=False)(jax.random.key(5), 0)[1] == y[:400]).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("imagenet",), "dataset = 'imagenet'"),
        (("mnist", "", 0), "limit = 0"),
        (("cifar10",), "dataset = 'cifar10' needs the folder"),
        (("fashion-mnist",), "dataset = 'fashion-mnist' needs the folder"),
        (("mnist1m",), "dataset = 'mnist1m' needs the folder"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        open_dataset(*arguments)


def test_missing_files_are_named(tmp_path):
    for name in DATASETS[2:]:
        with pytest.raises(FileNotFoundError, match="is there; put the files of"):
            open_dataset(name, tmp_path)
