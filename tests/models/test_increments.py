"""The product rule: its derivatives against the plain difference's, and how many products they take."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lazyrich.models import difference

RNG = np.random.default_rng(0)
X, FIRST, SECOND, STEP = (jnp.asarray(RNG.normal(size=n)) for n in ((6, 4), (4, 5), (5, 3), (4, 5)))
THETA = {"a": FIRST, "b": SECOND}
DELTA = {"a": STEP, "b": SECOND[::-1]}


def network(theta, x):
    return jnp.tanh(x @ theta["a"]) @ theta["b"]


def plain(theta0, delta, x):
    return network(jax.tree.map(jnp.add, theta0, delta), x) - network(theta0, x)


def size(f):
    return lambda *arguments: jnp.sum(f(*arguments) ** 2)


@pytest.mark.parametrize("argument", [0, 1])
def test_derivatives_in_both_directions(argument):
    mine, other = size(difference(network)), size(plain)
    close = lambda a, b: jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-9), a, b)
    gradient = [jax.grad(f, argument)(THETA, DELTA, X) for f in (mine, other)]
    close(*gradient)
    along = jax.tree.map(jnp.cos, THETA)
    for f, g in zip((mine, other), gradient, strict=True):
        forwards = lambda t, f=f: f(*[t if k == argument else v for k, v in enumerate((THETA, DELTA))], X)
        at = (THETA, DELTA)[argument]
        slope = sum(jnp.vdot(a, b) for a, b in zip(*map(jax.tree.leaves, (g, along)), strict=True))
        np.testing.assert_allclose(jax.jvp(forwards, (at,), (along,))[1], slope, rtol=1e-9)
    hessians = [jax.jvp(lambda d, f=f: jax.grad(f, 1)(THETA, d, X), (DELTA,), (along,))[1]
                for f in (mine, other)]  # fmt: skip
    close(*hessians)


def products(f, *arguments):
    return str(jax.make_jaxpr(f)(*arguments)).count("dot_general[")


def test_two_products_backwards_for_each_product_of_two_that_move():
    loss = size(difference(network))
    assert products(jax.grad(loss, 1), THETA, DELTA, X) == 8
    # forwards x·A₀, x·ΔA; h₀·B₀, Δh·B₀, h·ΔB; backwards one for ΔA and two for the second layer
