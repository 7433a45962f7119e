"""Compiled messages in log space: one function for trees and loops, sums and maxima.

The pair factor is −h_k − h_l off the diagonal (h = ½ differ) and −same_k on it, so a message costs
O(K), not O(K²): prefix and suffix sums leave out one label without subtracting. Infinities are only
ever −inf, and never meet +inf. A `model` is a `PairwiseModel`.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numba.extending import register_jitable

_UNDERFLOW = 1e-280


class Forest(NamedTuple):
    """Trees of a graph.

    Attributes
    ----------
    order : (t,) int64
        Their nodes, roots first.
    parent, up, down : (s,) int64
        Of each node: its parent (−1 at a root), the entry to it and the entry back.
    """

    order: np.ndarray
    parent: np.ndarray
    up: np.ndarray
    down: np.ndarray


@njit(inline="always")
def log_add(a, b):
    """log(e^a + e^b), −inf where both are."""
    if a < b:
        a, b = b, a
    if b == -np.inf:
        return a
    return a + np.log1p(np.exp(b - a))


@njit(inline="always")
def join(a, b, largest):
    """`log_add`, or the maximum for max-product."""
    if largest:
        return a if a > b else b
    return log_add(a, b)


@register_jitable
def join_all(values, largest):  # IN
    """Log-sum (or maximum) of a vector."""
    top = -np.inf
    for k in range(values.shape[0]):
        top = max(top, values[k])
    if largest or top == -np.inf:
        return top
    total = 0.0
    for k in range(values.shape[0]):
        total += np.exp(values[k] - top)
    return top + np.log(total)


@register_jitable
def half_differ(differ, e, k):  # IN
    """h_k."""
    return 0.5 * differ[e, k if differ.shape[1] > 1 else 0]


@register_jitable
def same_cost(same, e, k):  # IN
    """same_k."""
    return same[e, k if same.shape[1] > 1 else 0]


@register_jitable
def others_by_sums(values, out):  # IN; OUT out (K,)
    """`others` for sums, one exponential a value; False if a sum is too small for that."""
    n = values.shape[0]
    top = -np.inf
    for k in range(n):
        top = max(top, values[k])
    if top == -np.inf:
        return False
    running = 0.0
    for k in range(n):
        out[k] = running
        running += np.exp(values[k] - top)
    running = 0.0
    smallest = np.inf
    for k in range(n - 1, -1, -1):
        out[k] += running
        running += np.exp(values[k] - top)
        smallest = min(smallest, out[k])
    if smallest < _UNDERFLOW:
        return False
    for k in range(n):
        out[k] = top + np.log(out[k])
    return True


@register_jitable
def others_in_logs(values, largest, out):  # IN; OUT out (K,)
    """`others` that cannot underflow: several times the work, for vectors of very uneven size."""
    n = values.shape[0]
    running = -np.inf
    for k in range(n):
        out[k] = running
        running = join(running, values[k], largest)
    running = -np.inf
    for k in range(n - 1, -1, -1):
        out[k] = join(out[k], running, largest)
        running = join(running, values[k], largest)


@register_jitable
def others(values, largest, out):  # IN; OUT out (K,)
    """``out[k]``: the log-sum (or maximum) of all values but the k-th."""
    if largest or not others_by_sums(values, out):
        others_in_logs(values, largest, out)


@register_jitable
def send(belief, same, differ, e, largest, scratch, out):  # IN; OUT scratch (K,), out (K,)
    """Message over entry `e` from a node with log-belief `belief`: log Σ_l e^(belief_l − cost)."""
    n = belief.shape[0]
    for k in range(n):
        scratch[k] = belief[k] - half_differ(differ, e, k)
    others(scratch, largest, out)
    for k in range(n):
        apart = out[k] - half_differ(differ, e, k)
        out[k] = join(apart, belief[k] - same_cost(same, e, k), largest)


def forest_of(model, seen):  # IN
    """The components that are not marked as `seen` (s,), in breadth-first order."""
    forest = Forest(*(np.full(seen.shape[0], -1, dtype=np.int64) for _ in range(4)))
    count = forest_order(model.indptr, model.indices, seen.copy(), forest)
    return forest._replace(order=forest.order[:count])


@njit(cache=True, nogil=True)
def forest_order(indptr, indices, seen, forest):
    """Breadth-first order of the components that are not marked as `seen`: trees, or as if.

    Returns the number of nodes ordered, which stand first in ``forest.order`` (s,).
    """  # IN; IN OUT seen (s,); OUT forest
    order, parent, up, down = forest
    count = 0
    for root in range(seen.shape[0]):
        if seen[root]:
            continue
        seen[root] = True
        parent[root] = -1
        done = count
        order[count] = root
        count += 1
        while done < count:
            i = order[done]
            done += 1
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                if j == parent[i]:
                    up[i] = e
                elif not seen[j]:
                    seen[j] = True
                    parent[j] = i
                    down[j] = e
                    order[count] = j
                    count += 1
    return count


@njit(cache=True, nogil=True)
def forest_up(model, forest, largest, belief, message):
    """Leaves to roots: each node's log-belief from below and its message to its parent.

    Returns the sum over trees of log Z (or of −E at the minimum).
    """  # IN; OUT belief (s, K), message (s, K)
    unary, _, _, same, differ = model
    order, parent, up, _ = forest
    n_labels = unary.shape[1]
    scratch = np.empty(n_labels)
    total = 0.0
    for q in range(order.shape[0]):
        for k in range(n_labels):
            belief[order[q], k] = -unary[order[q], k]
    for q in range(order.shape[0] - 1, -1, -1):
        i = order[q]
        p = parent[i]
        if p < 0:
            total += join_all(belief[i], largest)
            continue
        send(belief[i], same, differ, up[i], largest, scratch, message[i])
        for k in range(n_labels):
            belief[p, k] += message[i, k]
    return total


@njit(cache=True, nogil=True)
def forest_labels(model, forest, belief, labels):  # IN; OUT labels (s,)
    """Roots to leaves: the best label of each node given its parent's."""
    _, _, _, same, differ = model
    order, parent, up, _ = forest
    for q in range(order.shape[0]):
        i = order[q]
        best = 0
        best_value = -np.inf
        for k in range(belief.shape[1]):
            value = belief[i, k]
            if parent[i] >= 0:
                y = labels[parent[i]]
                if y == k:
                    value -= same_cost(same, up[i], k)
                else:
                    value -= half_differ(differ, up[i], k) + half_differ(differ, up[i], y)
            if value > best_value:
                best_value = value
                best = k
        labels[i] = best


@njit(cache=True, nogil=True)
def forest_down(model, forest, belief, message, marginal, edge_same):
    """Roots to leaves: log-marginals and P(y_i = y_j) of both entries of each tree edge.

    log P(y_i = l) joins over the parent's label k log P(k) + belief_l − cost(k, l) − message_k: the
    conditional of child given parent, so no belief is ever divided by a message of zero.
    """  # IN; OUT marginal (s, K) in logs, edge_same (2E,)
    _, _, _, same, differ = model
    order, parent, up, down = forest
    n_labels = belief.shape[1]
    weight = np.empty(n_labels)
    rest = np.empty(n_labels)
    for q in range(order.shape[0]):
        i = order[q]
        p = parent[i]
        if p < 0:
            total = join_all(belief[i], False)
            for k in range(n_labels):
                marginal[i, k] = belief[i, k] - total
            continue
        e = up[i]
        for k in range(n_labels):
            weight[k] = -np.inf
            if marginal[p, k] > -np.inf:
                weight[k] = marginal[p, k] - half_differ(differ, e, k) - message[i, k]
        others(weight, False, rest)
        together = 0.0
        for k in range(n_labels):
            equal = -np.inf
            if marginal[p, k] > -np.inf:
                equal = marginal[p, k] - message[i, k] + belief[i, k] - same_cost(same, e, k)
            together += np.exp(equal)
            apart = rest[k] + belief[i, k] - half_differ(differ, e, k)
            marginal[i, k] = join(equal, apart, False)
        edge_same[e] = together
        edge_same[down[i]] = together
