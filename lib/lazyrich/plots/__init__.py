"""One style for all figures, and figures that carry their own words and data.

Theory is a dashed black line over measured points; measured series differ in colour, marker and line.
"""

from lazyrich.plots.display import show
from lazyrich.plots.draw import guide, measured, panels, theory
from lazyrich.plots.look import DIVERGING, LINES, MARKERS, PALETTE, SEQUENTIAL, colours, style

__all__ = [
    "DIVERGING",
    "LINES",
    "MARKERS",
    "PALETTE",
    "SEQUENTIAL",
    "colours",
    "guide",
    "measured",
    "panels",
    "show",
    "style",
    "theory",
]
