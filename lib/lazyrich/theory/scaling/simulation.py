"""Exact SGD in the solvable model, seed by seed: the experiment beside the theory.

Two methods with one law. `direct` trains w and A as FL (arXiv 2409.17858) writes them, O(N B M) a step.
`rotated` follows what the loss depends on, in the eigenbasis of K = A₀ΛA₀ᵀ/N (eigenvalues h, vectors V):
p = VᵀSᵀw/√N, Q = VᵀSᵀSV and a = |w|²/N, with A = S A₀. For a batch gradient g,

    p ← p + ηQg + ηγ(a + η p·g) g,  a ← a + 2η p·g + η² g·Qg,  Q ← Q + ηγ(p gᵀ + g pᵀ) + (ηγ)² a g gᵀ.

A batch of Gaussian features enters through zᵀe alone, where e = z r + ρ z' are the B residuals and z (B, N),
z' (B,) standard normal. Given e, the part of zᵀe orthogonal to r is |e| times a standard normal vector; so
N + 2B normal numbers make a step, exact in law, and no M.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from .checks import require, require_model, require_times

METHODS = ("rotated", "direct")
HUGE = 1e6  # in units of the initial loss: the run has diverged


@dataclass(frozen=True)
class Simulation:
    """Population losses of SGD runs.

    times: learning rate × steps, shape (times,). loss: Σ λ_k v_k², no ½, shape (seeds, times), inf after a
    run has diverged. diverged_at: the time at which each run was first seen to exceed 1e6 times its initial
    loss, inf if it never did, shape (seeds,).
    """

    times: np.ndarray
    loss: np.ndarray
    diverged_at: np.ndarray


def simulate(
    alpha,
    beta,
    gamma=0.0,
    *,
    width,
    learning_rate,
    times,
    batch=None,
    modes=1024,
    seeds=10,
    seed0=0,
    method="rotated",
    dtype="float32",
):
    """Train the model of `learning_curve` by projected SGD on fresh Gaussian features.

    width: N; modes: M, finite here; batch: B (None: the population gradient). `times` are moved to the
    nearest whole step. Seed s = seed0 … seed0 + seeds − 1 fixes A₀ (the same for both methods) and the
    batches. Divergence is recorded, not raised. ValueError for parameters out of range or an unknown method.

    >>> run = simulate(1.5, 0.5, width=16, learning_rate=0.1, times=[0, 1, 10], modes=64, seeds=3)
    >>> run.loss.shape, bool(np.all(np.isinf(run.diverged_at)))
    ((3, 3), True)
    """
    require_model(alpha, beta, gamma, width, batch, learning_rate)
    times = require_times(times)
    for name, value in (("width", width), ("modes", modes), ("seeds", seeds)):
        require(name, value, 1, integer=True)
    require("seed0", seed0, 0, integer=True)
    if batch is not None:
        require("batch", batch, 1, integer=True)
    if method not in METHODS:
        raise ValueError(f"method = {method!r}: expected one of {', '.join(METHODS)}")
    if method == "rotated":
        require("width", width, 1, modes)
    k = np.arange(1.0, modes + 1)
    eigenvalues, power = k**-alpha, k ** (-alpha * beta - 1)
    draws = [_draw(eigenvalues, power, width, seed, method) for seed in range(seed0, seed0 + seeds)]
    data = [np.stack(column).astype(dtype) for column in zip(*draws, strict=True)]
    steps = np.rint(times / learning_rate)
    counts = np.diff(steps, prepend=0).astype(np.int32)
    constants = (np.sqrt(eigenvalues).astype(dtype), np.sqrt(power).astype(dtype))
    loss = _run(
        method, float(gamma), float(learning_rate), batch, counts, constants, data,
        np.arange(seed0, seed0 + seeds, dtype=np.uint32),
    )  # fmt: skip
    diverged = ~(loss < HUGE * power.sum())
    diverged = np.logical_or.accumulate(diverged, axis=1)
    first = np.where(diverged.any(axis=1), learning_rate * steps[diverged.argmax(axis=1)], np.inf)
    return Simulation(learning_rate * steps, np.where(diverged, np.inf, loss), first)


def _draw(eigenvalues, power, width, seed, method):
    """What one seed fixes: A₀√Λ (direct); or √h, √(g₀²/(N h)), and the residual power (rotated)."""
    features = np.random.default_rng(seed).standard_normal((width, len(power))) * np.sqrt(eigenvalues)
    if method == "direct":
        return (features,)
    h, vectors = np.linalg.eigh(features @ features.T / width)
    root = np.sqrt(np.maximum(h, np.finfo(float).tiny))
    seen = vectors.T @ (features @ np.sqrt(power)) / np.sqrt(width) / root
    return root, seen, max(power.sum() - seen @ seen, 0.0)


def _run(method, gamma, learning_rate, batch, counts, constants, data, seeds):
    """Compile one program for all seeds; returns the losses (seeds, times) in float64."""
    import jax

    train = partial(_direct if method == "direct" else _rotated, gamma, learning_rate, batch)

    def one(arguments):
        seed, *drawn = arguments
        state, step, loss = train(*constants, *drawn)
        key = jax.random.fold_in(jax.random.key(0), seed)

        def segment(carry, count):
            start, state = carry
            body = lambda i, s: step(jax.random.fold_in(key, start + i), s)
            state = jax.lax.fori_loop(0, count, body, state)
            return (start + count, state), loss(state)

        return jax.lax.scan(segment, (counts[0] * 0, state), counts)[1]

    together = len(seeds) if gamma == 0 else max(1, min(len(seeds), 2**18 // data[0][0].shape[0] ** 2))
    program = jax.jit(lambda arguments: jax.lax.map(one, arguments, batch_size=together))
    return np.asarray(program((seeds, *data)), dtype=np.float64)


def _rotated(gamma, eta, batch, _root_lambda, _root_power, root, seen, rest):
    """Initial state, step and loss of the rotated method."""
    import jax
    import jax.numpy as jnp

    def gradient(key, remaining):
        if batch is None:
            return root * remaining
        normal = jax.random.normal(key, (root.shape[0] + 2 * batch,), dtype=root.dtype)
        along, other, free = jnp.split(normal, (batch, 2 * batch))
        size = jnp.linalg.norm(remaining)
        direction = remaining / jnp.maximum(size, jnp.finfo(root.dtype).tiny)
        errors = size * along + jnp.sqrt(rest) * other
        across = jnp.linalg.norm(errors) * (free - direction * (direction @ free))
        return root * (direction * (along @ errors) + across) / batch

    def step(key, state):
        p, a, q = state
        g = gradient(key, seen - root * p)
        if gamma == 0:
            return p + eta * g, a, q
        overlap, spread = p @ g, q @ g
        new = p + eta * spread + eta * gamma * (a + eta * overlap) * g
        pg = jnp.outer(p + 0.5 * eta * gamma * a * g, g)
        return new, a + 2 * eta * overlap + eta**2 * (g @ spread), q + eta * gamma * (pg + pg.T)

    start = (jnp.zeros_like(root), jnp.zeros_like(rest), jnp.eye(root.shape[0], dtype=root.dtype))
    return start, step, lambda state: rest + jnp.sum((seen - root * state[0]) ** 2)


def _direct(gamma, eta, batch, root_lambda, root_power, features):
    """Initial state, step and loss of the direct method, in features scaled to unit variance."""
    import jax
    import jax.numpy as jnp

    width = features.shape[0]

    def remaining(state):
        w, scaled = state  # A √Λ
        return root_power - w @ scaled / width  # √Λ v

    def step(key, state):
        w, scaled = state
        pull = remaining(state)
        if batch is not None:
            z = jax.random.normal(key, (batch, root_power.shape[0]), dtype=root_power.dtype)
            pull = (z @ pull) @ z / batch  # Λ^(−1/2) Σ̂ v
        new = w + eta * (scaled @ pull)
        if gamma == 0:
            return new, scaled
        back = (features @ pull) @ features / width  # Σ̂v A₀ᵀA₀ √Λ / N
        return new, scaled + eta * gamma * jnp.outer(w, back)

    start = (jnp.zeros_like(features[:, 0]), features)
    return start, step, lambda state: jnp.sum(remaining(state) ** 2)
