"""The feature speed formula: left side from forward mode, right side from gradients' norms alone."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx

from architectures import MAKE, acts_before, batch, compiled, drawn, gradients, measured, network
from lazyrich.measure.feature_speeds import (
    feature_passes,
    feature_speed,
    feature_speed_probe,
    path_contributions,
)
from lazyrich.measure.nodes import find_nodes, paths
from lazyrich.models import MLP
from lazyrich.tasks import embedded
from lazyrich.training import cross_entropy, train


def scaled(tree, factors):
    leaves, treedef = jax.tree.flatten(tree)
    return treedef.unflatten([f * leaf for f, leaf in zip(factors, leaves, strict=True)])


@pytest.mark.parametrize("n", [1, 32])
@pytest.mark.parametrize("name", MAKE)
def test_identity(name, n):
    """⟨−b, ḟ⟩ = Σ_k η_k |g_k|² over the parameters declared to act before the node, to 1e-12."""
    params, data = network(name)[1], batch(name, n)
    g = gradients(name, params, data)
    rates = [0.05 * (1 + 0.3 * np.cos(k)) for k in range(len(jax.tree.leaves(g)))]
    speed = measured(name, params, data, scaled(g, [-r for r in rates]))
    decay = {p: r * np.sum(np.square(x)) for p, r, x in zip(paths(g), rates, jax.tree.leaves(g), strict=True)}
    stream = [node for node in speed.nodes if node[0] in "ha" or node == "output"]
    assert stream == [node for node, cut in zip(speed.nodes, speed.cut, strict=True) if cut]
    for node in stream:
        right = sum(c for path, c in decay.items() if acts_before(path, node))
        assert float(speed[node]["flow"]) == pytest.approx(right, rel=1e-12)
    assert float(speed.identity_error.max()) < 1e-12
    cosine = np.asarray(speed.cosine)
    assert ((cosine > -1) & (cosine <= 1 + 1e-12)).all()


def adam_like(g):
    """Adam's direction after a few steps has no simple relation to the gradient; so has this."""
    return jax.tree.map(lambda g: -0.01 * g / (jnp.abs(g) + 1e-3), g)


def muon_like(g):
    """The gradient's matrices replaced by their orthogonal factors."""

    def orthogonal(g):
        u, _, v = jnp.linalg.svd(g, full_matrices=False)
        return -0.01 * u @ v

    return jax.tree.map(orthogonal, g)


@pytest.mark.parametrize("update", ["sign", "adam", "muon", "decay", "momentum"])
def test_any_update(update):
    params, data = network("resnet2")[1], batch("resnet2", 32)
    g = gradients("resnet2", params, data)
    updates = {
        "sign": lambda: jax.tree.map(lambda g: -0.01 * jnp.sign(g), g),
        "adam": lambda: adam_like(g),
        "muon": lambda: muon_like(g),
        "decay": lambda: jax.tree.map(lambda g, p: -0.05 * (g + 0.1 * p), g, params),
        "momentum": lambda: jax.tree.map(
            lambda g, h: -0.05 * (g + 0.9 * h), g, gradients("resnet2", params, batch("resnet2", 32, seed=2))
        ),
    }[update]()
    speed = measured("resnet2", params, data, updates)
    assert float(speed.identity_error.max()) < 1e-12
    total = sum(np.sum(g * u) for g, u in zip(jax.tree.leaves(g), jax.tree.leaves(updates), strict=True))
    assert float(speed["output"]["flow"]) == pytest.approx(-float(total), rel=1e-12)


def test_optax_update():
    """An optimiser's own update, as training hands it over."""
    params, data = network("mlp")[1], batch("mlp", 32)
    g, optimiser = gradients("mlp", params, data), optax.adamw(0.01)
    with jax.numpy_dtype_promotion("standard"):
        u, _ = optimiser.update(g, optimiser.init(params), params)
    assert float(measured("mlp", params, data, u).identity_error.max()) < 1e-12


def test_float32():
    params, data = network("mlp")[1], batch("mlp", 32)
    params, x = jax.tree.map(lambda a: a.astype(jnp.float32), (params, data[0]))
    g = gradients("mlp", params, (x, data[1]))
    speed = measured("mlp", params, (x, data[1]), scaled(g, [-0.1] * 3))
    assert speed.flow.dtype == speed.speed.dtype == jnp.float32
    assert float(speed.identity_error.max()) < 1e-5


def test_inside_a_block():
    """Path-restricted gradients give the flow; what acts before the node, summed, is far off."""
    (apply, params), data = network("resnet2"), batch("resnet2", 32)
    u = jax.tree.map(lambda g: -0.1 * g, gradients("resnet2", params, data))
    speed = measured("resnet2", params, data, u)
    restricted = lambda node, p, d, u: path_contributions(apply, d, cross_entropy, u, node, p)
    through = compiled(lambda *args: {node: restricted(node, *args) for node in ("u1", "u2", "h1")})(
        params, data, u
    )
    for node in ("u1", "u2"):
        assert not speed.cut[speed.nodes.index(node)]
        assert float(sum(through[node].values())) == pytest.approx(float(speed[node]["flow"]), rel=1e-12)
        assert float(speed[node]["decay"]) > 2 * float(speed[node]["flow"])
    # at a cut node the path-restricted gradient is the gradient
    for path, c in through["h1"].items():
        expected = float(speed.contributions[path]) if acts_before(path, "h1") else 0.0
        assert float(c) == pytest.approx(expected, rel=1e-12, abs=1e-18)


def recurrent(params, x, tap):
    """Weights shared over six steps, so that they act before and after every state."""
    state = jnp.zeros((len(x), 8), x.dtype)
    for t in range(6):
        state = tap(f"s{t + 1}", jnp.tanh(x[:, t] @ params["in"] + state @ params["state"]))
    return state @ params["out"]


def test_shared_weights():
    rng = np.random.default_rng(0)
    shapes = {"in": (3, 8), "state": (8, 8), "out": (8, 3)}
    params = {name: jnp.asarray(rng.normal(size=shape)) / 2 for name, shape in shapes.items()}
    data = jnp.asarray(rng.normal(size=(4, 6, 3))), jnp.array([0, 1, 2, 0], jnp.int32)

    @compiled
    def program(params, data):
        g = jax.grad(lambda p: cross_entropy(recurrent(p, data[0], lambda _, v: v), data[1]))(params)
        u = jax.tree.map(lambda g: -0.1 * g, g)
        return (
            feature_speed(recurrent, data, cross_entropy, u, params),
            path_contributions(recurrent, data, cross_entropy, u, "s3", params),
        )

    speed, through = program(params, data)
    assert speed.nodes == ("s1", "s2", "s3", "s4", "s5", "s6", "output")
    assert speed.cut == (False,) * 5 + (True, True)
    assert float(sum(through.values())) == pytest.approx(float(speed["s3"]["flow"]), rel=1e-12)
    assert abs(float(speed["s3"]["decay"] / speed["s3"]["flow"])) > 2


def test_vectors_are_derivatives():
    """b and ḟ themselves, against finite differences of the loss and of the features."""
    (apply, params), data = network("mlp"), batch("mlp", 3)
    u = jax.tree.map(jnp.ones_like, params)
    passes = compiled(lambda p, d, u: feature_passes(apply, d, cross_entropy, u, p))(params, data, u)

    @compiled
    def moved(step, shift):
        values = {}

        def tap(name, value):
            values[name] = value + shift if name == "h1" else value
            return values[name]

        output = apply(jax.tree.map(lambda p, u: p + step * u, params, u), data[0], tap)
        return cross_entropy(output, data[1]), values["h2"]

    h = 1e-6
    direction = jnp.asarray(np.random.default_rng(2).normal(size=(3, 12)))
    slope = (moved(0.0, h * direction)[0] - moved(0.0, -h * direction)[0]) / (2 * h)
    assert float(slope) == pytest.approx(float(jnp.vdot(passes.backward["h1"], direction)), rel=1e-7)
    none = 0 * direction
    np.testing.assert_allclose(
        (moved(h, none)[1] - moved(-h, none)[1]) / (2 * h), passes.velocity["h2"], rtol=1e-6, atol=1e-8
    )
    assert jax.tree.structure(passes.gradients) == jax.tree.structure(params)


def test_finite_steps_deviate_in_proportion_to_the_step():
    """A smooth network's loss and features after a real step of size h; ten times nearer a decade."""
    (apply, params), data = network("ssm"), batch("ssm", 32)
    u = jax.tree.map(lambda g: -0.05 * g, gradients("ssm", params, data))
    speed = measured("ssm", params, data, u)

    @compiled
    def at(h):
        values = {}
        tap = lambda name, value: values.setdefault(name, value)
        output = apply(jax.tree.map(lambda p, u: p + h * u, params, u), data[0], tap)
        return cross_entropy(output, data[1]), values["h2"]

    loss0, h0 = at(0.0)
    errors = []
    for h in (1e-3, 1e-4, 1e-5):
        loss, features = at(h)
        errors.append(
            (
                abs(float((loss0 - loss) / h / speed["output"]["flow"]) - 1),
                abs(np.linalg.norm(features - h0) / h / float(speed["h2"]["velocity"]) - 1),
            )
        )
    errors = np.array(errors)
    np.testing.assert_allclose(errors[:-1] / errors[1:], 10, atol=0.5)


def test_flops():
    """Everything, the training step included, in at most 1.9 times the step; 5/3 is what counting says."""
    apply, params = drawn(lambda rngs: MLP(128, 128, 10, depth=4, rngs=rngs))
    x, y = jnp.ones((64, 128), jnp.float32), jnp.zeros(64, jnp.int32)
    probe = feature_speed_probe(apply, cross_entropy)

    def step(params, x, y):
        objective = lambda p: cross_entropy(apply(p, x, lambda name, value: value), y)
        g = jax.grad(objective)(params)
        u = jax.tree.map(lambda g: -0.1 * g, g)
        return jax.tree.map(jnp.add, params, u), g, u

    def with_speed(params, x, y):
        new, _, u = step(params, x, y)
        return new, feature_speed(apply, (x, y), cross_entropy, u, params)

    def with_probe(params, x, y):
        new, g, u = step(params, x, y)
        return new, probe(0, params, (x, y), g, u)

    flops = lambda f: compiled(f).lower(params, x, y).compile().cost_analysis()["flops"]
    base = flops(lambda params, x, y: step(params, x, y)[0])
    for f in (with_speed, with_probe):
        assert 1.5 < flops(f) / base < 1.9


def test_probe_along_training_in_the_loop():
    """On the digits, over seeds at once: the identity holds all the way."""
    images = embedded.load("digits")
    x = jnp.asarray(embedded.inputs(images.images)[:64], jnp.float64)
    y = jnp.asarray(images.labels[:64], jnp.int32)

    def make(rngs):
        return MLP(64, 16, 10, depth=2, parametrization="standard", rngs=rngs, dtype=jnp.float64)

    probe = feature_speed_probe(nnx.eval_shape(lambda: make(nnx.Rngs(params=0))), cross_entropy)
    run = train(
        make,
        (x, y),
        steps=101,
        learning_rate=0.1,
        seeds=np.arange(2),
        loss=cross_entropy,
        probes={"speed": probe},
        probe_steps=np.arange(0, 101, 10),
    )
    speed = run.probes["speed"]
    assert speed.flow.shape == (2, 11, 2)
    assert speed.identity_error.max() < 1e-11
    assert run.loss[:, -1].max() < 0.8 * run.loss[:, 0].min()
    np.testing.assert_allclose(speed.loss, run.loss[:, ::10], rtol=1e-6)  # Run keeps losses as it likes


def test_probe_with_another_loss_shows():
    """A loss that is not the loop's breaks the identity, because the gradients are the loop's."""
    (apply, params), data = network("mlp"), batch("mlp", 32)
    g = gradients("mlp", params, data)
    probe = feature_speed_probe(apply, lambda f, y: cross_entropy(2 * f, y))
    speed = compiled(probe)(0, params, data, g, jax.tree.map(lambda g: -g, g))
    assert float(speed.identity_error.min()) > 0.1


def test_nodes_know_what_acts_before_them():
    def network(params, x, tap):
        left = tap("left", x @ params["left"])
        right = tap("right", x @ params["right"])
        both = tap("both", left + right)
        return both @ params["out"] + 0.0 * right @ params["out"]

    params = {k: jnp.ones((2, 2)) for k in ("left", "out", "right")}
    nodes = find_nodes(network, params, jnp.ones((3, 2)))
    assert nodes.names == ("left", "right", "both", "output")
    assert [sorted(b) for b in nodes.before] == [[0], [2], [0, 2], [0, 1, 2]]
    # what reaches the output around "both" comes from "right": a zero factor is a dependence
    assert nodes.cut == (True, True, False, True)
    assert nodes.sizes == (6, 6, 6, 6)


def test_scan_and_jit_inside_a_model():
    """Dependence is followed through compiled pieces and loops: each output on its own inputs."""

    @jax.jit
    def pair(a, b):
        return 2 * a, 3 * b

    def network(params, x, tap):
        a, b = pair(params["a"], params["b"])
        first = tap("first", x * a)
        return jax.lax.scan(lambda c, _: (c * b, None), first, None, length=3)[0]

    nodes = find_nodes(network, {"a": jnp.array(1.0), "b": jnp.array(1.0)}, jnp.array(1.0))
    assert [sorted(b) for b in nodes.before] == [[0], [0, 1]]
    assert nodes.cut == (True, True)


def twice(params, x, tap):
    return tap("h", tap("h", x * params))


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda f, p, b: feature_speed(f, b, cross_entropy, {"a": 1.0}, p), "updates = "),
        (lambda f, p, b: feature_speed(f, b, cross_entropy, p), "params = None"),
        (lambda f, p, b: path_contributions(f, b, cross_entropy, p, "h9", p), "node = 'h9'"),
        (lambda f, p, b: measured("mlp", p, b, p)["h9"], "node = 'h9'"),
        (lambda f, p, b: find_nodes(twice, jnp.array(1.0), jnp.array(1.0)), "node = 'h' is tapped twice"),
    ],
)
def test_bad_input_is_named(call, named):
    (apply, params), data = network("mlp"), batch("mlp", 32)
    with pytest.raises(ValueError, match=named):
        call(apply, params, data)
