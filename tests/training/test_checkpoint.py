"""A sweep that was killed goes on where it was; what it cannot trust it refuses."""

import shutil

import jax
import numpy as np
import pytest

from lazyrich.models import MLP
from lazyrich.training import sweep

X, Y = np.eye(4, dtype=np.float32), np.ones((4, 1), np.float32)


def mlp(rngs):
    return MLP(4, 8, 1, depth=2, rngs=rngs)


def size(step, theta0, delta, gamma, batch):
    return {"norm": sum((d**2).sum() for d in jax.tree.leaves(delta)), "gamma": gamma}


OPTIONS = dict(
    steps=20, feature_strength=1.0, learning_rate=np.array([0.1, 1.0, 1e6]), seeds=[0, 1], chunk=5,
    probes={"size": size}, probe_steps=[10],
)  # fmt: skip


class Killed(Exception):
    pass


def killed_after(count):
    def progress(pairs):
        for done, pair in enumerate(pairs):
            if done == count:
                raise Killed
            yield pair

    return progress


def trained(folder, **change):
    return sweep(mlp, (X, Y), **OPTIONS | change, checkpoint=folder)


def test_a_killed_sweep_loses_no_finished_part(tmp_path):
    whole = sweep(mlp, (X, Y), **OPTIONS)
    with pytest.raises(Killed):
        trained(tmp_path / "kept", progress=killed_after(1))
    assert [path.name for path in (tmp_path / "kept").glob("*.npz")] == ["0-0.npz"]
    before = (tmp_path / "kept" / "0-0.npz").stat().st_mtime_ns
    resumed = trained(tmp_path / "kept")
    assert (tmp_path / "kept" / "0-0.npz").stat().st_mtime_ns == before
    for other in (resumed, trained(tmp_path / "kept")):
        mine = jax.tree.leaves((whole.loss, whole.diverged_at, whole.probes, whole.delta))
        theirs = jax.tree.leaves((other.loss, other.diverged_at, other.probes, other.delta))
        for a, b in zip(mine, theirs, strict=True):
            np.testing.assert_array_equal(a, b, strict=True)
    np.testing.assert_array_equal(resumed.apply(1, 0)(X), whole.apply(1, 0)(X))


@pytest.mark.parametrize("damage", [lambda b: b[:-9], lambda b: b"", lambda b: b[:200] + b"x" + b[201:]])
def test_a_damaged_part_is_named(tmp_path, damage):
    trained(tmp_path)
    part = tmp_path / "1-0.npz"
    part.write_bytes(damage(part.read_bytes()))
    with pytest.raises(ValueError, match=r"1-0\.npz: the file is damaged; delete it"):
        trained(tmp_path)
    part.unlink()
    trained(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        dict(steps=21),
        dict(feature_strength=1.1),
        dict(seeds=[0, 2]),
        dict(loss="half_square"),
        dict(optimiser="sign"),
        dict(schedule=lambda step: 0.5),
        dict(data_seed=1),
        dict(ceiling=5.0),
        dict(centred=False),
        dict(probe_steps=[11]),
    ],
    ids=lambda change: next(iter(change)),
)
def test_other_arguments_are_refused(tmp_path, change):
    with pytest.raises(Killed):
        trained(tmp_path, progress=killed_after(0))
    with pytest.raises(ValueError, match="of a sweep with other arguments; delete the folder"):
        trained(tmp_path, **change)
    with pytest.raises(ValueError, match="of a sweep with other arguments"):
        sweep(mlp, (X + 1, Y), **OPTIONS, checkpoint=tmp_path)


def test_a_folder_that_cannot_be_written_is_named_before_training(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"checkpoint = .*file/kept: cannot be written"):
        trained(tmp_path / "file" / "kept", progress=killed_after(0))


def test_a_full_disk_is_told_before_training(tmp_path, monkeypatch):
    full = shutil.disk_usage(tmp_path)._replace(free=10)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: full)
    with pytest.raises(OSError, match=r"needs [0-9]+ bytes more, its disk has 10 left"):
        trained(tmp_path, progress=killed_after(0))
