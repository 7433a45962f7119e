"""Can a graph be coloured with K colours? Decided exactly, or honestly left open.

Nodes of fewer than K neighbours are peeled off (they can always be coloured last). What is left is
split into connected parts, and each is decided by: a clique of more than K nodes (no), a
depth-first search with restarts that learn from dead ends (yes or no), and a local search (yes).
The tree search's allowance doubles with each restart, so it always ends, given time.

There is no integer program here: HiGHS was tried on random graphs just above the threshold (80 to
120 nodes, K = 4 and 5), and needed more than 4 s or 15 s where this search takes under 1 s.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from coterie._typing import IntArray
from coterie.constraints import _coloring_kernels as kernels
from coterie.exceptions import UndecidedFeasibility

TABU_WORK = 50  # moves weighed by local search for each node of the tree: about the same time
CLIQUE_STEPS = 2_000_000


class Coloring(NamedTuple):
    """`labels` (n,) in 0..K−1; or None, and then the nodes `stuck` alone cannot be coloured."""

    labels: IntArray | None
    stuck: IntArray | None


def color_graph(
    indptr: IntArray, indices: IntArray, n_colors: int, deadline: float = np.inf
) -> Coloring:
    """Colour the nodes of a symmetric CSR graph so that neighbours differ.

    `deadline` is a `time.monotonic()` reading; UndecidedFeasibility is raised after it.
    """
    removed, kept = kernels.peel(indptr, indices, n_colors)
    labels = np.full(kept.size, -1)
    nodes, core_indptr, core_indices = kernels.induced(indptr, indices, kept)
    if nodes.size:
        core = _color_core(core_indptr, core_indices, n_colors, deadline)
        if core.labels is None:
            return Coloring(None, nodes[core.stuck])
        labels[nodes] = core.labels
    kernels.color_in_turn(removed[::-1].copy(), indptr, indices, n_colors, labels)
    return Coloring(labels, None)


def _color_core(indptr: IntArray, indices: IntArray, n_colors: int, deadline: float) -> Coloring:
    """Colour a graph in which every node has at least `n_colors` neighbours."""
    n = indptr.size - 1
    search = _Search(indptr, indices, n_colors)
    if search.run(max_nodes=n) == kernels.FOUND:  # greedy succeeds: the usual case, at any size
        return Coloring(search.color, None)
    labels = np.empty(n, dtype=np.int64)
    for nodes, part_indptr, part_indices in _connected_parts(indptr, indices):
        found = _color_connected(part_indptr, part_indices, n_colors, deadline)
        if found.labels is None:
            return Coloring(None, nodes[found.stuck])
        labels[nodes] = found.labels
    return Coloring(labels, None)


def _connected_parts(
    indptr: IntArray, indices: IntArray
) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
    """Nodes and CSR adjacency of each connected part.

    The graph is put in order of its parts once, so that each is a slice: linear in total.
    """
    n = indptr.size - 1
    graph = csr_array((np.ones(indices.size, dtype=bool), indices, indptr), shape=(n, n))
    _, part = connected_components(graph, directed=False)
    order = np.argsort(part, kind="stable")
    grouped = graph[order][:, order]
    ends = np.cumsum(np.bincount(part))
    for start, end in zip(ends - np.bincount(part), ends, strict=True):
        pointer = grouped.indptr[start : end + 1].astype(np.int64)
        neighbours = grouped.indices[pointer[0] : pointer[-1]].astype(np.int64) - start
        yield order[start:end], pointer - pointer[0], neighbours


def _color_connected(
    indptr: IntArray, indices: IntArray, n_colors: int, deadline: float
) -> Coloring:
    clique = kernels.find_clique(indptr, indices, n_colors + 1, CLIQUE_STEPS)
    if clique.size:
        return Coloring(None, np.sort(clique))
    n = indptr.size - 1
    search = _Search(indptr, indices, n_colors)
    allowance, round_ = 4 * n + 2_000, 0
    while True:
        began = time.monotonic()
        outcome = search.run(allowance)
        if outcome == kernels.FOUND:
            return Coloring(search.color, None)
        if outcome == kernels.NONE:
            return Coloring(None, np.flatnonzero(search.touched))
        rate = allowance / max(time.monotonic() - began, 1e-6)
        work = TABU_WORK * allowance
        if kernels.tabu_search(indptr, indices, n_colors, work, round_, search.color):
            return Coloring(search.color, None)
        left = deadline - time.monotonic()
        if left <= 0:
            raise UndecidedFeasibility(
                f"whether {n} mutually entangled groups of rows can be split into {n_colors} "
                "clusters was not decided in time; raise time_limit, or n_clusters"
            )
        # Twice as far next time, but not far beyond the deadline.
        allowance = max(allowance, int(min(2 * allowance, 1 + rate * left)))
        round_ += 1


@cache
def warm_up() -> None:
    """Compile everything (or read it from numba's cache) before a clock is started."""
    indptr, indices = np.array([0, 2, 4, 6]), np.array([1, 2, 0, 2, 0, 1])
    for n_colors in (2, 3):
        color_graph(indptr, indices, n_colors)
    _Search(indptr, indices, 2).run(max_nodes=1)
    kernels.tabu_search(indptr, indices, 3, 1, 0, np.zeros(3, dtype=np.int64))


class _Search:
    """DSATUR with restarts: nodes that were dead ends before are tried earlier."""

    def __init__(self, indptr: IntArray, indices: IntArray, n_colors: int) -> None:
        self._graph = (indptr, indices, n_colors)
        n = indptr.size - 1
        self._priority = np.diff(indptr)
        self.color = np.full(n, -1)
        self.touched = np.zeros(n, dtype=np.bool_)

    def run(self, max_nodes: int) -> int:
        order = np.argsort(self._priority, kind="stable")
        outcome, _ = kernels.dsatur(
            *self._graph, order, self._priority, max_nodes, self.color, self.touched
        )
        return int(outcome)
