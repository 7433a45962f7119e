"""Compiled swaps of two labels along chains of hard edges (Kempe chains)."""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit
from numba.extending import register_jitable

from coterie.inference._kernels import pair_cost, shuffle
from coterie.inference._move_kernels import is_lower, relabel, saving_of


@register_jitable
def hard_chain(i, b, indptr, indices, same, differ, labels, mark, stamp, chain):
    """Collect into `chain` what must swap with `i` when it swaps labels a and b.

    The chain follows every hard edge to nodes labelled a or b. Returns its length, or one more than
    `chain` has room for.
    """  # IN; OUT mark (s,), chain (limit,)
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
                if size == chain.shape[0]:
                    return size + 1
                mark[t] = stamp
                chain[size] = t
                size += 1
    return size


@register_jitable
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


@register_jitable
def soft_costs(i, unary, indptr, indices, same, differ, labels, costs):  # IN; OUT costs (K,)
    """Costs of the labels of node `i` as if its hard edges were absent."""
    for k in range(costs.shape[0]):
        costs[k] = unary[i, k]
        for e in range(indptr[i], indptr[i + 1]):
            cost = pair_cost(same, differ, e, k, labels[indices[e]])
            if np.isfinite(cost):
                costs[k] += cost


@njit(cache=True, nogil=True)
def kempe_sweep(model, nodes, limit, desk, labels):  # IN; OUT desk, labels
    """Swap two labels along chains of hard edges wherever that lowers the energy.

    `nodes` (p,) are those of whole components; only such as would gain by themselves start a chain.
    The work of one sweep is bounded by a
    multiple of the graph's size; returns the swaps taken and whether every chain was tried.
    """
    unary, indptr, indices, same, differ = model
    state, queue, costs, lead, active, dirty, _, stale = desk
    s = labels.shape[0]
    budget = 100 * (s + indices.shape[0])
    mark = np.zeros(s, dtype=np.int64)
    chain = np.empty(min(s, limit), dtype=np.int64)
    stamp = 0
    count = 0
    for i in nodes:
        if saving_of(i, indptr, indices, same, differ, labels) > lead[i]:
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
            size = hard_chain(i, b, indptr, indices, same, differ, labels, mark, stamp, chain)
            budget -= 1 + size
            if size > chain.shape[0]:
                complete = False
                continue
            old, new = swap_costs(
                a, b, size, unary, indptr, indices, same, differ, labels, mark, stamp, chain
            )
            if is_lower(new, old):
                moves += 1
                for t in range(size):
                    j = chain[t]
                    y = b if labels[j] == a else a
                    relabel(j, y, unary, indptr, indices, lead, active, dirty, stale, labels)
                soft_costs(i, unary, indptr, indices, same, differ, labels, costs)
    return moves, complete
