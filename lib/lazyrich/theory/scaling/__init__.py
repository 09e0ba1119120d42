"""Scaling laws of the solvable model with and without feature learning (FL, arXiv 2409.17858)."""

from .alignment import Alignment, alignment_curve
from .asymptotics import crossover_time, frontier_exponents, growth_exponent, time_exponent
from .bottlenecks import bottleneck, sample_floor
from .contour import finite_width
from .curve import LearningCurve, learning_curve, solve
from .discrete import Descent, TunedRate, exact_descent, tune_rate
from .draws import draw_kernel, draw_sample_floor
from .finite_data import DataCurve, Sample, data_curve, draw_sample
from .frontier import Frontier, compute_frontier
from .measured import kernel_curve
from .reduction import Measure, infinite_width
from .simulation import Simulation, simulate
from .spectrum import Spectrum, power_law
from .stability import stability_bound
from .talbot import talbot_curve
from .two_time import TwoTime, two_time_curve

__all__ = [
    "Alignment",
    "DataCurve",
    "Descent",
    "Frontier",
    "LearningCurve",
    "Measure",
    "Sample",
    "Simulation",
    "Spectrum",
    "TunedRate",
    "TwoTime",
    "alignment_curve",
    "bottleneck",
    "compute_frontier",
    "crossover_time",
    "data_curve",
    "draw_kernel",
    "draw_sample",
    "draw_sample_floor",
    "exact_descent",
    "finite_width",
    "frontier_exponents",
    "growth_exponent",
    "infinite_width",
    "kernel_curve",
    "learning_curve",
    "power_law",
    "sample_floor",
    "simulate",
    "solve",
    "stability_bound",
    "talbot_curve",
    "time_exponent",
    "tune_rate",
    "two_time_curve",
]
