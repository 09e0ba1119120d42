"""Networks written out in NumPy, forward, backward and one update: the laws' independent route."""

import numpy as np


def draw(rng, networks, m, n, scale=1.0):
    return scale * rng.standard_normal((networks, m, n)) / np.sqrt(n)


def dot(a, b):
    return np.sum(a * b, axis=-1)


def column(matrices, vectors):
    return (matrices @ vectors[..., None])[..., 0]


def transposed(matrices, vectors):
    return (vectors[..., None, :] @ matrices)[..., 0, :]


def pooled(cosines, axis=0):
    """Mean over networks as (1/⟨1/cos²⟩)^½, under which u/s² averages."""
    return 1 / np.sqrt(np.mean(1 / cosines**2, axis=axis))


def mlp_cosines(rng, networks, width, depth, phi, slope, scales, contributions=None, orthogonal=False):
    """cos θ_ℓ, (networks, depth). c_k = 1 at each layer, or decays C_k."""
    f = [rng.standard_normal((networks, width))]
    matrices = []
    for scale in scales:
        if orthogonal:
            w = scale * np.linalg.qr(rng.standard_normal((networks, width, width)))[0]
        else:
            w = draw(rng, networks, width, width, scale)
        matrices.append(w)
        f.append(column(w, phi(f[-1])))
    b = [rng.standard_normal((networks, width))]
    for w, features in zip(matrices[::-1], f[-2::-1], strict=True):
        b.insert(0, slope(features) * transposed(w, b[0]))
    cosines = np.empty((networks, depth))
    velocity = 0.0
    for l in range(depth):
        c = 1.0 if contributions is None else (contributions[l] / dot(b[l], b[l]))[:, None]
        moved = column(matrices[l - 1], slope(f[l - 1]) * velocity) if l else 0.0
        velocity = moved - c * b[l]
        cosines[:, l] = -dot(b[l], velocity) / np.sqrt(dot(b[l], b[l]) * dot(velocity, velocity))
    return cosines


def resnet_cosines(rng, networks, width, depth, beta, matrices=2, embedding=0.0, blocks_rate=1.0):
    """cos θ after each block, (networks, depth), with the embedding's share e0."""
    relu, slope = lambda f: np.maximum(f, 0), lambda f: 1.0 * (f > 0)
    f = [rng.standard_normal((networks, width))]
    inner, outer, hidden = [], [], []
    for _ in range(depth):
        if matrices == 2:
            inner.append(draw(rng, networks, width, width, 2**0.5))
            outer.append(draw(rng, networks, width, width))
            hidden.append(column(inner[-1], f[-1]))
        else:
            outer.append(draw(rng, networks, width, width, 2**0.5))
            hidden.append(f[-1])
        f.append(f[-1] + beta * column(outer[-1], relu(hidden[-1])))
    b = [rng.standard_normal((networks, width))]
    inside = []  # the loss's gradient at the branches' pre-activations
    for l in range(depth - 1, -1, -1):
        back = beta * slope(hidden[l]) * transposed(outer[l], b[0])
        inside.insert(0, back)
        b.insert(0, b[0] + (transposed(inner[l], back) if matrices == 2 else back))
    unit = dot(f[0], f[0])[:, None]  # rates in units of 1/|f_0|²
    velocity = -embedding * b[0]
    cosines = np.empty((networks, depth))
    for l in range(depth):
        rate = blocks_rate / unit
        if matrices == 2:
            moved = column(inner[l], velocity) - rate * inside[l] * dot(f[l], f[l])[:, None]
        else:
            moved = velocity
        act = relu(hidden[l])
        velocity = (
            velocity
            + beta * column(outer[l], slope(hidden[l]) * moved)
            - beta**2 * rate * b[l + 1] * dot(act, act)[:, None]
        )
        cosines[:, l] = -dot(b[l + 1], velocity) / np.sqrt(dot(b[l + 1], b[l + 1]) * dot(velocity, velocity))
    return cosines
