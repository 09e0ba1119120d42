"""The largest learning rate at which SGD on the model does not diverge."""

from scipy.optimize import brentq

from .checks import require, require_model
from .contour import top_turning
from .spectrum import power_law


def stability_bound(alpha, width=None, batch=None, kernel_growth=1.0, modes=None):
    """The largest stable η while the kernel has grown by κ: `kernel_growth`.

    Gradient descent: η κ x₊ < 2, x₊ the largest eigenvalue of K. With batches of B the second moments stay
    finite while Σ_x ηκx / (2 − ηκx(1 + 1/B)) < B, over the eigenvalues x of K; in the mean-field limit
    that sum is Σ_k λ_k/(y − λ_k) = B + 1 at y = −κ̂, and η = 2/(κ (1 + 1/B) x(y)). Derived in chapter 01.
    As κ grows a rate that is safe at the start can become too large.

    >>> print(f"{stability_bound(1.5):.3f} {stability_bound(1.5, batch=1):.3f}")
    2.000 0.522
    """
    require_model(alpha, 1.0, 0.0, width, batch, 1.0)
    kappa = require("kernel_growth", kernel_growth, 1)
    spectrum = power_law(alpha, 1.0, modes)
    x, counts = spectrum.eigenvalues, spectrum.counts
    spread = lambda y: counts @ (x / (y - x))
    place = lambda y: y * (1 + (0 if width is None else spread(y) / width))
    first = x[0] if width is None else top_turning(spectrum, width)
    if batch is None:
        return float(2 / (kappa * place(first))) if width is not None else 2 / (kappa * x[0])
    low = first * (1 + 1e-12)
    if spread(low) <= batch + 1:
        y = low
    else:
        y = brentq(lambda y: spread(y) - batch - 1, low, 10 * x[0] + counts @ x, xtol=1e-13)
    return float(2 / (kappa * (1 + 1 / batch) * place(y)))
