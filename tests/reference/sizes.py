"""Clusters of bounded sizes by trying every labelling."""

from __future__ import annotations

from itertools import product

import numpy as np


def least(cost, low, high, pairs=(), prices=()):
    """The least Σ cost[i, y_i] + Σ price of broken pairs within the sizes; inf if there is none.

    A pair is (i, j, kind), kind 1 for must-link and −1 for cannot-link.
    """
    n, k = cost.shape
    best = np.inf
    for labels in product(range(k), repeat=n):
        held = np.bincount(labels, minlength=k)
        if (held < low).any() or (held > high).any():
            continue
        value = sum(cost[i, y] for i, y in enumerate(labels))
        for (i, j, kind), price in zip(pairs, prices, strict=True):
            if (labels[i] == labels[j]) != (kind > 0):
                value += price
        best = min(best, value)
    return best
