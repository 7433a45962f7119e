"""Correlation clustering on a sparse graph: the clusters that hold the largest sum of log-odds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from coterie.exceptions import ApproximationWarning
from coterie.progress import keep_going
from coterie.records import _partition_kernels as kernels
from coterie.words import warn

__all__ = ["Graph", "components", "objective", "partition"]

Float = NDArray[np.float64]
Int = NDArray[np.int64]

EXACT_UP_TO = 10  # nodes: all partitions are weighed
_DIVIDE_UP_TO = 8  # nodes of one or two clusters that are divided anew
_DENSE_UP_TO = 2_000  # nodes of a component that is searched as a whole
_NEVER = -1e7  # of two nodes that must be apart


class Graph(NamedTuple):
    """What a partition is about.

    Attributes
    ----------
    n : int
        Rows.
    pairs : (m, 2) int64
        i < j, each once.
    weight : (m,)
        What it is worth, in nats, to have a pair together.
    penalty : float
        What it costs, in nats, to have two rows together that are no pair.
    together, apart : (·, 2) int64
        Pairs that must be, whatever it costs; together they can be met.
    exclusive : (n, g) int64
        Two nodes with rows of one group are never together. A column is one way to group; −1 is
        no group.
    """

    n: int
    pairs: Int
    weight: Float
    penalty: float
    together: Int
    apart: Int
    exclusive: Int


class _Nodes(NamedTuple):
    """Rows that must be together as one node each, and sums between nodes."""

    of_row: Int
    size: Int
    low: Int
    high: Int
    weight: Float  # of the listed pairs of nodes, the unlisted pairs of rows counted in
    groups: sparse.csr_array | None  # (nodes, groups) which exclusive groups a node has rows of


def components(n: int, pairs: Int) -> tuple[int, Int]:
    """How many components the pairs make, and the component of every row (n,)."""
    graph = sparse.coo_array((np.ones(len(pairs), dtype=np.int8), tuple(pairs.T)), shape=(n, n))
    count, labels = csgraph.connected_components(graph, directed=False)
    return int(count), labels.astype(np.int64)


def objective(graph: Graph, labels: Int) -> float:
    """Σ weight over pairs together − penalty · (pairs of rows together that are not listed)."""
    i, j = graph.pairs.T
    joined = labels[i] == labels[j]
    sizes = np.unique(labels, return_counts=True)[1].astype(np.float64)
    unlisted = (sizes * (sizes - 1) / 2).sum() - joined.sum()
    return float(graph.weight[joined].sum() - graph.penalty * unlisted)


def partition(graph: Graph) -> Int:
    """Labels (n,) 0, 1, … in the order of rows, that make `objective` large.

    Clusters never reach over components of attractive pairs, so each component is done with
    alone: exactly if it has at most 10 nodes, else by greedy contraction (Keuper et al. 2015) and
    moves of rows, joins, and exact divisions of small clusters.
    """
    nodes = _contract(graph)
    n_nodes = nodes.size.size
    attract = nodes.weight > 0
    labels = _parts(n_nodes, nodes, attract)
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels))
    inside = labels[nodes.low] == labels[nodes.high]
    edges = np.flatnonzero(inside)
    edges = edges[np.argsort(labels[nodes.low[edges]], kind="stable")]
    edge_ends = np.cumsum(np.bincount(labels[nodes.low[edges]], minlength=ends.size))
    result = np.arange(n_nodes)
    for c in range(ends.size):
        rows = order[ends[c - 1] if c else 0 : ends[c]]
        if rows.size < 2:
            continue
        mine = edges[edge_ends[c - 1] if c else 0 : edge_ends[c]]
        result[rows] = rows[_solve(rows, mine, nodes, graph.penalty)]
        if not keep_going(c + 1, ends.size, 0.0):
            break
    _, first, labels = np.unique(result[nodes.of_row], return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[labels]


def _contract(graph: Graph) -> _Nodes:
    n_nodes, of_row = components(graph.n, graph.together)
    size = np.bincount(of_row, minlength=n_nodes)
    apart = _keys(of_row[graph.apart], n_nodes)
    listed = _keys(of_row[graph.pairs], n_nodes)
    keys, back = np.unique(np.concatenate([listed, apart]), return_inverse=True)
    back = back[: listed.size]
    low, high = np.divmod(keys, n_nodes)
    weight = np.bincount(back, graph.weight, minlength=keys.size).astype(np.float64)
    unlisted = size[low] * size[high] - np.bincount(back, minlength=keys.size)
    weight -= graph.penalty * unlisted
    weight[np.isin(keys, apart)] = _NEVER
    groups = _groups(graph.exclusive, of_row, n_nodes)
    if groups is not None:
        weight[np.asarray(groups[low].multiply(groups[high]).sum(axis=1)).ravel() > 0] = _NEVER
    between = low != high
    return _Nodes(of_row, size, low[between], high[between], weight[between], groups)


def _keys(pairs: Int, n_nodes: int) -> Int:
    """One number for each pair of nodes (m, 2), whichever comes first."""
    return np.asarray(pairs.min(axis=1, initial=n_nodes) * n_nodes + pairs.max(axis=1, initial=0))


def _groups(exclusive: Int, of_row: Int, n_nodes: int) -> sparse.csr_array | None:
    """Which groups each node has rows of; None if there are no groups."""
    if not (exclusive >= 0).any():
        return None
    offset, nodes, groups = 0, [], []
    for column in exclusive.T:
        held = np.flatnonzero(column >= 0)
        present, number = np.unique(column[held], return_inverse=True)
        nodes.append(of_row[held])
        groups.append(number + offset)
        offset += present.size
    node, group = np.concatenate(nodes), np.concatenate(groups)
    ones = np.ones(node.size, dtype=np.int32)
    return sparse.csr_array((ones, (node, group)), shape=(n_nodes, offset))


def _parts(n_nodes: int, nodes: _Nodes, attract: NDArray[np.bool_]) -> Int:
    """Components of attractive pairs; those too large to search are cut at their weaker pairs."""
    _, labels = components(n_nodes, np.column_stack([nodes.low, nodes.high])[attract])
    limit, said = 0.0, False
    while np.bincount(labels).max(initial=0) > _DENSE_UP_TO:
        if not said:
            warn(
                f"{np.bincount(labels).max()} records hang together by likely pairs; they were cut "
                "at the less likely ones first. Most often a field that says little counts for "
                "too much: leave it out, or answer some questions.",
                ApproximationWarning,
            )
            said = True
        large = np.bincount(labels)[labels] > _DENSE_UP_TO
        limit += 1.0
        kept = (nodes.weight > 0) & (labels[nodes.low] == labels[nodes.high])
        kept &= (nodes.weight > limit) | ~large[nodes.low]
        _, labels = components(n_nodes, np.column_stack([nodes.low, nodes.high])[kept])
    return labels


def _solve(rows: Int, edges: Int, nodes: _Nodes, penalty: float) -> Int:
    """Labels (k,) of one component, each a place in `rows`."""
    at = np.searchsorted(rows, nodes.low[edges]), np.searchsorted(rows, nodes.high[edges])
    size = nodes.size[rows].astype(np.float64)
    weight = -penalty * np.outer(size, size)
    weight[at] = nodes.weight[edges]
    weight[at[::-1]] = nodes.weight[edges]
    if nodes.groups is not None:  # also of pairs that are not listed
        mine = nodes.groups[rows]
        weight[(mine @ mine.T).toarray() > 0] = _NEVER
    if rows.size <= EXACT_UP_TO:
        return _first_places(kernels.best_partition(weight))
    found = kernels.improve(weight, kernels.agglomerate(weight), _DIVIDE_UP_TO)
    return _first_places(found)


def _first_places(labels: Int) -> Int:
    """Each label as the first place that has it."""
    _, first, back = np.unique(labels, return_index=True, return_inverse=True)
    return first[back]
