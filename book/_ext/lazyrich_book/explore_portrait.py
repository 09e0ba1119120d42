"""The figure that stands on the page of the toy phase portrait until its script takes over."""

from html import escape
from io import BytesIO
from pathlib import Path

import numpy as np
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from lazyrich.files import write_atomic
from lazyrich.theory.deep_linear import closing_strength, eta_max, eta_min, portrait

STATIC = "_static/explore/portrait.png"
SCRIPTS = ("explore/portrait-engine.js", "explore/portrait.js")
STYLES = ("explore/common.css", "explore/portrait.css")
DEPTH, STEPS, TARGET = 4, 100, 1.0


def figure() -> tuple[bytes, str]:
    """The portrait at the explorer's first setting with its boundaries, and its description."""
    from matplotlib.figure import Figure

    gammas, rates = np.logspace(-5, 5, 81), np.logspace(-12, 12, 97)
    cells = portrait(gammas, rates, STEPS, depth=DEPTH, target=TARGET)
    share = np.ma.masked_where(cells.diverged, cells.final_loss / (TARGET**2 / 2))
    closes = closing_strength(STEPS, DEPTH, target=TARGET)

    drawn = Figure(figsize=(7, 4.4), layout="constrained")
    ax = drawn.subplots()
    ax.set(
        facecolor="#cfcfcf", xscale="log", yscale="log", xlabel="feature strength γ", ylabel="learning rate η"
    )
    shades = np.log10(np.ma.clip(share, 1e-6, 1))
    mesh = ax.pcolormesh(gammas, rates, shades.T, cmap="viridis", vmin=-6, vmax=0, rasterized=True)
    drawn.colorbar(mesh, label="log₁₀ (final loss / initial loss); grey: diverged")
    ax.plot(gammas, eta_max(gammas, DEPTH, TARGET), color="k", label=r"$\eta_{\max}$")
    ax.plot(gammas, eta_min(gammas, DEPTH, STEPS, target=TARGET), "k--", label=r"$\eta_{\min}$")
    ax.axvline(closes, color="k", ls=":", label=r"$\gamma_c$")
    ax.set(
        xlim=gammas[[0, -1]],
        ylim=rates[[0, -1]],
        title=f"L = {DEPTH}, T = {STEPS}, y = {TARGET:g}, squared error",
    )
    ax.legend(loc="upper left")
    file = BytesIO()
    drawn.savefig(file, format="png", dpi=110, facecolor="white")
    trained = np.mean(share.filled(np.inf) <= 0.01)
    alt = (
        f"Final loss over feature strength and learning rate at depth {DEPTH} after {STEPS} "
        f"steps: {trained:.1%} of the cells train, {cells.diverged.mean():.1%} diverge, and none trains far "
        f"beyond γ = {closes:.0f}."
    )
    return file.getvalue(), alt


class ExplorePortrait(SphinxDirective):
    def run(self):
        image, alt = figure()
        write_atomic(Path(self.env.app.outdir) / STATIC, image)
        up = "../" * self.env.docname.count("/")
        parts = [f'<link rel="stylesheet" href="{up}_static/{name}">' for name in STYLES]
        parts.append(
            f'<figure class="explore-still"><img src="{up}{STATIC}" alt="{escape(alt, quote=True)}">'
            "<figcaption>What the sliders start from. They need JavaScript.</figcaption></figure>"
        )
        parts.append('<div id="explore-portrait"></div>')
        parts += [f'<script src="{up}_static/{name}" defer></script>' for name in SCRIPTS]
        return [nodes.raw("", "\n".join(parts), format="html")]


def setup(app):
    app.add_directive("explore-portrait", ExplorePortrait)
