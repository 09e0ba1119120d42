"""Loaders of files that readers bring, on small files in the true formats."""

import gzip
import io
import pickle
import tarfile

import numpy as np
import pytest

from image_files import idx
from lazyrich import files
from lazyrich.tasks import own_files
from lazyrich.tasks.embedded import Images

RNG = np.random.default_rng(0)
PIXELS = RNG.integers(0, 256, (7, 28, 28), np.uint8)
LABELS = RNG.integers(0, 10, 7, np.uint8)


@pytest.fixture
def mnist(tmp_path, monkeypatch):
    contents = {"train-images-idx3-ubyte": idx(PIXELS), "train-labels-idx1-ubyte": idx(LABELS)}
    known = {name: files.sha256(content) for name, content in contents.items()}
    monkeypatch.setitem(own_files.IDX_SHA256, "mnist", known)
    images, labels = contents.values()
    (tmp_path / "train-images-idx3-ubyte.gz").write_bytes(gzip.compress(images))
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(labels)
    return tmp_path


def test_mnist(mnist):
    images, labels = own_files.mnist_files(mnist)
    assert np.allclose(images * 255, PIXELS)
    assert images.dtype == np.float32
    assert (labels == LABELS).all()
    assert labels.dtype == np.int32


def test_mnist_missing_and_changed(mnist):
    path = mnist / "train-labels-idx1-ubyte"
    path.write_bytes(idx(LABELS[::-1]))
    with pytest.raises(OSError, match="train-labels-idx1-ubyte: its content is not the published one"):
        own_files.mnist_files(mnist)
    path.unlink()
    with pytest.raises(FileNotFoundError, match=r"none of train-labels-idx1-ubyte, .*.gz"):
        own_files.mnist_files(mnist)


def test_fashion_mnist_s_test_files_have_a_hash_packed_and_a_lock_unpacked(tmp_path, monkeypatch):
    contents = {"t10k-images-idx3-ubyte": idx(PIXELS), "t10k-labels-idx1-ubyte": idx(LABELS)}
    packed = {name: gzip.compress(content) for name, content in contents.items()}
    for name, content in packed.items():
        (tmp_path / f"{name}.gz").write_bytes(content)
        monkeypatch.setitem(own_files.GZIP_SHA256, name, files.sha256(content))
    assert (own_files.mnist_files(tmp_path, "test", "fashion-mnist").labels == LABELS).all()
    assert not list(tmp_path.glob("*.json"))
    path = tmp_path / "t10k-labels-idx1-ubyte"
    path.write_bytes(contents[path.name])
    own_files.mnist_files(tmp_path, "test", "fashion-mnist")
    path.write_bytes(idx(LABELS[::-1]))
    with pytest.raises(OSError, match="t10k-labels-idx1-ubyte has changed since it was first used"):
        own_files.mnist_files(tmp_path, "test", "fashion-mnist")
    path.unlink()
    (tmp_path / f"{path.name}.gz").write_bytes(gzip.compress(contents[path.name], 1))
    with pytest.raises(OSError, match=r"t10k-labels-idx1-ubyte.gz: it is not the published file"):
        own_files.mnist_files(tmp_path, "test", "fashion-mnist")


@pytest.mark.parametrize("arguments", [("valid", "mnist"), ("train", "emnist")])
def test_unknown_names(tmp_path, arguments):
    with pytest.raises(ValueError, match="expected train or test"):
        own_files.mnist_files(tmp_path, *arguments)


class Python2(pickle._Pickler):
    """Writes every string and the bytes of arrays as Python 2 did, with opcodes Python 3 no longer uses."""

    dispatch = pickle._Pickler.dispatch.copy()

    def string(self, value):
        value = value.encode() if isinstance(value, str) else value
        self.write(pickle.BINSTRING + len(value).to_bytes(4, "little") + value)

    dispatch[str] = dispatch[bytes] = string


def legacy_pickle(data, labels):
    """A batch as it is in the published archive: byte strings, the array's class under its old name."""
    names = ["x.png"] * len(labels)
    batch = {"batch_label": "a batch", "labels": labels, "data": data, "filenames": names}
    file = io.BytesIO()
    Python2(file, protocol=2).dump(batch)
    return file.getvalue().replace(b"numpy._core.multiarray", b"numpy.core.multiarray")


def archive(path, members):
    with tarfile.open(path, "w:gz") as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(f"cifar-10-batches-py/{name}")
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))


@pytest.fixture
def cifar10(tmp_path):
    data = RNG.integers(0, 256, (6, 4, 3072), np.uint8)
    labels = RNG.integers(0, 10, (6, 4)).tolist()
    names = [f"data_batch_{i}" for i in range(1, 6)] + ["test_batch"]
    batches = map(legacy_pickle, data, labels)
    archive(tmp_path / own_files.CIFAR10_FILE, dict(zip(names, batches, strict=True)))
    return tmp_path, data, labels


def test_cifar10(cifar10):
    folder, data, labels = cifar10
    train, test = (own_files.cifar10_files(folder, split, sha256=None) for split in ("train", "test"))
    assert train.images.shape == (20, 32, 32, 3)
    assert train.labels.tolist() == np.concatenate(labels[:5]).tolist()
    assert test.labels.tolist() == labels[5]
    red = data[5, 2].reshape(3, 32, 32)[0]
    assert np.allclose(test.images[2, :, :, 0] * 255, red)
    assert isinstance(test, Images)


def test_cifar10_has_a_published_hash(cifar10):
    with pytest.raises(OSError, match=r"cifar-10-python.tar.gz: its content is not the published one"):
        own_files.cifar10_files(cifar10[0])


class Malicious:
    def __reduce__(self):
        return print, ("this code ran",)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (pickle.dumps(Malicious(), 2), r"asks for .*print"),
        (pickle.dumps({b"labels": [1]}, 2), "not a batch of images"),
        (legacy_pickle(np.zeros((1, 10), np.uint8), [1]), r"holds uint8 \(1, 10\) for 1 labels"),
        (b"\x80", "not a batch of images"),
    ],
)
def test_cifar10_pickles_hold_arrays_only(tmp_path, capsys, content, message):
    archive(tmp_path / own_files.CIFAR10_FILE, {"test_batch": content})
    with pytest.raises(OSError, match=message):
        own_files.cifar10_files(tmp_path, "test", sha256=None)
    assert capsys.readouterr().out == ""


def test_cifar10_truncated_or_incomplete(cifar10):
    path = cifar10[0] / own_files.CIFAR10_FILE
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(OSError, match="not a complete archive"):
        own_files.cifar10_files(cifar10[0], sha256=None)
    archive(path, {"data_batch_1": b""})
    with pytest.raises(OSError, match="test_batch is missing"):
        own_files.cifar10_files(cifar10[0], "test", sha256=None)
