"""Compiled loops over pairs and rows. Arrays in, arrays out; every index is int64."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from coterie._typing import BoolArray, IntArray


@njit(inline="always")
def find_root(parent: IntArray, row: int) -> int:
    """Root of `row`, halving the path on the way."""
    while parent[row] != row:
        parent[row] = parent[parent[row]]
        row = parent[row]
    return row


@njit(cache=True, nogil=True)
def join_pairs(pairs: IntArray, labels: IntArray) -> int:  # IN (m, 2); IN OUT (n,) 0, 1, …, n − 1
    """Component of each row, numbered by smallest row; returns their number.

    The smaller root always wins, so a root is the smallest row of its component and one pass in
    row order numbers the components.
    """
    for p in range(pairs.shape[0]):
        a = find_root(labels, pairs[p, 0])
        b = find_root(labels, pairs[p, 1])
        if a < b:
            labels[b] = a
        elif b < a:
            labels[a] = b
    count = 0
    for row in range(labels.shape[0]):
        if labels[row] == row:
            labels[row] = count
            count += 1
        else:  # its parent comes before it and has its number already
            labels[row] = labels[labels[row]]
    return count


@njit(cache=True, nogil=True)
def fill_csr(
    edges: IntArray,  # IN (E, 2), a < b, sorted
    fill: IntArray,  # IN OUT (n,) where each node's entries begin; becomes where they end
    indices: IntArray,  # OUT (2E,)
    edge_of: IntArray,  # OUT (2E,)
) -> None:
    """Both directions of every edge, node by node; neighbours come out sorted.

    Smaller ones come first, in the order of the sorted edges.
    """
    for side in range(2):
        for e in range(edges.shape[0]):
            at = edges[e, 1 - side]
            indices[fill[at]] = edges[e, side]
            edge_of[fill[at]] = e
            fill[at] += 1


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
