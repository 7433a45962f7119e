"""Hard must-links welded into single nodes, so that no engine has to move two nodes at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from coterie._typing import IntArray
from coterie.inference.model import (
    Inference,
    NoFeasibleLabels,
    PairwiseModel,
    components,
    entry_rows,
)

__all__ = ["Contraction", "contract", "contracted", "contraction_of", "on_contracted"]


class Contraction(NamedTuple):
    """Which nodes hard must-links weld together.

    Attributes
    ----------
    group : (s,) int64
        Group of each node.
    n_groups : int
    outside : (t,) int64
        CSR entries between groups.
    entry : (t,) int64
        The contracted model's entry of each.
    inner : (u,) int64
        CSR entries within groups, each edge once.
    indptr, indices : CSR of the contracted graph
    node_sums, inner_sums, entry_sums : sparse arrays (n_groups, s), (n_groups, u), (entries, t)
        Add what belongs to nodes, inner and outside entries up.
    """

    group: IntArray
    n_groups: int
    outside: IntArray
    entry: IntArray
    inner: IntArray
    indptr: IntArray
    indices: IntArray
    node_sums: csc_array
    inner_sums: csc_array
    entry_sums: csc_array


def contract(
    model: PairwiseModel, welded: NDArray[np.bool_] | None = None
) -> tuple[PairwiseModel, Contraction] | None:
    """Weld nodes joined by the entries `welded` (2E,) into groups; None if none are.

    By default those are the hard must-links (``differ = inf`` for every label). The energy of a
    labelling that keeps the groups whole is kept exactly: unary costs, the `same` costs of edges
    inside a group, and the costs of all edges between two groups are summed.
    """
    if welded is None:
        welded = np.all(np.isinf(model.differ), axis=1)
    if not welded.any():
        return None
    contraction = contraction_of(model, *components(model, welded))
    return contracted(model, contraction), contraction


def contraction_of(model: PairwiseModel, n_groups: int, group: IntArray) -> Contraction:
    """How nodes become the groups (s,) they are in, whatever their edges cost."""
    rows = entry_rows(model)
    a, b = group[rows], group[model.indices]
    inner = np.flatnonzero((a == b) & (rows < model.indices))
    outside = np.flatnonzero(a != b)
    pairs, entry = np.unique(a[outside] * n_groups + b[outside], return_inverse=True)
    counts = np.bincount(pairs // n_groups, minlength=n_groups)
    return Contraction(
        group,
        n_groups,
        outside,
        entry,
        inner,
        np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        pairs % n_groups,
        _sums(group, n_groups),
        _sums(a[inner], n_groups),
        _sums(entry, pairs.shape[0]),
    )


def contracted(model: PairwiseModel, contraction: Contraction) -> PairwiseModel:
    """The model whose nodes are the groups of `contraction`, which is one of its graph."""
    same, differ = model.same, model.differ
    unary = contraction.node_sums @ model.unary + contraction.inner_sums @ same[contraction.inner]
    return PairwiseModel(
        np.ascontiguousarray(unary),
        contraction.indptr,
        contraction.indices,
        np.ascontiguousarray(contraction.entry_sums @ same[contraction.outside]),
        np.ascontiguousarray(contraction.entry_sums @ differ[contraction.outside]),
    )


def _sums(entry: IntArray, n_entries: int) -> csc_array:
    """What adds up the rows that fall on each entry: one entry a column says where it goes."""
    r = entry.shape[0]
    return csc_array((np.ones(r), entry, np.arange(r + 1)), shape=(n_entries, r))


def on_contracted(
    model: PairwiseModel,
    labels: IntArray | None,
    run: Callable[[PairwiseModel, IntArray | None], Inference],
) -> Inference:
    """`run` on the model with hard must-links welded, its answer told of the nodes of `model`.

    A start that splits a welded group is not used.
    """
    welded = contract(model)
    if welded is None:
        return run(model, labels)
    small, contraction = welded
    start = None
    if labels is not None:
        start = np.zeros(contraction.n_groups, dtype=np.int64)
        start[contraction.group] = labels
        if (start[contraction.group] != labels).any():
            start = None
    try:
        found = run(small, start)
    except NoFeasibleLabels as error:
        nodes = np.flatnonzero(np.isin(contraction.group, error.nodes))
        raise NoFeasibleLabels(nodes, model.n_labels) from None
    return _expand(model, contraction, found)


def _expand(model: PairwiseModel, contraction: Contraction, found: Inference) -> Inference:
    """`found` on the contracted model, in terms of the nodes and entries of `model`."""
    edge_same = None
    if found.edge_same is not None:
        edge_same = np.ones(model.indices.shape[0])
        edge_same[contraction.outside] = found.edge_same[contraction.entry]
    group = contraction.group
    marginals = None if found.marginals is None else found.marginals[group]
    return found._replace(labels=found.labels[group], marginals=marginals, edge_same=edge_same)
