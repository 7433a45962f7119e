"""The strongest spanning forest of a pairwise model: a narrow model that no component is cut in."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

from coterie._typing import BoolArray
from coterie.inference.model import PairwiseModel, entry_rows, matching_entries
from coterie.sparse_indices import with_narrow_indices

__all__ = ["forest_entries", "keep_entries", "spanning_forest"]

_TIES = 0  # seed of the order among edges of one strength
_LARGE = 1e300  # in the place of infinity, where two are subtracted


def spanning_forest(model: PairwiseModel) -> PairwiseModel:
    """`model` with the edges of its strongest spanning forest only: a tree for each component.

    Costs are never negative, so no labelling costs more than it did: log Z of the forest, which is
    found exactly, is an upper bound on log Z of the model.
    """
    return keep_entries(model, forest_entries(model))


def forest_entries(model: PairwiseModel) -> BoolArray:
    """CSR entries (2E,) of the strongest spanning forest, both directions of each of its edges.

    The strength of an edge is the largest difference between the cost of equal and of different
    labels. Among equals an order decides that has nothing to do with the numbers of the nodes: low
    numbers would become hubs, and the order of rows often means something. It is the same order,
    and so the same forest, every time.
    """
    rows = entry_rows(model)
    once = np.flatnonzero(rows < model.indices)
    same, differ = (np.minimum(cost[once], _LARGE) for cost in (model.same, model.differ))
    strength = np.abs(same - differ).max(axis=1, initial=0.0)
    order = np.lexsort((np.random.default_rng(_TIES).random(once.size), -strength))
    rank = np.empty(once.size, dtype=np.int64)
    rank[order] = np.arange(once.size)
    shape = (model.n_nodes, model.n_nodes)
    graph = csr_array((rank + 1.0, (rows[once], model.indices[once])), shape)
    tree = minimum_spanning_tree(with_narrow_indices(graph))  # ranks differ, so it is one
    chosen = tree.data.astype(np.int64) - 1
    keep = np.zeros(rows.size, dtype=np.bool_)
    keep[once[order[chosen]]] = True
    return np.asarray(keep | keep[matching_entries(model)])


def keep_entries(model: PairwiseModel, keep: BoolArray) -> PairwiseModel:
    """`model` with only the CSR entries `keep` (2E,), which holds both directions of an edge."""
    count = np.bincount(entry_rows(model)[keep], minlength=model.n_nodes)
    return model._replace(
        indptr=np.concatenate(([0], np.cumsum(count))).astype(np.int64),
        indices=model.indices[keep],
        same=np.ascontiguousarray(model.same[keep]),
        differ=np.ascontiguousarray(model.differ[keep]),
    )
