"""Can all pairs be met with K clusters? A witness, or a minimal set of pairs that cannot."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coterie.constraints import _kernels
from coterie.constraints._types import IntArray
from coterie.constraints.coloring import color_graph, warm_up
from coterie.constraints.conflicts import Conflicts, MustPaths
from coterie.exceptions import InfeasibleConstraints, InvalidParameter, UndecidedFeasibility

if TYPE_CHECKING:
    from coterie.constraints.constraints import Constraints

# Given some of the elements (edges, pairs), those that clash by themselves, or None if none do.
Refute = Callable[[IntArray], IntArray | None]


def check_feasible(
    constraints: Constraints, n_clusters: int, hard_only: bool, time_limit: float
) -> IntArray:
    """See `Constraints.check_feasible`.

    Must-links contract rows into nodes; the cannot-links between nodes are a graph that must be
    coloured with `n_clusters` colours.
    """
    _check_parameters(n_clusters, time_limit)
    counts = constraints.is_hard if hard_only else constraints.weight > 0
    cannot = np.flatnonzero(counts & (constraints.kind < 0))
    if n_clusters == 1 and cannot.size:  # one pair is enough, whatever the must-links say
        conflict = constraints._take(cannot[:1])
        raise InfeasibleConstraints(_describe(conflict, n_clusters, proven=True), conflict)
    conflicts = Conflicts(constraints, hard_only)
    if len(conflicts):
        raise InfeasibleConstraints(conflicts.describe(0), conflicts[0])
    graph = _contract(constraints, np.flatnonzero(counts))
    warm_up()  # compiling is not part of the time limit
    deadline = time.monotonic() + time_limit
    found = graph.color(n_clusters, deadline)
    if found is not None:
        return found[graph.node_of]
    conflict, proven = _explain(constraints, graph, n_clusters, time.monotonic() + time_limit)
    raise InfeasibleConstraints(_describe(conflict, n_clusters, proven), conflict)


class _Graph(NamedTuple):
    """Nodes joined by must-links, and cannot-links between them."""

    used: IntArray  # (·,) pair numbers that count
    node_of: IntArray  # (n,) node of each row
    n_nodes: int
    edges: IntArray  # (E, 2) distinct node pairs, sorted
    pair_edge: IntArray  # (m,) edge of each used cannot-link, −1 otherwise

    def color(self, n_colors: int, deadline: float) -> IntArray | None:
        indptr, indices, _ = _kernels.symmetric_csr(self.edges, self.n_nodes)
        return color_graph(indptr, indices, n_colors, deadline).labels


def _contract(constraints: Constraints, used: IntArray) -> _Graph:
    counts = np.zeros(constraints.n_pairs, dtype=bool)
    counts[used] = True
    must = constraints.kind > 0
    node_of, n_nodes = _kernels.component_labels(
        constraints.pairs, counts & must, constraints.n_samples
    )
    edges, pair_edge = _kernels.unique_edges(constraints.pairs, node_of, counts & ~must, n_nodes)
    return _Graph(used, node_of, n_nodes, edges, pair_edge)


def _explain(
    constraints: Constraints, graph: _Graph, n_clusters: int, deadline: float
) -> tuple[Constraints, bool]:
    """A minimal infeasible set of the user's pairs, and whether it is proven minimal.

    First at the level of nodes (few, fast), then down to pairs: one cannot-link stands for each
    edge that is needed, and the must-links that join its ends to the rest of their node.
    """
    edges, proven_edges = _critical_edges(graph, n_clusters, deadline)
    cannot = _first_pairs(graph, edges)
    must, in_doubt = _joining_must_links(constraints, graph, cannot, n_clusters)
    keep, proven_musts = _needed_must_links(
        constraints, cannot, must, in_doubt, n_clusters, deadline
    )
    return constraints._take(np.sort(np.concatenate([cannot, keep]))), proven_edges and proven_musts


def _critical_edges(graph: _Graph, n_colors: int, deadline: float) -> tuple[IntArray, bool]:
    """Numbers of edges that cannot be coloured, while without any one of them they can."""

    def refute(edges: IntArray) -> IntArray | None:
        ends = graph.edges[edges]
        nodes, local = np.unique(ends, return_inverse=True)
        local = local.reshape(-1, 2)
        indptr, indices, _ = _kernels.symmetric_csr(local, nodes.size)
        stuck = color_graph(indptr, indices, n_colors, deadline).stuck
        if stuck is None:
            return None
        is_stuck = np.zeros(nodes.size, dtype=bool)
        is_stuck[stuck] = True
        return edges[is_stuck[local].all(axis=1)]

    everything = np.arange(graph.edges.shape[0])
    edges = refute(everything)
    if edges is None:  # impossible: the same graph was refuted before
        raise AssertionError("a refuted graph was coloured")
    n_nodes = np.unique(graph.edges[edges]).size
    if n_nodes == n_colors + 1:  # K + 1 nodes that need K + 1 colours: a clique, which is minimal
        return edges, True
    return _deletion_filter(edges, refute)


def _deletion_filter(elements: IntArray, refute: Refute) -> tuple[IntArray, bool]:
    """A minimal subset that `refute` still refutes, and True; or False if time ran out on the way.

    Tries to leave out halves, then quarters, down to single elements. What was needed once stays
    needed in every smaller set, so one pass at the end is enough.
    """
    size = max(1, elements.size // 2)
    while True:
        start = 0
        while start < elements.size:
            rest = np.delete(elements, slice(start, start + size))
            try:
                clash = refute(rest)
            except UndecidedFeasibility:  # the deadline has passed: later tests would end so too
                return elements, False
            if clash is None:
                start += size
            else:
                start = int(np.searchsorted(clash, elements[start]))
                elements = clash
        if size == 1:
            return elements, True
        size //= 2


def _first_pairs(graph: _Graph, edges: IntArray) -> IntArray:
    """For each edge the first of the cannot-links it stands for."""
    first = np.full(graph.edges.shape[0], -1)
    numbers = np.flatnonzero(graph.pair_edge >= 0)[::-1]
    first[graph.pair_edge[numbers]] = numbers  # the smallest number is written last
    return np.sort(first[edges])


def _joining_must_links(
    constraints: Constraints, graph: _Graph, cannot: IntArray, n_colors: int
) -> tuple[IntArray, IntArray]:
    """Must-links that hold together the cannot-links' ends in each node, and which are in doubt.

    The shortest paths from one end to the others form a tree, so each of its pairs splits the
    node in two. In a critical graph every node has at least K edges. If what results by the split
    could not be coloured either, it would be critical too, so both halves would have K edges:
    only nodes of 2K or more leave any doubt.
    """
    use = np.zeros(constraints.n_pairs, dtype=bool)
    use[graph.used] = True
    paths = MustPaths(constraints, use & (constraints.kind > 0))
    ends = constraints.pairs[cannot].ravel()
    order = np.argsort(graph.node_of[ends], kind="stable")
    _, starts = np.unique(graph.node_of[ends[order]], return_index=True)
    needed: set[int] = set()
    doubtful: set[int] = set()
    for rows in np.split(ends[order], starts[1:]):
        tree = paths.tree(int(rows[0]), np.unique(rows)).values()
        pairs = {pair for path in tree for pair in path}
        needed |= pairs
        if rows.size >= 2 * n_colors:
            doubtful |= pairs
    return np.array(sorted(needed), dtype=np.int64), np.array(sorted(doubtful), dtype=np.int64)


def _needed_must_links(
    constraints: Constraints,
    cannot: IntArray,
    must: IntArray,
    in_doubt: IntArray,
    n_colors: int,
    deadline: float,
) -> tuple[IntArray, bool]:
    """The must-links without which the set could be met, by leaving out one at a time."""
    if not in_doubt.size:
        return must, True
    chosen = np.sort(np.concatenate([cannot, must]))
    rows = np.unique(constraints.pairs[chosen])
    mapping = np.zeros(constraints.n_samples, dtype=np.int64)
    mapping[rows] = np.arange(rows.size)
    small = constraints._take(chosen).relabel(mapping, rows.size)
    always = np.setdiff1d(np.arange(chosen.size), np.searchsorted(chosen, in_doubt))

    def refute(doubtful: IntArray) -> IntArray | None:
        graph = _contract(small, np.sort(np.concatenate([always, doubtful])))
        return None if graph.color(n_colors, deadline) is not None else doubtful

    kept, proven = _deletion_filter(np.searchsorted(chosen, in_doubt), refute)
    return np.union1d(np.setdiff1d(must, in_doubt), chosen[kept]), proven


def _describe(conflict: Constraints, n_clusters: int, proven: bool) -> str:
    rows = np.unique(conflict.pairs)
    shown = ", ".join(map(str, rows[:12])) + (", …" if rows.size > 12 else "")
    smallest = (
        "remove any one of them, or make it soft"
        if proven
        else "fewer may suffice: the time limit ended the search for a minimal set"
    )
    return (
        f"{conflict.cannot_link.shape[0]} cannot-links and {conflict.must_link.shape[0]} "
        f"must-links among rows {shown} need more than {n_clusters} cluster(s); {smallest}, or "
        "raise n_clusters. The pairs are in .conflict"
    )


def _check_parameters(n_clusters: int, time_limit: float) -> None:
    is_count = isinstance(n_clusters, (int, np.integer)) and not isinstance(n_clusters, bool)
    if not is_count or n_clusters < 1:
        raise InvalidParameter(f"n_clusters={n_clusters!r} must be a whole number of at least 1")
    if math.isnan(time_limit) or time_limit < 0:
        raise InvalidParameter(f"time_limit={time_limit!r} must be a number of seconds ≥ 0")
