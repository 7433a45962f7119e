"""Constrained complete-link clustering by its definition: all shortest paths, all pairs, loops."""

from __future__ import annotations

import numpy as np


def bent(distances, must, cannot):
    """Distances (n, n): must-links 0, shortest paths over every row, cannot-links inf.

    A cannot-link holds between all rows that must-links join to its ends.
    """
    D = np.array(distances, dtype=float)
    linked = np.where(np.eye(len(D), dtype=bool), 0.0, np.inf)
    for a, b in must:
        D[a, b] = D[b, a] = linked[a, b] = linked[b, a] = 0.0
    group = linkage_groups(linked)
    for k in range(len(D)):  # Floyd-Warshall
        D = np.minimum(D, D[:, k, None] + D[None, k, :])
    for a, b in cannot:
        for x in np.flatnonzero(group == group[a]):
            for y in np.flatnonzero(group == group[b]):
                D[x, y] = D[y, x] = np.inf
    return D, group


def linkage_groups(linked):
    group = np.arange(len(linked))
    for a, b in np.argwhere(linked == 0):
        group[group == group[a]] = group[b]
    return group


def merge(D, group):
    """Join the two clusters of least largest distance, over and over: [(height, clusters)]."""
    clusters = [set(np.flatnonzero(group == g).tolist()) for g in np.unique(group)]
    levels = [(0.0, [frozenset(c) for c in clusters])]
    while len(clusters) > 1:
        far = {
            (a, b): max(D[x, y] for x in clusters[a] for y in clusters[b])
            for a in range(len(clusters))
            for b in range(a)
        }
        (a, b), height = min(far.items(), key=lambda item: item[1])
        if np.isinf(height):
            break
        clusters[b] |= clusters.pop(a)
        levels.append((height, [frozenset(c) for c in clusters]))
    return levels
