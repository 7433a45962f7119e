"""Compiled loops over pairs and rows. Arrays in, arrays out; every index is int64."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from coterie.constraints._types import BoolArray, FloatArray, IntArray


@njit(cache=True, nogil=True)
def find_root(parent: IntArray, row: int) -> int:
    """Root of `row`, halving the path on the way."""
    while parent[row] != row:
        parent[row] = parent[parent[row]]
        row = parent[row]
    return row


@njit(cache=True, nogil=True)
def component_labels(
    pairs: IntArray,  # IN (m, 2)
    use: BoolArray,  # IN (m,) which pairs join their rows
    n_rows: int,
) -> Any:
    """Connected components, numbered by their smallest row: labels (n_rows,) and their count.

    The smaller root always wins, so a root is the smallest row of its component and one pass in
    row order numbers the components.
    """
    parent = np.arange(n_rows)
    for p in range(pairs.shape[0]):
        if use[p]:
            a = find_root(parent, pairs[p, 0])
            b = find_root(parent, pairs[p, 1])
            if a < b:
                parent[b] = a
            elif b < a:
                parent[a] = b
    count = 0
    labels = np.empty(n_rows, np.int64)
    for row in range(n_rows):
        root = find_root(parent, row)
        if root == row:
            labels[row] = count
            count += 1
        else:
            labels[row] = labels[root]
    return labels, count


@njit(cache=True, nogil=True)
def unique_edges(
    pairs: IntArray,  # IN (m, 2) rows
    node_of: IntArray,  # IN (n,) node of each row
    use: BoolArray,  # IN (m,) which pairs make edges
    n_nodes: int,
) -> Any:
    """Distinct node pairs a < b joined by a used pair: edges (E, 2) sorted, pair_edge (m,).

    `pair_edge` is −1 for a pair that is unused or lies inside one node. Two stable counting sorts
    (by b, then by a) instead of a comparison sort: linear in pairs and nodes. Where nothing was
    contracted the pairs are in order already, and nothing is moved.
    """
    m = pairs.shape[0]
    pair_edge = np.full(m, -1)
    ends = np.empty((m, 2), np.int64)
    in_order = True
    last_a, last_b = -1, -1
    start_a = np.zeros(n_nodes + 1, np.int64)
    start_b = np.zeros(n_nodes + 1, np.int64)
    for p in range(m):
        a = node_of[pairs[p, 0]]
        b = node_of[pairs[p, 1]]
        ends[p, 0] = min(a, b)
        ends[p, 1] = max(a, b)
        if use[p] and a != b:
            a, b = ends[p, 0], ends[p, 1]
            start_a[a + 1] += 1
            start_b[b + 1] += 1
            in_order &= last_a < a or (last_a == a and last_b <= b)
            last_a, last_b = a, b
    for v in range(n_nodes):
        start_a[v + 1] += start_a[v]
        start_b[v + 1] += start_b[v]
    used = start_a[n_nodes]
    by_b = np.empty(used, np.int64)
    fill = 0
    for p in range(m):
        if use[p] and ends[p, 0] != ends[p, 1]:
            if in_order:
                by_b[fill] = p
                fill += 1
            else:
                b = ends[p, 1]
                by_b[start_b[b]] = p
                start_b[b] += 1
    order = np.empty(used, np.int64)
    if in_order:
        order[:] = by_b
    else:
        for t in range(used):
            a = ends[by_b[t], 0]
            order[start_a[a]] = by_b[t]
            start_a[a] += 1
    # `by_b` has done its work: its first entries now hold the first pair of each distinct edge.
    n_edges = 0
    for t in range(used):
        p = order[t]
        if t == 0 or ends[p, 0] != ends[order[t - 1], 0] or ends[p, 1] != ends[order[t - 1], 1]:
            by_b[n_edges] = p
            n_edges += 1
        pair_edge[p] = n_edges - 1
    edges = np.empty((n_edges, 2), np.int64)
    for e in range(n_edges):
        edges[e, 0] = ends[by_b[e], 0]
        edges[e, 1] = ends[by_b[e], 1]
    return edges, pair_edge


@njit(cache=True, nogil=True)
def symmetric_csr(edges: IntArray, n_nodes: int) -> Any:  # IN (E, 2), a < b, sorted
    """Both directions of every edge: indptr (n_nodes+1,), indices (2E,), edge_of (2E,).

    Neighbours come out sorted: smaller ones first, in the order of the sorted edges.
    """
    n_edges = edges.shape[0]
    indptr = np.zeros(n_nodes + 1, np.int64)
    for e in range(n_edges):
        indptr[edges[e, 0] + 1] += 1
        indptr[edges[e, 1] + 1] += 1
    for v in range(n_nodes):
        indptr[v + 1] += indptr[v]
    indices = np.empty(2 * n_edges, np.int64)
    edge_of = np.empty(2 * n_edges, np.int64)
    fill = indptr[:-1].copy()
    for side in range(2):
        for e in range(n_edges):
            at = edges[e, 1 - side]
            indices[fill[at]] = edges[e, side]
            edge_of[fill[at]] = e
            fill[at] += 1
    return indptr, indices, edge_of


@njit(cache=True, nogil=True)
def sum_by_edge(
    pair_edge: IntArray,  # IN (m,) −1 = no edge
    use: BoolArray,  # IN (m,)
    cost: FloatArray,  # IN (m, K)
    total: FloatArray,  # OUT (E, K) added to
) -> None:
    """Add each used pair's cost to its edge."""
    for p in range(pair_edge.shape[0]):
        if use[p] and pair_edge[p] >= 0:
            for k in range(cost.shape[1]):
                total[pair_edge[p], k] += cost[p, k]


@njit(cache=True, nogil=True)
def incidence(pairs: IntArray, use: BoolArray, n_rows: int) -> Any:
    """Pairs at each row, as CSR over rows: indptr (n_rows+1,), pair_at (2·used,)."""
    indptr = np.zeros(n_rows + 1, np.int64)
    for p in range(pairs.shape[0]):
        if use[p]:
            indptr[pairs[p, 0] + 1] += 1
            indptr[pairs[p, 1] + 1] += 1
    for v in range(n_rows):
        indptr[v + 1] += indptr[v]
    pair_at = np.empty(indptr[n_rows], np.int64)
    fill = indptr[:-1].copy()
    for p in range(pairs.shape[0]):
        if use[p]:
            for side in range(2):
                row = pairs[p, side]
                pair_at[fill[row]] = p
                fill[row] += 1
    return indptr, pair_at


@njit(cache=True, nogil=True)
def breadth_first(
    start: int,
    target: int,  # stop when reached; −1 = visit everything reachable
    pairs: IntArray,  # IN (m, 2)
    indptr: IntArray,  # IN (n+1,) from `incidence`
    pair_at: IntArray,  # IN
    distance: IntArray,  # OUT (n,) must hold −1 on entry; only the returned rows are written
    arrived_by: IntArray,  # OUT (n,) the pair that reached each row
    queue: IntArray,  # OUT (n,) rows in the order they were reached
) -> int:
    """Shortest paths from `start`; returns how many rows `queue` holds."""
    distance[start] = 0
    arrived_by[start] = -1
    queue[0] = start
    head, tail = 0, 1
    while head < tail and (target < 0 or distance[target] < 0):
        row = queue[head]
        head += 1
        for t in range(indptr[row], indptr[row + 1]):
            p = pair_at[t]
            other = pairs[p, 0] + pairs[p, 1] - row
            if distance[other] < 0:
                distance[other] = distance[row] + 1
                arrived_by[other] = p
                queue[tail] = other
                tail += 1
    return tail
