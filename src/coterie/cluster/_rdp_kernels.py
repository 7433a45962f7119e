"""Compiled loops of DP-means and RDP-means. Arrays in, arrays filled."""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

CONSTRAINED = -1  # left to the sequential rule because the row is in a constraint
BEYOND = -2  # left to the sequential rule because no centre lies within lambda


@njit(cache=True, nogil=True)
def assign_free(cross, row_term, weights, slot, lambda_, root, labels, unary):
    """Label each free row with its nearest centre; returns their summed cost w D.

    Rows with w D >= lambda are labelled BEYOND. Rows of the core are labelled CONSTRAINED and
    their costs copied.
    """
    # IN: cross (b, K) divergence without the row term; row_term (b,); weights (b,) or (0,) for
    #     ones; slot (b,) position in `unary`, -1 for a free row, or (0,) for all free;
    #     root: take square roots (plain Euclidean distance)
    # OUT: labels (b,); unary (r, K) = w D
    b, n_clusters = cross.shape
    total = 0.0
    for i in range(b):
        w = 1.0 if weights.size == 0 else weights[i]
        if slot.size and slot[i] >= 0:
            labels[i] = CONSTRAINED
            for k in range(n_clusters):
                value = max(np.float64(cross[i, k]) + row_term[i], 0.0)
                unary[slot[i], k] = w * (np.sqrt(value) if root else value)
            continue
        best = 0
        low = cross[i, 0]
        for k in range(1, n_clusters):
            if cross[i, k] < low:
                low = cross[i, k]
                best = k
        value = max(np.float64(low) + row_term[i], 0.0)
        cost = w * (np.sqrt(value) if root else value)
        if cost < lambda_:
            labels[i] = best
            total += cost
        else:
            labels[i] = BEYOND
    return total


@njit(cache=True, nogil=True)
def visit(
    sequence, begin, stop, offset, unary, extra, n_extra, net, indptr, indices, lambda_,
    node_labels, beyond_labels, paid, cost,
):  # fmt: skip
    """Apply the rule of Algorithm 1 to `sequence[begin:stop]` until one item opens a cluster.

    An item joins the cluster of least D - xi1 f + xi2 s if that is below lambda; else it opens
    one, numbered K + n_extra. Returns the position of the item that opened, or `stop`.
    """
    # IN: sequence (T,): core node, or s + number of a row beyond lambda;
    #     unary (s, K) costs to the centres of this round;
    #     extra (B, cap) costs of sequence[offset + b] to the n_extra centres opened so far;
    #     net (2E,) what sharing a cluster with that neighbour adds
    # OUT: node_labels (s,), beyond_labels (c,); paid (s + c,) cost without pairs
    # WORK: cost (K + cap,)
    s, n_old = unary.shape
    n_all = n_old + n_extra
    for t in range(begin, stop):
        item = sequence[t]
        best = -1
        low = np.inf
        if item < s:
            for k in range(n_old):
                cost[k] = unary[item, k]
            for k in range(n_extra):
                cost[n_old + k] = extra[t - offset, k]
            for e in range(indptr[item], indptr[item + 1]):
                cost[node_labels[indices[e]]] += net[e]
            for k in range(n_all):
                if cost[k] < low:
                    low = cost[k]
                    best = k
        else:  # every older centre is at lambda or farther
            for k in range(n_extra):
                if extra[t - offset, k] < low:
                    low = extra[t - offset, k]
                    best = n_old + k
        opens = not low < lambda_
        if opens:
            best = n_all
            paid[item] = 0.0
        elif best < n_old:
            paid[item] = unary[item, best]
        else:
            paid[item] = extra[t - offset, best - n_old]
        if item < s:
            node_labels[item] = best
        else:
            beyond_labels[item - s] = best
        if opens:
            return t
    return stop


@njit(cache=True, nogil=True)
def add_listed(X, shift, listed, labels, weights, scale, sums, counts):
    """Add w s (x - shift) of the listed dense rows to their clusters' sums, and w to the counts."""
    # IN: X (n, d); shift (d,) or (0,); listed, labels (r,); weights, scale (r,) or (0,) for ones
    # OUT: sums (K, d), counts (K,) float64
    d = X.shape[1]
    for a in range(listed.shape[0]):
        i = listed[a]
        k = labels[a]
        w = 1.0 if weights.size == 0 else weights[a]
        counts[k] += w
        if scale.size:
            w *= scale[a]
        if shift.size:
            for m in range(d):
                sums[k, m] += w * (X[i, m] - shift[m])
        else:
            for m in range(d):
                sums[k, m] += w * X[i, m]
