"""Scaling laws of the solvable model with and without feature learning (FL, arXiv 2409.17858)."""

from .asymptotics import crossover_time, frontier_exponents, growth_exponent, time_exponent
from .bottlenecks import bottleneck, sample_floor
from .curve import LearningCurve, learning_curve, solve
from .draws import draw_kernel, draw_sample_floor
from .frontier import Frontier, compute_frontier
from .simulation import Simulation, simulate

__all__ = [
    "Frontier",
    "LearningCurve",
    "Simulation",
    "bottleneck",
    "compute_frontier",
    "crossover_time",
    "draw_kernel",
    "draw_sample_floor",
    "frontier_exponents",
    "growth_exponent",
    "learning_curve",
    "sample_floor",
    "simulate",
    "solve",
    "time_exponent",
]
