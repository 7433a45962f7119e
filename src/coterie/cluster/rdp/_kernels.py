"""Compiled loops of DP-means and RDP-means. Arrays in, arrays filled."""

# mypy: allow-untyped-defs
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from coterie._typing import FloatArray, IntArray


class Nodes(NamedTuple):
    """The core's nodes: what each centre of the round costs them (s, K), the cheapest (s,), how
    much more the next one costs, and the most that neighbours can change of that (`pull`).
    """

    unary: FloatArray
    near: IntArray
    lead: FloatArray
    reach: FloatArray


class Links(NamedTuple):
    """What sharing a cluster with each neighbour adds (2E,), and the CSR graph of the nodes."""

    net: FloatArray
    indptr: IntArray
    indices: IntArray


class Visited(NamedTuple):
    """Labels of nodes (s,) and of rows beyond lambda (c,), and what each item of a sequence paid
    without pairs (s + c,).
    """

    node_labels: IntArray
    beyond_labels: IntArray
    paid: FloatArray


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
def visit(sequence, begin, stop, offset, nodes, links, extra, n_extra, lambda_, found, cost):
    """Apply the rule of Algorithm 1 to `sequence[begin:stop]` until one item opens a cluster.

    An item joins the cluster of least D - xi1 f + xi2 s if that is below lambda; else it opens
    one, numbered K + n_extra. Returns the position of the item that opened, or `stop`.
    """
    # IN: sequence (T,): core node, or s + number of a row beyond lambda;
    #     nodes, links: see `Nodes` and `Links`;
    #     extra (B, cap) costs of sequence[offset + b] to the n_extra centres opened so far
    # OUT: found: see `Visited`
    # WORK: cost (K + cap,)
    unary, near, lead, reach = nodes
    net, indptr, indices = links
    node_labels, beyond_labels, paid = found
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
