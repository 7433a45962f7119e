"""Compiled local search: row moves, component moves and Kempe-chain swaps.

Pair costs are ≥ 0, so a node at its smallest unary cost with no cost on its edges is *content*: no
move can lower its share of the energy. Content nodes are skipped, which makes warm starts cheap.
A move is taken only if it lowers the energy by more than rounding.
"""

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
def is_content(i, unary, indptr, indices, same, differ, floor, labels):  # IN
    """Whether node `i` pays its smallest unary cost and nothing on its edges."""
    if unary[i, labels[i]] > floor[i]:
        return False
    for e in range(indptr[i], indptr[i + 1]):
        if pair_cost(same, differ, e, labels[i], labels[indices[e]]) > 0.0:
            return False
    return True


@njit(cache=True, nogil=True)
def touch(i, indptr, indices, active, dirty):  # IN; OUT active (s,), dirty (s,)
    """Mark node `i` and its neighbours for another look."""
    active[i] = True
    dirty[i] = True
    for e in range(indptr[i], indptr[i + 1]):
        active[indices[e]] = True
        dirty[indices[e]] = True


@njit(cache=True, nogil=True)
def row_sweep(
    unary, indptr, indices, same, differ, floor, state, queue, costs, active, dirty, labels
):  # IN; OUT state, queue, costs, active, dirty, labels
    """Move each active node to its best label, in random order; return the number of moves."""
    count = 0
    for i in range(labels.shape[0]):
        if active[i]:
            active[i] = False
            if not is_content(i, unary, indptr, indices, same, differ, floor, labels):
                queue[count] = i
                count += 1
    shuffle(queue, count, state)
    moves = 0
    for q in range(count):
        i = queue[q]
        node_costs(i, unary, indptr, indices, same, differ, labels, costs)
        best = labels[i]
        for k in range(costs.shape[0]):
            if is_lower(costs[k], costs[best]):
                best = k
        if best != labels[i]:
            labels[i] = best
            touch(i, indptr, indices, active, dirty)
            active[i] = False
            moves += 1
    return moves


@njit(cache=True, nogil=True)
def component_costs(
    c, unary, indptr, indices, same, differ, member_ptr, members, component, labels, costs
):  # IN; OUT costs (K,)
    """Cost of moving the whole of component `c` to each label; return what it costs now."""
    costs[:] = 0.0
    now = 0.0
    for m in range(member_ptr[c], member_ptr[c + 1]):
        i = members[m]
        now += unary[i, labels[i]]
        for k in range(costs.shape[0]):
            costs[k] += unary[i, k]
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if component[j] != c:
                add_pair_costs(same, differ, e, labels[j], costs)
            elif i < j:
                if same.shape[1] > 1:
                    for k in range(costs.shape[0]):
                        costs[k] += same[e, k]
                elif same[e, 0] > 0.0:
                    for k in range(costs.shape[0]):
                        costs[k] += same[e, 0]
            if component[j] != c or i < j:
                now += pair_cost(same, differ, e, labels[i], labels[j])
    return now


@njit(cache=True, nogil=True)
def component_sweep(
    unary,
    indptr,
    indices,
    same,
    differ,
    floor,
    member_ptr,
    members,
    component,
    state,
    queue,
    costs,
    active,
    dirty,
    labels,
):  # IN; OUT state, queue, costs, active, dirty, labels
    """Offer each changed component one common label, in random order; return the moves taken."""
    count = 0
    for c in range(member_ptr.shape[0] - 1):
        changed = False
        for m in range(member_ptr[c], member_ptr[c + 1]):
            changed |= dirty[members[m]]
            dirty[members[m]] = False
        offer = False
        if changed:
            for m in range(member_ptr[c], member_ptr[c + 1]):
                if not is_content(members[m], unary, indptr, indices, same, differ, floor, labels):
                    offer = True
                    break
        if offer:
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
    unary, indptr, indices, same, differ, floor, state, queue, costs, limit, active, dirty, labels
):  # IN; OUT state, queue, costs, active, dirty, labels
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
        if not is_content(i, unary, indptr, indices, same, differ, floor, labels):
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
    floor,
    labels,
):  # IN; OUT labels (s,): of finite energy, never made worse
    """Local search until no move of any kind helps, or `max_sweeps` row sweeps.

    Returns sweeps, converged, row moves, component moves, swaps, whether all swaps were tried.
    """
    s, n_labels = unary.shape
    state = np.array([seed], dtype=np.uint64)
    queue = np.empty(s, dtype=np.int64)
    costs = np.empty(n_labels)
    active = np.ones(s, dtype=np.bool_)
    dirty = np.ones(s, dtype=np.bool_)
    sweeps = row_moves = component_moves = swaps = 0
    complete = True
    while sweeps < max_sweeps:
        sweeps += 1
        moved = row_sweep(
            unary, indptr, indices, same, differ, floor, state, queue, costs, active, dirty, labels
        )
        row_moves += moved
        if moved > 0:
            continue
        moved = component_sweep(
            unary,
            indptr,
            indices,
            same,
            differ,
            floor,
            member_ptr,
            members,
            component,
            state,
            queue,
            costs,
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
                floor,
                state,
                queue,
                costs,
                limit,
                active,
                dirty,
                labels,
            )
            swaps += moved
        if moved == 0:
            return sweeps, True, row_moves, component_moves, swaps, complete
    return sweeps, False, row_moves, component_moves, swaps, complete
