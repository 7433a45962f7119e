"""Compiled loops of variational TVClust. Arrays in, arrays filled.

Arrays are copied entry by entry: an assignment of array to array brings in the words of its error
message, which take three seconds to compile.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def expand_features(X, features):
    """Fill each row of `features` with 1, x and the upper triangle of x x'."""
    # IN: X (b, d) float64   OUT: features (b, 1 + d + d (d + 1) / 2) float64
    b, d = X.shape
    for i in range(b):
        features[i, 0] = 1.0
        at = 1 + d
        for m in range(d):
            x = X[i, m]
            features[i, 1 + m] = x
            for other in range(m, d):
                features[i, at] = x * X[i, other]
                at += 1


@njit(cache=True, nogil=True)
def add_quadratic_forms(projected, offset, slope, out):
    """out[i, k] -= slope[k] |projected[i, k] - offset[k]|^2."""
    # IN: projected (b, K d); offset (K, d); slope (K,)   OUT: out (b, K)
    n_clusters, d = offset.shape
    for i in range(projected.shape[0]):
        for k in range(n_clusters):
            total = 0.0
            for m in range(d):
                gap = projected[i, k * d + m] - offset[k, m]
                total += gap * gap
            out[i, k] -= slope[k] * total


@njit(cache=True, nogil=True)
def soften(logits, weights, core, unary):
    """Turn the logits of free rows into responsibilities; move those of core rows to `unary`.

    Returns the summed entropy of the free rows. A weighted row's responsibilities are multiplied
    by its weight afterwards, ready to be summed; core rows are set to zero.
    """
    # IN: weights (b,) or (0,) for ones; core (r,) core rows, sorted
    # IN OUT: logits (b, K)   OUT: unary (r, K)
    b, n_clusters = logits.shape
    entropy = 0.0
    met = 0  # core rows so far
    for i in range(b):
        w = 1.0 if weights.size == 0 else weights[i]
        if met < core.size and core[met] == i:
            for k in range(n_clusters):
                unary[met, k] = w * logits[i, k]
                logits[i, k] = 0.0
            met += 1
            continue
        for k in range(n_clusters):
            logits[i, k] *= w
        entropy += _softmax(logits[i])
        if weights.size:
            for k in range(n_clusters):
                logits[i, k] *= w
    return entropy


@njit(cache=True, nogil=True)
def _softmax(row):  # IN OUT row (K,)
    """Softmax in place; returns the entropy."""
    high = row[0]
    for k in range(1, row.shape[0]):
        high = max(high, row[k])
    total = 0.0
    mean = 0.0
    for k in range(row.shape[0]):
        gap = row[k] - high
        if gap < -60.0:  # below what a double can add to 1
            row[k] = 0.0
            continue
        value = np.exp(gap)
        row[k] = value
        total += value
        mean += value * gap
    for k in range(row.shape[0]):
        row[k] /= total
    return np.log(total) - mean / total


@njit(cache=True, nogil=True)
def sweep(order, unary, indptr, indices, odds, forbidden, pinned, resp):
    """Update the responsibilities of the core nodes one after the other; returns their entropy.

    The logit of cluster k is unary[k] + sum_j r_jk odds_ij. A pinned node (one with a hard
    cannot-link) takes the single best cluster that none of its forbidden neighbours holds.
    """
    # IN: order (s,); unary (s, K); odds (2E,); forbidden (2E,) bool; pinned (s,) bool
    # IN OUT: resp (s, K)
    n_clusters = unary.shape[1]
    row = np.empty(n_clusters)
    taken = np.zeros(n_clusters, dtype=np.bool_)
    entropy = 0.0
    for position in range(order.shape[0]):
        i = order[position]
        for k in range(n_clusters):
            row[k] = unary[i, k]
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            for k in range(n_clusters):
                row[k] += resp[j, k] * odds[e]
        if not pinned[i]:
            entropy += _softmax(row)
            for k in range(n_clusters):
                resp[i, k] = row[k]
            continue
        for k in range(n_clusters):
            taken[k] = False
        for e in range(indptr[i], indptr[i + 1]):
            if forbidden[e]:
                for k in range(n_clusters):
                    if resp[indices[e], k] > 0.5:
                        taken[k] = True
        best = -1
        for k in range(n_clusters):
            if not taken[k] and (best < 0 or row[k] > row[best]):
                best = k
        for k in range(n_clusters):
            resp[i, k] = 1.0 if k == best else 0.0
    return entropy


@njit(cache=True, nogil=True)
def edge_agreement(edges, resp, out):
    """sum_k r_ak r_bk of every edge (a, b): the probability that its ends share a cluster."""
    # IN: edges (E, 2); resp (s, K)   OUT: out (E,)
    for e in range(edges.shape[0]):
        total = 0.0
        for k in range(resp.shape[1]):
            total += resp[edges[e, 0], k] * resp[edges[e, 1], k]
        out[e] = total
