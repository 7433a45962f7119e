"""Graphs that pairs make: connected components, distinct edges, adjacency.

What NumPy does as quickly stays in NumPy: every compiled loop is paid for by the first fit on a
new machine.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from scipy.sparse import csc_array

from coterie._typing import BoolArray, FloatArray, IntArray
from coterie.exceptions import InvalidConstraints
from coterie.memory import memory_bytes

__all__ = ["connected", "distinct_edges", "number_rows", "sum_by_edge", "symmetric_csr"]

_MOST = math.isqrt(2**63 - 1)  # rows: two of their numbers make one key


def number_rows(n: int) -> IntArray:
    """0, …, n − 1 as (n,) int64, or an error that says what that many rows would take."""
    needed = 8 * n
    try:
        if n <= _MOST and needed < memory_bytes():
            return np.arange(n, dtype=np.int64)
    except MemoryError:
        pass
    raise InvalidConstraints(
        f"n_samples={n}: a number for each row takes {needed / 1e9:,.1f} GB, more memory than "
        "there is; give the number of rows of X, X.shape[0], or take the rows that you look at "
        "with subset(rows)."
    )


def connected(pairs: IntArray, n: int) -> tuple[IntArray, int]:
    """Connected components of rows 0, …, n − 1 joined by `pairs` (m, 2).

    Returns
    -------
    component : (n,) int64
        Numbered by smallest row.
    count : int
    """
    component = number_rows(n)
    if not pairs.shape[0]:
        return component, n
    joined = np.require(pairs, dtype=np.int64, requirements=["C", "W"])
    return component, int(join_pairs(joined, component))


def distinct_edges(
    pairs: IntArray, node_of: IntArray, use: BoolArray, n_nodes: int
) -> tuple[IntArray, IntArray]:
    """Distinct node pairs a < b joined by a used pair.

    Parameters
    ----------
    pairs : (m, 2) int64
        Rows.
    node_of : (n,) int64
        Node of each row.
    use : (m,) bool
        Which pairs make edges.

    Returns
    -------
    edges : (E, 2) int64
        Sorted.
    pair_edge : (m,) int64
        Edge of each pair; −1 if it is unused or lies inside one node.
    """
    a, b = node_of[pairs[:, 0]], node_of[pairs[:, 1]]
    between = np.flatnonzero(use & (a != b))
    key = np.minimum(a, b) * n_nodes + np.maximum(a, b)
    key = key[between]
    if (key[1:] < key[:-1]).any():  # in order already where nothing was contracted
        order = np.argsort(key)
        key, between = key[order], between[order]
    new = np.ones(key.size, dtype=np.bool_)
    np.not_equal(key[1:], key[:-1], out=new[1:])
    pair_edge = np.full(pairs.shape[0], -1, dtype=np.int64)
    pair_edge[between] = np.cumsum(new) - 1
    edges = np.empty((np.count_nonzero(new), 2), dtype=np.int64)
    np.divmod(key[new], n_nodes, out=(edges[:, 0], edges[:, 1]))
    return edges, pair_edge


def symmetric_csr(edges: IntArray, n_nodes: int) -> tuple[IntArray, IntArray, IntArray]:
    """Both directions of every edge (a < b, sorted).

    Returns
    -------
    indptr, indices, edge_of : (n_nodes + 1,), (2E,), (2E,) int64
        Neighbours of node a are `indices[indptr[a]:indptr[a + 1]]`, sorted, and `edge_of` gives
        the edge of each entry.
    """
    indptr = np.zeros(n_nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(edges.ravel(), minlength=n_nodes), out=indptr[1:])
    indices, edge_of = np.empty((2, 2 * edges.shape[0]), dtype=np.int64)
    fill_csr(edges, indptr[:-1].copy(), indices, edge_of)
    return indptr, indices, edge_of


def sum_by_edge(pair_edge: IntArray, use: BoolArray, cost: FloatArray, n_edges: int) -> FloatArray:
    """Cost (E, K) of each edge: the sum of the costs (m, K) of its used pairs."""
    counted = np.flatnonzero(use & (pair_edge >= 0))
    # One entry a column: the edge that a pair belongs to.
    ones, ends = np.ones(counted.size), np.arange(counted.size + 1)
    members = csc_array((ones, pair_edge[counted], ends), shape=(n_edges, counted.size))
    return np.asarray(members @ cost[counted])


# -- compiled: arrays in, arrays out; every index is int64 -----------------------------------------
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
