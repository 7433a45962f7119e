"""Compiled: which subtrees of a forest are alike, and log Z of all trees from one of each kind.

A *step* makes the beliefs of a subtree from those of smaller ones. Steps are numbered, smaller
subtrees first: the first ones are single nodes; then ``right < 0`` is the message of subtree `left`
over an edge of kind ``-right - 1``, and ``right >= 0`` subtree `left` with the message `right`
hung below its root.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit
from numba.extending import register_jitable

_SMALL = 1e-150  # of the largest: below it, products and quotients of beliefs may be lost


@register_jitable
def sort_few(values):  # IN OUT values (c,)
    """Ascending, by gaps that shrink."""
    gap = values.shape[0]
    while gap > 1:
        gap = max(1, int(gap / 2.3))
        for i in range(gap, values.shape[0]):
            moved = values[i]
            j = i
            while j >= gap and values[j - gap] > moved:
                values[j] = values[j - gap]
                j -= gap
            values[j] = moved


@register_jitable
def step_of(a, b, count, left, right, table):  # IN; IN OUT left, right (t,), table (2^p,)
    """The number of step (a, b): the one it has, or `count`, which it is given."""
    mask = table.shape[0] - 1
    slot = ((a * 2654435761) ^ (b * 40503 + (b >> 7) + (a >> 3))) & mask
    while table[slot] >= 0:
        found = table[slot]
        if left[found] == a and right[found] == b:
            return found
        slot = (slot + 1) & mask
    table[slot] = count
    left[count] = a
    right[count] = b
    return count


@njit(cache=True, nogil=True)
def find_steps(order, parent, node_kind, edge_kind, left, right, times, table):
    """Number the steps of a forest, each once, however often it occurs.

    Children of one node stand side by side in `order`, after it. Their messages are taken in the
    order of their numbers, so that nodes with the same children in another order are alike, and
    nodes that share only some children share those steps.

    Returns the number of steps; the first are ``node_kind.max() + 1`` single nodes.
    """  # IN; OUT left, right, times (v + 2s,); IN OUT table (2^p,) of −1
    n = order.shape[0]
    place = np.empty(parent.shape[0], dtype=np.int64)  # where a node's children begin
    n_below = np.zeros(parent.shape[0], dtype=np.int64)
    for q in range(n - 1, -1, -1):
        p = parent[order[q]]
        if p >= 0:
            place[p] = q
            n_below[p] += 1
    count = 0
    for i in range(n):
        count = max(count, node_kind[order[i]] + 1)
    times[:] = 0.0
    sent = np.empty(n, dtype=np.int64)
    for q in range(n - 1, -1, -1):
        i = order[q]
        step = node_kind[i]
        if n_below[i] > 0:
            below = sent[place[i] : place[i] + n_below[i]]
            sort_few(below)
            for c in range(below.shape[0]):
                step = step_of(step, below[c], count, left, right, table)
                count = max(count, step + 1)
        if parent[i] < 0:
            times[step] += 1.0
        else:
            sent[q] = step_of(step, -edge_kind[i] - 1, count, left, right, table)
            count = max(count, sent[q] + 1)
    return count


@njit(cache=True, nogil=True)
def log_partition_of_steps(log_node, left, right, times, same, differ, value, slope, grown):
    """Σ trees log Z; `grown` becomes its slope in the log-beliefs of single nodes.

    Beliefs are kept as numbers of which the largest is 1 with the logarithm of what they were
    divided by, so that an edge takes additions and products and no exponential. A step back adds to
    the slopes of what it was made from, all of them ≥ 0. Returns NaN where a belief is too small
    for that.

    Parameters
    ----------
    log_node : (v, K) log-beliefs of the kinds of single nodes
    left, right : (t,) the steps
    times : (t,) how often a step is a whole tree
    same, differ : (u,) e^−cost of equal and of different labels, by kind of edge
    """  # IN; OUT value (t, K), slope (t, K), grown (v, K)
    n_labels = log_node.shape[1]
    logs = np.empty(left.shape[0])
    total = 0.0
    for i in range(left.shape[0]):
        if i < log_node.shape[0]:
            logs[i] = log_node[i, 0]
            for k in range(1, n_labels):
                logs[i] = max(logs[i], log_node[i, k])
            for k in range(n_labels):
                value[i, k] = np.exp(log_node[i, k] - logs[i])
        elif right[i] < 0:
            a, e = left[i], -right[i] - 1
            logs[i] = logs[a]
            others = 0.0
            for k in range(n_labels):
                value[i, k] = others
                others += value[a, k]
            others = 0.0
            for k in range(n_labels - 1, -1, -1):
                value[i, k] = differ[e] * (value[i, k] + others) + same[e] * value[a, k]
                others += value[a, k]
        else:
            a, b = left[i], right[i]
            top = 0.0
            for k in range(n_labels):
                value[i, k] = value[a, k] * value[b, k]
                top = max(top, value[i, k])
            if top < _SMALL:
                return np.nan
            logs[i] = logs[a] + logs[b] + np.log(top)
            for k in range(n_labels):
                value[i, k] /= top
        for k in range(n_labels):
            slope[i, k] = 0.0
            if value[i, k] < _SMALL:
                return np.nan
        if times[i] > 0.0:
            scale = 0.0
            for k in range(n_labels):
                scale += value[i, k]
            total += times[i] * (logs[i] + np.log(scale))
            for k in range(n_labels):
                slope[i, k] = times[i] * value[i, k] / scale
    for i in range(left.shape[0] - 1, log_node.shape[0] - 1, -1):
        a = left[i]
        if right[i] < 0:
            e = -right[i] - 1
            others = 0.0
            for k in range(n_labels):  # over labels l ≠ k of slope / message
                slope[a, k] += value[a, k] * differ[e] * others
                others += slope[i, k] / value[i, k]
            others = 0.0
            for k in range(n_labels - 1, -1, -1):
                here = slope[i, k] / value[i, k]
                slope[a, k] += value[a, k] * (differ[e] * others + same[e] * here)
                others += here
        else:
            for k in range(n_labels):
                slope[a, k] += slope[i, k]
                slope[right[i], k] += slope[i, k]
    for i in range(log_node.shape[0]):  # whole arrays would compile messages about their shapes
        for k in range(n_labels):
            grown[i, k] = slope[i, k]
    return total
