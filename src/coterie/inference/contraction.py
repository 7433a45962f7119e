"""Hard must-links welded into single nodes, so that no engine has to move two nodes at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from coterie._typing import FloatArray, IntArray
from coterie.inference.model import (
    Inference,
    NoFeasibleLabels,
    PairwiseModel,
    components,
    entry_rows,
)

__all__ = ["Contraction", "contract", "on_contracted"]


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
    """

    group: IntArray
    n_groups: int
    outside: IntArray
    entry: IntArray


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
    n_groups, group = components(model, welded)
    rows = entry_rows(model)
    a, b = group[rows], group[model.indices]
    unary = _summed(model.unary, group, n_groups)
    inner = (a == b) & (rows < model.indices)
    unary += _summed(model.same[inner], a[inner], n_groups)
    outside = np.flatnonzero(a != b)
    pairs, entry = np.unique(a[outside] * n_groups + b[outside], return_inverse=True)
    counts = np.bincount(pairs // n_groups, minlength=n_groups)
    small = PairwiseModel(
        unary,
        np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        pairs % n_groups,
        _summed(model.same[outside], entry, pairs.shape[0]),
        _summed(model.differ[outside], entry, pairs.shape[0]),
    )
    return small, Contraction(group, n_groups, outside, entry)


def _summed(costs: FloatArray, entry: IntArray, n_entries: int) -> FloatArray:
    """Sum (n_entries, ·) of the rows of `costs` that fall on each entry."""
    r = entry.shape[0]
    # One entry a column: where that row goes.
    to = csc_array((np.ones(r), entry, np.arange(r + 1)), shape=(n_entries, r))
    return np.ascontiguousarray(to @ costs)


def on_contracted(
    model: PairwiseModel,
    labels: IntArray | None,
    run: Callable[[PairwiseModel, IntArray | None], Inference],
) -> Inference:
    """`run` on the model with hard must-links welded, its answer told of the nodes of `model`.

    A start that splits a welded group is not used.
    """
    contracted = contract(model)
    if contracted is None:
        return run(model, labels)
    small, contraction = contracted
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
