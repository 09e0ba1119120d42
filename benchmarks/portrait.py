"""The toy portrait of the deep linear net: seconds of the compiled grid beside a NumPy loop.

    python benchmarks/portrait.py

Goal: 81 × 97 cells, 10⁴ steps, within 0.3 s of wall time on an idle machine, compilation aside. The
NumPy loop takes the same steps on the same arrays; it runs a hundredth of them and is scaled up.
"""

import time

import numpy as np

import lazyrich.device

policy = lazyrich.device.setup()

from lazyrich.theory.deep_linear import portrait  # noqa: E402

GAMMA, ETA, STEPS = np.logspace(-5, 5, 81), np.logspace(-12, 12, 97), 10_000
KINDS = {
    "scalar net, L = 3": {},
    "scalar net, L = 8": {"depth": 8},
    "scalar net, sign descent": {"optimizer": "sign"},
    "scalar net, cross-entropy": {"loss": "cross-entropy", "target": 0.8},
    "(s, K), squared loss": {"model": "two-layer"},
    "(s, K), cross-entropy": {"model": "two-layer", "loss": "cross-entropy", "target": 0.8},
}


def timed(function, repeat=5):
    """Median wall and process time of `repeat` calls."""
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter(), time.process_time()
        function()
        seconds.append((time.perf_counter() - start[0], time.process_time() - start[1]))
    return np.median(seconds, axis=0)


def numpy_loop(steps):
    """The scalar net of three layers, step by step."""
    gamma, delta = GAMMA[:, None], np.zeros((len(GAMMA), len(ETA)))
    inverse, pace = 1 / gamma, ETA / gamma
    low, high = delta.copy(), delta.copy()
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(steps):
            a = 1 + delta
            f = delta * (1 + a * (1 + a)) * inverse
            low, high = np.fmin(low, f), np.fmax(high, f)
            delta = delta - pace * (f - 1) * a * a


def main():
    print(policy)
    print(f"{len(GAMMA)} × {len(ETA)} cells, {STEPS} steps, float64")
    print(f"  {'':28s} {'compile':>8s} {'wall s':>8s} {'cpu s':>8s} {'ns a cell-step':>15s}")
    each = 1e9 / (len(GAMMA) * len(ETA) * STEPS)
    for name, kind in KINDS.items():
        compile_wall, _ = timed(lambda kind=kind: portrait(GAMMA, ETA, 1, **kind), repeat=1)
        wall, cpu = timed(lambda kind=kind: portrait(GAMMA, ETA, STEPS, **kind))
        print(f"  {name:28s} {compile_wall:8.2f} {wall:8.3f} {cpu:8.3f} {wall * each:15.2f}")
    wall, cpu = 100 * timed(lambda: numpy_loop(STEPS // 100), repeat=3)
    print(f"  {'NumPy, L = 3':28s} {'':8s} {wall:8.3f} {cpu:8.3f} {wall * each:15.2f}")


if __name__ == "__main__":
    main()
