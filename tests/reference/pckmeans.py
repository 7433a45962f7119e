"""The objectives of the K-Means family written out term by term (2.1, 3.14, 2.4-2.6)."""

from __future__ import annotations

import itertools

import numpy as np


def pck_objective(X, labels, centers, constraints, w):
    """(2.1): half squared distances plus w for every broken pair (inf for a hard one)."""
    total = 0.5 * sum(((x - centers[k]) ** 2).sum() for x, k in zip(X, labels, strict=True))
    costs = constraints.cost(w)
    for (i, j), kind, cost in zip(constraints.pairs, constraints.kind, costs, strict=True):
        if (labels[i] == labels[j]) != (kind > 0):
            total += cost
    return total


def mpck_objective(X, labels, centers, metrics, constraints, w):
    """(2.4)-(2.6) with full matrices `metrics` (K, d, d)."""
    total = 0.0
    for x, k in zip(X, labels, strict=True):
        gap = x - centers[k]
        total += gap @ metrics[k] @ gap - np.linalg.slogdet(metrics[k])[1]
    for (i, j), kind, weight in zip(
        constraints.pairs, constraints.kind, constraints.cost(w), strict=True
    ):
        gap = X[i] - X[j]
        under = [gap @ metrics[labels[end]] @ gap for end in (i, j)]
        if kind > 0 and labels[i] != labels[j]:
            total += weight * (under[0] + under[1]) / 2
        if kind < 0 and labels[i] == labels[j]:
            total += weight * (squared_diameter(X, metrics[labels[i]]) - under[0])
    return total


def squared_diameter(X, metric):
    """The longest of all squared distances under a matrix (d, d): x' and x'' of (2.6)."""
    return max((x - y) @ metric @ (x - y) for x, y in itertools.combinations(X, 2))


def best_labels(X, centers, constraints, w):
    """The labels of least (2.1) for fixed centres, by trying all."""
    every = itertools.product(range(len(centers)), repeat=len(X))
    return min(
        (np.array(labels) for labels in every),
        key=lambda labels: pck_objective(X, labels, centers, constraints, w),
    )
