"""Propagation by its definition: every source against every pair of rows, Θ(|C| n²)."""

from __future__ import annotations

import numpy as np

from coterie import Constraints


def gaussian(v, u, covariance):
    """(3.1), with the density of a point mass for a covariance of zero."""
    if np.array_equal(v, u):
        return 1.0
    if not np.any(covariance):
        return 0.0
    return float(np.exp(-0.5 * (v - u) @ np.linalg.solve(covariance, v - u)))


def covariances(X, labels, centers, metrics, scale="aim", radius="euclidean"):
    """(3.4), (3.5): n_h A_h⁻¹ as printed, n_h² A_h⁻¹ for the aim.

    A Mahalanobis radius (Table 2.1) is in standard deviations already: σ of the aim is then 1.
    """
    out = []
    for h, (center, A) in enumerate(zip(centers, metrics, strict=True)):
        inverse = np.linalg.inv(A)
        form = A if radius == "mahalanobis" else np.eye(len(A))
        reach = max(np.sqrt((x - center) @ form @ (x - center)) for x in X[labels == h])
        sigma = np.sqrt(np.linalg.eigvalsh(inverse).max())
        if radius == "mahalanobis" and scale == "aim":
            sigma = 1.0
        n_h = reach / (3 * sigma)
        out.append(inverse * (n_h if scale == "paper" else n_h**2))
    return out


def end_weights(X, labels, centers, covariances, row):
    """(3.6), (B.6): the factor of one end, for each row."""
    h = labels[row]
    s = gaussian(X[row], centers[h], covariances[h])
    return np.array([gaussian(x, X[row], s * covariances[h]) for x in X])


def propagate(n, sources, ends, threshold, reduce="max", share_ends=True, hard_weight=1.0):
    """Fig. 3.2. `sources`: (A, B, kind, weight), distinct; `ends`: row -> factor of each row (n,).

    Returns {(i, j, kind): weight}, sources included.
    """
    found = {}

    def add(key, weight):
        old = found.get(key)
        if old is None:
            found[key] = weight
        else:
            found[key] = max(old, weight) if reduce == "max" else old + weight

    for A, B, kind, weight in sources:
        add((min(A, B), max(A, B), kind), weight)
        handed_on = hard_weight if np.isinf(weight) else weight
        near = np.maximum(np.outer(ends[A], ends[B]), np.outer(ends[B], ends[A]))
        for i, j in zip(*np.nonzero(np.triu(near >= threshold, 1)), strict=True):
            shared = len({i, j} & {A, B})
            if shared < 2 and (share_ends or not shared):
                add((int(i), int(j), kind), handed_on * near[i, j])
    return found


def hitting(graph, alpha, row):
    """Probability that a walk from each row reaches `row`, by inverting I - alpha P."""
    degree = graph.sum(axis=1)
    P = graph / np.where(degree > 0, degree, 1.0)[:, None]
    green = np.linalg.inv(np.eye(len(graph)) - alpha * P)[:, row]
    return green / green[row]


def some_pairs(rng, n, m, shared=True):
    """Both kinds, weights of every sort, several pairs on one row."""
    every = np.column_stack(np.triu_indices(n, 1))
    pairs = every[rng.permutation(len(every))[:m]]
    if shared:
        pairs = np.concatenate([pairs, [[0, j] for j in range(1, 4)]])
    pairs = np.unique(pairs, axis=0)
    must = rng.uniform(size=len(pairs)) < 0.5
    weight = rng.choice([0.5, 1.0, 3.0, np.inf], len(pairs))
    return Constraints(
        n,
        must_link=pairs[must],
        cannot_link=pairs[~must],
        must_weight=weight[must],
        cannot_weight=weight[~must],
    )


def as_dict(constraints):
    return {
        (i, j, kind): w
        for (i, j), kind, w in zip(
            constraints.pairs.tolist(),
            constraints.kind.tolist(),
            constraints.weight.tolist(),
            strict=True,
        )
    }
