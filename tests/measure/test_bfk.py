"""The backward-to-feature kernel against explicit Jacobians, and its moments against the angle."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from architectures import batch, compiled, network
from lazyrich.measure.bfk import batch_covariance, conditioning_bound, feature_kernel, moment_cosine
from lazyrich.measure.feature_speeds import feature_passes, feature_speed
from lazyrich.measure.kernels import empirical_ntk
from lazyrich.measure.nodes import run
from lazyrich.models import MLP, learning_rates
from lazyrich.training import cross_entropy


def jacobian(apply, params, inputs, node):
    """The Jacobian of a node with respect to each parameter, as matrices."""
    jac = jax.jacobian(lambda p: run(apply, p, inputs)[1][node])(params)
    size = run(apply, params, inputs)[1][node].size
    return [np.asarray(leaf).reshape(size, -1) for leaf in jax.tree.leaves(jac)]


@pytest.mark.parametrize("node", ["h1", "u2", "output"])
def test_against_the_jacobian(node):
    """K z = Σ_k η_k J_k J_kᵀ z over all that acts before the node; at the output it is the kernel's sum."""
    (apply, params), data = network("resnet2"), batch("resnet2", 3)
    treedef = jax.tree.structure(params)
    rates = treedef.unflatten([0.1 * (k + 1) for k in range(treedef.num_leaves)])
    z = np.random.default_rng(0).normal(size=run(apply, params, data[0])[1][node].shape)

    @compiled
    def program(params, z):
        return feature_kernel(apply, data[0], node, rates, params)(z)

    explicit = sum(
        rate * j @ j.T
        for rate, j in zip(jax.tree.leaves(rates), jacobian(apply, params, data[0], node), strict=True)
    )
    found = program(params, jnp.asarray(z))
    np.testing.assert_allclose(found.ravel(), explicit @ z.ravel(), rtol=1e-10, atol=1e-12)


def test_at_the_output_it_is_the_neural_tangent_kernel():
    """Measured by another route, with the layers' learning rates; for one output the whole of it."""
    model = MLP(8, 12, 1, depth=2, rngs=nnx.Rngs(params=0), dtype=jnp.float64)
    x, params = batch("mlp", 3)[0], nnx.state(model, nnx.Param)

    @compiled
    def columns(params):
        kernel = feature_kernel(model, x, "h2", learning_rates(params), params)
        return jax.lax.map(kernel, jnp.eye(3)[:, :, None])[:, :, 0]

    np.testing.assert_allclose(columns(params), empirical_ntk(model, x), rtol=1e-12)


def test_velocity_is_minus_the_kernel_on_b():
    (apply, params), data = network("mlp"), batch("mlp", 4)

    @compiled
    def program(params):
        g = jax.grad(lambda p: cross_entropy(apply(p, data[0], lambda _, v: v), data[1]))(params)
        passes = feature_passes(apply, data, cross_entropy, jax.tree.map(lambda g: -0.1 * g, g), params)
        return passes.velocity["h1"], feature_kernel(apply, data[0], "h1", 0.1, params)(passes.backward["h1"])

    velocity, image = program(params)
    np.testing.assert_allclose(velocity, -image, rtol=1e-12, atol=1e-16)


def plain(params, x, tap):
    """A deep ReLU network of width m with scalar output; the weights are N(0, 1) behind their scales."""
    h = x / np.sqrt(x.shape[1])
    for l, w in enumerate(params["hidden"]):
        h = jax.nn.relu(h) if l else h
        h = tap(f"h{l + 1}", h @ w * ((2 / len(w)) ** 0.5 if l else 1.0))
    return jax.nn.relu(h) @ params["readout"] / np.sqrt(len(params["readout"]))


def deep(seed, depth=6, width=160, d=160):
    rng = np.random.default_rng(seed)
    normal = lambda *shape: jnp.asarray(rng.normal(size=shape))
    return {
        "hidden": [normal(d, width)] + [normal(width, width) for _ in range(depth - 1)],
        "readout": normal(width, 1),
    }


def linear(residual):
    """A loss with given ∂loss/∂f."""
    return lambda output, target: jnp.mean(output[:, 0] * residual)


@compiled
def _angles(params, x, residual, key):
    """cos θ at the last hidden layer, direct, isotropic and weighted, with rates 1/|x|², 1/m."""
    loss = linear(residual)
    g = jax.grad(lambda p: loss(plain(p, x, lambda _, v: v), x))(params)
    passes = feature_passes(plain, (x, x), loss, jax.tree.map(lambda g: -g, g), params)
    node = f"h{len(params['hidden'])}"
    b, velocity = passes.backward[node], passes.velocity[node]
    direct = -jnp.vdot(b, velocity) / jnp.sqrt(jnp.vdot(b, b) * jnp.vdot(velocity, velocity))
    kernel = feature_kernel(plain, x, node, 1.0, params)
    moments = [moment_cosine(kernel, b.shape, key, 12, c, b.dtype) for c in (None, batch_covariance(b))]
    return jnp.stack([direct, *moments])


def angles(networks, n, correlation, ones):
    found = []
    for seed in range(networks):
        rng = np.random.default_rng(100 + seed)
        x = np.sqrt(1 - correlation) * rng.normal(size=(n, 160)) + np.sqrt(correlation) * rng.normal(
            size=(1, 160)
        )
        residual = np.ones(n) if ones else rng.choice([-1.0, 1.0], n)
        found.append(_angles(deep(seed), jnp.asarray(x), jnp.asarray(residual), jax.random.key(seed)))
    return np.mean(found, axis=0)


def test_moments_of_one_sample():
    direct, isotropic, _ = angles(8, 1, 0.0, ones=True)
    assert isotropic == pytest.approx(direct, rel=0.05)


def test_weighted_moments_of_a_batch_and_the_control():
    """Equal residuals on correlated inputs: only the moments weighted with B find the angle."""
    direct, isotropic, weighted = angles(12, 16, 0.8, ones=True)
    assert weighted == pytest.approx(direct, rel=0.1)
    assert isotropic < 0.7 * direct


def test_random_residuals_hide_the_difference():
    direct, isotropic, weighted = angles(12, 16, 0.8, ones=False)
    assert weighted == pytest.approx(direct, rel=0.1)
    assert isotropic == pytest.approx(direct, rel=0.12)


def test_moments_of_a_known_kernel():
    """Traces by hand: K = diag(k) on every sample, coupled by A between samples, probes weighted with B."""
    rng = np.random.default_rng(0)
    k = rng.uniform(0.5, 3, 200)
    a, b = (m @ m.T for m in rng.normal(size=(2, 4, 4)))
    kernel = lambda z: jnp.asarray(a) @ z * k[None]
    ones, k1, k2 = 200, k.sum(), (k**2).sum()
    plain = np.trace(a) * k1 / np.sqrt(4 * ones * np.trace(a @ a) * k2)
    weighted = np.trace(a @ b) * k1 / np.sqrt(np.trace(b) * ones * np.trace(a @ a @ b) * k2)
    key = jax.random.key(0)
    found = moment_cosine(kernel, (4, 200), key, 400, dtype=jnp.float64)
    assert float(found) == pytest.approx(plain, rel=0.01)
    found = moment_cosine(kernel, (4, 200), key, 400, jnp.asarray(b), jnp.float64)
    assert float(found) == pytest.approx(weighted, rel=0.01)
    assert abs(weighted / plain - 1) > 0.05


def test_condition_number_bounds_the_angle_and_is_attained():
    k = np.linspace(1, 20, 12)
    b = np.random.default_rng(0).normal(size=(20000, 12))
    cosine = lambda b: (b**2 @ k) / np.sqrt((b**2).sum(-1) * (b**2 @ k**2))
    bound = conditioning_bound(20.0)
    assert cosine(b).min() > bound
    worst = np.zeros(12)
    worst[0], worst[-1] = np.sqrt(20), 1
    assert cosine(worst) == pytest.approx(bound, rel=1e-14)
    assert cosine(np.eye(12)) == pytest.approx(1)


def test_the_output_s_kernel_knows_nothing_of_the_angle_below():
    """One sample, one output: cos θ_L = 1 whatever the network, while cos θ_{L−1} falls with depth."""
    x, loss = jnp.ones((1, 160)), lambda output, _: output[0, 0]

    @compiled
    def cosines(params):
        g = jax.grad(lambda p: plain(p, x, lambda _, v: v)[0, 0])(params)
        balanced = jax.tree.map(lambda g: -g / jnp.vdot(g, g), g)
        return feature_speed(plain, (x, x), loss, balanced, params).cosine[-2:]

    shallow, deeper = cosines(deep(0, depth=1)), cosines(deep(0, depth=6))
    assert float(shallow[-1]) == pytest.approx(1, abs=1e-12)
    assert float(deeper[-1]) == pytest.approx(1, abs=1e-12)
    assert float(shallow[0]) > 0.95
    assert float(deeper[0]) < 0.6


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda f, p, x: feature_kernel(f, x, "h9", params=p), "node = 'h9'"),
        (lambda f, p, x: feature_kernel(f, x, "h1"), "params = None"),
        (lambda f, p, x: moment_cosine(lambda z: z, (2, 2), jax.random.key(0), 0), "probes = 0"),
        (
            lambda f, p, x: moment_cosine(lambda z: z, (2, 2), jax.random.key(0), 2, jnp.eye(3)),
            r"covariance has shape \(3, 3\)",
        ),
        (lambda f, p, x: conditioning_bound(0.5), "condition = 0.5"),
    ],
)
def test_bad_input_is_named(call, named):
    apply, params = network("mlp")
    with pytest.raises(ValueError, match=named):
        call(apply, params, batch("mlp", 2)[0])
