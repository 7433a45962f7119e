"""Compiled loops of DP-means and RDP-means. Arrays in, arrays filled."""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def cheapest(unary, labels, lead):
    """The cheapest label of each node, and how much more the next one costs."""
    # IN: unary (s, K)
    # OUT: labels (s,), lead (s,)
    for i in range(unary.shape[0]):
        best = 0
        other = np.inf
        for k in range(1, unary.shape[1]):
            if unary[i, k] < unary[i, best]:
                other = unary[i, best]
                best = k
            elif unary[i, k] < other:
                other = unary[i, k]
        labels[i] = best
        lead[i] = other - unary[i, best]


@njit(cache=True, nogil=True)
def pull(net, indptr, reach):
    """The most that neighbours can change of the difference between two labels' costs."""
    # IN: net (2E,), indptr (s + 1,)
    # OUT: reach (s,)
    for i in range(reach.shape[0]):
        reach[i] = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            reach[i] += abs(net[e])


@njit(cache=True, nogil=True)
def visit(
    sequence, begin, stop, offset, unary, near, lead, extra, n_extra, net, reach, indptr, indices,
    lambda_, node_labels, beyond_labels, paid, cost,
):  # fmt: skip
    """Apply the rule of Algorithm 1 to `sequence[begin:stop]` until one item opens a cluster.

    An item joins the cluster of least D - xi1 f + xi2 s if that is below lambda; else it opens
    one, numbered K + n_extra. Returns the position of the item that opened, or `stop`.
    """
    # IN: sequence (T,): core node, or s + number of a row beyond lambda;
    #     unary (s, K) costs to the centres of this round, the cheapest `near` (s,) and its
    #     `lead` (s,); reach (s,) from `pull`;
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
        if item < s and n_extra == 0 and lead[item] > reach[item]:
            # Whatever the neighbours do, this one is cheapest: the others need not be read.
            low = unary[item, near[item]]
            if low + reach[item] < lambda_:
                node_labels[item] = near[item]
                paid[item] = low
                continue
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
