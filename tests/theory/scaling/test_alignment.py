"""Kernel geometry against the explicit operator and known values."""

import numpy as np
import pytest

from lazyrich.theory.scaling import alignment_curve

TIMES = [0.0, 1.0, 10.0, 1e2, 1e4, 1e6]


@pytest.mark.parametrize(
    ("beta", "alignment", "growth"),
    [
        (0.5, [0.539, 0.588, 0.619, 0.568, 0.541, 0.539], [1, 1.52, 3.14, 6.24, 26.8, 122]),
        (1.25, [0.787, 0.831, 0.863, 0.857, 0.850, 0.849], [1, 1.44, 1.98, 2.17, 2.31, 2.36]),
    ],
)
def test_values(beta, alignment, growth):
    curve = alignment_curve(1.5, beta, 1.0, TIMES)
    np.testing.assert_allclose(curve.alignment, alignment, atol=1e-3)
    np.testing.assert_allclose(curve.kernel_growth, growth, rtol=5e-3)


def test_late_values():
    assert alignment_curve(1.5, 0.5, times=[1e10]).alignment[0] == pytest.approx(0.5388, abs=5e-4)
    assert alignment_curve(1.5, 1.25, times=[1e10]).alignment[0] == pytest.approx(0.8477, abs=1e-3)
    assert alignment_curve(1.5, 1.25, times=[0.0]).alignment[0] == pytest.approx(0.7871, abs=5e-4)


def test_the_operator_itself():
    """The kernel of weights trained at a large width, in features of unit variance."""
    modes, width, gamma, eta = 30, 4000, 1.0, 0.02
    k = np.arange(1.0, modes + 1)
    root, target = k**-0.75, np.sqrt(k**-1.75)
    start = np.random.default_rng(0).standard_normal((width, modes)) * root
    a, w = start.copy(), np.zeros(width)
    for _ in range(250):
        v = target - w @ a / width
        w, a = w + eta * (a @ v), a + eta * gamma * np.outer(w, (start @ v) @ start / width)
    # f = w·Aψ/N moves by dw (kernel AᵀA/N) and by dA (γ|w|²/N · (A₀ᵀA₀/N)²); at large N A₀ᵀA₀/N → 1
    gram = start.T @ start / width
    operator = a.T @ a / width + gamma * (w @ w) / width * gram
    cosine = target @ operator @ target / np.linalg.norm(operator) / (target @ target)
    theory = alignment_curve_truncated(modes, gamma, eta * 250)
    assert cosine == pytest.approx(theory, abs=0.01)


def alignment_curve_truncated(modes, gamma, time):
    from lazyrich.theory.scaling.alignment import trace_alignment
    from lazyrich.theory.scaling.reduction import evolve, infinite_width
    from lazyrich.theory.scaling.spectrum import power_law

    path = evolve(infinite_width(power_law(1.5, 0.5, modes)), gamma, np.array([time]))
    return path.at([time], trace_alignment(path))[0]
