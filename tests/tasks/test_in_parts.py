"""Sets in parts, on small files in the true formats."""

import os

import numpy as np
import pytest

from image_files import tiny_imagenet
from lazyrich.tasks import in_parts
from lazyrich.tasks.mapped import forget

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("name", ["part{}.npz", "cifar5m_part{}.npz"])
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_cifar5m(tmp_path, name, save):
    images = RNG.integers(0, 256, (2, 9, 32, 32, 3), np.uint8)
    for part in range(2):
        save(tmp_path / name.format(part), X=images[part], Y=np.arange(9))
    for _ in range(2):
        opened = in_parts.cifar5m_files(tmp_path, parts=(0, 1), length=9)
        assert all((mapped == part).all() for (mapped, _), part in zip(opened, images, strict=True))
        assert isinstance(opened[0][0], np.memmap)
        assert opened[1][1].dtype == np.int32
        assert (opened[1][1] == np.arange(9)).all()
        forget(opened[0][0])
        assert (opened[0][0] == images[0]).all()
    with pytest.raises(OSError, match=r"integers \(1000448, 32, 32, 3\)"):
        in_parts.cifar5m_files(tmp_path, parts=(0,))
    save(tmp_path / name.format(0), X=images[1], Y=np.arange(9))
    with pytest.raises(OSError, match="has changed since it was first used"):
        in_parts.cifar5m_files(tmp_path, parts=(0,), length=9)


def test_a_change_that_keeps_the_time_is_found_on_demand(tmp_path):
    path = tmp_path / "part0.npz"
    np.savez(path, X=np.zeros((9, 32, 32, 3), np.uint8), Y=np.arange(9))
    in_parts.cifar5m_files(tmp_path, parts=(0,), length=9)
    content, state = bytearray(path.read_bytes()), path.stat()
    content[1000] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    in_parts.cifar5m_files(tmp_path, parts=(0,), length=9)
    with pytest.raises(OSError, match="has changed"):
        in_parts.cifar5m_files(tmp_path, parts=(0,), length=9, again=True)


@pytest.mark.parametrize("labels", ["MNIST_labels_{}.npy", "MNIST_labels_{}.npz.npy"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_mnist1m(tmp_path, labels, dtype):
    images = RNG.normal(size=(2, 7, 1, 28, 28)).astype(dtype)
    for part in range(2):
        np.savez(tmp_path / f"MNIST_images_{part}.npz", images[part])
        with (tmp_path / labels.format(part)).open("wb") as file:
            np.save(file, np.arange(7.0))  # the generator's labels may be floating
    opened = in_parts.mnist1m_files(tmp_path, parts=(0, 1), length=7)
    assert (opened[1][0] == images[1, :, 0]).all()
    assert (opened[0][1] == np.arange(7)).all()
    assert len((tmp_path / "mnist1m.lock.json").read_text().split("sha256")) == 5


@pytest.mark.parametrize("above", ["", "tiny-imagenet-200"])
def test_tiny_imagenet(tmp_path, above):
    root = tmp_path / above
    root.mkdir(exist_ok=True)
    sizes = tiny_imagenet(root)
    for split, count in (("train", 12), ("test", 5)):
        for _ in range(2):
            [(images, labels)] = in_parts.tiny_imagenet_files(tmp_path, split, **sizes)
            assert images.shape == (count, 64, 64, 3)
            assert (np.rint(images[:, 32, 32, 0] / 60).astype(int) == labels).all()
            assert isinstance(images, np.memmap)
    [(images, labels)] = in_parts.tiny_imagenet_files(tmp_path, **sizes)
    assert sorted(labels) == [0] * 4 + [1] * 4 + [2] * 4
    assert list(labels) != sorted(labels)
    picture = root / "train/n12345678/images/n12345678_1.JPEG"
    before = (root / "lazyrich-train.npy").stat().st_mtime_ns
    picture.write_bytes(picture.read_bytes() + b"more")
    with pytest.raises(OSError, match="train has changed since it was first used"):
        in_parts.tiny_imagenet_files(tmp_path, **sizes)
    assert (root / "lazyrich-train.npy").stat().st_mtime_ns == before
    with pytest.raises(ValueError, match="split = 'val'"):
        in_parts.tiny_imagenet_files(tmp_path, "val")


def test_decoding_that_fails_leaves_nothing_behind(tmp_path):
    sizes = tiny_imagenet(tmp_path)
    picture = tmp_path / "train/n12345679/images/n12345679_2.JPEG"
    picture.write_bytes(picture.read_bytes()[:300])
    with pytest.raises(OSError, match=r"n12345679_2.JPEG: not a complete JPEG file"):
        in_parts.tiny_imagenet_files(tmp_path, **sizes)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["train", "val", "wnids.txt"]
