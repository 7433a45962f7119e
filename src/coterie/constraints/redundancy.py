"""Pairs that say only what the other pairs imply."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import minimum_spanning_tree

from coterie._typing import IntArray
from coterie.sparse_indices import with_narrow_indices

if TYPE_CHECKING:
    from coterie.constraints.constraints import Constraints

__all__ = ["redundant_pairs"]


def redundant_pairs(constraints: Constraints, hard_only: bool = False) -> IntArray:
    """See `Constraints.redundant`."""
    counts = constraints.is_hard if hard_only else constraints.weight > 0
    component = constraints.closure(hard_only=hard_only).component
    must = np.flatnonzero(counts & (constraints.kind > 0))
    cannot = np.flatnonzero(counts & (constraints.kind < 0))
    ends = np.sort(component[constraints.pairs[cannot]], axis=1)
    between = ends[:, 0] != ends[:, 1]
    cannot, ends = cannot[between], ends[between]
    kept = np.zeros(constraints.n_pairs, dtype=bool)
    _, first = np.unique(ends, axis=0, return_index=True)
    kept[cannot[first]] = True
    kept[must[_forest(constraints.pairs[must])]] = True
    implied = np.zeros(constraints.n_pairs, dtype=bool)
    implied[must] = implied[cannot] = True
    return np.flatnonzero(implied & ~kept)


def _forest(pairs: IntArray) -> IntArray:
    """Numbers of pairs (m, 2) that form a spanning forest, earlier pairs preferred."""
    if not len(pairs):
        return np.empty(0, dtype=np.int64)
    distinct, first = np.unique(pairs, axis=0, return_index=True)
    rows, at = np.unique(distinct, return_inverse=True)
    a, b = at.reshape(distinct.shape).T
    # The number itself is the length of the edge, from 1 as zero would be no edge.
    graph = coo_array((first + 1.0, (a, b)), shape=(rows.size, rows.size)).tocsr()
    return minimum_spanning_tree(with_narrow_indices(graph)).data.astype(np.int64) - 1
