"""Compiled belief propagation on any graph.

``message[e]`` for the entry e = (i, j) of row i is the log-message that i *receives* from j.
A `model` is a `PairwiseModel`.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numba.extending import register_jitable

from coterie.inference._kernels import pair_cost
from coterie.inference._message_kernels import join_all, same_cost, send


class Passing(NamedTuple):
    """How messages are passed.

    Attributes
    ----------
    twin : (2E,) int64
        The other entry of each edge.
    order : (s,) int64
        Of the nodes, in a sweep forth.
    damping : (s,) float64
        Share of the old log-message kept by each node that sends; 0 on trees.
    largest : bool
        Max-product instead of sum-product.
    max_sweeps : int
    tol : float
        Messages have settled if no probability changes by more.
    """

    twin: np.ndarray
    order: np.ndarray
    damping: np.ndarray
    largest: bool
    max_sweeps: int
    tol: float


class Messages(NamedTuple):
    """What is written on while messages are passed.

    Attributes
    ----------
    message : (2E, K) float64
    cavity : (2E, K) float64
        Log-belief of a node without each of its messages.
    awake : (s,) bool
        Nodes that were told something new since they last sent.
    """

    message: np.ndarray
    cavity: np.ndarray
    awake: np.ndarray


@register_jitable
def cavities(i, unary, indptr, message, cavity, belief):  # IN; OUT cavity (2E, K), belief (K,)
    """Log-belief of node `i`, and without each of its messages (prefix and suffix, no division)."""
    n_labels = unary.shape[1]
    for k in range(n_labels):
        belief[k] = -unary[i, k]
    for e in range(indptr[i], indptr[i + 1]):
        for k in range(n_labels):
            cavity[e, k] = belief[k]
            belief[k] += message[e, k]
    for k in range(n_labels):
        running = 0.0
        for e in range(indptr[i + 1] - 1, indptr[i] - 1, -1):
            cavity[e, k] += running
            running += message[e, k]


@register_jitable
def update(new, total, damping, message):  # IN; OUT message (K,)
    """Replace a message by `new` less `total`, of which damping holds back a part.

    Returns the largest change of a probability.
    """
    moved = 0.0
    for k in range(new.shape[0]):
        value = new[k] - total
        old = message[k]
        if damping > 0.0 and value > -np.inf:
            value = (1.0 - damping) * value + damping * old
        if np.exp(value) != np.exp(old):
            moved = max(moved, abs(np.exp(value) - np.exp(old)))
        message[k] = value
    return moved


@njit(cache=True, nogil=True)
def propagate(model, passing, messages):  # IN; OUT messages
    """Sweep through the order and back until messages settle; return sweeps, change, lost node.

    A node sends to all its neighbours. One that is told something new is woken; the sender sleeps
    until it is, but for damping, which holds back a part of what it has to say. On a tree in
    breadth-first order one sweep (back, then forth) is exact.
    """
    unary, indptr, indices, same, differ = model
    twin, order, damping, largest, max_sweeps, tol = passing
    message, cavity, awake = messages
    n_labels = unary.shape[1]
    scratch = np.empty(n_labels)
    new = np.empty(n_labels)
    belief = np.empty(n_labels)
    change = 0.0
    n = order.shape[0]
    for sweep in range(max_sweeps):
        change = 0.0
        for q in range(2 * n):
            i = order[n - 1 - q] if q < n else order[q - n]
            if not awake[i]:
                continue
            cavities(i, unary, indptr, message, cavity, belief)
            damped = damping[i] > 0.0
            told = 0.0
            for e in range(indptr[i], indptr[i + 1]):
                send(cavity[e], same, differ, e, largest, scratch, new)
                total = join_all(new, largest)
                if total == -np.inf:
                    return sweep + 1, change, i
                moved = update(new, total, damping[i], message[twin[e]])
                if moved > (tol if damped else 0.0):  # a tree is exact, and passed once
                    awake[indices[e]] = True
                told = max(told, moved)
            awake[i] = damped and told > tol
            change = max(change, told)
        if change <= tol:
            return sweep + 1, change, -1
    return max_sweeps, change, -1


@njit(cache=True, nogil=True)
def bethe(model, twin, message, cavity, marginal, edge_same):
    """Node and edge beliefs of sum-product and the Bethe estimate of log Z.

    log Z = Σ_i (1 − degree_i) log Z_i + Σ_edges log Z_ij, which no scaling of messages changes.
    Returns it and a node all of whose labels are lost (−1 if none).
    """  # IN; OUT cavity (2E, K), marginal (s, K), edge_same (2E,)
    unary, indptr, indices, same, differ = model
    s, n_labels = unary.shape
    belief = np.empty(n_labels)
    scratch = np.empty(n_labels)
    new = np.empty(n_labels)
    total = 0.0
    for i in range(s):
        cavities(i, unary, indptr, message, cavity, belief)
        log_z = join_all(belief, False)
        if log_z == -np.inf:
            return log_z, i
        total += (1.0 - (indptr[i + 1] - indptr[i])) * log_z
        for k in range(n_labels):
            marginal[i, k] = np.exp(belief[k] - log_z)
    for i in range(s):
        for e in range(indptr[i], indptr[i + 1]):
            if i > indices[e]:
                continue
            send(cavity[twin[e]], same, differ, e, False, scratch, new)
            for k in range(n_labels):
                scratch[k] = cavity[e, k] + new[k]
            log_z = join_all(scratch, False)
            if log_z == -np.inf:
                return log_z, i
            total += log_z
            together = 0.0
            for k in range(n_labels):
                both = cavity[e, k] + cavity[twin[e], k] - same_cost(same, e, k)
                together += np.exp(both - log_z)
            edge_same[e] = together
            edge_same[twin[e]] = together
    return total, -1


@njit(cache=True, nogil=True)
def decode(model, order, message, labels):
    """Labels from max-product messages, node by node, given the neighbours labelled so far.

    Ties are then broken the same way at both ends of an edge, which independent maxima are not.
    """  # IN; OUT labels (s,): -1 on entry
    unary, indptr, indices, same, differ = model
    n_labels = unary.shape[1]
    for i in order:
        best = 0
        best_value = -np.inf
        for k in range(n_labels):
            value = -unary[i, k]
            for e in range(indptr[i], indptr[i + 1]):
                y = labels[indices[e]]
                if y >= 0:
                    value -= pair_cost(same, differ, e, k, y)
                else:
                    value += message[e, k]
            if value > best_value:
                best_value = value
                best = k
        labels[i] = best
