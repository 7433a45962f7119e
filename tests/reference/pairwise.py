"""Naive twin of `coterie.inference`: everything by enumerating all K^n labellings."""

from __future__ import annotations

import itertools
import math

import numpy as np


def naive_energy(unary, edges, same, differ, y):
    """E(y) by the definition; `edges` lists each edge once with its (K,) same and differ costs."""
    total = sum(unary[i][y[i]] for i in range(len(y)))
    for (i, j), s, d in zip(edges, same, differ, strict=True):
        total += s[y[i]] if y[i] == y[j] else 0.5 * (d[y[i]] + d[y[j]])
    return float(total)


def enumerate_model(unary, edges, same, differ):
    """Minimum energy, log Z, marginals (n, K) and P(y_i = y_j) of each edge.

    Returns None in the place of log Z, marginals and edge probabilities if nothing is feasible.
    """
    n, k = np.shape(unary)
    labellings = list(itertools.product(range(k), repeat=n))
    energies = [naive_energy(unary, edges, same, differ, y) for y in labellings]
    lowest = min(energies)
    if math.isinf(lowest):
        return lowest, None, None, None
    weights = [math.exp(lowest - e) for e in energies]
    z = math.fsum(weights)
    marginals = np.zeros((n, k))
    together = np.zeros(len(edges))
    for y, w in zip(labellings, weights, strict=True):
        for i in range(n):
            marginals[i, y[i]] += w / z
        for e, (i, j) in enumerate(edges):
            together[e] += (y[i] == y[j]) * w / z
    return lowest, math.log(z) - lowest, marginals, together
