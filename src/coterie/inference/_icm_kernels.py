"""Compiled local search: moves of single nodes and of whole components.

Each kind of move is a kernel of its own and is compiled when there is work for it.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

from numba import njit
from numba.extending import register_jitable

from coterie.inference._kernels import add_pair_costs, node_costs, pair_cost, shuffle
from coterie.inference._move_kernels import is_lower, relabel, saving, set_lead


@register_jitable
def smallest(costs):  # IN
    """Position of the first smallest."""
    best = 0
    for k in range(1, costs.shape[0]):
        if costs[k] < costs[best]:
            best = k
    return best


@register_jitable
def best_move(i, model, labels, costs):  # IN; OUT costs (K,)
    """Best label of node `i` if it lowers the energy, else its present one."""
    node_costs(i, model, labels, costs)
    best = smallest(costs)
    return best if is_lower(costs[best], costs[labels[i]]) else labels[i]


@njit(cache=True, nogil=True)
def row_sweep(first, model, desk, labels):  # IN first: leads are not known yet; OUT desk, labels
    """Move the active nodes that gain by it, in random order; return the number of moves.

    Who would gain is found in memory order, so that the costs are read as one stream; whoever would
    not is looked at again when a neighbour moves.
    """
    count = 0
    for i in range(labels.shape[0]):
        if first:
            set_lead(i, model.unary, labels, desk.lead)
        if not desk.active[i]:
            continue
        desk.active[i] = False
        if saving(i, model, labels) <= desk.lead[i]:
            continue
        if best_move(i, model, labels, desk.costs) != labels[i]:
            desk.queue[count] = i
            count += 1
    shuffle(desk.queue, count, desk.state)
    moves = 0
    for q in range(count):
        i = desk.queue[q]
        best = best_move(i, model, labels, desk.costs)
        if best != labels[i]:
            relabel(i, best, model, desk, labels)
            moves += 1
    return moves


@register_jitable
def component_costs(c, model, plan, labels, costs):  # IN; OUT costs (K,)
    """Cost of moving the whole of component `c` to each label; return what it costs now."""
    same, differ = model.same, model.differ
    for k in range(costs.shape[0]):
        costs[k] = 0.0
    now = 0.0
    rest = 0.0  # part of every label's cost
    for m in range(plan.member_ptr[c], plan.member_ptr[c + 1]):
        i = plan.members[m]
        now += model.unary[i, labels[i]]
        for k in range(costs.shape[0]):
            costs[k] += model.unary[i, k]
        for e in range(model.indptr[i], model.indptr[i + 1]):
            j = model.indices[e]
            if plan.component[j] != c:
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


@register_jitable
def may_gain(c, model, plan, lead, labels):  # IN
    """Whether component `c` may save more on its edges than it loses by leaving its labels."""
    gain = 0.0
    loss = 0.0  # if all leave one common label
    least = 0.0  # if some may stay
    common = True
    for m in range(plan.member_ptr[c], plan.member_ptr[c + 1]):
        i = plan.members[m]
        common &= labels[i] == labels[plan.members[plan.member_ptr[c]]]
        loss += lead[i]
        least += min(lead[i], 0.0)
        for e in range(model.indptr[i], model.indptr[i + 1]):
            j = model.indices[e]
            inside = plan.component[j] == c
            if not inside or i < j:
                gain += pair_cost(model.same, model.differ, e, labels[i], labels[j])
            if inside and i < j and model.same.shape[1] == 1:
                gain -= model.same[e, 0]  # to be paid under any common label
    return gain > (loss if common else least)


@njit(cache=True, nogil=True)
def component_sweep(model, plan, desk, labels):  # IN; OUT desk, labels
    """Offer each changed component one common label, in random order; return the moves taken."""
    count = 0
    for c in range(plan.member_ptr.shape[0] - 1):
        changed = False
        for m in range(plan.member_ptr[c], plan.member_ptr[c + 1]):
            changed |= desk.dirty[plan.members[m]]
            desk.dirty[plan.members[m]] = False
        if changed and may_gain(c, model, plan, desk.lead, labels):
            desk.queue[count] = c
            count += 1
    shuffle(desk.queue, count, desk.state)
    moves = 0
    for q in range(count):
        c = desk.queue[q]
        now = component_costs(c, model, plan, labels, desk.costs)
        best = smallest(desk.costs)
        if is_lower(desk.costs[best], now):
            moves += 1
            for m in range(plan.member_ptr[c], plan.member_ptr[c + 1]):
                if labels[plan.members[m]] != best:
                    relabel(plan.members[m], best, model, desk, labels)
    return moves
