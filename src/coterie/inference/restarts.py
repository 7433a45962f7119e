"""Keep, component by component, the better of several labellings; search crowded ones afresh.

Connected components of the graph are independent, so each may take its labels from whichever
search did best on it. A search that starts from earlier labels never leaves their valley; on
components of more than a few nodes a fresh one often finds a deeper one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coterie._typing import IntArray
from coterie.exceptions import UndecidedFeasibility
from coterie.inference._local_search import IcmPlan
from coterie.inference._random import RandomState
from coterie.inference.icm import icm
from coterie.inference.model import (
    NoFeasibleLabels,
    PairwiseModel,
    node_energies,
    subgraph,
)

__all__ = ["Crowd", "better_by_component", "crowd_model", "crowd_of", "restart_crowd"]


class Crowd(NamedTuple):
    """The nodes of components that are too large for local search to settle by itself.

    Attributes
    ----------
    nodes : (c,) int64
    indptr, indices : CSR of the graph among them
    entries : (·,) int64
        Positions of its entries in the whole graph's CSR.
    component : (c,) int64
        Component of each node.
    """

    nodes: IntArray
    indptr: IntArray
    indices: IntArray
    entries: IntArray
    component: IntArray


def crowd_of(model: PairwiseModel, component: IntArray, least: int = 3) -> Crowd | None:
    """The components (s,) of at least `least` nodes, or None if there are none. Depends on the
    graph alone: make it once, use it for every unary.
    """
    sizes = np.bincount(component, minlength=1)
    nodes = np.flatnonzero(sizes[component] >= least) if model.n_nodes else np.empty(0, np.int64)
    if not nodes.size:
        return None
    part, entries = subgraph(model, nodes)
    _, number = np.unique(component[nodes], return_inverse=True)
    return Crowd(nodes, part.indptr, part.indices, entries, number.astype(np.int64))


def crowd_model(model: PairwiseModel, crowd: Crowd) -> PairwiseModel:
    """The model of the crowd alone."""
    return PairwiseModel(
        np.ascontiguousarray(model.unary[crowd.nodes]),
        crowd.indptr,
        crowd.indices,
        np.ascontiguousarray(model.same[crowd.entries]),
        np.ascontiguousarray(model.differ[crowd.entries]),
    )


def restart_crowd(
    model: PairwiseModel,
    crowd: Crowd,
    labels: IntArray,
    random_state: RandomState = None,
    plan: IcmPlan | None = None,
) -> tuple[IntArray, float]:
    """Labels after a fresh search of the crowd, and the share of its energy that this saved.

    `plan` is that of `crowd_model`, for callers in a loop.
    """
    part = crowd_model(model, crowd)
    try:
        fresh = icm(part, random_state=random_state, plan=plan).labels
    except (NoFeasibleLabels, UndecidedFeasibility):
        return labels, 0.0  # where hard pairs hardly leave a way, what is there is kept
    before = labels[crowd.nodes]
    merged, (old, new) = _better(part, crowd.component, before, fresh)
    labels = labels.copy()
    labels[crowd.nodes] = merged
    if old == new:
        return labels, 0.0
    return labels, float((old - new) / (abs(old) or abs(new)))  # from nothing, all of it is saved


def better_by_component(
    model: PairwiseModel, component: IntArray, one: IntArray, two: IntArray
) -> IntArray:
    """For each component the labels of lower energy, those of `one` where equal."""
    return _better(model, component, one, two)[0]


def _better(
    model: PairwiseModel, component: IntArray, one: IntArray, two: IntArray
) -> tuple[IntArray, tuple[float, float]]:
    """`better_by_component`, and the energies of `one` and of what is returned."""
    nodes = [node_energies(model, labels) for labels in (one, two)]
    energies = [np.bincount(component, weights=each) for each in nodes]
    margin = 1e-12 * np.abs(energies[0])
    gains = energies[1] < energies[0] - np.where(np.isfinite(margin), margin, 0.0)
    best = np.where(gains, energies[1], energies[0])
    return np.where(gains[component], two, one), (float(energies[0].sum()), float(best.sum()))
