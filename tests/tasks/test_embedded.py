import shutil

import numpy as np
import pytest

from lazyrich import files
from lazyrich.tasks import embedded


@pytest.mark.parametrize(
    ("name", "split", "count", "side"),
    [
        ("digits", "train", 1347, 8),
        ("digits", "test", 450, 8),
        ("mnist", "train", 5000, 28),
        ("mnist", "test", 1000, 28),
    ],
)
def test_sizes_and_range(name, split, count, side):
    images, labels = embedded.load(name, split)
    assert images.shape == (count, side, side)
    assert images.dtype == np.float32
    assert labels.dtype == np.int32
    assert images.min() == 0
    assert images.max() == 1


def test_mnist_classes_are_balanced_and_shuffled():
    labels = embedded.load("mnist").labels
    assert (np.bincount(labels) == 500).all()
    assert (np.bincount(labels[:1000]) > 70).all()


def test_constants_of_the_portrait_stream_are_the_digits_own():
    images = np.concatenate([embedded.load("digits", split).images for split in ("train", "test")])
    assert abs(images.mean() - 0.3053) < 1e-4
    assert abs(images.std() - 0.376) < 1e-3


def test_halve_averages_the_padded_image():
    image = np.zeros((1, 28, 28), np.float32)
    image[0, 0, 0] = 1  # padded to (2, 2): the corner of the square (1, 1)
    halved = embedded.halve(image)
    assert halved.shape == (1, 16, 16)
    assert halved[0, 1, 1] == 0.25
    assert halved.sum() == 0.25
    assert embedded.load("mnist", "test", side=16).images.shape == (1000, 16, 16)


def test_inputs_use_the_reference():
    train, test = embedded.load("digits").images, embedded.load("digits", "test").images
    x = embedded.inputs(test, train)
    assert np.allclose(x * train.std() + train.mean(), test.reshape(450, -1), atol=1e-6)


def test_targets():
    y = embedded.targets(np.arange(10))
    assert np.allclose(y.sum(axis=1), 0, atol=1e-6)
    assert np.allclose((y**2).sum(axis=1), 0.9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "cifar"}, "name, split = 'cifar', 'train'"),
        ({"name": "mnist", "split": "valid"}, "'valid'"),
        ({"name": "mnist", "side": 14}, "side = 14: mnist has 28 or 16"),
        ({"name": "digits", "side": 16}, "side = 16: digits has 8"),
    ],
)
def test_unknown_choices(arguments, message):
    with pytest.raises(ValueError, match=message):
        embedded.load(**arguments)


@pytest.fixture
def copied_data(tmp_path, monkeypatch):
    for name in ("digits8x8.npz", "SHA256SUMS"):
        shutil.copy(files.data_path(name), tmp_path / name)

    def data_path(name):
        path = tmp_path / name
        if not path.exists():
            raise FileNotFoundError(f"{path}: this file belongs to the package and is missing")
        return path

    monkeypatch.setattr(files, "data_path", data_path)
    return tmp_path


@pytest.mark.parametrize(
    "damage", [lambda b: b[:-100], lambda b: b"<html>not found</html>", lambda b: b[:-1] + b"x"]
)
def test_a_damaged_file_is_named_with_the_remedy(copied_data, damage):
    path = copied_data / "digits8x8.npz"
    path.write_bytes(damage(path.read_bytes()))
    message = r"digits8x8.npz is truncated or was changed.*git checkout -- data/digits8x8.npz"
    with pytest.raises(OSError, match=message):
        embedded.load("digits")


def test_a_missing_file_is_named(copied_data):
    (copied_data / "digits8x8.npz").unlink()
    with pytest.raises(FileNotFoundError, match=r"digits8x8.npz"):
        embedded.load("digits")


def test_every_embedded_file_has_its_checksum():
    sums = dict(line.split()[::-1] for line in files.data_path("SHA256SUMS").read_text().splitlines())
    assert set(embedded.FILES.values()) == set(sums)
