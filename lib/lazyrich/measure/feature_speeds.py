r"""The feature speed formula: how fast each layer's features move, and at what angle to what the loss asks.

With :math:`f_\ell` the features at a node (the whole batch), :math:`b_\ell = \partial L/\partial f_\ell` and
:math:`\dot f_\ell` the velocity of the features under an update :math:`u` of the parameters,

.. math:: \langle -b_\ell, \dot f_\ell \rangle = D_\ell = \sum_{k \le \ell} C_k, \qquad
          |\dot f_\ell| = \frac{D_\ell}{|b_\ell| \cos\theta_\ell}

(FS, Theorem 2.1), with :math:`C_k = -\langle g_k, u_k \rangle` the decay of the loss that parameter k causes,
:math:`\eta_k |g_k|^2` for gradient descent. The first equality is the chain rule: it holds for any update,
batch and architecture at a node through which the parameters before it act (a *cut* node). Norms and
products are plain sums over all entries of the batch, and the loss keeps its 1/n.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx
from jax import Array

from lazyrich.measure.nodes import Apply, find_nodes, paths, run, with_params

Loss = Callable[[Any, Any], Array]


@jax.tree_util.register_dataclass
@dataclass(frozen=True, eq=False)
class FeatureSpeed:
    """What one update does to every node; arrays are (…, nodes), in the nodes' order.

    A pytree, so that a compiled training loop can stack it: leading axes are those of the stacking.
    """

    nodes: tuple[str, ...] = field(metadata=dict(static=True))
    cut: tuple[bool, ...] = field(metadata=dict(static=True))  # see `Nodes`
    loss: Any  # (…)
    flow: Any  # ⟨−b, ḟ⟩, the decay of the loss per unit of time that passes through the node
    decay: Any  # Σ C_k over the parameters before the node: D_ℓ, equal to the flow at cut nodes
    backward: Any  # |b|
    velocity: Any  # |ḟ|
    speed: Any  # root mean square of ḟ
    contributions: dict[str, Any]  # C_k of each parameter, by its path

    @property
    def cosine(self) -> Any:
        """cos θ = ⟨−b, ḟ⟩ / (|b||ḟ|), (…, nodes)."""
        return self.flow / (self.backward * self.velocity)

    @property
    def sensitivity(self) -> Any:
        """Speed per unit of loss decay through the node, rms(ḟ)/⟨−b, ḟ⟩, (…, nodes)."""
        return self.speed / self.flow

    @property
    def identity_error(self) -> Any:
        """Relative error of ⟨−b, ḟ⟩ = D at the cut nodes, (…, cut nodes).

        The left side knows the nodes and no gradient, the right side gradients and no node.
        """
        cut = [i for i, is_cut in enumerate(self.cut) if is_cut]
        return abs(self.flow / self.decay - 1)[..., cut]

    def __getitem__(self, name: str) -> dict[str, Any]:
        """All numbers of one node by its name."""
        if name not in self.nodes:
            raise ValueError(f"node = {name!r}: expected one of {self.nodes}")
        i = self.nodes.index(name)
        keys = ("flow", "decay", "backward", "velocity", "speed", "cosine", "sensitivity")
        return {key: getattr(self, key)[..., i] for key in keys}


@jax.tree_util.register_dataclass
@dataclass(frozen=True, eq=False)
class FeaturePasses:
    """The two passes themselves: by node name, b and ḟ in the shape of the features; g as the parameters."""

    loss: Any
    backward: dict[str, Any]
    velocity: dict[str, Any]
    gradients: Any


def feature_speed(
    model: nnx.Module | Apply, batch: tuple[Any, Any], loss: Loss, updates: Any, params: Any = None
) -> FeatureSpeed:
    r"""Speed, angle and loss decay at every feature node under one update, by two passes.

    One reverse pass gives the gradients and the b of all nodes, one forward-mode pass the velocities; no
    Jacobian is formed. Together with the training step they share, they cost about 5/3 of that step.

    Inside a block, where parameters also act around the node, ``flow`` stays exact and ``decay`` is larger
    (or just another number): `path_contributions` tells whose decay the flow is.

    Args:
        model: an NNX model with ``__call__(inputs, tap)``, or a function (params, inputs, tap) → output
            with ``params``. Nodes are what it taps, in order, and the output. Taps stand outside
            ``scan``, ``vmap`` and the like.
        batch: (inputs, targets).
        loss: (output, targets) → number; the output is the model's, divided by no feature strength.
        updates: change of the parameters u (of any optimiser), a pytree like ``params``: -η g for
            gradient descent, so that velocities are per step.
        params: parameters to use in place of the model's own.

    Raises ValueError when a node's name is used twice or when ``updates`` is not like the parameters.

    >>> from lazyrich.models import MLP
    >>> model = MLP(4, 16, 1, depth=3, rngs=nnx.Rngs(params=0))
    >>> x, y = jnp.eye(4, dtype=jnp.float32), jnp.ones((4, 1), jnp.float32)
    >>> square = lambda f, y: jnp.mean((f - y) ** 2)
    >>> g = nnx.grad(lambda m: square(m(x), y))(model)
    >>> s = feature_speed(model, (x, y), square, jax.tree.map(lambda g: -0.1 * g, g))
    >>> s.nodes, bool(s.identity_error.max() < 1e-5)
    (('h1', 'h2', 'h3'), True)
    """
    apply, params = with_params(model, params)
    return _measure(apply, params, batch, loss, updates, None)


def feature_speed_probe(model: nnx.Module | Apply, loss: Loss) -> Callable[..., FeatureSpeed]:
    """`feature_speed` as a probe ``(step, params, batch, grads, updates)`` of the training loop.

    The loop's gradients serve for the decays, so that the two passes add 4/3 of a step where they are
    taken. ``loss`` must be what the loop descends, the feature strength's division included; if it is not,
    ``identity_error`` says so. Of the model only the structure is used.
    """

    def probe(step, params, batch, grads, updates):
        apply, params = with_params(model, params)
        return _measure(apply, params, batch, loss, updates, grads)

    return probe


def feature_passes(
    model: nnx.Module | Apply, batch: tuple[Any, Any], loss: Loss, updates: Any, params: Any = None
) -> FeaturePasses:
    """The vectors behind `feature_speed`, same arguments: b and ḟ of every node, and the gradients."""
    apply, params = with_params(model, params)
    return _passes(apply, params, batch, loss, updates, find_nodes(apply, params, batch[0]))


def path_contributions(
    model: nnx.Module | Apply,
    batch: tuple[Any, Any],
    loss: Loss,
    updates: Any,
    node: str,
    params: Any = None,
) -> dict[str, Array]:
    r"""Decay of the loss that each parameter causes *through* a node; they sum to the node's flow.

    .. math:: \langle -b_h, \dot h \rangle = - \sum_k \langle g_k^{\to h}, u_k \rangle, \qquad
              g_k^{\to h} = (\partial h/\partial w_k)^T b_h

    holds at any node, inside a block and with shared weights too; at a cut node :math:`g^{\to h}` is the
    gradient. One more reverse pass, from the node to the parameters. Arguments as in `feature_speed`.

    Raises ValueError for an unknown node.
    """
    apply, params = with_params(model, params)
    nodes = find_nodes(apply, params, batch[0])
    nodes.index(node)
    backward = _passes(apply, params, batch, loss, updates, nodes).backward[node]
    _, pull = jax.vjp(lambda p: run(apply, p, batch[0])[1][node], params)
    return _contributions(pull(backward)[0], updates)


def _passes(apply, params, batch, loss, updates, nodes) -> FeaturePasses:
    inputs, targets = batch
    shifts = {name: jnp.zeros(shape.shape, shape.dtype) for name, shape in nodes.shapes.items()}

    def objective(params, shifts):
        return loss(run(apply, params, inputs, shifts)[0], targets)

    value, (gradients, backward) = jax.value_and_grad(objective, argnums=(0, 1))(params, shifts)
    # the same shifted network again, so that a compiler sees the same forward pass
    forward = lambda params: run(apply, params, inputs, shifts)[1]
    _, velocity = jax.jvp(forward, (params,), (updates,))
    return FeaturePasses(value, backward, velocity, gradients)


def _measure(apply, params, batch, loss, updates, gradients) -> FeatureSpeed:
    if jax.tree.structure(updates) != jax.tree.structure(params):
        raise ValueError(
            f"updates = {jax.tree.structure(updates)}: expected the structure of the parameters, "
            f"{jax.tree.structure(params)}"
        )
    nodes = find_nodes(apply, params, batch[0])
    passes = _passes(apply, params, batch, loss, updates, nodes)
    contributions = _contributions(passes.gradients if gradients is None else gradients, updates)
    by_leaf = list(contributions.values())
    b, velocity = ([vectors[name] for name in nodes.names] for vectors in (passes.backward, passes.velocity))
    dot = lambda pairs: jnp.stack([jnp.vdot(x, y) for x, y in pairs])
    norm = jnp.sqrt(dot(zip(velocity, velocity, strict=True)))
    return FeatureSpeed(
        nodes=nodes.names,
        cut=nodes.cut,
        loss=passes.loss,
        flow=-dot(zip(b, velocity, strict=True)),
        decay=jnp.stack([sum(by_leaf[k] for k in sorted(acting)) for acting in nodes.before]),
        backward=jnp.sqrt(dot(zip(b, b, strict=True))),
        velocity=norm,
        speed=norm / jnp.sqrt(jnp.array(nodes.sizes, norm.dtype)),
        contributions=contributions,
    )


def _contributions(gradients: Any, updates: Any) -> dict[str, Array]:
    """−⟨g_k, u_k⟩ of each parameter by its path, in the order of the leaves."""
    leaves, treedef = jax.tree.flatten(gradients)
    pairs = zip(paths(gradients), leaves, treedef.flatten_up_to(updates), strict=True)
    return {path: -jnp.vdot(g, u) for path, g, u in pairs}
