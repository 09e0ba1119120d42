r"""How long the scalar net takes: hitting times, the lower edge of what a budget can train, two clocks.

Times are ηt of gradient flow, da/d(ηt) = (y − f) a^{L−1}/γ from a = 1, which descent follows for η ≪ η_max.
"""

import numpy as np

from lazyrich.theory.deep_linear._checks import whole, within

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)


def hitting_time(fraction, gamma, depth, target=1.0):
    r"""ηt at which f = q y, for the fraction q in (0, 1); vectorised over γ, q and y.

    .. math:: \eta t = \gamma\int_1^{(1+q\gamma y)^{1/L}} \frac{a^{1-L}\,da}{y - (a^L-1)/\gamma}
        = \frac{\gamma^2}{L}\int_0^{qy} \frac{(1+\gamma f)^{2/L-2}}{y-f}\,df.

    Exact to about 1e-12 by Gauss–Legendre, in ln(1 + γf) up to f = qy/2 and in ln(1 − f/y) beyond, where
    the integrand has no pole.

    >>> print(f"{hitting_time(0.9, 1e-4, 3) / lazy_hitting_time(0.9, 1e-4, 3):.4f}")
    0.9999
    """
    q, gamma, target, depth = _checked(fraction, gamma, target, depth)
    half = q / 2
    power = 2 - 2 / depth

    def early(v):  # 1 + γf = eᵛ
        return np.exp(v * (1 - power)) / (gamma * (target - np.expm1(v) / gamma))

    def late(w):  # 1 − f/y = e⁻ʷ
        return (1 - gamma * target * np.expm1(-w)) ** -power

    first = _integral(early, 0.0 * q, np.log1p(half * gamma * target))
    second = _integral(late, -np.log1p(-half), -np.log1p(-q))
    return gamma**2 / depth * (first + second)


def two_layer_hitting_time(fraction, gamma, target=1.0):
    r"""`hitting_time` at L = 2: :math:`\frac{\gamma^2}{2(1+\gamma y)}\ln\frac{1+q\gamma y}{1-q}`."""
    q, gamma, target, _ = _checked(fraction, gamma, target, 2)
    rise = gamma * target
    return gamma**2 / (2 * (1 + rise)) * (np.log1p(q * rise) - np.log1p(-q))


def lazy_hitting_time(fraction, gamma, depth):
    r"""The limit γ → 0 of `hitting_time`: :math:`\gamma^2\ln\frac{1}{1-q}/L`."""
    q, gamma, _, depth = _checked(fraction, gamma, 1.0, depth)
    return -(gamma**2) * np.log1p(-q) / depth


def plateau_time(gamma, depth, target=1.0):
    r"""The limit γ → ∞ of `hitting_time`, whatever q: :math:`\gamma/((L-2)y)` for L ≥ 3.

    This is the first clock: the loss stays on a plateau for it. At L = 2 the plateau grows as γ ln γ and
    depends on q (`two_layer_hitting_time`).
    """
    depth = whole("depth", depth, 3)
    return within("gamma", gamma, 0) / ((depth - 2) * within("target", target, 0))


def drop_time(gamma, depth):
    r"""The second clock, :math:`\gamma^{2/L}`: b = aγ^{−1/L} obeys db/d(ηtγ^{−2/L}) = (y − b^L) b^{L−1}.

    The drop, once it has come, and what follows last a multiple of it that does not depend on γ.
    """
    return within("gamma", gamma, 0) ** (2 / whole("depth", depth, 2))


def eta_min(gamma, depth, steps, fraction=0.9, target=1.0):
    r"""Smallest learning rate that reaches f = q y in T steps: `hitting_time` / T.

    Lazy it grows as γ², rich as γ — not γ^{2/L}, as `eta_max` does: the wedge between them closes.
    """
    return hitting_time(fraction, gamma, depth, target) / whole("steps", steps, 1)


def closing_strength(steps, depth, fraction=0.9, target=1.0):
    r"""γ beyond which no learning rate up to `eta_max` reaches f = q y in T steps, for large T.

    For L ≥ 3 it is where the rich limits of `eta_min` and `eta_max` meet, whatever q:

    .. math:: \gamma_c = \frac1y\Big(\frac{2(L-2)T}{L}\Big)^{L/(L-2)}.

    For L = 2 the wedge closes exponentially late. There η_max → γ/y, so that b = a/√(γy) doubles a step
    while it is small, which is not the flow any more: the map is b ← b(2 − b²), and
    :math:`\gamma_c = 4^T/(y z_q^2)` where :math:`z_q = \lim_n 2^n b_{-n}` along the preimages of b₀ = √q.

    Raises ValueError where the result does not fit into float64.

    >>> print(f"{closing_strength(1000, 5):.3g}, {closing_strength(10, 2) / 4**10:.4f}")
    1.36e+05, 0.6977
    """
    steps, depth = whole("steps", steps, 1), whole("depth", depth, 2)
    q, target = within("fraction", fraction, 0, 1), within("target", target, 0)
    if depth > 2:
        log = depth / (depth - 2) * np.log(2 * (depth - 2) * steps / depth)
    else:
        log = 2 * steps * np.log(2) - 2 * np.log(_doubling_steps(np.sqrt(q)))
    if np.any(log > 700):
        raise ValueError(f"steps = {steps}: at depth {depth} the wedge closes only beyond 1e304")
    return np.exp(log) / target


def _doubling_steps(b):
    """z with b = φ(z), where φ(2z) = φ(z)(2 − φ(z)²) and φ(z) ≈ z at small z."""
    doublings = 40
    for _ in range(doublings):
        before = b / 2
        for _ in range(60):  # b₋ = (b + b₋³)/2 contracts, as b₋² < 2/3
            before = (b + before**3) / 2
        b = before
    return 2.0**doublings * b


def _integral(function, low, high):
    """Gauss–Legendre over [low, high], elementwise."""
    middle, radius = (low + high) / 2, (high - low) / 2
    return radius * sum(w * function(middle + radius * x) for x, w in zip(_NODES, _WEIGHTS, strict=True))


def _checked(fraction, gamma, target, depth):
    return (
        within("fraction", fraction, 0, 1),
        within("gamma", gamma, 0),
        within("target", target, 0),
        whole("depth", depth, 1),
    )
