"""Compiled local search: moves of groups of nodes to one label. A node is a group of its own, too.

Looking and moving are kernels of their own: many can look at once, and what moves is compiled when
there is something to move.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit
from numba.extending import register_jitable

from coterie.inference._kernels import add_pair_costs, pair_cost, shuffle
from coterie.inference._move_kernels import is_lower, relabel, set_lead


@njit(cache=True, nogil=True)
def hopeful_groups(model, groups, lo, hi, changed, desk, labels):  # IN
    """Write which changed groups of lo, …, hi − 1 may gain by one label to ``queue[lo:]``.

    A group may gain if it can save more on its edges than it loses by leaving its labels; the
    others are looked at again when a neighbour moves. Returns their number; ranges can be looked
    through side by side.
    """  # OUT changed (s,) bool and the queue of this range
    _, indptr, indices, same, differ = model
    member_ptr, members, component = groups
    _, queue, _, lead, _, _ = desk
    one_cost = same.shape[1] == 1
    count = 0
    for c in range(lo, hi):
        news = False
        common = True
        gain = 0.0  # what the edges cost now, less what they will cost under any common label
        leave = 0.0  # what edges to others of the same label will cost, if all leave it
        loss = 0.0  # if all leave one common label
        least = 0.0  # if some may stay
        for m in range(member_ptr[c], member_ptr[c + 1]):
            news |= changed[members[m]]
            changed[members[m]] = False
        if not news:
            continue
        first = labels[members[member_ptr[c]]]
        for m in range(member_ptr[c], member_ptr[c + 1]):
            i = members[m]
            y = labels[i]
            common &= y == first
            loss += lead[i]
            least += lead[i] if lead[i] < 0.0 else 0.0
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                inside = component[j] == c
                if inside and j < i:
                    continue
                gain += pair_cost(same, differ, e, y, labels[j])
                if inside:
                    gain -= same[e, 0] if one_cost else 0.0
                elif labels[j] == y:
                    leave += differ[e, 0] if differ.shape[1] == 1 else 0.5 * differ[e, y]
        if common:
            gain -= leave
        if not gain <= (loss if common else least):  # also where infinities leave no number
            queue[lo + count] = c
            count += 1
    return count


@register_jitable
def better_label(
    c, unary, indptr, indices, same, differ, member_ptr, members, component, labels, costs
):  # IN; OUT costs (K,)
    """The best common label of group `c` if it lowers the energy, else −1."""
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
            inside = component[j] == c
            if inside and j < i:
                continue
            now += pair_cost(same, differ, e, labels[i], labels[j])
            if not inside:
                rest += add_pair_costs(same, differ, e, labels[j], costs)
            else:
                for k in range(costs.shape[0]):
                    costs[k] += same[e, k if same.shape[1] > 1 else 0]
    best = 0
    for k in range(1, costs.shape[0]):
        if costs[k] < costs[best]:
            best = k
    return best if is_lower(costs[best] + rest, now) else -1


@njit(cache=True, nogil=True)
def move_groups(model, groups, count, desk, labels):  # IN; OUT desk, labels
    """Move those of the first `count` groups of the queue that gain, in random order; count moves.

    Who would gain is found in memory order, so that the costs are read as one stream.
    """
    unary, indptr, indices, same, differ = model
    member_ptr, members, component = groups
    state, queue, costs, lead, active, dirty = desk
    moves = 0
    for moving in range(2):
        gaining = 0
        for q in range(count):
            c = queue[q]
            if not moving:
                for m in range(member_ptr[c], member_ptr[c + 1]):
                    if lead[members[m]] == -np.inf:  # not known yet
                        set_lead(members[m], unary, labels, lead)
            best = better_label(
                c, unary, indptr, indices, same, differ, member_ptr, members, component, labels,
                costs,
            )  # fmt: skip
            if best < 0:
                continue
            queue[gaining] = c
            gaining += 1
            for m in range(member_ptr[c], member_ptr[c + 1] if moving else 0):
                if labels[members[m]] != best:
                    relabel(members[m], best, unary, indptr, indices, lead, active, dirty, labels)
        count = gaining
        if not moving:
            shuffle(queue, count, state)
    return count
