"""Scaling laws of the solvable model with and without feature learning (FL, arXiv 2409.17858)."""

from .bottlenecks import bottleneck, sample_floor
from .curve import LearningCurve, learning_curve, solve
from .frontier import Frontier, compute_frontier

__all__ = [
    "Frontier",
    "LearningCurve",
    "bottleneck",
    "compute_frontier",
    "learning_curve",
    "sample_floor",
    "solve",
]
