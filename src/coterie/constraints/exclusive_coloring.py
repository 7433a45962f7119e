"""Labels that keep exclusive groups: too large a group, or labels found group by group."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from coterie._typing import IntArray
from coterie.constraints.graph import symmetric_csr
from coterie.exceptions import InfeasibleConstraints, InvalidParameter, UndecidedFeasibility

if TYPE_CHECKING:
    from coterie.constraints.constraints import Constraints

NodeGroups = tuple[IntArray, IntArray, IntArray]  # `ptr`, `nodes`, `number`, see `of_nodes`

_MOST_PAIRS = 2_000_000  # that groups are written out as for the exact search


def refuse_large_groups(
    constraints: Constraints, node_of: IntArray, sets: NodeGroups, n_clusters: int
) -> None:
    """Raise if a group holds more nodes than there are clusters, naming K + 1 rows of it."""
    ptr, nodes, _ = sets
    large = np.flatnonzero(np.diff(ptr) > n_clusters)
    if not large.size:
        return
    from coterie.constraints.constraints import Constraints

    some = nodes[ptr[large[0]] : ptr[large[0]] + n_clusters + 1]
    rows = np.unique(node_of, return_index=True)[1][some]  # the first row of each node
    conflict = Constraints(constraints.n_samples, exclusive=[rows], exclusive_weight=np.inf)
    shown = ", ".join(map(str, np.sort(rows)[:12])) + (", …" if rows.size > 12 else "")
    raise InfeasibleConstraints(
        f"an exclusive group of {np.diff(ptr)[large[0]]} rows (or groups of rows that belong "
        f"together) needs as many clusters, and there are {n_clusters}; {rows.size} of its rows "
        f"are {shown}. Raise n_clusters, or take rows out of the group",
        conflict,
    )


def color_with_groups(
    edges: IntArray, n_nodes: int, sets: NodeGroups, n_clusters: int
) -> IntArray | None:
    """Labels (s,) that part the ends of `edges` and the nodes of every group; None if not found.

    The largest group first, each by a matching of its nodes with the labels they may have; then
    the other nodes, those of most edges first. Fails only where groups overlap or pairs interfere.
    """
    indptr, indices, _ = symmetric_csr(edges, n_nodes)
    ptr, nodes, _ = sets
    barred = _Barred(indptr, indices, ptr, nodes, n_clusters)
    colors = np.full(n_nodes, -1, dtype=np.int64)
    for h in np.argsort(-np.diff(ptr), kind="stable"):
        members = nodes[ptr[h] : ptr[h + 1]]
        left = members[colors[members] < 0]
        free = np.setdiff1d(np.arange(n_clusters), colors[members])
        if barred.is_plain[left].all():
            colors[left] = free[: left.size]
            continue
        allowed = np.array([barred.allowed(node, colors)[free] for node in left])
        found = maximum_bipartite_matching(csr_array(allowed), perm_type="column")
        if (found < 0).any():
            return None
        colors[left] = free[found]
    rest = np.flatnonzero(colors < 0)
    for node in rest[np.argsort(-np.diff(indptr)[rest], kind="stable")]:
        free = np.flatnonzero(barred.allowed(node, colors))
        if not free.size:
            return None
        colors[node] = free[0]
    return colors


class _Barred:
    """Which labels a node may have beside those that are labelled already."""

    def __init__(
        self,
        indptr: IntArray,
        indices: IntArray,
        ptr: IntArray,
        nodes: IntArray,
        n_clusters: int,
    ) -> None:
        self.indptr, self.indices, self.n_clusters = indptr, indices, n_clusters
        self.members = np.split(nodes, ptr[1:-1])
        by_node = np.argsort(nodes, kind="stable")
        n_nodes = indptr.size - 1
        self.group = np.repeat(np.arange(ptr.size - 1), np.diff(ptr))[by_node]
        self.group_ptr = np.searchsorted(nodes[by_node], np.arange(n_nodes + 1))
        # In one group and no pair: it may have whatever the group leaves.
        self.is_plain = (np.diff(self.group_ptr) <= 1) & (np.diff(indptr) == 0)

    def allowed(self, node: int, colors: IntArray) -> np.ndarray:
        """Whether the node may have each label, (K,) bool."""
        own = self.group[self.group_ptr[node] : self.group_ptr[node + 1]]
        near = [self.indices[self.indptr[node] : self.indptr[node + 1]]]
        used = colors[np.concatenate([*near, *(self.members[h] for h in own)])]
        out = np.ones(self.n_clusters, dtype=bool)
        out[used[used >= 0]] = False
        return out


def written_whole(constraints: Constraints) -> Constraints:
    """The constraints with their groups as pairs, for the exact search."""
    try:
        return constraints.expanded(_MOST_PAIRS)
    except InvalidParameter as error:
        raise UndecidedFeasibility(
            "labels group by group did not come out, and for the exact search the exclusive "
            f"groups are too large: {error}"
        ) from error
