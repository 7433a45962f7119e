"""Compiled pieces every engine shares: pair costs, energies, matching entries, random bits.

`same` and `differ` each have one column (one cost for all clusters) or K columns.
Every sum here is safe with ``+inf``: infinities are added, never subtracted.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_TWO_53 = 1.0 / 9007199254740992.0


@njit(cache=True, nogil=True)
def next_bits(state):  # IN OUT state (1,) uint64
    """Next 64 random bits (SplitMix64): a seeded stream that is the same on every machine."""
    state[0] += _GOLDEN
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * _MIX_1
    z = (z ^ (z >> np.uint64(27))) * _MIX_2
    return z ^ (z >> np.uint64(31))


@njit(cache=True, nogil=True)
def next_uniform(state):  # IN OUT
    """Next uniform number in [0, 1)."""
    return np.float64(next_bits(state) >> np.uint64(11)) * _TWO_53


@njit(cache=True, nogil=True)
def shuffle(items, count, state):  # IN OUT items, state
    """Fisher-Yates shuffle of ``items[:count]``."""
    for a in range(count - 1, 0, -1):
        b = np.int64(next_bits(state) % np.uint64(a + 1))
        items[a], items[b] = items[b], items[a]


@njit(cache=True, nogil=True)
def pair_cost(same, differ, e, a, b):  # IN
    """Cost of entry `e` when its ends have labels `a` and `b`."""
    if a == b:
        return same[e, a if same.shape[1] > 1 else 0]
    if differ.shape[1] == 1:
        return differ[e, 0]
    return 0.5 * (differ[e, a] + differ[e, b])


@njit(cache=True, nogil=True, inline="always")
def add_pair_costs(same, differ, e, b, out):  # IN; OUT out (K,)
    """Add to ``out[k]`` the cost of entry `e` with this end at k and the other at `b`.

    Up to a constant, which is returned: with one finite cost for all clusters only ``out[b]`` has
    to change.
    """
    rest = 0.0
    if same.shape[1] == 1 and differ.shape[1] == 1 and differ[e, 0] < np.inf:
        rest = differ[e, 0]
        out[b] += same[e, 0] - rest
    else:
        for k in range(out.shape[0]):
            out[k] += pair_cost(same, differ, e, k, b)
    return rest


@njit(cache=True, nogil=True)
def node_costs(i, unary, indptr, indices, same, differ, labels, out):  # IN; OUT out (K,)
    """Cost of each label of node `i` given its neighbours, up to a constant.

    Unlabelled (-1) neighbours are free.
    """
    for k in range(out.shape[0]):
        out[k] = unary[i, k]
    for e in range(indptr[i], indptr[i + 1]):
        b = labels[indices[e]]
        if b >= 0:
            add_pair_costs(same, differ, e, b, out)


@njit(cache=True, nogil=True)
def total_energy(unary, indptr, indices, same, differ, labels):  # IN
    """E(y), each edge once."""
    total = 0.0
    for i in range(unary.shape[0]):
        total += unary[i, labels[i]]
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if i < j:
                total += pair_cost(same, differ, e, labels[i], labels[j])
    return total


@njit(cache=True, nogil=True)
def edge_energy(indptr, indices, same, differ, labels):  # IN
    """What the edges alone cost, each once."""
    total = 0.0
    for i in range(labels.shape[0]):
        for e in range(indptr[i], indptr[i + 1]):
            if i < indices[e]:
                total += pair_cost(same, differ, e, labels[i], labels[indices[e]])
    return total


@njit(cache=True, nogil=True)
def component_energies(unary, indptr, indices, same, differ, component, labels, out):
    """E(y) of each component."""  # IN; OUT out (c,) +=
    for i in range(unary.shape[0]):
        total = unary[i, labels[i]]
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if i < j:
                total += pair_cost(same, differ, e, labels[i], labels[j])
        out[component[i]] += total


@njit(cache=True, nogil=True)
def cheapest_labels(unary, labels):  # IN; OUT labels (s,)
    """First label of smallest unary cost of each node."""
    for i in range(unary.shape[0]):
        best = 0
        for k in range(1, unary.shape[1]):
            if unary[i, k] < unary[i, best]:
                best = k
        labels[i] = best


@njit(cache=True, nogil=True)
def match_entries(indptr, indices, twin):  # IN; OUT twin (2E,)
    """Position of the entry (j, i) for each entry (i, j).

    Returns an entry that repeats another, or has no counterpart; −1 if all is well.

    Two counting sorts, O(s + E), rows in any order: the k-th entry of column j (by row) and the
    k-th entry of row j (by column) are the two directions of one edge.
    """
    s = indptr.shape[0] - 1
    m = indices.shape[0]
    column_ptr = np.zeros(s + 1, dtype=np.int64)
    for e in range(m):
        column_ptr[indices[e] + 1] += 1
    for j in range(s):
        column_ptr[j + 1] += column_ptr[j]
        if column_ptr[j + 1] != indptr[j + 1]:
            return indptr[j]
    row_of = np.empty(m, dtype=np.int64)
    by_column = np.empty(m, dtype=np.int64)
    fill = column_ptr[:-1].copy()
    for i in range(s):
        for e in range(indptr[i], indptr[i + 1]):
            row_of[e] = i
            by_column[fill[indices[e]]] = e
            fill[indices[e]] += 1
    for position in range(1, m):
        e, before = by_column[position], by_column[position - 1]
        if row_of[e] == row_of[before] and indices[e] == indices[before]:
            return e
    fill[:] = indptr[:-1]
    for position in range(m):
        e = by_column[position]
        # the fill[i]-th place of row i, in column order, matches the same place of column i
        i = row_of[e]
        twin[e] = by_column[fill[i]]
        fill[i] += 1
    for e in range(m):
        if row_of[twin[e]] != indices[e] or indices[twin[e]] != row_of[e]:
            return e
    return -1


@njit(cache=True, nogil=True)
def component_labels(indptr, indices, keep, labels):  # IN; OUT labels (s,)
    """Connected component of each node, numbered by smallest node; returns their number.

    Only entries with ``keep`` are followed; (0,) follows all.
    """
    s = indptr.shape[0] - 1
    for i in range(s):
        labels[i] = i
    for i in range(s):
        for e in range(indptr[i], indptr[i + 1]):
            if keep.size and not keep[e]:
                continue
            a, b = i, indices[e]
            while labels[a] != a:
                labels[a] = labels[labels[a]]
                a = labels[a]
            while labels[b] != b:
                labels[b] = labels[labels[b]]
                b = labels[b]
            # The smaller node is the root, so that a root comes before its members.
            if a < b:
                labels[b] = a
            else:
                labels[a] = b
    count = 0
    for i in range(s):
        if labels[i] == i:
            labels[i] = count
            count += 1
        else:
            labels[i] = labels[labels[i]]
    return count


@njit(cache=True, nogil=True)
def add_rows(values, target, out):  # IN; OUT out (t, c) +=
    """Add row r of `values` (r, c) to row ``target[r]`` of `out`."""
    for r in range(values.shape[0]):
        for c in range(values.shape[1]):
            out[target[r], c] += values[r, c]


@njit(cache=True, nogil=True)
def link_flags(same, differ, linked):  # IN; OUT linked (2E,)
    """Which entries have any must-link cost; whether any cost is infinite; whether any entry's
    must-link costs all are.
    """
    hard = False
    welded = False
    for e in range(differ.shape[0]):
        linked[e] = False
        every = True
        for k in range(differ.shape[1]):
            linked[e] |= differ[e, k] > 0.0
            infinite = differ[e, k] == np.inf
            hard |= infinite
            every &= infinite
        welded |= every
        for k in range(same.shape[1]):
            hard |= same[e, k] == np.inf
    return hard, welded
