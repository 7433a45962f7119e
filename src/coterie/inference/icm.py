"""Iterated conditional modes: fast local search for a labelling of low energy.

Besag (1986), as section 3.3.6 of Basu et al. (2006) uses it.

Connected components of the graph are independent, so each may take its labels from whichever
search did best on it. A search that starts from earlier labels never leaves their valley; on
components of more than a few nodes (the crowd) a fresh one often finds a deeper one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from coterie._typing import FloatArray, IntArray
from coterie.exceptions import UndecidedFeasibility
from coterie.inference._kernels import RandomState, draw_seed
from coterie.inference._local_search import (
    IcmPlan,
    Savings,
    icm_plan,
    no_savings,
    run_moves,
    wholes_of,
)
from coterie.inference.contraction import contracted, on_contracted
from coterie.inference.feasible import feasible_start
from coterie.inference.model import (
    Inference,
    NoFeasibleLabels,
    PairwiseModel,
    cheapest_labels,
    check_labels,
    node_energies,
    subgraph,
    total_energy,
)

__all__ = [
    "Crowd",
    "better_by_component",
    "crowd_model",
    "crowd_of",
    "icm",
    "polish",
    "restart_crowd",
]


def icm(
    model: PairwiseModel,
    labels: ArrayLike | None = None,
    *,
    random_state: RandomState = None,
    max_sweeps: int = 100,
    plan: IcmPlan | None = None,
    max_chain: int = 1000,
    time_limit: float = 10.0,
) -> Inference:
    """Lower E by moves of single nodes, of whole must-link components, and swaps along hard edges.

    Three kinds of move, each taken only if it lowers E: a node to its best label, in a new random
    order each sweep (after the first, only nodes whose neighbourhood changed); a whole component
    of edges with ``differ > 0`` to one common label, which single moves cannot do; and, with hard
    edges, a swap of two labels along the chain of hard edges that forces it (a Kempe chain),
    without which hard cannot-links freeze single moves. Ends where no move of any kind helps.

    Parameters
    ----------
    labels : (s,), optional
        Start; the energy never rises above its energy. A start of infinite energy is replaced by
        `feasible_start`. Default: the better of two searches, from each node's cheapest label and
        from `component_start`.
    random_state : int, Generator, RandomState or None
    max_sweeps : int
        Bound on row sweeps; ``converged`` is False when it is reached.
    plan : IcmPlan, optional
        From `icm_plan`, to save finding components again when only costs have changed; with
        ``fresh=True`` if no `labels` are given.
    max_chain : int
        Longer chains of hard edges are not swapped (``report["all_chains_tried"]`` is then False).
    time_limit : float
        Seconds that `feasible_start` may take for exact search, where greed leads nowhere.

    Returns
    -------
    Inference
        Without marginals.

    Raises
    ------
    NoFeasibleLabels
        If hard edges and forbidden labels leave no labelling of finite energy.
    """
    plan = icm_plan(model) if plan is None else plan
    start = None if labels is None else check_labels(model, labels)
    if plan.welded:
        return on_contracted(
            model,
            start,
            lambda small, y: icm(
                small,
                y,
                random_state=random_state,
                max_sweeps=max_sweeps,
                max_chain=max_chain,
                time_limit=time_limit,
            ),
        )
    seed = draw_seed(random_state)
    limits = (max_sweeps, max_chain, time_limit)
    if start is not None:
        return _search_from(model, plan, start, seed, *limits)
    found = _search_from(model, plan, cheapest_labels(model), seed, *limits)
    together = component_start(model, plan, int(seed), time_limit)
    if together is None:
        return found
    other = _search_from(model, plan, together, seed, *limits)
    return min((found, other), key=lambda result: result.energy)


def component_start(
    model: PairwiseModel, plan: IcmPlan, seed: int, time_limit: float
) -> IntArray | None:
    """Labels (s,) that keep every must-link component whole, by `icm` on components as nodes.

    None where there is no such component, or hard cannot-links inside them leave none. Local
    moves from each node's own cheapest label satisfy cannot-links one by one and tear components
    that no later move mends; settled as wholes first, they stay together.
    """
    if plan.groups.member_ptr.size < 2:
        return None
    wholes = wholes_of(model) if plan.wholes is None else plan.wholes
    small = contracted(model, wholes.contraction)
    if not np.isfinite(small.unary).any(axis=1).all():
        return None
    try:
        found = icm(small, random_state=seed, plan=wholes.plan, time_limit=time_limit)
        return found.labels[wholes.contraction.group]
    except (NoFeasibleLabels, UndecidedFeasibility):
        return None


def _search_from(
    model: PairwiseModel,
    plan: IcmPlan,
    y: IntArray,
    seed: np.uint64,
    max_sweeps: int,
    max_chain: int,
    time_limit: float,
) -> Inference:
    """Local search from `y`, or from a feasible start where hard edges make its energy infinite."""
    # Without hard edges the first sweep leaves forbidden labels by itself.
    restarted = plan.hard and not np.isfinite(total_energy(model, y))
    if restarted:
        y = feasible_start(model, np.random.default_rng(int(seed)), time_limit=time_limit)
    found = _search(model, plan, y, seed, max_sweeps, max_chain, restarted)
    if np.isfinite(found.energy):
        return found
    y = feasible_start(model, np.random.default_rng(int(seed)), time_limit=time_limit)
    return _search(model, plan, y, seed, max_sweeps, max_chain, True)


def polish(
    model: PairwiseModel,
    plan: IcmPlan,
    labels: IntArray,
    lead: FloatArray | None,
    random_state: RandomState = None,
    savings: Savings | None = None,
) -> tuple[IntArray, Savings]:
    """`icm` from `labels` of finite energy for callers in a loop: checks nothing, returns labels.

    `lead` (s,) is what each node's cheapest other label costs above its own by unary costs alone,
    if the caller knows it; the unary costs of nodes that cannot gain are then not even read. It is
    overwritten. `savings` are those that came with `labels` from the last call, if no cost of a
    pair has changed; then edges are read only where labels change.
    """
    y = labels.copy()
    if savings is None or savings.costs is not model.same:
        savings = no_savings(model)
    else:
        savings = Savings(model.same, savings.saving.copy(), savings.stale.copy())
    run_moves(model, plan, y, lead, draw_seed(random_state), 100, 1000, savings)
    return y, savings


def _search(
    model: PairwiseModel,
    plan: IcmPlan,
    y: IntArray,
    seed: np.uint64,
    max_sweeps: int,
    max_chain: int,
    restarted: bool,
) -> Inference:
    done = run_moves(model, plan, y, None, seed, max_sweeps, max_chain, no_savings(model))
    report = {
        "row_moves": done.row_moves,
        "component_moves": done.component_moves,
        "swaps": done.swaps,
        "all_chains_tried": done.all_chains_tried,
        "feasible_start": restarted,
    }
    value = total_energy(model, y)
    return Inference(y, None, value, None, done.sweeps, done.converged, report)


# -- crowded components ----------------------------------------------------------------------------
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
