"""Small random problems for PPC: rows, pairs of every kind, and a mixture to evaluate."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from coterie.constraints import Constraints
from coterie.exceptions import InfeasibleConstraints
from coterie.mixture import PPC

SHAPES = ("tree", "cycle", "random", "disjoint")
TYPES = ("full", "tied", "diag", "spherical")


class Small(NamedTuple):
    X: np.ndarray
    constraints: Constraints
    n_clusters: int
    weights: np.ndarray
    means: np.ndarray
    covariances: np.ndarray


def edges_of(shape, n, rng):
    order = rng.permutation(n)
    if shape == "disjoint":
        return [(order[2 * a], order[2 * a + 1]) for a in range(n // 2)]
    if shape == "random":
        return [(i, j) for i in range(n) for j in range(i + 1, n) if rng.random() < 0.35]
    if shape == "cycle":
        return [(order[a], order[(a + 1) % n]) for a in range(n)] if n > 2 else [(0, 1)]
    return [(order[rng.integers(b)], order[b]) for b in range(1, n) if rng.random() < 0.8]


def small_problem(seed, per_cluster=1):
    """n ≤ 8 rows, K ≤ 3 clusters; trees, loops and pairs alone; hard, soft and mixed; feasible."""
    rng = np.random.default_rng(seed)
    while True:
        n = 8 if seed % 10 == 0 else int(rng.integers(2, 8))
        k = int(rng.integers(2, 4))
        pairs = np.array(edges_of(SHAPES[seed % 4], n, rng), dtype=np.int64).reshape(-1, 2)
        must = rng.random(len(pairs)) < 0.5
        hard = rng.random(len(pairs)) < (0.0, 0.4, 1.0)[seed % 3]
        weight = np.where(hard, np.inf, rng.uniform(0.1, 2.0, len(pairs)))
        constraints = Constraints(
            n,
            pairs[must],
            pairs[~must],
            must_weight=weight[must],
            cannot_weight=weight[~must],
        )
        try:
            constraints.check_feasible(k, hard_only=True)
            break
        except InfeasibleConstraints:
            continue
    g, d = k * per_cluster, 2
    root = rng.normal(size=(g, d, d))
    return Small(
        rng.normal(size=(n, d)) * 2,
        constraints,
        k,
        rng.dirichlet(np.full(g, 2.0)),
        rng.normal(size=(g, d)),
        root @ np.swapaxes(root, 1, 2) + 0.3 * np.eye(d),
    )


def labelled_pairs(y, n_pairs, rng, *, flip=0.0, **weights):
    """Random distinct pairs of rows of the kind that labels `y` say, some flipped."""
    i, j = np.triu_indices(len(y), k=1)
    chosen = rng.choice(i.size, n_pairs, replace=False)
    pairs = np.column_stack([i[chosen], j[chosen]])
    same = (y[pairs[:, 0]] == y[pairs[:, 1]]) ^ (rng.random(n_pairs) < flip)
    return Constraints(len(y), pairs[same], pairs[~same], **weights)


def blobs(n_per, k, d, spread, rng):
    """k Gaussian groups with centres `spread` apart on average."""
    y = np.repeat(np.arange(k), n_per)
    return spread * rng.normal(size=(k, d))[y] + rng.normal(size=(k * n_per, d)), y


PLAIN = {"prior_rows": 0, "reg_covar": 1e-6}  # as GaussianMixture


def fit(X, constraints=None, k=2, **params):
    params = {"random_state": 0, "covariance_type": "full", **params}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return PPC(k, **params).fit(X, constraints=constraints)


def assert_finite(model):
    for name in ("resp_", "weights_", "means_", "covariances_", "pair_posteriors_"):
        assert np.isfinite(getattr(model, name)).all(), name
    assert np.isfinite(model.lower_bounds_).all()
