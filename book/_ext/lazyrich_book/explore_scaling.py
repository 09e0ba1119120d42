"""The figure that stands on the page of the scaling-law explorer until its script takes over."""

from html import escape
from io import BytesIO
from pathlib import Path

import numpy as np
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from lazyrich.files import write_atomic
from lazyrich.theory import scaling

STATIC = "_static/explore/scaling.png"
SCRIPTS = ("vendor/uplot/uPlot.iife.min.js", "explore/scaling-engine.js", "explore/scaling.js")
STYLES = ("vendor/uplot/uPlot.min.css", "explore/common.css")


def figure() -> tuple[bytes, str]:
    """Loss over time, lazy and rich, at the explorer's first setting, and its description."""
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(7, 3.6), layout="constrained")
    ax = drawn.subplots()
    ends = []
    for gamma, line in ((0.0, "--"), (1.0, "-")):
        curve = scaling.learning_curve(1.5, 0.5, gamma)
        ax.loglog(curve.times, curve.loss, line, label=f"γ = {gamma:g}")
        late = np.log(curve.loss[-1] / curve.loss[-21]) / np.log(curve.times[-1] / curve.times[-21])
        ends.append(-late)
    ax.set(xlabel="time t", ylabel="loss", title="α = 1.5, β = 0.5, infinite width")
    ax.legend()
    file = BytesIO()
    drawn.savefig(file, format="png", dpi=110, facecolor="white")
    lazy, rich = ends
    alt = f"Loss over time at capacity 1.5, source 0.5: late exponents {lazy:.3f} lazy and {rich:.3f} rich."
    return file.getvalue(), alt


class ExploreScaling(SphinxDirective):
    def run(self):
        image, alt = figure()
        write_atomic(Path(self.env.app.outdir) / STATIC, image)
        up = "../" * self.env.docname.count("/")
        parts = [f'<link rel="stylesheet" href="{up}_static/{name}">' for name in STYLES]
        parts.append(
            f'<figure class="explore-still"><img src="{up}{STATIC}" alt="{escape(alt, quote=True)}">'
            "<figcaption>What the sliders start from. They need JavaScript.</figcaption></figure>"
        )
        parts.append('<div id="explore-scaling"></div>')
        parts += [f'<script src="{up}_static/{name}" defer></script>' for name in SCRIPTS]
        return [nodes.raw("", "\n".join(parts), format="html")]


def setup(app):
    app.add_directive("explore-scaling", ExploreScaling)
