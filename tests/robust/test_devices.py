"""Other processors and more devices give the same verdicts."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lazyrich.ledger import load_rows
from lazyrich.runs.chapters import chapters, find
from lazyrich.runs.committed import last_run
from lazyrich.runs.records import RunFailed

INSTRUCTIONS = ("SSE4_2", "AVX2")  # beside the processor's own, which every other run uses


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory):
    """The verdicts of a chapter at ci, with XLA limited to a set of instructions; each is run once."""
    known = {}

    def run(chapter: str, limit: str | None) -> dict[str, str]:
        if (chapter, limit) not in known:
            known[chapter, limit] = read(folder(chapter, limit))
        return known[chapter, limit]

    def folder(chapter: str, limit: str | None) -> Path:
        if limit is None:
            try:
                return last_run(find(chapter), "ci")  # `make test` has just made it
            except RunFailed:
                pass
        out = tmp_path_factory.mktemp("device") / "out"
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("LAZYRICH_", "XLA_"))}
        flags = {"XLA_FLAGS": f"--xla_cpu_max_isa={limit}"} if limit else {}
        command = [sys.executable, "-m", "lazyrich", "run", chapter, "--preset", "ci", "--out", str(out)]
        environment = kept | flags | {"JAX_PLATFORMS": "cpu"}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        assert done.returncode == 0, done.stderr
        return out

    def read(folder: Path) -> dict[str, str]:
        return {row["id"]: row["verdict"] for row in load_rows(folder / "claims.json")}

    return run


@pytest.mark.parametrize("limit", INSTRUCTIONS)
@pytest.mark.parametrize("chapter", [path.stem for path in chapters()])
def test_a_chapter_s_verdicts_hold_on_other_processors(chapter, limit, verdicts):
    assert verdicts(chapter, limit) == verdicts(chapter, None)


TRAIN = """\
import json, sys
from lazyrich import device
device.setup(host_devices=int(sys.argv[1]))
import jax, numpy as np
from lazyrich.models import TwoLayer
from lazyrich.training import train
assert jax.local_device_count() == int(sys.argv[1])
rng = np.random.default_rng(0)
x, y = rng.standard_normal((64, 16)).astype(np.float32), rng.standard_normal((64, 1)).astype(np.float32)
run = train(
    lambda rngs: TwoLayer(16, 32, 1, rngs=rngs), (x, y), steps=50, learning_rate=np.array([0.05, 0.1, 50.0]),
    feature_strength=np.array([0.01, 1.0])[:, None], seeds=np.arange(4)[:, None, None],
)
json.dump({"loss": run.loss.tolist(), "diverged": run.diverged_at.tolist()}, sys.stdout)
"""


def trained(devices: int) -> dict:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("XLA_")}
    done = subprocess.run(
        [sys.executable, "-c", TRAIN, str(devices)], capture_output=True, text=True, check=True, env=kept
    )
    return json.loads(done.stdout)


def test_a_sweep_over_four_devices_is_that_over_one():
    """24 cells: 4 seeds, 2 feature strengths, 3 learning rates, of which one diverges."""
    one, four = trained(1), trained(4)
    assert np.shape(one["loss"]) == (4, 2, 3, 50)
    assert one["diverged"] == four["diverged"]
    assert (np.array(one["diverged"]) >= 0).any(axis=(0, 1)).tolist() == [False, False, True]
    np.testing.assert_allclose(four["loss"], one["loss"], rtol=2e-5)


def test_the_limit_reaches_xla():
    """Else the runs above would compare a processor with itself."""
    code = "import lazyrich.device as d; d.setup(); import os; print(os.environ['XLA_FLAGS'])"
    for limit in INSTRUCTIONS:
        flags = {"XLA_FLAGS": f"--xla_cpu_max_isa={limit}"}
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ | flags
        )
        assert f"--xla_cpu_max_isa={limit}" in done.stdout.split()
