"""The loop over all kinds of move of the local search.

Connected components of the graph do not touch each other, so a large graph is cut into parts of
whole components, and each part is searched by itself with random bits of its own. How it is cut
depends on the graph alone: the labels are the same for any number of threads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._typing import FloatArray, IntArray
from coterie.data import num_threads, thread_pool
from coterie.inference._kempe_kernels import kempe_sweep
from coterie.inference._move_kernels import Desk, hopeful_groups, move_groups, sweep_nodes
from coterie.inference.contraction import Contraction, contracted, contraction_of
from coterie.inference.model import PairwiseModel, components

_PART_NODES = 32768  # of a part, about: below that another thread costs more than it brings
_MOST_PARTS = 8


class Groups(NamedTuple):
    """Sets of nodes that move as one, those of a part behind those of the part before.

    Attributes
    ----------
    member_ptr, members : (c + 1,), (·,) int64
        Nodes of each group.
    component : (s,) int64
        Group of each node, −1 where it is in none.
    edges : (P + 1,) int64
        Where the groups of each part begin.
    """

    member_ptr: IntArray
    members: IntArray
    component: IntArray
    edges: IntArray


class IcmPlan(NamedTuple):
    """What `icm` needs to know of a graph whatever the unary costs: make it once, use it often.

    Attributes
    ----------
    single : Groups
        Every node by itself.
    groups : Groups
        Components of two or more nodes joined by edges with ``differ > 0``.
    hard : bool
        Whether any cost is infinite.
    welded : bool
        Whether any must-link is hard and has to be contracted.
    wholes : Wholes or None
        For searches from scratch; found when first needed if it is not here.
    """

    single: Groups
    groups: Groups
    hard: bool
    welded: bool
    wholes: Wholes | None = None


class Wholes(NamedTuple):
    """The `groups` of a plan as nodes of a smaller graph, and the plan of that."""

    contraction: Contraction
    plan: IcmPlan


class Savings(NamedTuple):
    """What each node of a labelling can save on its edges at most, where that is not `stale` (s,).

    It holds for the labels that a search ended with, and while the pairs cost the same: `costs` is
    the model's own array of these.
    """

    costs: FloatArray
    saving: FloatArray
    stale: NDArray[np.bool_]


class Moves(NamedTuple):
    """What a local search did."""

    sweeps: int
    converged: bool
    row_moves: int
    component_moves: int
    swaps: int
    all_chains_tried: bool


def icm_plan(model: PairwiseModel, fresh: bool = False) -> IcmPlan:
    """Components and hardness of `model`, valid while its zero and infinite costs stay in place.

    With `fresh` it serves searches from scratch too.
    """
    infinite = np.isinf(model.differ)
    part, n_parts = _parts(model)
    joined = components(model, np.any(model.differ > 0, axis=1))
    plan = IcmPlan(
        _single(part, n_parts),
        _grouped(joined[1], part, n_parts, least=2),
        bool(infinite.any() or np.isinf(model.same).any()),
        bool(infinite.all(axis=1).any()),
    )
    has_wholes = plan.groups.member_ptr.size > 1 and not plan.welded
    return plan._replace(wholes=_wholes(model, *joined)) if fresh and has_wholes else plan


def wholes_of(model: PairwiseModel) -> Wholes:
    """Must-link components as nodes; valid as long as the plan of `model` is."""
    return _wholes(model, *components(model, np.any(model.differ > 0, axis=1)))


def _wholes(model: PairwiseModel, count: int, component: IntArray) -> Wholes:
    contraction = contraction_of(model, count, component)
    return Wholes(contraction, icm_plan(contracted(model, contraction)))


def _parts(model: PairwiseModel) -> tuple[IntArray, int]:
    """Part (s,) of each node, whole components of about equally many nodes, and their number."""
    n_parts = max(1, min(model.n_nodes // _PART_NODES, _MOST_PARTS))
    if n_parts == 1:
        return np.zeros(model.n_nodes, dtype=np.int64), 1
    _, component = components(model)
    sizes = np.bincount(component)
    middles = np.cumsum(sizes) - sizes / 2
    return (middles * n_parts / model.n_nodes).astype(np.int64)[component], n_parts


def _single(part: IntArray, n_parts: int) -> Groups:
    """Every node by itself."""
    s = part.size
    nodes = np.arange(s)
    if n_parts == 1:  # in their order: nothing to sort
        return Groups(np.arange(s + 1), nodes, nodes, np.array([0, s]))
    return _grouped(nodes, part, n_parts, least=1)


def _grouped(group: IntArray, part: IntArray, n_parts: int, least: int) -> Groups:
    """The groups of at least so many nodes, from the number (s,) of each node's group."""
    sizes = np.bincount(group, minlength=1)
    if sizes.max() < least:
        nothing, starts = np.empty(0, dtype=np.int64), np.zeros(n_parts + 1, dtype=np.int64)
        return Groups(starts[:1], nothing, np.full(group.size, -1), starts)
    part_of = np.zeros(sizes.size, dtype=np.int64)
    part_of[group] = part
    kept = np.flatnonzero(sizes >= least)
    kept = kept[np.argsort(part_of[kept], kind="stable")]
    number = np.full(sizes.size, -1)
    number[kept] = np.arange(kept.size)
    component = number[group]
    members = np.argsort(component, kind="stable")[np.count_nonzero(component < 0) :]
    return Groups(
        np.concatenate(([0], np.cumsum(sizes[kept]))).astype(np.int64),
        members.astype(np.int64),
        component.astype(np.int64),
        np.searchsorted(part_of[kept], np.arange(n_parts + 1)),
    )


def run_moves(
    model: PairwiseModel,
    plan: IcmPlan,
    y: IntArray,
    lead: FloatArray | None,
    seed: np.uint64,
    max_sweeps: int,
    max_chain: int,
    savings: Savings,
) -> Moves:
    """Move `y`, in place, until no move of any kind helps or after `max_sweeps` row sweeps.

    `savings` are those of `y`, and are overwritten with those of where it ends.
    """
    s, edges = model.n_nodes, plan.single.edges.tolist()
    queue = np.empty(s, dtype=np.int64)
    lead = np.full(s, -np.inf) if lead is None else lead
    active, dirty = np.ones((2, s), dtype=np.bool_)

    def search(part: int) -> Moves:
        # Nodes of other parts are never neighbours: each part writes to its own only.
        desk = Desk(
            state=np.array([seed ^ np.uint64(part)], dtype=np.uint64),
            queue=queue[edges[part] : edges[part + 1]],
            costs=np.empty(model.n_labels),
            lead=lead,
            active=active,
            dirty=dirty,
            saving=savings.saving,
            stale=savings.stale,
        )
        return _search_part(model, plan, part, desk, y, max_sweeps, max_chain)

    n_parts = len(edges) - 1
    if n_parts == 1:
        return search(0)
    threads = min(num_threads(), n_parts)
    searches = map if threads == 1 else thread_pool(threads).map
    return _together(list(searches(search, range(n_parts))))


def no_savings(model: PairwiseModel) -> Savings:
    """All of them still to be found."""
    return Savings(model.same, np.empty(model.n_nodes), np.ones(model.n_nodes, dtype=np.bool_))


def _together(done: list[Moves]) -> Moves:
    sweeps, converged, row_moves, component_moves, swaps, tried = zip(*done, strict=True)
    return Moves(
        max(sweeps), all(converged), sum(row_moves), sum(component_moves), sum(swaps), all(tried)
    )


def _search_part(
    model: PairwiseModel,
    plan: IcmPlan,
    part: int,
    desk: Desk,
    y: IntArray,
    max_sweeps: int,
    max_chain: int,
) -> Moves:
    """Move the nodes of a part until nothing helps.

    The dearer kinds of move are tried, and compiled, only where they have something to do.
    """
    lo, hi = plan.single.edges[part : part + 2].tolist()
    first, last = plan.groups.edges[part : part + 2].tolist()
    single, groups = plan.single[:3], plan.groups[:3]
    sweeps = row_moves = component_moves = swaps = 0
    complete = True
    while sweeps < max_sweeps:
        more, moved, still = sweep_nodes(model, single, lo, hi, desk, y, max_sweeps - sweeps)
        sweeps += more
        row_moves += moved
        if not still:
            break
        moved = 0
        if first < last:
            count = hopeful_groups(model, groups, first, last, desk, y)
            moved = move_groups(model, groups, count, desk, y) if count else 0
            component_moves += moved
        if not moved and plan.hard:
            moved, complete = kempe_sweep(model, plan.single.members[lo:hi], max_chain, desk, y)
            swaps += moved
        if not moved:
            return Moves(sweeps, True, row_moves, component_moves, swaps, complete)
    return Moves(sweeps, False, row_moves, component_moves, swaps, complete)
