"""Compiled parts of every collapsed Gibbs sweep of TVClust: seats, draws, what samples share.

A node is one or more rows that move together (hard must-links). Clusters live in numbered slots;
a slot without rows is free. Slots grow when a sweep opens more clusters than they hold. Arrays are
copied entry by entry, which compiles sooner (see `_kernels`).
"""

# mypy: allow-untyped-defs
from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

_FIRST_SLOTS = 32


class Seating(NamedTuple):
    """What a sweep needs of the partition's prior and of the answers."""

    order: Any  # (nodes,) int64
    chance: Any  # (nodes,) float64, a uniform number for each draw, in this order
    indptr: Any  # (nodes + 1,) int64, graph over the nodes
    indices: Any  # (2E,) int64
    odds: Any  # (2E,) float64, log-odds of being together
    forbidden: Any  # (2E,) bool
    log_alpha: float


@njit(cache=True, nogil=True)
def seating_weights(node, mass, labels, counts, seating, log_weights):
    """Log prior and pair weights of every slot for a node taken out of its cluster.

    A cluster of N rows: ln [Gamma(N + m) / Gamma(N)] + the log-odds of the friends and strangers
    in it, (11); a new one: ln alpha + ln Gamma(m). Returns the first free slot; other free slots
    and clusters with a forbidden neighbour get -inf.
    """
    # IN: mass m, rows of the node; labels (nodes,); counts (C,) rows in each slot
    # OUT: log_weights (C,)
    fresh = -1
    for k in range(counts.shape[0]):
        if counts[k] > 0:
            if mass == 1:
                log_weights[k] = math.log(counts[k])
            else:
                log_weights[k] = math.lgamma(counts[k] + mass) - math.lgamma(counts[k])
        else:
            log_weights[k] = -np.inf
            if fresh < 0:
                fresh = k
    for e in range(seating.indptr[node], seating.indptr[node + 1]):
        k = labels[seating.indices[e]]
        if k >= 0 and counts[k] > 0:
            log_weights[k] += -np.inf if seating.forbidden[e] else seating.odds[e]
    log_weights[fresh] = seating.log_alpha + math.lgamma(mass)
    return fresh


@njit(cache=True, nogil=True)
def draw(log_weights, chance):  # IN log_weights (C,); chance in [0, 1)
    """The slot that `chance` falls on where each has a share proportional to exp(log_weights)."""
    high = -np.inf
    for k in range(log_weights.shape[0]):
        high = max(high, log_weights[k])
    total = 0.0
    for k in range(log_weights.shape[0]):
        total += math.exp(log_weights[k] - high)
    left = chance * total
    last = 0
    for k in range(log_weights.shape[0]):
        share = math.exp(log_weights[k] - high)
        if share > 0.0:
            last = k
            left -= share
            if left < 0.0:
                return k
    return last


@njit(cache=True, nogil=True)
def first_slots(labels):
    """Slots to begin with: some more than there are clusters."""
    top = 0
    for i in range(labels.shape[0]):
        top = max(top, labels[i])
    return max(_FIRST_SLOTS, 2 * (top + 1))


@njit(cache=True, nogil=True)
def coincidences(samples, out):
    """sum_ab n_ab^2 over the contingency table of every two samples: pairs together in both."""
    # IN: samples (T, n) int32 labels from 0 without gaps   OUT: out (T, T)
    n_kept, n = samples.shape
    sizes = np.empty(n_kept, dtype=np.int64)
    for s in range(n_kept):
        sizes[s] = samples[s].max() + 1
    for s in range(n_kept):
        for t in range(s, n_kept):
            table = np.zeros(sizes[s] * sizes[t], dtype=np.int64)
            for i in range(n):
                table[samples[s, i] * sizes[t] + samples[t, i]] += 1
            total = 0.0
            for c in range(table.shape[0]):
                total += float(table[c]) * float(table[c])
            out[s, t] = total
            out[t, s] = total
