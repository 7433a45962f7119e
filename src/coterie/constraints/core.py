"""The core: what inference works on, after hard must-links are contracted into nodes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csc_array

from coterie._typing import BoolArray, FloatArray, IntArray
from coterie.constraints.exclusive import choose, of_nodes
from coterie.constraints.graph import connected, distinct_edges, sum_by_edge, symmetric_csr
from coterie.exceptions import InfeasibleConstraints, InvalidParameter

if TYPE_CHECKING:
    from coterie.constraints.constraints import Constraints


_NO_GROUPS = (np.zeros(1, dtype=np.int64), *np.empty((2, 0), dtype=np.int64))
_FEW_ROWS, _ROWS_A_PAIR = 1 << 16, 16  # up to which an array of all rows is nothing to save


@dataclass(frozen=True, eq=False, repr=False)
class Core:
    """Rows in informative pairs, hard must-links contracted, and the graph between the nodes.

    A pair is informative if its strength is positive, that is, if its weight is not 0. Rows of
    exclusive groups are in the core too.

    Attributes
    ----------
    rows : (r,) int64
        Rows that occur in an informative pair, sorted.
    node : (r,) int64
        Node of `rows[a]`; nodes are numbered by their smallest row.
    n_nodes : int
        Number of nodes, s.
    edges : (E, 2) int64
        Distinct node pairs a < b with an informative pair between them, sorted.
    must : (m,) bool
        Which of the user's pairs are must-links.
    pair_edge : (m,) int64
        Edge of each of the user's pairs; −1 inside a node, or if uninformative.
    inside_cannot : (·,) int64
        Numbers of the soft cannot-links inside a node: broken whatever the labels.
    inside_node : (·,) int64
        The node each of those lies in.
    indptr, indices, edge_of : (s+1,), (2E,), (2E,) int64
        Symmetric CSR adjacency: neighbours of node a are `indices[indptr[a]:indptr[a+1]]`, sorted,
        and `edge_of` gives the edge of each entry.
    n_samples : int
        Number of rows n of the data.
    group_ptr, group_nodes, group_number : (H+1,), (·,), (H,) int64
        Exclusive groups of nodes: no two of `group_nodes[group_ptr[h]:group_ptr[h+1]]` belong
        together, by group `group_number[h]` of the constraints.
    slot, node_of_row : (n,) int64
        Position of each row in `rows`, and its node; −1 outside the core.
    sizes : (s,) int64
        Number of rows in each node.
    members, member_ptr : (r,), (s+1,) int64
        Rows of node a are `members[member_ptr[a]:member_ptr[a+1]]`, sorted.
    first_rows : (s,) int64
        The smallest row of each node; rising.

    Those after `n_samples` are worked out when first asked for.
    """

    rows: IntArray
    node: IntArray
    n_nodes: int
    edges: IntArray
    must: BoolArray
    pair_edge: IntArray
    inside_cannot: IntArray
    inside_node: IntArray
    indptr: IntArray
    indices: IntArray
    edge_of: IntArray
    n_samples: int
    group_ptr: IntArray
    group_nodes: IntArray
    group_number: IntArray

    @cached_property
    def slot(self) -> IntArray:
        return self._by_row(np.arange(self.rows.size, dtype=np.int64))

    @cached_property
    def node_of_row(self) -> IntArray:
        return self._by_row(self.node)

    @cached_property
    def sizes(self) -> IntArray:
        return np.bincount(self.node, minlength=self.n_nodes)

    @cached_property
    def member_ptr(self) -> IntArray:
        starts = np.zeros(self.n_nodes + 1, dtype=np.int64)
        np.cumsum(self.sizes, out=starts[1:])
        return starts

    @cached_property
    def members(self) -> IntArray:
        return self.rows[np.argsort(self.node, kind="stable")]

    @cached_property
    def first_rows(self) -> IntArray:
        return self.members[self.member_ptr[:-1]]

    def slots_of(self, rows: IntArray) -> IntArray:
        """`slot` of some rows of any shape, without an array of all rows."""
        at = np.searchsorted(self.rows, rows)
        inside = np.append(self.rows, -1)[at] == rows
        return np.where(inside, at, -1)

    def members_of(self, nodes: IntArray) -> tuple[IntArray, IntArray]:
        """Rows of the listed nodes, and for each row the position of its node in the list."""
        sizes = self.sizes[nodes]
        owner = np.repeat(np.arange(sizes.size, dtype=np.int64), sizes)
        before = np.cumsum(sizes) - sizes
        return self.members[np.arange(owner.size) + (self.member_ptr[nodes] - before)[owner]], owner

    def _by_row(self, values: IntArray) -> IntArray:
        """`values` (r,) of the core's rows among all rows (n,), −1 elsewhere."""
        out = np.full(self.n_samples, -1, dtype=np.int64)
        out[self.rows] = values
        return out

    def contract(self, values: np.ndarray) -> np.ndarray:
        """Sum row values (r, …) over each node: (s, …)."""
        values = np.asarray(values)
        r = self.rows.size
        if values.shape[:1] != (r,):
            raise InvalidParameter(
                f"values has shape {values.shape}; its first axis must be the {r} rows of the core"
            )
        if self.n_nodes == r:
            return values.copy()  # nodes are numbered by row, so nothing moves
        # One entry a column: the node that row belongs to.
        members = csc_array(
            (np.ones(r, values.dtype), self.node, np.arange(r + 1)), shape=(self.n_nodes, r)
        )
        summed = members @ values.reshape(r, -1)
        return np.ascontiguousarray(summed).reshape(self.n_nodes, *values.shape[1:])

    def expand(self, node_values: np.ndarray, room: np.ndarray | None = None) -> np.ndarray:
        """Give each row its node's value: (s, …) → (r, …), in `room` (r, …) if it is given."""
        # Every node is there: with another mode NumPy would fill a copy of `room` first.
        return np.take(np.asarray(node_values), self.node, axis=0, out=room, mode="clip")

    def costs(self, pair_cost: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Pair costs (m,) or (m, K) summed over the pairs of each edge.

        Returns
        -------
        same, differ : (2E, 1 or K) float64
            In the order of `indices`: what equal labels cost (cannot-links) and what different
            labels cost (must-links).
        """
        cost = self._as_columns(pair_cost)
        n_edges = self.edges.shape[0]
        same, differ = (
            sum_by_edge(self.pair_edge, kind, cost, n_edges).take(self.edge_of, axis=0)
            for kind in (~self.must, self.must)
        )
        return same, differ

    def unary(self, pair_cost: ArrayLike) -> FloatArray:
        """Cost (s, 1 or K) that each node pays, by its label, for the cannot-links inside it."""
        cost = self._as_columns(pair_cost)
        out = np.zeros((self.n_nodes, cost.shape[1]))
        np.add.at(out, self.inside_node, cost[self.inside_cannot])
        return out

    def constant(self, pair_cost: ArrayLike) -> float:
        """Total cost of `inside_cannot`, for costs (m,) that do not depend on the cluster.

        For costs (m, K) per cluster it is no constant: add `unary(pair_cost)` to the unary costs.
        """
        cost = self._as_columns(pair_cost)
        if cost.shape[1] != 1:
            raise InvalidParameter(
                "pair_cost depends on the cluster, so pairs inside a node are no constant; "
                "add core.unary(pair_cost) to the unary costs instead"
            )
        return float(cost[self.inside_cannot].sum())

    def __repr__(self) -> str:
        return f"Core({self.rows.size} rows in {self.n_nodes} nodes, {self.edges.shape[0]} edges)"

    def _as_columns(self, pair_cost: ArrayLike) -> FloatArray:
        cost: Any = np.asarray(pair_cost, dtype=np.float64)
        if cost.ndim == 1:
            cost = cost[:, np.newaxis]
        if cost.ndim != 2 or cost.shape[0] != self.must.size:
            raise InvalidParameter(
                f"pair_cost has shape {np.shape(pair_cost)}; expected one cost, or one per cluster,"
                f" for each of the {self.must.size} pairs"
            )
        return np.ascontiguousarray(cost)


def build_core(constraints: Constraints) -> Core:
    """Contract hard must-links and build the node graph; linear in rows and pairs.

    Raises
    ------
    InfeasibleConstraints
        If hard must-links join the two ends of a hard cannot-link; `.conflict` holds the path
        and the cannot-link.
    """
    c = constraints
    must = c.kind > 0
    informative = c.weight > 0
    pairs, n, numbers = _among_their_rows(c)
    linked = pairs if informative.all() else pairs[informative]
    in_core = np.zeros(n, dtype=bool)
    in_core[linked.ravel()] = True
    groups = c.exclusive
    if groups.rows.size:
        groups = choose(groups, groups.weight > 0)
        if numbers is not None:
            groups = groups._replace(rows=np.searchsorted(numbers, groups.rows))
        in_core[groups.rows] = True
    rows = np.flatnonzero(in_core)

    component, _ = connected(pairs[must & c.is_hard], n)
    # Components that reach the core, renumbered; the numbering by smallest row is kept because a
    # component either lies in the core or is a single row outside it.
    node_of, n_nodes = _renumber(component, rows)
    edges, pair_edge = distinct_edges(pairs, node_of, informative, n_nodes)
    inside = np.flatnonzero(informative & ~must & (pair_edge < 0))
    _refuse_hard(c, inside)
    ptr, nodes, number = _NO_GROUPS
    if groups.rows.size:
        ptr, nodes, number = of_nodes(groups, node_of)
        number = np.flatnonzero(c.exclusive.weight > 0)[number]
    indptr, indices, edge_of = symmetric_csr(edges, n_nodes)
    return Core(
        rows=rows if numbers is None else numbers[rows],
        node=node_of[rows],
        n_nodes=n_nodes,
        edges=edges,
        must=must,
        pair_edge=pair_edge,
        inside_cannot=inside,
        inside_node=node_of[pairs[inside, 0]],
        indptr=indptr,
        indices=indices,
        edge_of=edge_of,
        n_samples=c.n_samples,
        group_ptr=ptr,
        group_nodes=nodes,
        group_number=number,
    )


def _among_their_rows(constraints: Constraints) -> tuple[IntArray, int, IntArray | None]:
    """The pairs (m, 2), how many rows they are counted among, and the numbers of these rows.

    Where most rows are in no pair or group, only those that are count (numbers (n,), rising), so
    that no array is as long as the data; else all of them do (None), which needs no sorting.
    """
    c = constraints
    if c.n_samples <= _FEW_ROWS + _ROWS_A_PAIR * (c.n_pairs + c.exclusive.rows.size):
        return c.pairs, c.n_samples, None
    numbers = np.unique(np.concatenate([c.pairs.ravel(), c.exclusive.rows]))
    return np.searchsorted(numbers, c.pairs), numbers.size, numbers


def _renumber(component: IntArray, rows: IntArray) -> tuple[IntArray, int]:
    """Node (n,) of every row, counting only components that hold one of `rows`; −1 elsewhere."""
    present = np.zeros(component.size, dtype=bool)
    present[component[rows]] = True
    number = np.cumsum(present) - 1
    node_of = np.full(component.size, -1, dtype=np.int64)
    node_of[rows] = number[component[rows]]
    return node_of, int(present.sum())


def _refuse_hard(constraints: Constraints, inside: IntArray) -> None:
    """Raise if any cannot-link inside a node is hard, or any two rows of a hard group."""
    grouped = constraints.exclusive.rows.size and constraints.exclusive.is_hard.any()
    if not constraints.is_hard[inside].any() and not grouped:
        return
    from coterie.constraints.conflicts import Conflicts

    conflicts = Conflicts(constraints, hard_only=True)
    if len(conflicts):
        raise InfeasibleConstraints(conflicts.describe(0), conflicts[0])
