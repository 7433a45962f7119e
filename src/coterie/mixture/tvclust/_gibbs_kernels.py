"""Compiled collapsed Gibbs sweeps of TVClust. Arrays in, labels changed in place.

A node is one or more rows that move together (hard must-links). Clusters live in numbered slots;
a slot without rows is free. Slot arrays grow when a sweep opens more clusters than they hold.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

import math

import numpy as np
from numba import njit

from coterie.inference._kernels import next_uniform

_FIRST_SLOTS = 32


@njit(cache=True, nogil=True)
def seating_weights(
    node, mass, labels, counts, indptr, indices, odds, forbidden, log_alpha, log_weights
):
    """Log prior and pair weights of every slot for a node taken out of its cluster.

    A cluster of N rows: ln [Gamma(N + m) / Gamma(N)] + the log-odds of the friends and strangers
    in it, (11); a new one: ln alpha + ln Gamma(m). Returns the first free slot; other free slots
    and clusters with a forbidden neighbour get -inf.
    """
    # IN: mass m, rows of the node; labels (nodes,); counts (C,) rows in each slot
    # OUT: log_weights (C,)
    fresh = -1
    for k in range(counts.shape[0]):
        if counts[k] > 0:
            if mass == 1:
                log_weights[k] = math.log(counts[k])
            else:
                log_weights[k] = math.lgamma(counts[k] + mass) - math.lgamma(counts[k])
        else:
            log_weights[k] = -np.inf
            if fresh < 0:
                fresh = k
    for e in range(indptr[node], indptr[node + 1]):
        k = labels[indices[e]]
        if k >= 0 and counts[k] > 0:
            log_weights[k] += -np.inf if forbidden[e] else odds[e]
    log_weights[fresh] = log_alpha + math.lgamma(mass)
    return fresh


@njit(cache=True, nogil=True)
def draw(log_weights, state):  # IN log_weights (C,); IN OUT state
    """A slot with probability proportional to exp(log_weights)."""
    high = -np.inf
    for k in range(log_weights.shape[0]):
        high = max(high, log_weights[k])
    total = 0.0
    for k in range(log_weights.shape[0]):
        total += math.exp(log_weights[k] - high)
    left = next_uniform(state) * total
    last = 0
    for k in range(log_weights.shape[0]):
        share = math.exp(log_weights[k] - high)
        if share > 0.0:
            last = k
            left -= share
            if left < 0.0:
                return k
    return last


@njit(cache=True, nogil=True)
def first_slots(labels):
    """Slots to begin with: some more than there are clusters."""
    top = 0
    for i in range(labels.shape[0]):
        top = max(top, labels[i])
    return max(_FIRST_SLOTS, 2 * (top + 1))


@njit(cache=True, nogil=True)
def rank_one(chol, v, sign):  # IN OUT chol (d, d) lower; WORK v (d,)
    """chol of L L' + sign v v'; returns the new ln det of L L'."""
    d = v.shape[0]
    log_det = 0.0
    for k in range(d):
        old = chol[k, k]
        squared = old * old + sign * v[k] * v[k]
        # A downdate undoes an earlier update: only rounding could bring it to zero.
        new = math.sqrt(max(squared, 1e-14 * old * old))
        c, s = new / old, v[k] / old
        chol[k, k] = new
        for i in range(k + 1, d):
            chol[i, k] = (chol[i, k] + sign * s * v[i]) / c
            v[i] = c * v[i] - s * chol[i, k]
        log_det += 2.0 * math.log(new)
    return log_det


@njit(cache=True, nogil=True)
def add_row(x, kappa0, slot, counts, means, chols, log_dets, work):
    """Let a row join a slot: mean, scale matrix (as its Cholesky factor) and count."""
    kappa = kappa0 + counts[slot]
    shrink = math.sqrt(kappa / (kappa + 1.0))
    for m in range(x.shape[0]):
        gap = x[m] - means[slot, m]
        work[m] = shrink * gap
        means[slot, m] += gap / (kappa + 1.0)
    log_dets[slot] = rank_one(chols[slot], work, 1.0)
    counts[slot] += 1


@njit(cache=True, nogil=True)
def remove_row(x, kappa0, slot, counts, means, chols, log_dets, work):
    """The opposite of `add_row`."""
    kappa = kappa0 + counts[slot] - 1.0
    shrink = math.sqrt(kappa / (kappa + 1.0))
    for m in range(x.shape[0]):
        means[slot, m] -= (x[m] - means[slot, m]) / kappa
        work[m] = shrink * (x[m] - means[slot, m])
    log_dets[slot] = rank_one(chols[slot], work, -1.0)
    counts[slot] -= 1


@njit(cache=True, nogil=True)
def log_predictive(x, kappa0, nu0, count, mean, chol, log_det, constants, work):
    """ln of the Student t density of a row given the rows of a cluster.

    constants[N] + (-ln|Psi| - (nu + 1) ln(1 + kappa/(kappa + 1) |x - m|^2_inv(Psi))) / 2.
    """
    d = x.shape[0]
    squared = 0.0
    for m in range(d):  # forward substitution
        value = x[m] - mean[m]
        for j in range(m):
            value -= chol[m, j] * work[j]
        work[m] = value / chol[m, m]
        squared += work[m] * work[m]
    kappa = kappa0 + count
    nu = nu0 + count
    return (
        constants[count]
        - 0.5 * log_det
        - 0.5 * (nu + 1.0) * math.log1p(kappa / (kappa + 1.0) * squared)
    )


@njit(cache=True, nogil=True)
def sweep_gaussian(
    X, member_ptr, members, order, indptr, indices, odds, forbidden, log_alpha,
    kappa0, nu0, prior_chol, prior_log_det, constants, state, labels,
):  # fmt: skip
    """One sweep over all nodes in the given order."""
    # IN: X (n, d) float64; member_ptr (nodes + 1,), members (n,); CSR graph over the nodes;
    #     prior_chol (d, d); constants (n + 1,)
    # IN OUT: state (1,) uint64; labels (nodes,) slots
    d = X.shape[1]
    n_slots = first_slots(labels)
    counts = np.zeros(n_slots, dtype=np.int64)
    means = np.zeros((n_slots, d))
    chols = np.empty((n_slots, d, d))
    log_dets = np.empty(n_slots)
    work = np.empty(d)
    log_weights = np.empty(n_slots)
    for k in range(n_slots):
        chols[k] = prior_chol
        log_dets[k] = prior_log_det
    used = 0  # clusters with rows
    for node in range(labels.shape[0]):
        if counts[labels[node]] == 0:
            used += 1
        for a in range(member_ptr[node], member_ptr[node + 1]):
            add_row(X[members[a]], kappa0, labels[node], counts, means, chols, log_dets, work)
    spare_mean = np.empty((1, d))
    spare_chol = np.empty((1, d, d))
    spare_log_det = np.empty(1)
    spare_count = np.empty(1, dtype=np.int64)
    for position in range(order.shape[0]):
        node = order[position]
        begin, end = member_ptr[node], member_ptr[node + 1]
        mass = end - begin
        slot = labels[node]
        for a in range(begin, end):
            remove_row(X[members[a]], kappa0, slot, counts, means, chols, log_dets, work)
        if counts[slot] == 0:  # back to the prior exactly, whatever rounding left
            means[slot] = 0.0
            chols[slot] = prior_chol
            log_dets[slot] = prior_log_det
            used -= 1
        labels[node] = -1
        fresh = seating_weights(
            node, mass, labels, counts, indptr, indices, odds, forbidden, log_alpha, log_weights
        )
        for k in range(n_slots):
            if log_weights[k] == -np.inf:
                continue
            if mass == 1:
                log_weights[k] += log_predictive(
                    X[members[begin]], kappa0, nu0, counts[k], means[k], chols[k], log_dets[k],
                    constants, work,
                )  # fmt: skip
                continue
            spare_mean[0] = means[k]
            spare_chol[0] = chols[k]
            spare_log_det[0] = log_dets[k]
            spare_count[0] = counts[k]
            for a in range(begin, end):  # chain rule: each member given those before it
                x = X[members[a]]
                log_weights[k] += log_predictive(
                    x, kappa0, nu0, spare_count[0], spare_mean[0], spare_chol[0],
                    spare_log_det[0], constants, work,
                )  # fmt: skip
                add_row(x, kappa0, 0, spare_count, spare_mean, spare_chol, spare_log_det, work)
        chosen = draw(log_weights, state)
        labels[node] = chosen
        if chosen == fresh:
            used += 1
        for a in range(begin, end):
            add_row(X[members[a]], kappa0, chosen, counts, means, chols, log_dets, work)
        if used == n_slots:  # keep one free slot for the next node
            counts = np.concatenate((counts, np.zeros(n_slots, dtype=np.int64)))
            means = np.concatenate((means, np.zeros((n_slots, d))))
            chols = np.concatenate((chols, np.empty((n_slots, d, d))))
            log_dets = np.concatenate((log_dets, np.empty(n_slots)))
            for k in range(n_slots, 2 * n_slots):
                chols[k] = prior_chol
                log_dets[k] = prior_log_det
            n_slots *= 2
            log_weights = np.empty(n_slots)


@njit(cache=True, nogil=True)
def move_counts(data, columns, begin, end, sign, words, totals, slot):
    """Add (sign 1) or take off (sign -1) a node's counts."""
    for e in range(begin, end):
        words[slot, columns[e]] += sign * data[e]
        totals[slot] += sign * data[e]


@njit(cache=True, nogil=True)
def sweep_multinomial(
    data, columns, row_ptr, masses, n_columns, order, indptr, indices, odds, forbidden, log_alpha,
    concentration, state, labels,
):  # fmt: skip
    """One sweep over all nodes for counts: data, columns, row_ptr are a CSR matrix of node sums."""
    # IN: masses (nodes,) rows in each node; CSR graph over the nodes
    # IN OUT: state (1,) uint64; labels (nodes,) slots
    n_slots = first_slots(labels)
    counts = np.zeros(n_slots, dtype=np.int64)
    words = np.full((n_slots, n_columns), concentration)
    totals = np.full(n_slots, concentration * n_columns)
    log_weights = np.empty(n_slots)
    used = 0
    for node in range(labels.shape[0]):
        slot = labels[node]
        if counts[slot] == 0:
            used += 1
        counts[slot] += masses[node]
        move_counts(data, columns, row_ptr[node], row_ptr[node + 1], 1.0, words, totals, slot)
    for position in range(order.shape[0]):
        node = order[position]
        begin, end = row_ptr[node], row_ptr[node + 1]
        slot = labels[node]
        move_counts(data, columns, begin, end, -1.0, words, totals, slot)
        counts[slot] -= masses[node]
        if counts[slot] == 0:
            words[slot] = concentration
            totals[slot] = concentration * n_columns
            used -= 1
        labels[node] = -1
        fresh = seating_weights(
            node, masses[node], labels, counts, indptr, indices, odds, forbidden, log_alpha,
            log_weights,
        )  # fmt: skip
        size = 0.0
        for e in range(begin, end):
            size += data[e]
        for k in range(n_slots):
            if log_weights[k] == -np.inf:
                continue
            gain = math.lgamma(totals[k]) - math.lgamma(totals[k] + size)
            for e in range(begin, end):
                c = words[k, columns[e]]
                if data[e] == 1.0:
                    gain += math.log(c)
                else:
                    gain += math.lgamma(c + data[e]) - math.lgamma(c)
            log_weights[k] += gain
        chosen = draw(log_weights, state)
        labels[node] = chosen
        if chosen == fresh:
            used += 1
        counts[chosen] += masses[node]
        move_counts(data, columns, begin, end, 1.0, words, totals, chosen)
        if used == n_slots:
            counts = np.concatenate((counts, np.zeros(n_slots, dtype=np.int64)))
            words = np.concatenate((words, np.full((n_slots, n_columns), concentration)))
            totals = np.concatenate((totals, np.full(n_slots, concentration * n_columns)))
            n_slots *= 2
            log_weights = np.empty(n_slots)


@njit(cache=True, nogil=True)
def coincidences(samples, out):
    """sum_ab n_ab^2 over the contingency table of every two samples: pairs together in both."""
    # IN: samples (T, n) labels from 0 without gaps   OUT: out (T, T)
    n_kept, n = samples.shape
    sizes = np.empty(n_kept, dtype=np.int64)
    for s in range(n_kept):
        sizes[s] = samples[s].max() + 1
    for s in range(n_kept):
        for t in range(s, n_kept):
            table = np.zeros(sizes[s] * sizes[t], dtype=np.int64)
            for i in range(n):
                table[samples[s, i] * sizes[t] + samples[t, i]] += 1
            total = 0.0
            for c in range(table.shape[0]):
                total += float(table[c]) * float(table[c])
            out[s, t] = total
            out[t, s] = total
