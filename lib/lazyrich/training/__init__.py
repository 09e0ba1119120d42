"""Training as one compiled program, with probes handed in."""

from lazyrich.training.loop import Run, log_steps, train
from lazyrich.training.losses import cross_entropy, half_square, mean_square
from lazyrich.training.sweep import Sweep, sweep

__all__ = ["Run", "Sweep", "cross_entropy", "half_square", "log_steps", "mean_square", "sweep", "train"]
