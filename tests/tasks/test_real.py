import jax
import numpy as np
import pytest

from lazyrich.tasks import own_files, real
from lazyrich.tasks.embedded import Images, inputs, load, targets
from lazyrich.tasks.real import real_input


def test_a_stream_is_fresh_and_standardised_by_its_base():
    data = real_input("digits-stream")
    assert (data.side, data.channels, data.endless) == (8, 1, True)
    first, second = (data.sample(64, seed)[0] for seed in (0, 1))
    assert not np.isclose(first, second).all()
    x, y = jax.jit(data.batches(64))(jax.random.key(0), 0)
    assert np.allclose(np.asarray(x, np.float64), first, atol=1e-5)
    assert y.shape == (64, 10)
    assert abs(first.mean()) < 0.2
    assert 0.7 < first.std() < 1.3


def test_fixed_images_are_those_of_the_embedded_subset():
    data = real_input("mnist")
    train = load("mnist")
    x, y = data.sample(5000, 0)
    assert np.allclose(x, inputs(train.images), atol=1e-5)
    assert np.allclose(y, targets(train.labels), atol=1e-7)
    test_x, _ = data.sample(1000, 0, "test")
    assert np.allclose(test_x, inputs(load("mnist", "test").images, train.images), atol=1e-5)


def test_no_image_comes_twice_before_all_were_seen():
    data = real_input("mnist")
    batches = jax.jit(data.batches(500))
    for key in (jax.random.key(0), jax.random.key(1)):
        seen = np.concatenate([batches(key, np.int32(step))[0] for step in range(10)])
        assert len(np.unique(seen, axis=0)) == len(np.unique(load("mnist").images.reshape(5000, -1), axis=0))
    again = batches(key, np.int32(10))[0]
    assert np.array_equal(again, seen[:500])


@pytest.mark.parametrize("name", ["cifar10", "cifar5m"])
def test_own_files_come_in_colour(monkeypatch, name):
    rng = np.random.default_rng(0)
    images, labels = rng.integers(0, 256, (40, 32, 32, 3), np.uint8), np.arange(40) % 10

    def cifar10(folder, split):
        return Images(images.astype(np.float32) / 255, labels.astype(np.int32))

    monkeypatch.setattr(own_files, "cifar10_files", cifar10)
    monkeypatch.setattr(own_files, "cifar5m_files", lambda folder, parts: [(images, labels)] * len(parts))
    data = real_input(name, "somewhere", most=100)
    assert (data.side, data.channels, data.endless) == (32, 3, False)
    assert len(data.pools["train"][1]) == (100 if name == "cifar5m" else 40)
    x, _ = data.batches(8)(jax.random.key(0), np.int32(3))
    assert x.shape == (8, 3072)
    assert x.dtype == np.float32
    pool = (data.pools["train"][0].reshape(-1, 3072) - data.scale[0]) / data.scale[1]
    assert all(np.isclose(pool, row, atol=1e-4).all(axis=1).any() for row in np.asarray(x))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: real_input("cifar100"), "name = 'cifar100'"),
        (lambda: real_input("cifar5m"), "data_folder = ''"),
        (lambda: real_input("mnist").sample(6000, 0), "count = 6000"),
        (lambda: real_input("mnist").batches(0), "batch = 0"),
        (lambda: real_input("mnist").batches(1, "valid"), "split = 'valid'"),
    ],
)
def test_bad_input_is_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_missing_own_files_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="cifar-10-python"):
        real_input("cifar10", tmp_path)
    assert set(real.OWN) == {"cifar10", "cifar5m"}
