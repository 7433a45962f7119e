"""Compiled local search: row moves, component moves, and the loop over all kinds of move."""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

from coterie.inference._kempe_kernels import kempe_sweep
from coterie.inference._kernels import add_pair_costs, node_costs, pair_cost, shuffle
from coterie.inference._move_kernels import is_lower, saving, set_lead, touch


@njit(cache=True, nogil=True)
def best_move(i, unary, indptr, indices, same, differ, labels, costs):  # IN; OUT costs (K,)
    """Best label of node `i` if it lowers the energy, else its present one."""
    node_costs(i, unary, indptr, indices, same, differ, labels, costs)
    best = 0
    for k in range(1, costs.shape[0]):
        if costs[k] < costs[best]:
            best = k
    return best if is_lower(costs[best], costs[labels[i]]) else labels[i]


@njit(cache=True, nogil=True)
def row_sweep(
    first, unary, indptr, indices, same, differ, state, queue, costs, lead, active, dirty, labels
):  # IN; OUT state, queue, costs, lead, active, dirty, labels
    """Move the active nodes that gain by it, in random order; return the number of moves.

    Who would gain is found in memory order, so that the costs are read as one stream; whoever would
    not is looked at again when a neighbour moves.
    """
    count = 0
    for i in range(labels.shape[0]):
        if first:
            set_lead(i, unary, labels, lead)
        if not active[i]:
            continue
        active[i] = False
        if saving(i, indptr, indices, same, differ, labels) <= lead[i]:
            continue
        if best_move(i, unary, indptr, indices, same, differ, labels, costs) != labels[i]:
            queue[count] = i
            count += 1
    shuffle(queue, count, state)
    moves = 0
    for q in range(count):
        i = queue[q]
        best = best_move(i, unary, indptr, indices, same, differ, labels, costs)
        if best != labels[i]:
            labels[i] = best
            set_lead(i, unary, labels, lead)
            touch(i, indptr, indices, active, dirty)
            moves += 1
    return moves


@njit(cache=True, nogil=True)
def component_costs(
    c, unary, indptr, indices, same, differ, member_ptr, members, component, labels, costs
):  # IN; OUT costs (K,)
    """Cost of moving the whole of component `c` to each label; return what it costs now."""
    costs[:] = 0.0
    now = 0.0
    rest = 0.0  # part of every label's cost
    for m in range(member_ptr[c], member_ptr[c + 1]):
        i = members[m]
        now += unary[i, labels[i]]
        for k in range(costs.shape[0]):
            costs[k] += unary[i, k]
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if component[j] != c:
                rest += add_pair_costs(same, differ, e, labels[j], costs)
                now += pair_cost(same, differ, e, labels[i], labels[j])
            elif i < j:
                now += pair_cost(same, differ, e, labels[i], labels[j])
                if same.shape[1] == 1:
                    rest += same[e, 0]
                else:
                    for k in range(costs.shape[0]):
                        costs[k] += same[e, k]
    for k in range(costs.shape[0]):
        costs[k] += rest
    return now


@njit(cache=True, nogil=True)
def may_gain(c, indptr, indices, same, differ, member_ptr, members, component, lead, labels):  # IN
    """Whether component `c` may save more on its edges than it loses by leaving its labels."""
    gain = 0.0
    loss = 0.0  # if all leave one common label
    least = 0.0  # if some may stay
    common = True
    for m in range(member_ptr[c], member_ptr[c + 1]):
        i = members[m]
        common &= labels[i] == labels[members[member_ptr[c]]]
        loss += lead[i]
        least += min(lead[i], 0.0)
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if component[j] != c:
                gain += pair_cost(same, differ, e, labels[i], labels[j])
            elif i < j:
                gain += pair_cost(same, differ, e, labels[i], labels[j])
                if same.shape[1] == 1:
                    gain -= same[e, 0]  # to be paid under any common label
    return gain > (loss if common else least)


@njit(cache=True, nogil=True)
def component_sweep(
    unary,
    indptr,
    indices,
    same,
    differ,
    member_ptr,
    members,
    component,
    state,
    queue,
    costs,
    lead,
    active,
    dirty,
    labels,
):  # IN; OUT state, queue, costs, lead, active, dirty, labels
    """Offer each changed component one common label, in random order; return the moves taken."""
    count = 0
    for c in range(member_ptr.shape[0] - 1):
        changed = False
        for m in range(member_ptr[c], member_ptr[c + 1]):
            changed |= dirty[members[m]]
            dirty[members[m]] = False
        if changed and may_gain(
            c, indptr, indices, same, differ, member_ptr, members, component, lead, labels
        ):
            queue[count] = c
            count += 1
    shuffle(queue, count, state)
    moves = 0
    for q in range(count):
        c = queue[q]
        now = component_costs(
            c, unary, indptr, indices, same, differ, member_ptr, members, component, labels, costs
        )
        best = np.argmin(costs)
        if is_lower(costs[best], now):
            moves += 1
            for m in range(member_ptr[c], member_ptr[c + 1]):
                i = members[m]
                if labels[i] != best:
                    labels[i] = best
                    set_lead(i, unary, labels, lead)
                    touch(i, indptr, indices, active, dirty)
    return moves


@njit(cache=True, nogil=True)
def icm_run(
    unary,
    indptr,
    indices,
    same,
    differ,
    member_ptr,
    members,
    component,
    hard,
    seed,
    max_sweeps,
    limit,
    lead,
    labels,
):  # IN; lead (s,) as `set_lead` computes it, or (0,); OUT labels (s,): never made worse
    """Local search until no move of any kind helps, or `max_sweeps` row sweeps.

    Returns sweeps, converged, row moves, component moves, swaps, whether all swaps were tried.
    """
    s, n_labels = unary.shape
    state = np.array([seed], dtype=np.uint64)
    queue = np.empty(s, dtype=np.int64)
    costs = np.empty(n_labels)
    lead_known = lead.size == s
    if not lead_known:
        lead = np.empty(s)
    active = np.ones(s, dtype=np.bool_)
    dirty = np.ones(s, dtype=np.bool_)
    sweeps = row_moves = component_moves = swaps = 0
    complete = True
    while sweeps < max_sweeps:
        moved = row_sweep(
            sweeps == 0 and not lead_known,
            unary,
            indptr,
            indices,
            same,
            differ,
            state,
            queue,
            costs,
            lead,
            active,
            dirty,
            labels,
        )
        sweeps += 1
        row_moves += moved
        if moved > 0:
            continue
        moved = component_sweep(
            unary,
            indptr,
            indices,
            same,
            differ,
            member_ptr,
            members,
            component,
            state,
            queue,
            costs,
            lead,
            active,
            dirty,
            labels,
        )
        component_moves += moved
        if moved == 0 and hard:
            moved, complete = kempe_sweep(
                unary,
                indptr,
                indices,
                same,
                differ,
                limit,
                state,
                queue,
                costs,
                lead,
                active,
                dirty,
                labels,
            )
            swaps += moved
        if moved == 0:
            return sweeps, True, row_moves, component_moves, swaps, complete
    return sweeps, False, row_moves, component_moves, swaps, complete
