"""The scaling theory beside direct simulation and the two-time mean field: seconds, ratio, accuracy.

    python benchmarks/scaling.py

One run, one process, a few tens of seconds. Seconds are process time (all threads); simulations include
compilation and use fresh seeds, so their accuracy is their own standard error.
"""

import resource
import time

import numpy as np

import lazyrich.device

policy = lazyrich.device.setup()

from lazyrich.theory.scaling import (  # noqa: E402
    compute_frontier,
    learning_curve,
    simulate,
    two_time_curve,
)

ALPHA, BETA, MODES = 1.5, 0.5, 1024
STEPS = np.array([5, 20, 80, 160])
CASES = [(32, 8, 0.0, 0.2), (32, 8, 0.5, 0.1), (128, 32, 0.0, 0.2)]
CURVES = {
    "lazy, N = ∞": {},
    "rich, N = ∞": {"gamma": 1.0},
    "lazy, N = 256": {"width": 256},
    "rich, N = 256": {"gamma": 1.0, "width": 256},
    "rich, N = 4096": {"gamma": 1.0, "width": 4096},
    "rich, N = 1e6": {"gamma": 1.0, "width": 1e6},
    "lazy, N = 256, B = 32": {"width": 256, "batch": 32, "learning_rate": 0.1},
}


def timed(function, repeat=1):
    """The result and the least process time of `repeat` calls."""
    seconds = []
    for _ in range(repeat):
        start = time.process_time()
        result = function()
        seconds.append(time.process_time() - start)
    return result, min(seconds)


def curves():
    print("\nOne learning curve to t = 1e8")
    for name, arguments in CURVES.items():
        curve, seconds = timed(lambda a=arguments: learning_curve(ALPHA, BETA, **a), repeat=3)
        print(f"  {name:24s} {seconds:7.3f} s   L(1e8) = {curve.loss[-1]:.4e}")
    frontier, seconds = timed(lambda: compute_frontier(ALPHA, BETA, 1.0))
    print(f"  {'rich frontier, 1e4…1e8':24s} {seconds:7.3f} s   exponent {frontier.exponent:.4f}")


def side_by_side(width, batch, gamma, rate, direct_seeds=64, rotated_seeds=512):
    """Four routes to the same four losses."""
    steps = ", ".join(map(str, STEPS))
    print(f"\nN = {width}, B = {batch}, γ = {gamma}, η = {rate}, M = {MODES}; steps {steps}")
    times = rate * STEPS
    setting = {"width": width, "batch": batch, "learning_rate": rate, "times": times, "modes": MODES}
    runs = {
        "theory (contour, moments)": lambda: learning_curve(ALPHA, BETA, gamma, **setting),
        "two-time mean field": lambda: two_time_curve(
            ALPHA, BETA, gamma, width, batch, rate, steps=int(STEPS[-1]), modes=MODES, bins=6
        ),
        f"rotated SGD, {rotated_seeds} seeds": lambda: simulate(
            ALPHA, BETA, gamma, seeds=rotated_seeds, **setting
        ),
        f"direct SGD, {direct_seeds} seeds": lambda: simulate(
            ALPHA, BETA, gamma, seeds=direct_seeds, seed0=rotated_seeds, method="direct", **setting
        ),
    }
    results = {name: timed(run) for name, run in runs.items()}
    base, fastest = next(iter(results.values()))
    print(f"  {'route':28s} {'seconds':>8s} {'× theory':>9s}   loss over theory (± standard error)")
    for name, (result, seconds) in results.items():
        loss = result.loss[STEPS] if name.startswith("two-time") else result.loss
        mean = np.atleast_2d(loss).mean(axis=0) / base.loss
        if loss.ndim == 2:
            error = loss.std(axis=0, ddof=1) / np.sqrt(len(loss)) / base.loss
            cells = "  ".join(f"{m:.3f} ± {e:.3f}" for m, e in zip(mean, error, strict=True))
        else:
            cells = "  ".join(f"{m:.4f}" for m in mean)
        print(f"  {name:28s} {seconds:8.3f} {seconds / fastest:9.0f}   {cells}")


def main():
    print(policy)
    curves()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  peak memory so far {peak:.0f} MB")
    for case in CASES:
        side_by_side(*case)


if __name__ == "__main__":
    main()
