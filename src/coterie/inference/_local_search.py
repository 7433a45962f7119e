"""The loop over all kinds of move of the local search.

Who may gain by a move is looked up on ranges of nodes side by side, and does not depend on how
many; the moves themselves are made one after another. The labels are therefore the same for any
number of threads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._typing import FloatArray, IntArray
from coterie.data import num_threads, thread_pool
from coterie.inference._icm_kernels import (
    hopeful_groups,
    move_groups,
)
from coterie.inference._kempe_kernels import kempe_sweep
from coterie.inference._move_kernels import Desk
from coterie.inference.model import PairwiseModel, components

_ALONE = 16384  # nodes that one thread looks through sooner than another is called


class Groups(NamedTuple):
    """Sets of nodes that move as one.

    Attributes
    ----------
    member_ptr, members : (c + 1,), (·,) int64
        Nodes of each group.
    component : (s,) int64
        Group of each node, −1 where it is in none.
    """

    member_ptr: IntArray
    members: IntArray
    component: IntArray


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
    """

    single: Groups
    groups: Groups
    hard: bool
    welded: bool


class Moves(NamedTuple):
    """What a local search did."""

    sweeps: int
    converged: bool
    row_moves: int
    component_moves: int
    swaps: int
    all_chains_tried: bool


def icm_plan(model: PairwiseModel) -> IcmPlan:
    """Components and hardness of `model`, valid while its zero and infinite costs stay in place."""
    infinite = np.isinf(model.differ)
    each = np.arange(model.n_nodes + 1, dtype=np.int64)
    return IcmPlan(
        Groups(each, each[:-1], each[:-1]),
        _groups(model),
        bool(infinite.any() or np.isinf(model.same).any()),
        bool(infinite.all(axis=1).any()),
    )


def _groups(model: PairwiseModel) -> Groups:
    _, component = components(model, np.any(model.differ > 0, axis=1))
    sizes = np.bincount(component, minlength=1)
    several = sizes > 1
    number = np.where(several, np.cumsum(several) - 1, -1)
    component = number[component] if component.size else component
    members = np.argsort(component, kind="stable")
    members = members[np.count_nonzero(component < 0) :]
    return Groups(
        np.concatenate(([0], np.cumsum(sizes[several]))).astype(np.int64),
        members.astype(np.int64),
        component.astype(np.int64),
    )


def run_moves(
    model: PairwiseModel,
    plan: IcmPlan,
    y: IntArray,
    lead: FloatArray | None,
    seed: np.uint64,
    max_sweeps: int,
    max_chain: int,
) -> Moves:
    """Move `y`, in place, until no move of any kind helps or after `max_sweeps` row sweeps.

    The dearer kinds of move are tried, and compiled, only where they have something to do.
    """
    s = model.n_nodes
    desk = Desk(
        state=np.array([seed], dtype=np.uint64),
        queue=np.empty(s, dtype=np.int64),
        costs=np.empty(model.n_labels),
        lead=np.full(s, -np.inf) if lead is None else lead,
        active=np.ones(s, dtype=np.bool_),
        dirty=np.ones(s, dtype=np.bool_),
    )
    sweeps = row_moves = component_moves = swaps = 0
    complete = True
    while sweeps < max_sweeps:
        count = _look(model, plan.single, desk.active, desk, y)
        moved = move_groups(model, plan.single, count, desk, y) if count else 0
        sweeps += 1
        row_moves += moved
        if moved:
            continue
        if plan.groups.members.size:
            count = _look(model, plan.groups, desk.dirty, desk, y)
            moved = move_groups(model, plan.groups, count, desk, y) if count else 0
            component_moves += moved
        if not moved and plan.hard:
            moved, complete = kempe_sweep(model, max_chain, desk, y)
            swaps += moved
        if not moved:
            return Moves(sweeps, True, row_moves, component_moves, swaps, complete)
    return Moves(sweeps, False, row_moves, component_moves, swaps, complete)


def _look(
    model: PairwiseModel, groups: Groups, changed: NDArray[np.bool_], desk: Desk, y: IntArray
) -> int:
    """Fill the queue with the changed groups that may gain, in order; count them."""
    n = groups.member_ptr.size - 1
    threads = max(1, min(num_threads(), int(np.count_nonzero(changed)) // _ALONE))
    if threads == 1:
        return hopeful_groups(model, groups, 0, n, changed, desk, y)
    bounds = np.linspace(0, n, threads + 1).astype(np.int64).tolist()
    counts = thread_pool(threads).map(
        lambda lo, hi: hopeful_groups(model, groups, lo, hi, changed, desk, y), bounds, bounds[1:]
    )
    total = 0
    for lo, count in zip(bounds, counts, strict=False):
        desk.queue[total : total + count] = desk.queue[lo : lo + count]
        total += count
    return total
