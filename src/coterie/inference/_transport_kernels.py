"""Compiled: rows sent to clusters of given sizes at least cost, and exchanges of whole nodes."""

# mypy: allow-untyped-defs
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numba.extending import register_jitable

from coterie.inference._kernels import pair_cost


class Places(NamedTuple):
    """Rows that nodes hold, and places that clusters have for them.

    Attributes
    ----------
    sizes : (s,) int64
        Rows of each node.
    group : (s,) int64
        The same number for nodes of the same size, from 0 on.
    taken : (K,) int64
        Rows of the nodes that are in each cluster.
    low, high : (K,) int64
        Bounds of that.
    """

    sizes: np.ndarray
    group: np.ndarray
    taken: np.ndarray
    low: np.ndarray
    high: np.ndarray


@register_jitable
def _scan(cost, head, following, a, b, best, arg):  # OUT best, arg
    """The row of cluster `a` that moves to `b` for least: its number and what it costs more."""
    least, which = np.inf, -1
    i = head[a]
    while i >= 0:
        more = cost[i, b] - cost[i, a]
        if more < least:
            least, which = more, i
        i = following[i]
    best[a, b], arg[a, b] = least, which


@register_jitable
def _put(i, a, head, following, before):  # OUT head, following, before
    """Row `i` to the front of the list of cluster `a`."""
    following[i], before[i] = head[a], -1
    if head[a] >= 0:
        before[head[a]] = i
    head[a] = i


@register_jitable
def _take_out(i, a, head, following, before):  # OUT head, following, before
    """Row `i` out of the list of cluster `a`."""
    if before[i] >= 0:
        following[before[i]] = following[i]
    else:
        head[a] = following[i]
    if following[i] >= 0:
        before[following[i]] = before[i]


@njit(cache=True, nogil=True)
def ship(cost, labels, flow, low, high, price):  # IN OUT labels, flow, price
    """Successive shortest paths until every cluster holds as many rows as it says, `flow`.

    Clusters and a sink (number K) are the nodes. An arc a → b moves the row for which that costs
    least, k → sink lets cluster k hold one row more, sink → k one less. Under `price` (K + 1,) no
    arc has a negative reduced cost, before and after each path, so the end is optimal.
    """
    n, k = cost.shape
    head = np.full(k, -1, np.int64)
    following, before = np.empty(n, np.int64), np.empty(n, np.int64)
    gap = np.zeros(k + 1)  # rows that a node has too many
    for i in range(n - 1, -1, -1):
        _put(i, labels[i], head, following, before)
        gap[labels[i]] += 1
    gap[k] = -n
    for a in range(k):
        gap[a] -= flow[a]
        gap[k] += flow[a]
    best, arg = np.empty((k, k)), np.empty((k, k), np.int64)
    for a in range(k):
        for b in range(k):
            if a != b:
                _scan(cost, head, following, a, b, best, arg)
    far, done = np.empty(k + 1), np.empty(k + 1, np.bool_)
    last = np.empty(k + 1, np.int64)
    while True:
        some = False
        for a in range(k + 1):
            far[a], done[a], last[a] = np.inf, False, -1
            if gap[a] > 0:
                far[a], some = 0.0, True
        if not some:
            return
        # Dijkstra from every node with too many rows to the nearest with too few.
        end = -1
        while True:
            here, least = -1, np.inf
            for a in range(k + 1):
                if not done[a] and far[a] < least:
                    here, least = a, far[a]
            if here < 0:
                return  # cannot be: the bounds allow n rows
            done[here] = True
            if gap[here] < 0:
                end = here
                break
            for b in range(k + 1):
                if done[b]:
                    continue
                if here == k:
                    length = 0.0 if flow[b] > low[b] else np.inf
                elif b == k:
                    length = 0.0 if flow[here] < high[here] else np.inf
                else:
                    length = best[here, b]
                if length < np.inf:
                    there = least + max(length + price[b] - price[here], 0.0)
                    if there < far[b]:
                        far[b], last[b] = there, here
        for a in range(k + 1):
            price[a] -= min(far[a], far[end])
        gap[end] += 1
        b = end
        while last[b] >= 0:
            a = last[b]
            if a == k:
                flow[b] -= 1
            elif b == k:
                flow[a] += 1
            else:
                i = arg[a, b]
                _take_out(i, a, head, following, before)
                _put(i, b, head, following, before)
                labels[i] = b
                for c in range(k):
                    if c != a and arg[a, c] == i:
                        _scan(cost, head, following, a, c, best, arg)
                    if c != b and cost[i, c] - cost[i, b] < best[b, c]:
                        best[b, c], arg[b, c] = cost[i, c] - cost[i, b], i
            b = a
        gap[b] -= 1


@njit(cache=True, nogil=True)
def exchange(model, places, labels, order, floor):  # IN OUT model.unary, places.taken, labels
    """Moves of single nodes and swaps of two of the same size while they lower the energy.

    ``model.unary`` is what each label of a node costs beside its neighbours' labels, hard pairs at
    a large finite price; a step must save more than `floor`. ``places.taken`` rows stay within the
    bounds. Returns how many steps were made.
    """
    field, indptr, indices, same, differ = model
    sizes, group, taken, low, high = places
    s, k = field.shape
    head = np.full(k, -1, np.int64)
    following, before = np.empty(s, np.int64), np.empty(s, np.int64)
    # bound[g, b, a]: at most what the best node of group g in b costs more in a.
    bound = np.full((group.max() + 1, k, k), np.inf)
    for v in range(s - 1, -1, -1):
        _put(v, labels[v], head, following, before)
        _lower(bound, field, group[v], labels[v], v)
    steps = 0
    for u in order:
        a, size, g = labels[u], sizes[u], group[u]
        gain, to, partner = floor, -1, -1
        for b in range(k):
            if b == a:
                continue
            alone = field[u, b] - field[u, a]
            if taken[a] - size >= low[a] and taken[b] + size <= high[b] and alone < gain:
                gain, to, partner = alone, b, -1
            if alone + bound[g, b, a] < gain:
                least = np.inf
                v = head[b]
                while v >= 0:
                    if group[v] == g:
                        more = field[v, a] - field[v, b]
                        least = min(least, more)
                        if alone + more < gain and not _linked(indptr, indices, u, v):
                            gain, to, partner = alone + more, b, v
                    v = following[v]
                bound[g, b, a] = least
        for e in range(indptr[u], indptr[u + 1]):
            v = indices[e]
            b = labels[v]
            if b == a or group[v] != g:
                continue
            # Each was asked beside the other's old label.
            both = field[u, b] - field[u, a] + field[v, a] - field[v, b]
            both += 2 * pair_cost(same, differ, e, a, b)
            both -= pair_cost(same, differ, e, a, a) + pair_cost(same, differ, e, b, b)
            if both < gain:
                gain, to, partner = both, b, v
        if to < 0:
            continue
        steps += 1
        taken[a] -= size
        taken[to] += size
        _relabel(field, indptr, indices, same, differ, u, a, to)
        _take_out(u, a, head, following, before)
        _put(u, to, head, following, before)
        labels[u] = to
        if partner >= 0:
            taken[to] -= size
            taken[a] += size
            _relabel(field, indptr, indices, same, differ, partner, to, a)
            _take_out(partner, to, head, following, before)
            _put(partner, a, head, following, before)
            labels[partner] = a
        for moved in (u, partner):
            if moved >= 0:
                _lower(bound, field, group[moved], labels[moved], moved)
                for e in range(indptr[moved], indptr[moved + 1]):
                    v = indices[e]
                    _lower(bound, field, group[v], labels[v], v)
    return steps


@register_jitable
def _lower(bound, field, g, b, v):  # IN OUT bound
    """Let `bound` know of node v in cluster b."""
    for a in range(field.shape[1]):
        bound[g, b, a] = min(bound[g, b, a], field[v, a] - field[v, b])


@register_jitable
def _linked(indptr, indices, u, v):
    """Whether u and v are neighbours."""
    found = False
    for e in range(indptr[u], indptr[u + 1]):
        found |= indices[e] == v
    return found


@register_jitable
def _relabel(field, indptr, indices, same, differ, u, a, b):  # IN OUT field
    """What the labels of u's neighbours cost once u goes from `a` to `b`."""
    for e in range(indptr[u], indptr[u + 1]):
        v = indices[e]
        for c in range(field.shape[1]):
            field[v, c] += pair_cost(same, differ, e, b, c) - pair_cost(same, differ, e, a, c)
