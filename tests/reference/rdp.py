"""RDP-means, Algorithm 1 of Khashabi et al. (2015), row by row: the naive twin."""

from __future__ import annotations

import numpy as np


def naive_round(X, pairs, labels, centers, xi1, xi2, lambda_, order):
    """One round over the rows in `order`, squared distances; returns labels and centres.

    `pairs` lists (i, j, kind, cost). Rows see the labels as they are at their turn; new centres
    stand at the row that opened them; empty clusters go at the end.
    """
    labels = [int(k) for k in labels]
    centers = [np.array(c, dtype=float) for c in centers]
    for i in order:
        cost = []
        for k, center in enumerate(centers):
            value = float(((X[i] - center) ** 2).sum())
            for a, b, kind, weight in pairs:
                if i in (a, b) and labels[b if a == i else a] == k:
                    value += -xi1 * weight if kind > 0 else xi2 * weight
            cost.append(value)
        if min(cost) < lambda_:
            labels[i] = int(np.argmin(cost))
        else:
            labels[i] = len(centers)
            centers.append(X[i].astype(float))
    used = sorted(set(labels))
    renumber = {k: new for new, k in enumerate(used)}
    labels = np.array([renumber[k] for k in labels])
    means = np.array([X[labels == k].mean(axis=0) for k in range(len(used))])
    return labels, means


def naive_objective(X, pairs, labels, centers, xi1, xi2, lambda_):
    """(20) with every unordered pair once."""
    total = lambda_ * len(centers)
    for x, k in zip(X, labels, strict=True):
        total += float(((x - centers[k]) ** 2).sum())
    for a, b, kind, weight in pairs:
        if labels[a] == labels[b]:
            total += -xi1 * weight if kind > 0 else xi2 * weight
    return total
