"""Compiled messages along pairs: sum-product and mean field, a few sweeps from where they stand."""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

LEAST_MESSAGE = 1e-12  # a label that one pair rules out may still be ruled in by others
LEAST_BELIEF = 1e-20  # over the least message still a number of float32
TINY = 1e-250  # numbers below 1e-308 are slow


@njit(cache=True, nogil=True)
def normalise(values):
    """Turn log-values (K,) into probabilities."""
    # OUT: values
    top = values.max()
    total = 0.0
    for k in range(values.shape[0]):
        values[k] = np.exp(values[k] - top)
        total += values[k]
    for k in range(values.shape[0]):
        values[k] /= total


@njit(cache=True, nogil=True, fastmath=True)
def gather(i, priors, messages, lo, hi, beliefs):
    """The belief of node i: its prior times messages lo..hi, normalised.

    Four messages at a time: their products do not wait for one another, and as none is below
    `LEAST_MESSAGE` a belief that has been kept above `TINY` cannot underflow in between.
    """
    # IN: priors (s, K), messages (2E, K). OUT: beliefs (s, K), row i
    n_labels = priors.shape[1]
    for k in range(n_labels):
        beliefs[i, k] = priors[i, k]
    e = lo
    while e < hi:
        four = e + 4 <= hi
        top = 0.0
        for k in range(n_labels):
            said = np.float64(messages[e, k])
            if four:
                said *= np.float64(messages[e + 1, k])
                said *= np.float64(messages[e + 2, k]) * np.float64(messages[e + 3, k])
            beliefs[i, k] = max(beliefs[i, k] * said, TINY)
            top = max(top, beliefs[i, k])
        if top < 1e-100:  # many messages: stay clear of underflow
            for k in range(n_labels):
                beliefs[i, k] /= top
        e += 4 if four else 1
    total = 0.0
    for k in range(n_labels):
        total += beliefs[i, k]
    for k in range(n_labels):
        beliefs[i, k] = max(beliefs[i, k] / total, LEAST_BELIEF)


@njit(cache=True, nogil=True, fastmath=True)
def propagate(priors, indptr, together, apart, twin, sweeps, tol, messages, told, beliefs):
    """Sum-product sweeps from the messages given; beliefs at the end.

    A message is e^-same c(k) + e^-differ (1 - c(k)), scaled to a largest value of 1, c the belief
    of the sender without what the receiver told it: O(K), as the cost is one number for all
    labels, and free of logarithms. A node speaks only when its belief has changed by more than
    `tol` since it last spoke: writing to other nodes' messages, all over the memory, is what
    takes the time. Returns how many messages were sent.
    """
    # IN: priors (s, K), beliefs before any message; indptr (s + 1,); together = e^-same,
    #     apart = e^-differ (2E,); twin (2E,)
    # OUT: messages (2E, K), entry e of node i holds what i is told along e; told (s, K), what
    #      each node believed when it last spoke; beliefs (s, K)
    s, n_labels = priors.shape
    cavity = np.empty(n_labels, dtype=messages.dtype)
    belief = np.empty(n_labels, dtype=messages.dtype)
    number = messages.dtype.type
    sent = 0
    for _ in range(sweeps):
        before = sent
        for i in range(s):
            lo, hi = indptr[i], indptr[i + 1]
            gather(i, priors, messages, lo, hi, beliefs)
            change = 0.0
            for k in range(n_labels):
                change = max(change, abs(beliefs[i, k] - told[i, k]))
            if change <= tol:
                continue
            for k in range(n_labels):
                told[i, k] = beliefs[i, k]
                belief[k] = beliefs[i, k]
            sent += hi - lo
            for e in range(lo, hi):
                total = belief[0] / messages[e, 0]
                low = total
                high = total
                cavity[0] = total
                for k in range(1, n_labels):
                    c = belief[k] / messages[e, k]
                    cavity[k] = c
                    total += c
                    low = min(low, c)
                    high = max(high, c)
                gain = number(together[e] - apart[e])
                base = number(apart[e]) * total
                scale = number(1.0) / (base + gain * (high if gain > 0 else low))
                base *= scale
                gain *= scale
                out = twin[e]
                for k in range(n_labels):
                    messages[out, k] = max(base + gain * cavity[k], number(LEAST_MESSAGE))
        if sent == before:  # a silent sweep: the beliefs are up to date
            return sent
    for i in range(s):
        gather(i, priors, messages, indptr[i], indptr[i + 1], beliefs)
    return sent


@njit(cache=True, nogil=True)
def mean_field(priors, indptr, indices, pull, sweeps, tol, heard, told, beliefs):
    """Mean-field sweeps in index order: b_i(k) is proportional to prior e^(sum_j pull b_j(k)).

    As in `propagate`, a node speaks only when its belief has changed by more than `tol`; then it
    adds the change to what its neighbours have heard. Returns how many messages were sent.
    """
    # IN: priors (s, K); CSR graph; pull (2E,) = differ - same, capped
    # OUT: heard (s, K) = sum_j pull told_j; told (s, K); beliefs (s, K)
    s, n_labels = priors.shape
    total = np.empty(n_labels)
    gap = np.empty(n_labels)
    sent = 0
    for _ in range(sweeps):
        before = sent
        for i in range(s):
            for k in range(n_labels):
                total[k] = np.log(max(priors[i, k], TINY)) + heard[i, k]
            normalise(total)
            beliefs[i] = total
            change = 0.0
            for k in range(n_labels):
                gap[k] = total[k] - told[i, k]
                change = max(change, abs(gap[k]))
            if change <= tol:
                continue
            told[i] = total
            sent += indptr[i + 1] - indptr[i]
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                for k in range(n_labels):
                    heard[j, k] += pull[e] * gap[k]
        if sent == before:
            break
    return sent


@njit(cache=True, nogil=True)
def equal_ends(edges, entries, messages, beliefs, equal):
    """Probability that the two ends of each edge are equal, before the edge's own factor.

    With messages, each end's belief is taken without what the other end told it; without (0 of
    them), as it is.
    """
    # IN: edges, entries (E, 2); messages (2E, K) or (0, .); beliefs (s, K). OUT: equal (E,)
    told = messages.shape[0] > 0
    for a in range(edges.shape[0]):
        i, j = edges[a, 0], edges[a, 1]
        e, t = entries[a, 0], entries[a, 1]
        both = 0.0
        left_sum = 0.0
        right_sum = 0.0
        for k in range(beliefs.shape[1]):
            left = beliefs[i, k]
            right = beliefs[j, k]
            if told:
                left /= messages[e, k]
                right /= messages[t, k]
                left_sum += left
                right_sum += right
            both += left * right
        equal[a] = both / (left_sum * right_sum) if told else both
