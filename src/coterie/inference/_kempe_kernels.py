"""Compiled swaps of two labels along chains of hard edges (Kempe chains)."""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

from coterie.inference._kernels import pair_cost, shuffle
from coterie.inference._move_kernels import is_lower, saving, set_lead, touch


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
