"""Compiled local search: moves of single nodes and of whole components.

Each kind of move is a kernel of its own and is compiled when there is work for it.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

from numba import njit
from numba.extending import register_jitable

from coterie.inference._kernels import add_pair_costs, node_costs, pair_cost, shuffle
from coterie.inference._move_kernels import is_lower, relabel, saving, set_lead


@njit(inline="always")
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
    unary, queue, costs = model.unary, desk.queue, desk.costs
    lead, active = desk.lead, desk.active
    count = 0
    for i in range(labels.shape[0]):
        if first:
            set_lead(i, unary, labels, lead)
        if not active[i]:
            continue
        active[i] = False
        if saving(i, model, labels) <= lead[i]:
            continue
        if best_move(i, model, labels, costs) != labels[i]:
            queue[count] = i
            count += 1
    shuffle(queue, count, desk.state)
    moves = 0
    for q in range(count):
        i = queue[q]
        best = best_move(i, model, labels, costs)
        if best != labels[i]:
            relabel(i, best, model, desk, labels)
            moves += 1
    return moves


@register_jitable
def survey(c, model, plan, lead, labels, price, costs):  # IN; OUT costs (K,) if `price`
    """What component `c` costs now, and whether moving the whole of it may save anything.

    With `price` also what it would cost under each label. It may save something if it can save more
    on its edges than it loses by leaving its labels.
    """
    unary, indptr, indices, same, differ = model
    n_labels = costs.shape[0]
    for k in range(n_labels):
        costs[k] = 0.0
    now = 0.0
    rest = 0.0  # part of every label's cost
    gain = 0.0
    loss = 0.0  # if all leave one common label
    least = 0.0  # if some may stay
    common = True
    for m in range(plan.member_ptr[c], plan.member_ptr[c + 1]):
        i = plan.members[m]
        common &= labels[i] == labels[plan.members[plan.member_ptr[c]]]
        loss += lead[i]
        if lead[i] < 0.0:
            least += lead[i]
        now += unary[i, labels[i]]
        if price:
            for k in range(n_labels):
                costs[k] += unary[i, k]
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            inside = plan.component[j] == c
            if inside and j < i:
                continue
            cost = pair_cost(same, differ, e, labels[i], labels[j])
            now += cost
            gain += cost
            if inside and same.shape[1] == 1:
                gain -= same[e, 0]  # to be paid under any common label
                rest += same[e, 0]
            elif inside and price:
                for k in range(n_labels):
                    costs[k] += same[e, k]
            elif price:
                rest += add_pair_costs(same, differ, e, labels[j], costs)
    for k in range(n_labels):
        costs[k] += rest
    return now, gain > (loss if common else least)


@njit(cache=True, nogil=True)
def component_sweep(model, plan, desk, labels):  # IN; OUT desk, labels
    """Offer each changed component one common label, in random order; return the moves taken."""
    member_ptr, members = plan.member_ptr, plan.members
    queue, costs, lead, dirty = desk.queue, desk.costs, desk.lead, desk.dirty
    count = 0
    for c in range(member_ptr.shape[0] - 1):
        changed = False
        for m in range(member_ptr[c], member_ptr[c + 1]):
            changed |= dirty[members[m]]
            dirty[members[m]] = False
        if changed and survey(c, model, plan, lead, labels, False, costs)[1]:
            queue[count] = c
            count += 1
    shuffle(queue, count, desk.state)
    moves = 0
    for q in range(count):
        c = queue[q]
        now, _ = survey(c, model, plan, lead, labels, True, costs)
        best = smallest(costs)
        if is_lower(costs[best], now):
            moves += 1
            for m in range(member_ptr[c], member_ptr[c + 1]):
                if labels[members[m]] != best:
                    relabel(members[m], best, model, desk, labels)
    return moves
