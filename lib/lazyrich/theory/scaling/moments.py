"""Mean and variance of the state under SGD: the noise of finite batches, without sampling.

In the eigenbasis of K, u_x has mean h(x) g₀ and variance g₀² q(x) + N b(x): the part seen through the
weighted measure, and the part that every eigenvalue has whatever its weight. A step of learning rate η
on B Gaussian samples adds to the variance, with e = 1 − xh, ω = u·g/N and V = L uKu/N + ω²,

    q:  (η²/B) [κ² e² + (γ/κ)² V h² + 2γ (L x h² + ω h e)] + D q
    b:  (η²/B) κ² x L + D b,      D = (η²/B) [κ² x² + (γ/κ)² V + 2γ x (L − ω)]

and contracts by (1 − ηκx). The feature growth s (h = s I) is what the conservation law leaves after the
noise: d log s = ½ d log κ − γ/(2κ(2κ−1)) dU, where dU is the noise's share of U = |u|²/N. Derived in
chapter 01. The conservation law itself holds up to η/B: at γ = 1 and η/B = 0.01, κ is 1.4 % too large
at t = 30 and 3.5 % at t = 140.
"""

from dataclasses import dataclass, replace

import numpy as np

HUGE = 1e6  # in units of the initial loss: SGD has diverged
TOLERANCE = 1e-6  # of loss and κ at the end of a step
ITERATIONS = 12  # before a step is halved
MOST_STEPS = 30_000


@dataclass(frozen=True)
class Moments:
    """Discrete descent on its own grid of steps.

    times, loss, kernel_growth: shape (grid,), t = η × steps; stable_until: the time up to which the
    largest eigenvalue contracts (inf: always). The loss is inf beyond it.
    """

    times: np.ndarray
    loss: np.ndarray
    kernel_growth: np.ndarray
    stable_until: float


def step_grid(last, steps_per_decade, wanted=()):
    """Whole numbers of steps from 0 to `last`: one by one, then `steps_per_decade`, and all the `wanted`."""
    decades = np.log10(max(last, 1))
    grid = np.rint(10 ** np.linspace(0, decades, 2 + int(decades * steps_per_decade)))
    return np.unique(np.concatenate([[0.0], grid[grid <= last], np.asarray(wanted, float), [last]]))


def _geometric(rate, steps):
    """(1 − rate)^n, Σ_j (1 − j/n)(1 − rate)^(n−1−j) and Σ_j (j/n)(1 − rate)^(n−1−j) for j = 0 … n − 1."""
    if steps == 1:
        return 1 - rate, np.ones_like(rate), np.zeros_like(rate)
    a, b = rate.real, rate.imag  # NumPy's complex log1p loses small rates
    with np.errstate(divide="ignore"):
        power = steps * (np.log1p(a * (a - 2) + b * b) / 2 - 1j * np.arctan2(b, 1 - a))
    factor, loss = np.exp(power), -np.expm1(power)
    if np.isrealobj(rate):
        factor, loss = factor.real, loss.real
    small = np.abs(rate * steps) < 1e-5
    safe = np.where(small, 1, rate)
    total = np.where(small, steps * (1 - rate * (steps - 1) / 2), loss / safe)
    ramp = np.where(small, (steps - 1) / 2, (steps - total) / (safe * steps))
    return factor, total - ramp, ramp


@dataclass(frozen=True)
class _State:
    """I, q/s² and b/s² on the nodes, the noise's part of log s, and the scalars they imply."""

    internal: np.ndarray
    weighted: np.ndarray
    counted: np.ndarray
    noise: float
    kappa: float
    loss: float
    sources: tuple  # of I, q/s², b/s², divided by ηκ: what a straight line interpolates
    diffusion: np.ndarray  # D
    noise_rate: float  # d noise / d step


def _state(measure, gamma, eta, batch, internal, weighted, counted, noise):
    x = measure.nodes
    bare = measure.integrate(internal**2 + weighted) + measure.total(counted)
    shrink = np.exp(-2 * noise)
    kappa = 1 + gamma * bare * shrink  # κ² − κ = γU with U = s² bare and s² = κ e^(−2 noise)
    growth = np.sqrt(kappa * shrink)
    h, q, b = growth * internal, growth**2 * weighted, growth**2 * counted
    error = 1 - x * h
    energy = measure.total(x * b) + measure.integrate(x * q)
    loss = measure.loss(h) + energy
    if np.isinf(batch):
        sources = (np.full_like(x, 1 / growth), np.zeros_like(x), np.zeros_like(x))
        return _State(internal, weighted, counted, noise, kappa, loss, sources, np.zeros_like(x), 0.0)
    overlap = measure.integrate(h * error) - energy
    spread = loss * (energy + measure.integrate(x * h * h)) + overlap**2
    feature = (gamma / kappa) ** 2 * spread * h * h + 2 * gamma * h * (loss * x * h + overlap * error)
    scale = eta**2 / batch
    into_q = scale * (kappa**2 * error**2 + feature)
    into_b = scale * kappa**2 * loss * x
    diffusion = scale * ((kappa * x) ** 2 + (gamma / kappa) ** 2 * spread + 2 * gamma * x * (loss - overlap))
    injected = measure.integrate(into_q + diffusion * q) + measure.total(into_b + diffusion * b)
    per_kappa = 1 / (eta * kappa * growth**2)
    sources = (np.full_like(x, 1 / growth), into_q * per_kappa, into_b * per_kappa)
    noise_rate = gamma * injected / (2 * kappa * (2 * kappa - 1))
    return _State(internal, weighted, counted, noise, kappa, loss, sources, diffusion, noise_rate)


def _middle(state, end, n):
    """κ, D and the noise rate averaged over the n steps from `state` to `end`."""
    late = (n - 1) / (2 * n)  # the mean of j/n over j = 0 … n − 1
    return tuple(
        getattr(state, name) + late * (getattr(end, name) - getattr(state, name))
        for name in ("kappa", "diffusion", "noise_rate")
    )


def _propagators(x, eta, batch, state, end, n):
    """What n steps do to I and to the variances, and the pull ηκ."""
    kappa, diffusion, _ = _middle(state, end, n)
    pull = eta * kappa
    mean = _geometric(pull * x, n)
    return pull, mean, mean if np.isinf(batch) else _geometric(pull * x * (2 - pull * x) - diffusion, n)


def _advance(propagators, batch, state, end, n):
    """The state's four variables n steps later; `end` is the current guess of the state found there."""
    pull, mean, variance = propagators

    def move(value, propagator, index):
        factor, old, new = propagator
        return factor * value + pull * (old * state.sources[index] + new * end.sources[index])

    noise = state.noise + n * _middle(state, end, n)[2]
    internal = move(state.internal, mean, 0)
    if np.isinf(batch):
        return internal, state.weighted, state.counted, noise
    return internal, move(state.weighted, variance, 1), move(state.counted, variance, 2), noise


def _guess(previous, state, ratio):
    """The state expected after a step `ratio` times as long as the one from `previous` to `state`."""
    line = lambda old, new: new + ratio * (new - old)
    return replace(
        state,
        kappa=line(previous.kappa, state.kappa),
        sources=tuple(map(line, previous.sources, state.sources)),
        diffusion=line(previous.diffusion, state.diffusion),
        noise_rate=line(previous.noise_rate, state.noise_rate),
    )


def _step(build, x, gamma, eta, batch, state, guess, n):
    """The state n steps later, the ends of its straight lines solved for; None if that fails."""
    if n == 1:
        return build(_advance(_propagators(x, eta, batch, state, state, n), batch, state, state, n))
    end, propagators = guess, None
    for _ in range(ITERATIONS):
        if propagators is None or gamma > 0:  # at γ = 0 they depend on n alone
            propagators = _propagators(x, eta, batch, state, end, n)
        previous, end = end, build(_advance(propagators, batch, state, end, n))
        if max(abs(end.loss / previous.loss - 1), abs(end.kappa / previous.kappa - 1)) < TOLERANCE:
            return end
    return None


def descend(measure, gamma, learning_rate, batch, steps):
    """Follow the moments on the grid `steps` (whole numbers, from 0); `batch` may be inf.

    Where the grid goes step by step the recursion is exact; over longer steps κ and the sources (in units
    of κ) are straight lines, and their ends are found by iteration.
    """
    eta, zero = learning_rate, np.zeros_like(measure.nodes)
    build = lambda variables: _state(measure, gamma, eta, batch, *variables)
    contracts = lambda pull: pull * (2 - pull) > pull**2 / batch
    state = build((zero, zero, zero, 0.0))
    start, until = state.loss, np.inf
    kappas, losses = [state.kappa], [state.loss]
    earlier, last, done = state, 1, 0
    targets, goals = list(steps[:0:-1]), set(steps)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for _ in range(MOST_STEPS):
            if not targets:
                break
            n = targets[-1] - done
            end = _step(build, measure.nodes, gamma, eta, batch, state, _guess(earlier, state, n / last), n)
            if end is None:
                targets.append(done + n // 2)
                continue
            if not (contracts(eta * end.kappa * measure.edge) and end.loss < HUGE * start):
                until = eta * done
                break
            earlier, last, state, done = state, n, end, targets.pop()
            if done in goals:
                kappas.append(state.kappa)
                losses.append(state.loss)
        else:
            raise RuntimeError(f"the noise could not be followed beyond step {done:g} of {steps[-1]:g}")
    rest = [np.inf] * (len(steps) - len(losses))
    return Moments(eta * steps, np.array(losses + rest), np.array(kappas + rest), until)
