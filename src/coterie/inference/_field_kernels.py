"""Compiled mean-field and Gibbs sweeps. A `model` is a `PairwiseModel`."""

# mypy: allow-untyped-defs
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numba.extending import register_jitable

from coterie.inference._kempe_kernels import hard_chain, swap_costs
from coterie.inference._kernels import add_pair_costs, next_bits, next_uniform, pair_cost, shuffle

_PROBES = 16


class Tally(NamedTuple):
    """What Gibbs sampling writes down.

    Attributes
    ----------
    best : (s,) int64
        Labels of the lowest energy drawn.
    counts : (s, K) float64
        How often each node had each label.
    together : (2E,) float64
        How often the two ends of each entry had the same label.
    """

    best: np.ndarray
    counts: np.ndarray
    together: np.ndarray


@register_jitable
def least(costs):  # IN
    """The smallest."""
    low = costs[0]
    for k in range(1, costs.shape[0]):
        low = min(low, costs[k])
    return low


@register_jitable
def softmax(costs, out):  # IN; OUT out (K,)
    """exp(−costs), normalised; NaN if every cost is infinite."""
    low = least(costs)
    total = 0.0
    for k in range(costs.shape[0]):
        out[k] = np.exp(low - costs[k])
        total += out[k]
    for k in range(costs.shape[0]):
        out[k] /= total


@njit(cache=True, nogil=True)
def softmax_rows(costs, out):  # IN; OUT out (s, K)
    """`softmax` of each row."""
    for i in range(costs.shape[0]):
        softmax(costs[i], out[i])


@register_jitable
def add_expected(same, differ, e, q, out):  # IN; OUT out (K,)
    """Add E_q[cost(k, y_j)] of entry `e`; labels of no weight count nothing, even at infinite cost.

    Σ_l q_l ½(d_k + d_l) over l ≠ k, plus q_k same_k, by summing over the others in O(K²) only where
    a cost is infinite.
    """
    n = q.shape[0]
    finite = True
    for k in range(differ.shape[1]):
        finite &= differ[e, k] < np.inf
    if not finite:
        for k in range(n):
            for j in range(n):
                if q[j] > 0.0:
                    out[k] += q[j] * pair_cost(same, differ, e, k, j)
        return
    mean = 0.0
    for k in range(n):
        mean += q[k] * differ[e, k if differ.shape[1] > 1 else 0]
    for k in range(n):
        d = differ[e, k if differ.shape[1] > 1 else 0]
        out[k] += 0.5 * (d * (1.0 - q[k]) + mean - q[k] * d)
        if q[k] > 0.0:
            out[k] += q[k] * same[e, k if same.shape[1] > 1 else 0]


@njit(cache=True, nogil=True)
def field_sweep(model, direction, order, state, q):
    """Update every node once; return the largest change of a marginal.

    In random order for `direction` 0, from the first node to the last for 1, and back for −1.
    """  # IN; IN OUT order (s,): 0, 1, …; OUT state, q (s, K)
    unary, indptr, indices, same, differ = model
    s, n_labels = unary.shape
    if direction == 0:
        shuffle(order, s, state)
    costs = np.empty(n_labels)
    new = np.empty(n_labels)
    change = 0.0
    for a in range(s):
        i = order[a] if direction >= 0 else s - 1 - a
        for k in range(n_labels):
            costs[k] = unary[i, k]
        for e in range(indptr[i], indptr[i + 1]):
            add_expected(same, differ, e, q[indices[e]], costs)
        if least(costs) == np.inf:
            continue  # every label may break a hard edge: nothing is better than staying
        softmax(costs, new)
        for k in range(n_labels):
            change = max(change, abs(new[k] - q[i, k]))
            q[i, k] = new[k]
    return change


@njit(cache=True, nogil=True)
def field_bound(model, q):  # IN
    """Entropy less expected energy, with 0·inf = 0 and 0·log 0 = 0."""
    unary, indptr, indices, same, differ = model
    s, n_labels = unary.shape
    costs = np.empty(n_labels)
    total = 0.0
    for i in range(s):
        for k in range(n_labels):
            costs[k] = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            if i < indices[e]:
                add_expected(same, differ, e, q[indices[e]], costs)
        for k in range(n_labels):
            if q[i, k] > 0.0:
                total -= q[i, k] * (np.log(q[i, k]) + unary[i, k] + costs[k])
    return total


@register_jitable
def gibbs_sweep(unary, indptr, indices, same, differ, state, costs, chance, labels):
    """Draw every label given the rest, in index order."""  # IN; OUT state, costs, chance, labels
    for i in range(unary.shape[0]):
        for k in range(costs.shape[0]):
            costs[k] = unary[i, k]
        for e in range(indptr[i], indptr[i + 1]):
            add_pair_costs(same, differ, e, labels[indices[e]], costs)
        softmax(costs, chance)
        u = next_uniform(state)
        last = labels[i]
        for k in range(costs.shape[0]):
            if chance[k] > 0.0:
                last = k
                u -= chance[k]
                if u < 0.0:
                    break
        labels[i] = last


@register_jitable
def draw_swap(
    starts, unary, indptr, indices, same, differ, state, mark, stamp, chain, labels
):  # IN; OUT state, mark (s,), chain (s,), labels
    """Offer a swap of two labels along the chain of hard edges from a random node.

    The chain is the same from each of its nodes and from where it leads (Wang, Swendsen and
    Kotecký 1989), so a swap and its return are offered alike, and are taken by the odds of the two.
    """
    i = starts[np.int64(next_bits(state) % np.uint64(starts.shape[0]))]
    a = labels[i]
    b = np.int64(next_bits(state) % np.uint64(unary.shape[1] - 1))
    if b >= a:
        b += 1
    size = hard_chain(i, b, indptr, indices, same, differ, labels, mark, stamp, chain)
    old, new = swap_costs(
        a, b, size, unary, indptr, indices, same, differ, labels, mark, stamp, chain
    )
    if next_uniform(state) < np.exp(min(0.0, old - new)):
        for q in range(size):
            j = chain[q]
            labels[j] = b if labels[j] == a else a


@register_jitable
def offers_per_sweep(starts, indptr, indices, same, differ, labels, state, mark, chain):
    """How many swaps a sweep offers: no more than cost about as much as four sweeps over nodes.

    Fixed before the first by the longest of a few chains: a number that followed the labels would
    favour some of them.
    """  # IN; OUT state, mark (s,), chain (s,)
    longest = 1
    for probe in range(1, min(_PROBES, starts.shape[0]) + 1):
        i = starts[np.int64(next_bits(state) % np.uint64(starts.shape[0]))]
        b = 0 if labels[i] > 0 else 1
        size = hard_chain(i, b, indptr, indices, same, differ, labels, mark, -probe, chain)
        longest = max(longest, size)
    return max(1, min(starts.shape[0], 4 * labels.shape[0] // longest))


@njit(cache=True, nogil=True)
def gibbs_run(model, starts, seed, burn_in, n_samples, labels, tally):  # IN; OUT labels, tally
    """Burn in, then count labels and equal ends over `n_samples` sweeps.

    The energy is followed sweep by sweep. `starts` are the nodes of hard edges, where swaps begin;
    empty for none.
    """
    unary, indptr, indices, same, differ = model
    best, counts, together = tally
    state = np.array([seed], dtype=np.uint64)
    costs = np.empty(unary.shape[1])
    chance = np.empty(unary.shape[1])
    mark = np.zeros(labels.shape[0], dtype=np.int64)
    chain = np.empty(labels.shape[0], dtype=np.int64)
    offers = 0
    if starts.shape[0] > 0:
        offers = offers_per_sweep(starts, indptr, indices, same, differ, labels, state, mark, chain)
    stamp = 0
    lowest = np.inf
    for sweep in range(burn_in + n_samples):
        gibbs_sweep(unary, indptr, indices, same, differ, state, costs, chance, labels)
        for _ in range(offers):
            stamp += 1
            draw_swap(
                starts, unary, indptr, indices, same, differ, state, mark, stamp, chain, labels
            )
        value = 0.0
        for i in range(unary.shape[0]):
            value += unary[i, labels[i]]
            if sweep >= burn_in:
                counts[i, labels[i]] += 1.0
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                if i < j:
                    value += pair_cost(same, differ, e, labels[i], labels[j])
                if sweep >= burn_in and labels[i] == labels[j]:
                    together[e] += 1.0
        if value < lowest:
            lowest = value
            for i in range(labels.shape[0]):
                best[i] = labels[i]
