"""The γ–η plane simulated: every cell one exact run of T steps, all of them in one compiled loop.

81 × 97 cells and 10⁴ steps take a fraction of a second: about 2 ns a cell and step.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from lazyrich.theory.deep_linear._checks import choice, whole, within
from lazyrich.theory.deep_linear.two_layer import two_layer_step


@dataclass(frozen=True)
class Portrait:
    """Losses over the plane; arrays are (γ, η), infinite where the run diverged."""

    feature_strength: np.ndarray  # (γ,)
    learning_rate: np.ndarray  # (γ, η)
    final_loss: np.ndarray
    max_loss: np.ndarray  # largest seen, the start included
    max_output: np.ndarray  # largest f seen: a fraction q was reached where it is at least q y
    diverged: np.ndarray  # bool


def portrait(
    feature_strength,
    learning_rate,
    steps,
    *,
    model="scalar",
    depth=3,
    loss="mse",
    target=1.0,
    optimizer="sgd",
    kernel=2.0,
    bound=np.inf,
):
    r"""Run gradient descent in every cell (γ, η) from f = 0, in float64 and difference form.

    Args:
        feature_strength: γ, shape (G,).
        learning_rate: η, shape (E,) for all γ or (G, E).
        steps: T, at least 1.
        model: "scalar", the balanced net :math:`f = (a^L - 1)/\gamma` from a = 1; or "two-layer", the exact
            map of (s, K) from s = 0, K = `kernel`.
        depth: L of the scalar net; not used by the other.
        loss: "mse", ½(f − y)², or "cross-entropy", ln(1 + e^f) − p f.
        target: y > 0, or the soft label p in (0, 1).
        optimizer: "sgd", or "sign" (scalar net only): a ← a − η sign(∂loss/∂a).
        kernel: K₀ > 0.
        bound: a loss above it counts as divergence, > 0.

    Raises:
        ValueError: naming the parameter, for anything outside these ranges.

    >>> p = portrait([1e-3], [5e-7, 1.5e-6, 2.5e-6], 1000, model="two-layer")  # calm, catapult, divergence
    >>> print(p.final_loss.round(3), p.max_loss.round(-2))
    [[ 0.  0. inf]] [[     0. 184500.     inf]]
    """
    gamma = np.atleast_1d(within("feature_strength", feature_strength, 0))
    rate = np.atleast_1d(within("learning_rate", learning_rate, 0))
    if gamma.ndim != 1:
        raise ValueError(f"feature_strength has shape {gamma.shape}: expected one axis")
    if rate.ndim > 2 or (rate.ndim == 2 and len(rate) != len(gamma)):
        raise ValueError(f"learning_rate has shape {rate.shape}: expected (η,) or ({len(gamma)}, η)")
    whole("steps", steps, 1), whole("depth", depth, 1)
    choice("model", model, ("scalar", "two-layer"))
    choice("loss", loss, ("mse", "cross-entropy"))
    choice("optimizer", optimizer, ("sgd", "sign"))
    if optimizer == "sign" and model != "scalar":
        raise ValueError(f"optimizer = 'sign': expected 'sgd' with model = {model!r}")
    target = within("target", target, 0, *([1] if loss == "cross-entropy" else []))
    kernel = within("kernel", kernel, 0)
    if not bound > 0:
        raise ValueError(f"bound = {bound!r}: expected a number > 0")

    rate = np.broadcast_to(rate, (len(gamma), rate.shape[-1]))
    run = _program(model, depth if model == "scalar" else 2, loss, optimizer)
    ends = run(*np.broadcast_arrays(gamma[:, None], rate), target, kernel, steps)
    last, low, high = map(np.asarray, ends)
    final, worst = _loss(loss, last, target), np.fmax(_loss(loss, low, target), _loss(loss, high, target))
    diverged = ~(np.isfinite(final) & np.isfinite(worst) & (worst <= bound))
    final, worst = np.where(diverged, np.inf, final), np.where(np.isfinite(final), worst, np.inf)
    return Portrait(gamma, rate, final, worst, high, diverged)


def _loss(kind, f, target):
    with np.errstate(over="ignore", invalid="ignore"):
        if kind == "mse":
            return (f - target) ** 2 / 2
        return np.logaddexp(0, f) - target * f


@cache
def _program(model, depth, loss, optimizer):
    """The compiled loop: (γ, η, target, K₀, T) -> (last f, lowest f, highest f)."""
    import jax
    import jax.numpy as jnp

    slope = {"mse": lambda f, y: f - y, "cross-entropy": lambda f, p: jax.nn.sigmoid(f) - p}[loss]

    # 1/γ and η/γ come in ready: a division costs as much as all the rest of a step.
    def scalar(state, inverse, pace, target, _):
        (delta,) = state
        a = 1 + delta
        series = 1.0
        for _ in range(depth - 1):
            series = 1 + a * series  # to (aᴸ − 1)/(a − 1)
        f = delta * series * inverse
        gradient = slope(f, target) * a ** (depth - 1)
        return f, (delta - pace * (jnp.sign(gradient) if optimizer == "sign" else gradient),)

    def two_layer(state, inverse, pace, target, kernel):
        overlap, growth = state  # s, and K − K₀
        f = overlap * inverse
        rise = two_layer_step(overlap, kernel + growth, pace * slope(f, target))
        return f, (overlap + rise[0], growth + rise[1])

    step = scalar if model == "scalar" else two_layer

    @jax.jit
    def run(gamma, rate, target, kernel, steps):
        zero, inverse, pace = jnp.zeros_like(gamma), 1 / gamma, rate if optimizer == "sign" else rate / gamma

        def body(_, carry):
            state, low, high = carry
            f, state = step(state, inverse, pace, target, kernel)
            return state, jnp.where(f < low, f, low), jnp.where(f > high, f, high)

        start = (zero,) * (1 if model == "scalar" else 2)
        state, low, high = jax.lax.fori_loop(0, steps, body, (start, zero, zero))
        last, _ = step(state, inverse, pace, target, kernel)
        return last, jnp.where(last < low, last, low), jnp.where(last > high, last, high)

    def with_float64(*arguments):
        with jax.enable_x64(True):
            return run(*arguments)

    return with_float64
