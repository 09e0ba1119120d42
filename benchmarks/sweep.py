"""The sweep over (γ, η) beside training one cell at a time, in JAX and in PyTorch, and beside a GEMM.

    python benchmarks/sweep.py [--torch-python PATH] [--sizes 64x32 128x64 …] [--repeat 5]

All routes train the MLP of three layers on the same shapes (64 inputs, 10 outputs, squared loss, SGD),
half of the cells at γ < 1e-2; a table row gives seconds a cell-step and the paired ratios, in wall time
and in process time (all threads), which a loaded machine distorts less.

- one by one: `jit` of a `scan` over steps of the plain network, two outputs subtracted, float32.
- torch: `_torch_loop.py` under an interpreter that imports torch, e.g. of an environment of its own:
  python3 -m venv /tmp/torch-env && /tmp/torch-env/bin/pip install torch numpy. Without one it is skipped.
- GEMM: the rate of a 1024³ float32 product here. "naive" counts the operations that training without
  centring needs, three products a layer (two for the first); "executed" what the sweep computes, four
  (two) and the shared pass at θ₀.

Goals on an idle machine: ≥ 30× torch at 32x16, 15× at 64x32, 5× at 128x64; never slower than one by one;
naive over GEMM ≥ 0.3 at width 128, 0.45 at 256, 0.6 at 512.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import lazyrich.device

policy = lazyrich.device.setup()

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from flax import nnx  # noqa: E402

from lazyrich.models import MLP, learning_rates  # noqa: E402
from lazyrich.training import sweep  # noqa: E402
from lazyrich.training.losses import mean_square  # noqa: E402

INPUTS, OUTPUTS, DEPTH = 64, 10, 3
# width x batch → cells, steps of the sweep
SIZES = {"32x16": (64, 800), "64x32": (64, 400), "128x64": (64, 120), "256x64": (32, 60), "512x64": (16, 30)}


def clocked(function):
    """Wall and process seconds of one call."""
    start = np.array([time.perf_counter(), time.process_time()])
    jax.block_until_ready(function())
    return np.array([time.perf_counter(), time.process_time()]) - start


def gemm(size=1024, repeat=10):
    """GFLOP a second of a product, in wall and process time."""
    a = jnp.ones((size, size), jnp.float32)
    product = jax.jit(jnp.matmul)
    product(a, a).block_until_ready()
    return 2e-9 * size**3 * repeat / clocked(lambda: [product(a, a) for _ in range(repeat)])


def draw(data, key, step):
    return jax.tree.map(lambda a: a[step], data)


def one_by_one(make, data, steps):
    """The function (γ, η) → losses of one cell: the plain loop, compiled once."""
    graph, start = nnx.split(make(nnx.Rngs(params=jax.random.key(0))))
    factors = learning_rates(start)

    @jax.jit
    def train(strength, rate):
        def step(theta, batch):
            def objective(theta):
                f = nnx.merge(graph, theta)(batch[0]) - nnx.merge(graph, start)(batch[0])
                return mean_square(f / strength, batch[1])

            value, g = jax.value_and_grad(objective)(theta)
            return jax.tree.map(lambda t, g, r: t - (rate * r) * g, theta, g, factors), value

        return jax.lax.scan(step, start, jax.tree.map(lambda a: a[:steps], data))[1]

    return train


def operations(width, batch, layers, first, last):
    """Floating-point operations a cell-step in products: each layer's count given."""
    return 2 * batch * (first * INPUTS * width + (layers * width + last * OUTPUTS) * width)


def torch_seconds(python, width, batch, steps, strengths):
    """Wall and process seconds a cell-step, or None where torch does not import."""
    script = Path(__file__).with_name("_torch_loop.py")
    arguments = [width, batch, DEPTH, steps, *strengths]
    run = subprocess.run([python, script, *map(str, arguments)], capture_output=True, text=True)
    if run.returncode:
        return None
    return np.array(run.stdout.split(), float)


def compare(size, torch_python, repeat):
    width, batch = map(int, size.split("x"))
    cells, steps = SIZES[size]
    strength = np.where(np.arange(cells) % 2, 10.0, 1e-3)
    rate = 0.1 * np.where(strength < 1, strength**2, strength ** (2 / DEPTH)) * np.linspace(0.5, 1, cells)
    make = lambda rngs: MLP(INPUTS, width, OUTPUTS, depth=DEPTH, rngs=rngs)
    rng = np.random.default_rng(0)
    data = tuple(
        jnp.asarray(rng.normal(size=(steps, batch, n)), jnp.float32) for n in (INPUTS, OUTPUTS)
    )  # fmt: skip
    options = dict(steps=steps, feature_strength=strength, learning_rate=rate, chunk=steps)
    batches = jax.tree_util.Partial(draw, data)
    alone = min(steps, 200)
    train = one_by_one(make, data, alone)
    compiling = clocked(lambda: sweep(make, batches, **options).loss)[1]
    train(jnp.float32(1), jnp.float32(0.1)).block_until_ready()
    rows = []
    for _ in range(repeat):
        rows.append([
            gemm(),
            clocked(lambda: sweep(make, batches, **options).loss) / cells / steps,
            clocked(lambda: [
                train(jnp.float32(s), jnp.float32(r)) for s, r in zip(strength[:8], rate[:8], strict=True)
            ]) / 8 / alone,
            torch_seconds(torch_python, width, batch, alone, strength[:8]),
        ])  # fmt: skip
        if rows[-1][3] is None:
            rows[-1][3] = np.full(2, np.nan)
    rates, swept, single, torch = np.moveaxis(np.array(rows), 1, 0)
    naive = 1e-9 * operations(width, batch, 3, 2, 3) / swept / rates
    shared = operations(width, batch, 1, 1, 1) / cells
    executed = 1e-9 * (operations(width, batch, 4, 2, 4) + shared) / swept / rates
    for clock, name in enumerate(("wall", "process")):
        median = lambda a, clock=clock: np.median(a[:, clock])
        print(
            f"  {size:8s} {name:8s} {median(swept) * 1e6:9.1f} {median(single) * 1e6:10.1f} "
            f"{median(torch) * 1e6:8.1f} {median(single / swept):10.1f} {median(torch / swept):8.1f} "
            f"{median(naive):8.2f} {median(executed):8.2f} {compiling:9.1f}",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--torch-python", default=os.environ.get("TORCH_PYTHON", sys.executable))
    parser.add_argument("--sizes", nargs="+", default=list(SIZES), choices=list(SIZES))
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    print(policy)
    if subprocess.run([options.torch_python, "-c", "import torch"], capture_output=True).returncode:
        print("torch does not import here: its route is skipped (see --torch-python)")
    print(f"  {'':17s} {'µs a cell-step':>29s} {'sweep is faster by':>19s} {'of the GEMM rate':>17s}")
    print(
        f"  {'NxB':8s} {'clock':8s} {'sweep':>9s} {'one by one':>10s} {'torch':>8s} {'one by one':>10s} "
        f"{'torch':>8s} {'naive':>8s} {'executed':>8s} {'compile s':>9s}"
    )
    for size in options.sizes:
        compare(size, options.torch_python, options.repeat)


if __name__ == "__main__":
    main()
