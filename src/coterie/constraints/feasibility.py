"""Can all pairs be met with K clusters? A witness, or a minimal set of pairs that cannot."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from coterie._typing import IntArray
from coterie.constraints._coloring_kernels import rotate
from coterie.constraints.coloring import color_graph, warm_up
from coterie.constraints.conflicts import Conflicts, MustPaths
from coterie.constraints.exclusive import choose, of_nodes
from coterie.constraints.exclusive_coloring import (
    color_with_groups,
    refuse_large_groups,
    written_whole,
)
from coterie.constraints.graph import connected, distinct_edges, symmetric_csr
from coterie.exceptions import InfeasibleConstraints, InvalidParameter, UndecidedFeasibility

if TYPE_CHECKING:
    from coterie.constraints.constraints import Constraints


class _Clash(Protocol):
    """A set of elements (edges, pairs) that cannot all be met, for `deletion_filter`."""

    def refute(self, some: IntArray) -> IntArray | None:
        """Those of `some` elements that clash by themselves, or None if they can be met."""

    def also_needed(self, elements: IntArray, left_out: int) -> IntArray:
        """More elements without which the others can be met, after `refute` of all but one
        returned None.
        """


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
    groups = constraints.exclusive
    groups = choose(groups, groups.is_hard if hard_only else groups.weight > 0)
    if n_clusters == 1 and cannot.size:  # one pair is enough, whatever the must-links say
        conflict = constraints._take(cannot[:1])
        raise InfeasibleConstraints(_describe(conflict, n_clusters, proven=True), conflict)
    conflicts = Conflicts(constraints, hard_only)
    if len(conflicts):
        raise InfeasibleConstraints(conflicts.describe(0), conflicts[0])
    graph = _contract(constraints, np.flatnonzero(counts))
    if groups.n_groups:
        sets = of_nodes(groups, graph.node_of)
        refuse_large_groups(constraints, graph.node_of, sets, n_clusters)
        quick = color_with_groups(graph.edges, graph.n_nodes, sets, n_clusters)
        if quick is not None:
            return quick[graph.node_of]
        constraints = written_whole(constraints._take(counts, groups))
        return check_feasible(constraints, n_clusters, False, time_limit)
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
        indptr, indices, _ = symmetric_csr(self.edges, self.n_nodes)
        return color_graph(indptr, indices, n_colors, deadline).labels


def _contract(constraints: Constraints, used: IntArray) -> _Graph:
    counts = np.zeros(constraints.n_pairs, dtype=bool)
    counts[used] = True
    must = constraints.kind > 0
    node_of, n_nodes = connected(constraints.pairs[counts & must], constraints.n_samples)
    edges, pair_edge = distinct_edges(constraints.pairs, node_of, counts & ~must, n_nodes)
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
    """Numbers of edges that cannot be coloured, while without any one of them they can.

    Nodes are left out first, then edges: each node less makes every later proof shorter.
    """
    everything = _NodeClash(graph.edges, graph.n_nodes, n_colors, deadline)
    stuck = everything.refute(np.arange(graph.n_nodes))
    assert stuck is not None, "a refuted graph was coloured"
    edges = everything.edges_among(stuck)
    ends = np.searchsorted(stuck, graph.edges[edges])  # what is stuck may be little: count from 0
    by_node = _NodeClash(ends, stuck.size, n_colors, deadline)
    nodes, proven = deletion_filter(np.arange(stuck.size), by_node)
    left = by_node.edges_among(nodes)
    if proven and nodes.size > n_colors + 1:  # K + 1, all stuck, are a clique, which is minimal
        kept, proven = deletion_filter(
            np.arange(left.size), _EdgeClash(ends[left], n_colors, deadline)
        )
        left = left[kept]
    return edges[left], proven


class _NodeClash(NamedTuple):
    """Nodes of a graph with edges (E, 2) that cannot be coloured."""

    edges: IntArray
    n_nodes: int
    n_colors: int
    deadline: float

    def edges_among(self, nodes: IntArray) -> IntArray:
        """Numbers of the edges with both ends among the nodes."""
        there = np.zeros(self.n_nodes, dtype=bool)
        there[nodes] = True
        return np.flatnonzero(there[self.edges].all(axis=1))

    def refute(self, some: IntArray) -> IntArray | None:
        ends = np.searchsorted(some, self.edges[self.edges_among(some)])
        indptr, indices, _ = symmetric_csr(ends, some.size)
        stuck = color_graph(indptr, indices, self.n_colors, self.deadline).stuck
        return None if stuck is None else some[stuck]

    def also_needed(self, elements: IntArray, left_out: int) -> IntArray:
        return np.array([left_out])


class _EdgeClash:
    """Edges (E, 2) of a graph that cannot be coloured."""

    def __init__(self, edges: IntArray, n_colors: int, deadline: float) -> None:
        nodes, ends = np.unique(edges, return_inverse=True)
        self.ends, self.n_nodes = ends.reshape(-1, 2), nodes.size
        self.n_colors, self.deadline = n_colors, deadline

    def refute(self, some: IntArray) -> IntArray | None:
        indptr, indices, _ = symmetric_csr(self.ends[some], self.n_nodes)
        found = color_graph(indptr, indices, self.n_colors, self.deadline)
        self._labels = found.labels
        if found.stuck is None:
            return None
        is_stuck = np.zeros(self.n_nodes, dtype=bool)
        is_stuck[found.stuck] = True
        return some[is_stuck[self.ends[some]].all(axis=1)]

    def also_needed(self, elements: IntArray, left_out: int) -> IntArray:
        assert self._labels is not None
        ends = self.ends[elements]
        indptr, indices, edge_of = symmetric_csr(ends, self.n_nodes)
        at = int(np.searchsorted(elements, left_out))
        needed = rotate(indptr, indices, edge_of, ends, at, self.n_colors, self._labels)
        return elements[np.asarray(needed)]


def deletion_filter(elements: IntArray, clash: _Clash) -> tuple[IntArray, bool]:
    """A minimal subset that still clashes, and True; or False if time ran out on the way.

    Tries to leave out many elements at once, fewer where that fails and more where it succeeds.
    What is needed once stays needed in every smaller set, so no element is tried again after.
    """
    needed = np.empty(0, dtype=np.int64)
    size = max(1, elements.size // 2)
    while (open_ := np.setdiff1d(elements, needed, assume_unique=True)).size:
        tried = open_[:size]
        try:
            smaller = clash.refute(np.setdiff1d(elements, tried, assume_unique=True))
        except UndecidedFeasibility:  # the deadline has passed: later tests would end so too
            return elements, False
        if smaller is not None:
            elements, size = smaller, 2 * size
        elif tried.size == 1:
            needed = np.union1d(needed, clash.also_needed(elements, int(tried[0])))
        else:
            size = tried.size // 2
    return elements, True


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

    clash = _MustClash(small, always, n_colors, deadline)
    kept, proven = deletion_filter(np.searchsorted(chosen, in_doubt), clash)
    return np.union1d(np.setdiff1d(must, in_doubt), chosen[kept]), proven


class _MustClash(NamedTuple):
    """Must-links that clash with pairs `always` there."""

    constraints: Constraints
    always: IntArray
    n_colors: int
    deadline: float

    def refute(self, some: IntArray) -> IntArray | None:
        graph = _contract(self.constraints, np.sort(np.concatenate([self.always, some])))
        return None if graph.color(self.n_colors, self.deadline) is not None else some

    def also_needed(self, elements: IntArray, left_out: int) -> IntArray:
        return np.array([left_out])


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
