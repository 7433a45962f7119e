"""Compiled local search: moves of groups of nodes to one label, and what every kind of move needs.

A node is a group of its own, too. Looking and moving are kernels of their own: what moves is
compiled when there is something to move.

``lead[i]`` is how much more the best other label of node i costs than its own, by unary costs alone
(negative if it would rather be elsewhere). Pair costs are ≥ 0, which bounds what leaving can save
on the edges: if that is not above the lead, no move helps and the K costs are not even read. This
makes warm starts cheap. A move is taken only if it lowers the energy by more than rounding.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numba.extending import register_jitable

from coterie.inference._kernels import add_pair_costs, pair_cost, shuffle

_ROUNDING = 1e-14


class Desk(NamedTuple):
    """What a local search writes on while it works.

    Attributes
    ----------
    state : (1,) uint64
        Of the random bits.
    queue : (s,) int64
    costs : (K,) float64
    lead : (s,) float64
    active, dirty : (s,) bool
        Nodes to be looked at again, by themselves and as part of their component.
    saving : (s,) float64
        The most that each node can save on its edges by leaving its label (`saving_of`).
    stale : (s,) bool
        Where that is to be found anew, as a neighbour has moved.
    """

    state: np.ndarray
    queue: np.ndarray
    costs: np.ndarray
    lead: np.ndarray
    active: np.ndarray
    dirty: np.ndarray
    saving: np.ndarray
    stale: np.ndarray


@njit(inline="always")
def is_lower(new, old):
    """Whether `new` is below `old` by more than rounding; anything finite is below infinity."""
    if old == np.inf:
        return new < np.inf
    return new < old - _ROUNDING * (abs(new) + abs(old))


@register_jitable
def set_lead(i, unary, labels, lead):  # IN; OUT lead (s,)
    """Cost of the cheapest other label above that of the present one."""
    y = labels[i]
    other = np.inf
    for k in range(y):
        other = unary[i, k] if unary[i, k] < other else other  # no branch to be guessed wrong
    for k in range(y + 1, unary.shape[1]):
        other = unary[i, k] if unary[i, k] < other else other
    lead[i] = other - unary[i, y]


@register_jitable
def saving_of(i, indptr, indices, same, differ, labels):  # IN
    """The most node `i` can save on its edges by leaving its label.

    That is what they cost now, less what those to neighbours of the same label will cost then.
    """
    y = labels[i]
    total = 0.0
    for e in range(indptr[i], indptr[i + 1]):
        other = labels[indices[e]]
        if other != y:
            total += pair_cost(same, differ, e, y, other)
        elif differ.shape[1] == 1:
            total += same[e, y if same.shape[1] > 1 else 0] - differ[e, 0]
        else:
            total += same[e, y if same.shape[1] > 1 else 0] - 0.5 * differ[e, y]
    return total


@njit(inline="always")
def relabel(i, y, unary, indptr, indices, lead, active, dirty, stale, labels):
    """Give node `i` label `y`, and mark it and its neighbours for another look."""
    # IN; OUT lead, active, dirty, stale, labels (s,)
    labels[i] = y
    set_lead(i, unary, labels, lead)
    active[i] = True
    dirty[i] = True
    stale[i] = True
    for e in range(indptr[i], indptr[i + 1]):
        active[indices[e]] = True
        dirty[indices[e]] = True
        stale[indices[e]] = True


@njit(cache=True, nogil=True)
def hopeful_nodes(model, nodes, lo, hi, desk, labels):  # IN; OUT desk
    """Write which active ones of nodes[lo], …, nodes[hi − 1] may gain to the queue, by their place.

    A node may gain if it can save more on its edges than it loses by leaving its label; the others
    are looked at again when a neighbour moves. Returns their number.
    """
    _, indptr, indices, same, differ = model
    _, queue, _, lead, active, _, saving, stale = desk
    count = 0
    for c in range(lo, hi):
        i = nodes[c]
        if not active[i]:
            continue
        active[i] = False
        if stale[i]:
            saving[i] = saving_of(i, indptr, indices, same, differ, labels)
            stale[i] = False
        if not saving[i] <= lead[i]:  # also where infinities leave no number
            queue[count] = c
            count += 1
    return count


@njit(cache=True, nogil=True)
def hopeful_groups(model, groups, lo, hi, desk, labels):  # IN; OUT desk
    """`hopeful_nodes` for groups lo, …, hi − 1 of which a member is dirty."""
    _, indptr, indices, same, differ = model
    member_ptr, members, component = groups
    _, queue, _, lead, _, dirty, _, _ = desk
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
            news |= dirty[members[m]]
            dirty[members[m]] = False
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
            queue[count] = c
            count += 1
    return count


@njit(inline="always")
def better_label(
    c, unary, indptr, indices, same, differ, member_ptr, members, component, labels, costs
):  # IN; OUT costs (K,)
    """The best common label of group `c` if it lowers the energy, else −1."""
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
    state, queue, costs, lead, active, dirty, saving, stale = desk
    for moving in range(2):
        gaining = 0
        for q in range(count):
            c = queue[q]
            if not moving:
                begin, end = member_ptr[c], member_ptr[c + 1]
                for m in range(begin, end):
                    if lead[members[m]] == -np.inf:  # not known yet
                        set_lead(members[m], unary, labels, lead)
                # Known by now: most single nodes need not be looked at any closer.
                if end == begin + 1 and saving[members[begin]] <= lead[members[begin]]:
                    continue
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
                    relabel(
                        members[m], best, unary, indptr, indices, lead, active, dirty, stale, labels
                    )
        count = gaining
        if not moving:
            shuffle(queue, count, state)
    return count


@njit(cache=True, nogil=True)
def sweep_nodes(model, single, lo, hi, desk, labels, max_sweeps):  # IN; OUT desk, labels
    """Move single nodes, groups lo, …, hi − 1 of `single`, until none gains; sweeps and moves.

    One call for many sweeps: handing the records over costs more than a small graph's sweep.
    """
    sweeps = 0
    moves = 0
    moved = 1
    while moved > 0 and sweeps < max_sweeps:
        count = hopeful_nodes(model, single[1], lo, hi, desk, labels)
        moved = move_groups(model, single, count, desk, labels) if count else 0
        sweeps += 1
        moves += moved
    return sweeps, moves, moved == 0
