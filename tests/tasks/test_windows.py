"""The order of sets on disk: a function of seed and epoch, each sample once; and what reading takes."""

import subprocess
import sys
import zipfile

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazyrich.models import MLP
from lazyrich.tasks import in_parts, open_dataset
from lazyrich.tasks.windows import Windows, window
from lazyrich.training import sweep, train


def epoch_of(length, seed, epoch, block, blocks):
    """All rows of an epoch in order, window by window."""
    rows = []
    for index in range(-(-length // (block * blocks))):
        pieces, order = window(length, seed, epoch, index, block, blocks)
        rows.append(np.concatenate([np.arange(*piece) for piece in pieces])[order])
    return np.concatenate(rows)


@given(
    length=st.integers(1, 400),
    seed=st.integers(0, 2**32 - 1),
    block=st.integers(1, 30),
    blocks=st.integers(1, 7),
    cuts=st.lists(st.integers(0, 400), max_size=3),
    count=st.integers(1, 500),
)
def test_every_sample_comes_once_an_epoch_from_whatever_part(length, seed, block, blocks, cuts, count):
    rows = np.arange(length)
    parts = [(part[:, None], part) for part in np.split(rows, sorted(min(cut, length) for cut in cuts))]
    windows = Windows(parts, block, blocks)
    images, labels = windows.read((seed, 1), 0, 2 * length)
    assert (images[:, 0] == labels).all()
    for epoch in range(2):
        found = labels[epoch * length : (epoch + 1) * length]
        assert sorted(found) == rows.tolist()
        assert (found == epoch_of(length, (seed, 1), epoch, block, blocks)).all()
    start = seed % length  # any stretch, read alone, is the same
    alone = Windows(parts, block, blocks).read((seed, 1), start, min(count, length))[1]
    assert (alone == labels[start : start + len(alone)]).all()


def test_seeds_and_epochs_have_orders_of_their_own():
    orders = [epoch_of(5000, seed, epoch, 16, 4) for seed in ((0, 0), (0, 1)) for epoch in range(2)]
    for i, one in enumerate(orders):
        for other in orders[:i]:
            assert (one == other).mean() < 0.01
    neighbours = abs(np.diff(orders[0])) == 1
    assert neighbours.mean() < 0.05
    assert abs(np.corrcoef(orders[0], np.arange(5000))[0, 1]) < 0.1


@pytest.fixture
def small(monkeypatch):
    rng = np.random.default_rng(0)
    parts = [(rng.integers(0, 256, (300, 32, 32, 3), np.uint8), np.arange(300, dtype=np.int32) % 10)] * 3
    monkeypatch.setattr(in_parts, "cifar5m_files", lambda folder: parts)
    return open_dataset("cifar5m", "somewhere", limit=100)


def test_training_and_sweeps_draw_from_disk_on_two_devices(small):
    assert jax.local_device_count() == 2
    make = lambda rngs: MLP(3072, 8, 10, depth=2, rngs=rngs)
    batches = small.batches(32)
    common = dict(steps=12, learning_rate=np.array([0.1, 0.2]))
    run = train(make, batches, **common, seeds=[0, 1], shared_batches=False)
    plane = sweep(make, batches, **common, feature_strength=np.array([1.0, 1e-3]), chunk=5)
    x, y = (np.concatenate(a) for a in zip(*(batches(jax.random.key(0), t) for t in range(12)), strict=True))
    fixed = lambda key, step: tuple(jax.lax.dynamic_slice_in_dim(a, 32 * step, 32) for a in (jx, jy))
    jx, jy = jnp.asarray(x), jnp.asarray(y)
    memory = sweep(make, fixed, **common, feature_strength=np.array([1.0, 1e-3]), chunk=5)
    np.testing.assert_allclose(plane.loss, memory.loss, rtol=1e-5)
    assert (run.loss[0, :2] != run.loss[1, :2]).all()


CHILD = """
import resource, sys
import jax, jax.numpy as jnp
from lazyrich import device
from lazyrich.tasks import in_parts, open_dataset

peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
folder, length = sys.argv[1], int(sys.argv[2])
read = in_parts.cifar5m_files
in_parts.cifar5m_files = lambda folder: read(folder, parts=(0, 1), length=length)
jnp.ones(10).block_until_ready()
before = peak()
data = open_dataset("cifar5m", folder, limit=500)
draw = jax.jit(lambda step: sum(a.sum() for a in data.batches(512)(jax.random.key(0), step)))
total = [float(draw(step)) for step in range(length // 512)]
print(peak() - before, len(set(total)))
"""


def write_part(path, length, seed):
    """A part in CIFAR-5M's format, stored, written a piece at a time."""
    rng = np.random.default_rng(seed)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, shape in (("Y", (length,)), ("X", (length, 32, 32, 3))):
            header = dict(descr="|u1", fortran_order=False, shape=shape)
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array_header_1_0(file, header)
                for _ in range(0, length, 1000):
                    high, rest = (10, ()) if name == "Y" else (256, shape[1:])
                    file.write(rng.integers(0, high, (1000, *rest), np.uint8).tobytes())


def test_memory_stays_bounded_on_a_large_file(tmp_path):
    """An epoch over 215 MB takes about 110: eight windows, their copies, the program. Mapped whole: 300."""
    length = 70_000
    write_part(tmp_path / "part0.npz", length, 0)
    write_part(tmp_path / "part1.npz", length, 1)
    assert (tmp_path / "part0.npz").stat().st_size > 200e6
    command = [sys.executable, "-c", CHILD, str(tmp_path), str(length)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    growth, distinct = map(int, done.stdout.split())
    assert distinct == length // 512
    assert growth < 160
