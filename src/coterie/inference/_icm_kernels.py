"""Compiled local search: moves of single nodes and of whole must-link components.

Looking and moving are kernels of their own: many can look at once, and what moves is compiled when
there is something to move.
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
def best_move(i, unary, indptr, indices, same, differ, labels, costs):  # IN; OUT costs (K,)
    """Best label of node `i` if it lowers the energy, else its present one."""
    node_costs(i, unary, indptr, indices, same, differ, labels, costs)
    best = smallest(costs)
    return best if is_lower(costs[best], costs[labels[i]]) else labels[i]


@njit(cache=True, nogil=True)
def gaining_nodes(first, model, lo, hi, desk, labels):  # IN first: leads are not known yet
    """Write which active nodes of lo, …, hi − 1 would gain by a move to ``queue[lo:]``; count them.

    In memory order, so that the costs are read as one stream; whoever would not gain is looked at
    again when a neighbour moves. Ranges can be looked through side by side.
    """  # OUT desk: lead, active and queue of this range, costs
    unary, indptr, indices, same, differ = model
    _, queue, costs, lead, active, _ = desk
    count = 0
    for i in range(lo, hi):
        if first:
            set_lead(i, unary, labels, lead)
        if not active[i]:
            continue
        active[i] = False
        if saving(i, indptr, indices, same, differ, labels) <= lead[i]:
            continue
        if best_move(i, unary, indptr, indices, same, differ, labels, costs) != labels[i]:
            queue[lo + count] = i
            count += 1
    return count


@njit(cache=True, nogil=True)
def move_nodes(model, count, desk, labels):  # IN; OUT desk, labels
    """Move the first `count` nodes of the queue that still gain, in random order; count moves."""
    unary, indptr, indices, same, differ = model
    state, queue, costs, lead, active, dirty = desk
    shuffle(queue, count, state)
    moves = 0
    for q in range(count):
        i = queue[q]
        best = best_move(i, unary, indptr, indices, same, differ, labels, costs)
        if best != labels[i]:
            relabel(i, best, unary, indptr, indices, lead, active, dirty, labels)
            moves += 1
    return moves


@njit(cache=True, nogil=True)
def gaining_groups(model, groups, lo, hi, desk, labels):  # IN
    """Write which changed groups of lo, …, hi − 1 may gain by moving whole to ``queue[lo:]``.

    A group may gain if it can save more on its edges than it loses by leaving its labels. Returns
    their number; ranges can be looked through side by side.
    """  # OUT desk: dirty and queue of this range
    _, indptr, indices, same, differ = model
    member_ptr, members, component = groups
    _, queue, _, lead, _, dirty = desk
    count = 0
    for c in range(lo, hi):
        changed = False
        common = True
        gain = 0.0
        loss = 0.0  # if all leave one common label
        least = 0.0  # if some may stay
        for m in range(member_ptr[c], member_ptr[c + 1]):
            changed |= dirty[members[m]]
            dirty[members[m]] = False
        if not changed:
            continue
        for m in range(member_ptr[c], member_ptr[c + 1]):
            i = members[m]
            common &= labels[i] == labels[members[member_ptr[c]]]
            loss += lead[i]
            least += lead[i] if lead[i] < 0.0 else 0.0
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                inside = component[j] == c
                if inside and j < i:
                    continue
                gain += pair_cost(same, differ, e, labels[i], labels[j])
                if inside and same.shape[1] == 1:
                    gain -= same[e, 0]  # to be paid under any common label
        if gain > (loss if common else least):
            queue[lo + count] = c
            count += 1
    return count


@njit(cache=True, nogil=True)
def move_groups(model, groups, count, desk, labels):  # IN; OUT desk, labels
    """Offer the first `count` groups of the queue a common label, in random order; count moves."""
    unary, indptr, indices, same, differ = model
    member_ptr, members, component = groups
    state, queue, costs, lead, active, dirty = desk
    shuffle(queue, count, state)
    moves = 0
    for q in range(count):
        c = queue[q]
        for k in range(costs.shape[0]):
            costs[k] = 0.0
        now = 0.0
        rest = 0.0  # part of every label's cost
        for m in range(member_ptr[c], member_ptr[c + 1]):
            i = members[m]
            now += unary[i, labels[i]]
            for k in range(costs.shape[0]):
                costs[k] += unary[i, k]
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                inside = component[j] == c
                if inside and j < i:
                    continue
                now += pair_cost(same, differ, e, labels[i], labels[j])
                if not inside:
                    rest += add_pair_costs(same, differ, e, labels[j], costs)
                elif same.shape[1] == 1:
                    rest += same[e, 0]
                else:
                    for k in range(costs.shape[0]):
                        costs[k] += same[e, k]
        for k in range(costs.shape[0]):
            costs[k] += rest
        best = smallest(costs)
        if is_lower(costs[best], now):
            moves += 1
            for m in range(member_ptr[c], member_ptr[c + 1]):
                i = members[m]
                if labels[i] != best:
                    relabel(i, best, unary, indptr, indices, lead, active, dirty, labels)
    return moves
