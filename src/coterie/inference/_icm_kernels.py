"""Compiled local search: row moves, component moves and Kempe-chain swaps.

``lead[i]`` is how much more the best other label of node i costs than its own, by unary costs alone
(negative if it would rather be elsewhere). Pair costs are ≥ 0, which bounds what leaving can save
on the edges: if that is not above the lead, no move helps and the K costs are not even read. This
makes warm starts cheap. A move is taken only if it lowers the energy by more than rounding.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

from coterie.inference._kernels import add_pair_costs, node_costs, pair_cost, shuffle

_ROUNDING = 1e-14


@njit(cache=True, nogil=True)
def is_lower(new, old):
    """Whether `new` is below the finite `old` by more than rounding."""
    return new < old - _ROUNDING * (abs(new) + abs(old))


@njit(cache=True, nogil=True)
def set_lead(i, unary, labels, lead):  # IN; OUT lead (s,)
    """Cost of the cheapest other label above that of the present one."""
    y = labels[i]
    other = np.inf
    for k in range(y):
        other = min(other, unary[i, k])
    for k in range(y + 1, unary.shape[1]):
        other = min(other, unary[i, k])
    lead[i] = other - unary[i, y]


@njit(cache=True, nogil=True)
def saving(i, indptr, indices, same, differ, labels):  # IN
    """The most node `i` can save on its edges by leaving its label.

    That is what they cost now, less what those to neighbours of the same label will cost then.
    """
    y = labels[i]
    total = 0.0
    for e in range(indptr[i], indptr[i + 1]):
        if labels[indices[e]] != y:
            total += pair_cost(same, differ, e, y, labels[indices[e]])
        elif differ.shape[1] == 1:
            total += same[e, y if same.shape[1] > 1 else 0] - differ[e, 0]
        else:
            total += same[e, y if same.shape[1] > 1 else 0] - 0.5 * differ[e, y]
    return total


@njit(cache=True, nogil=True)
def touch(i, indptr, indices, active, dirty):  # IN; OUT active (s,), dirty (s,)
    """Mark node `i` and its neighbours for another look."""
    active[i] = True
    dirty[i] = True
    for e in range(indptr[i], indptr[i + 1]):
        active[indices[e]] = True
        dirty[indices[e]] = True


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
def hard_chain(i, b, indptr, indices, same, differ, labels, mark, stamp, chain, limit):
    """Collect into `chain` what must swap with `i` when it swaps labels a and b.

    The chain follows every hard edge to nodes labelled a or b. Returns its length, or ``limit + 1``
    when it is longer than `limit`.
    """  # IN; OUT mark (s,), chain (s,)
    a = labels[i]
    mark[i] = stamp
    chain[0] = i
    size = 1
    done = 0
    while done < size:
        j = chain[done]
        done += 1
        swapped = b if labels[j] == a else a
        for e in range(indptr[j], indptr[j + 1]):
            t = indices[e]
            if mark[t] == stamp or (labels[t] != a and labels[t] != b):
                continue
            if np.isinf(pair_cost(same, differ, e, swapped, labels[t])):
                if size == limit:
                    return limit + 1
                mark[t] = stamp
                chain[size] = t
                size += 1
    return size


@njit(cache=True, nogil=True)
def swap_costs(a, b, size, unary, indptr, indices, same, differ, labels, mark, stamp, chain):  # IN
    """Costs that involve the chain, now and with a and b swapped on it."""
    old = 0.0
    new = 0.0
    for q in range(size):
        i = chain[q]
        here = labels[i]
        there = b if here == a else a
        old += unary[i, here]
        new += unary[i, there]
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            y = labels[j]
            if mark[j] != stamp:
                old += pair_cost(same, differ, e, here, y)
                new += pair_cost(same, differ, e, there, y)
            elif i < j:
                old += pair_cost(same, differ, e, here, y)
                new += pair_cost(same, differ, e, there, b if y == a else a)
    return old, new


@njit(cache=True, nogil=True)
def soft_costs(i, unary, indptr, indices, same, differ, labels, costs):  # IN; OUT costs (K,)
    """Costs of the labels of node `i` as if its hard edges were absent."""
    for k in range(costs.shape[0]):
        costs[k] = unary[i, k]
        for e in range(indptr[i], indptr[i + 1]):
            cost = pair_cost(same, differ, e, k, labels[indices[e]])
            if np.isfinite(cost):
                costs[k] += cost


@njit(cache=True, nogil=True)
def kempe_sweep(
    unary, indptr, indices, same, differ, limit, state, queue, costs, lead, active, dirty, labels
):  # IN; OUT state, queue, costs, lead, active, dirty, labels
    """Swap two labels along chains of hard edges wherever that lowers the energy.

    Only nodes that would gain by themselves start a chain. The work of one sweep is bounded by a
    multiple of the graph's size; returns the swaps taken and whether every chain was tried.
    """
    s = labels.shape[0]
    budget = 100 * (s + indices.shape[0])
    mark = np.zeros(s, dtype=np.int64)
    chain = np.empty(min(s, limit), dtype=np.int64)
    stamp = 0
    count = 0
    for i in range(s):
        if saving(i, indptr, indices, same, differ, labels) > lead[i]:
            queue[count] = i
            count += 1
    shuffle(queue, count, state)
    moves = 0
    complete = True
    for q in range(count):
        i = queue[q]
        soft_costs(i, unary, indptr, indices, same, differ, labels, costs)
        for b in range(costs.shape[0]):
            a = labels[i]
            if budget <= 0:
                return moves, False
            if not is_lower(costs[b], costs[a]):
                continue
            stamp += 1
            size = hard_chain(
                i, b, indptr, indices, same, differ, labels, mark, stamp, chain, chain.shape[0]
            )
            budget -= 1 + size
            if size > chain.shape[0]:
                complete = False
                continue
            old, new = swap_costs(
                a, b, size, unary, indptr, indices, same, differ, labels, mark, stamp, chain
            )
            if is_lower(new, old):
                moves += 1
                for p in range(size):
                    j = chain[p]
                    labels[j] = b if labels[j] == a else a
                    set_lead(j, unary, labels, lead)
                    touch(j, indptr, indices, active, dirty)
                soft_costs(i, unary, indptr, indices, same, differ, labels, costs)
    return moves, complete


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
    labels,
):  # IN; OUT labels (s,): of finite energy, never made worse
    """Local search until no move of any kind helps, or `max_sweeps` row sweeps.

    Returns sweeps, converged, row moves, component moves, swaps, whether all swaps were tried.
    """
    s, n_labels = unary.shape
    state = np.array([seed], dtype=np.uint64)
    queue = np.empty(s, dtype=np.int64)
    costs = np.empty(n_labels)
    lead = np.empty(s)
    active = np.ones(s, dtype=np.bool_)
    dirty = np.ones(s, dtype=np.bool_)
    sweeps = row_moves = component_moves = swaps = 0
    complete = True
    while sweeps < max_sweeps:
        moved = row_sweep(
            sweeps == 0,
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
