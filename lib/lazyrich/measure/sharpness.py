"""Hessian eigenvalues and spectral density, from Hessian–vector products alone (Lanczos)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.flatten_util import ravel_pytree


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Eigenvalues:
    """Eigenvalues, most extreme first, and bounds on their errors: one lies within residual of each."""

    values: Array  # (count,)
    residuals: Array  # (count,)


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class SpectralMeasure:
    """A quadrature for the eigenvalue distribution: Σ weights·g(nodes) ≈ mean of g over all eigenvalues."""

    nodes: Array  # (probes, steps)
    weights: Array  # (probes, steps), which sum to 1

    def density(self, at: Array, width: float) -> Array:
        """The density at the points `at`, each node smeared to a Gaussian of standard deviation `width`."""
        z = (at.reshape(-1, 1) - self.nodes.reshape(1, -1)) / width
        bumps = jnp.exp(-z * z / 2) / (width * (2 * jnp.pi) ** 0.5)
        return (bumps @ self.weights.reshape(-1)).reshape(at.shape)


def top_eigenvalues(
    loss: Callable,
    params: Any,
    count: int = 1,
    *,
    key: Array,
    by: str = "algebraic",
    steps: int | None = None,
) -> Eigenvalues:
    r"""The `count` most extreme eigenvalues of ∇²loss at `params`; the first is the sharpness λ_max.

    Lanczos with full reorthogonalisation, which keeps `steps` vectors of the size of `params`. An eigenvalue
    of multiplicity m is found once, its copies only as rounding lets them in. To call it often, wrap it
    in `jax.jit` with `params` as an argument; `jax.vmap` over cells works as well. At small γ give the loss
    of the network in difference form (`models.centering`) as a function of Δ.

    Args:
        loss: maps a pytree of floating arrays of one dtype (float32 or float64) to a scalar.
        params: where.
        count: how many, at least 1 and at most the number of parameters.
        key: of the random start.
        by: "algebraic" (largest first; those of −loss are the smallest) or "modulus".
        steps: Lanczos steps, one Hessian–vector product each; the default is 40 + 4 count. At as many as
            there are parameters the result is exact up to rounding; it is never more.

    Raises:
        ValueError: count, by or steps out of range.

    >>> loss = lambda w: (jnp.arange(1.0, 9.0) * w * w).sum() / 2 - 20 * w[0] ** 2
    >>> print(top_eigenvalues(loss, jnp.ones(8), 2, by="modulus", key=jax.random.key(0)).values.round(3))
    [-39.   8.]
    """
    product, size, dtype = _hessian(loss, params)
    if not 1 <= count <= size:
        raise ValueError(f"count = {count}: expected from 1 to the number of parameters, {size}")
    if by not in ("algebraic", "modulus"):
        raise ValueError(f"by = {by!r}: expected 'algebraic' or 'modulus'")
    steps = 40 + 4 * count if steps is None else steps
    if steps < count:
        raise ValueError(f"steps = {steps}: expected at least count = {count}")
    diagonal, beside = lanczos(product, size, dtype, min(steps, size), key)
    values, vectors = _ritz(diagonal, beside)
    order = jnp.argsort(-abs(values) if by == "modulus" else -values)[:count]
    return Eigenvalues(values[order], abs(beside[-1] * vectors[-1, order]))


def spectral_density(
    loss: Callable, params: Any, *, key: Array, probes: int = 8, steps: int = 64
) -> SpectralMeasure:
    r"""The distribution of all eigenvalues of ∇²loss, by stochastic Lanczos quadrature.

    From each random unit vector v, the eigenvalues of the tridiagonal matrix are the nodes and the squared
    first components of its eigenvectors the weights of a Gauss rule for :math:`v^T g(\nabla^2) v`, exact for
    polynomials g up to degree 2·steps − 1. The mean over `probes` has a relative error of about
    :math:`(\text{probes}\cdot n/2)^{-1/2}` for n parameters.

    Args: as in `top_eigenvalues`; probes, steps: at least 1.

    Raises:
        ValueError: probes or steps below 1.

    >>> measure = spectral_density(lambda w: 1.5 * (w * w).sum(), jnp.ones(8), key=jax.random.key(0))
    >>> print((measure.weights * measure.nodes).sum().round(3))
    3.0
    """
    product, size, dtype = _hessian(loss, params)
    for name, number in (("probes", probes), ("steps", steps)):
        if number < 1:
            raise ValueError(f"{name} = {number}: expected at least 1")

    def one(key):
        values, vectors = _ritz(*lanczos(product, size, dtype, min(steps, size), key))
        return values, jnp.square(vectors[0]) / probes

    return SpectralMeasure(*lax.map(one, jax.random.split(key, probes)))


def lanczos(product: Callable, size: int, dtype: Any, steps: int, key: Array) -> tuple[Array, Array]:
    """Diagonal and off-diagonal, each (steps,), of a symmetric operator on Krylov vectors.

    The last off-diagonal entry is the norm left over, which bounds the errors. Where the Krylov space is
    exhausted, as for a Hessian of low rank, the off-diagonal is 0 and a random direction starts another.
    """
    draw = lambda i: jax.random.normal(jax.random.fold_in(key, i), (size,), dtype)
    unit = lambda v: v / jnp.linalg.norm(v)
    eps = float(jnp.finfo(dtype).eps)

    def step(i, carry):
        basis, diagonal, beside, scale = carry
        clean = lambda w: w - basis.T @ (basis @ w)
        image = product(basis[i])
        scale = jnp.maximum(scale, jnp.linalg.norm(image))
        left = clean(clean(image))
        norm = jnp.linalg.norm(left)
        ends = norm <= eps * scale
        new = unit(clean(clean(unit(jnp.where(ends, draw(i + 1), left)))))
        return (
            basis.at[i + 1].set(new, mode="drop"),
            diagonal.at[i].set(basis[i] @ image),
            beside.at[i].set(jnp.where(ends, 0, norm)),
            scale,
        )

    zeros = jnp.zeros(steps, dtype)
    basis = jnp.zeros((steps, size), dtype).at[0].set(unit(draw(0)))
    _, diagonal, beside, _ = lax.fori_loop(0, steps, step, (basis, zeros, zeros, zeros[0]))
    return diagonal, beside


def _ritz(diagonal: Array, beside: Array) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors of the tridiagonal matrix, in columns."""
    return jnp.linalg.eigh(jnp.diag(diagonal) + jnp.diag(beside[:-1], 1) + jnp.diag(beside[:-1], -1))


def _hessian(loss: Callable, params: Any) -> tuple[Callable, int, Any]:
    """v ↦ ∇²loss·v on flat vectors, with their size and dtype. The pass at `params` is made once."""
    flat, restore = ravel_pytree(params)
    product = jax.linearize(jax.grad(lambda w: loss(restore(w))), flat)[1]
    return product, flat.size, flat.dtype
