"""Compiled loops of Mosaic: beliefs about clusters, passed along the user's pairs."""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

LEAST_MESSAGE = 1e-12  # a cluster that one pair rules out may still be ruled in by others
LEAST_BELIEF = 1e-20  # over the least message still a number of float32
TINY = 1e-250  # numbers below 1e-308 are slow


@njit(cache=True, nogil=True)
def twin_entries(edge_of, n_edges, twin):
    """Position of each CSR entry's other direction."""
    # IN: edge_of (2E,). OUT: twin (2E,)
    first = np.full(n_edges, -1, dtype=np.int64)
    for e in range(edge_of.shape[0]):
        other = first[edge_of[e]]
        if other < 0:
            first[edge_of[e]] = e
        else:
            twin[e] = other
            twin[other] = e


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
    n_clusters = priors.shape[1]
    for k in range(n_clusters):
        beliefs[i, k] = priors[i, k]
    e = lo
    while e < hi:
        four = e + 4 <= hi
        top = 0.0
        for k in range(n_clusters):
            said = np.float64(messages[e, k])
            if four:
                said *= np.float64(messages[e + 1, k])
                said *= np.float64(messages[e + 2, k]) * np.float64(messages[e + 3, k])
            beliefs[i, k] = max(beliefs[i, k] * said, TINY)
            top = max(top, beliefs[i, k])
        if top < 1e-100:  # many messages: stay clear of underflow
            for k in range(n_clusters):
                beliefs[i, k] /= top
        e += 4 if four else 1
    total = 0.0
    for k in range(n_clusters):
        total += beliefs[i, k]
    for k in range(n_clusters):
        beliefs[i, k] = max(beliefs[i, k] / total, LEAST_BELIEF)


@njit(cache=True, nogil=True, fastmath=True)
def propagate(priors, indptr, together, apart, twin, sweeps, tol, messages, told, beliefs):
    """Sum-product sweeps from the messages given; beliefs at the end.

    A message is e^-same c(k) + e^-differ (1 - c(k)), scaled to a largest value of 1, c the belief
    of the sender without what the receiver told it: O(K), as the cost is one number for all
    clusters, and free of logarithms. A node speaks only when its belief has changed by more than
    `tol` since it last spoke: writing to other nodes' messages, all over the memory, is what
    takes the time. Returns how many messages were sent.
    """
    # IN: priors (s, K), beliefs before any message; indptr (s + 1,); together = e^-same,
    #     apart = e^-differ (2E,); twin (2E,)
    # OUT: messages (2E, K), entry e of node i holds what i is told along e; told (s, K), what
    #      each node believed when it last spoke; beliefs (s, K)
    s, n_clusters = priors.shape
    cavity = np.empty(n_clusters, dtype=messages.dtype)
    belief = np.empty(n_clusters, dtype=messages.dtype)
    number = messages.dtype.type
    sent = 0
    for _ in range(sweeps):
        before = sent
        for i in range(s):
            lo, hi = indptr[i], indptr[i + 1]
            gather(i, priors, messages, lo, hi, beliefs)
            change = 0.0
            for k in range(n_clusters):
                change = max(change, abs(beliefs[i, k] - told[i, k]))
            if change <= tol:
                continue
            for k in range(n_clusters):
                told[i, k] = beliefs[i, k]
                belief[k] = beliefs[i, k]
            sent += hi - lo
            for e in range(lo, hi):
                total = belief[0] / messages[e, 0]
                low = total
                high = total
                cavity[0] = total
                for k in range(1, n_clusters):
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
                for k in range(n_clusters):
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
    s, n_clusters = priors.shape
    total = np.empty(n_clusters)
    gap = np.empty(n_clusters)
    sent = 0
    for _ in range(sweeps):
        before = sent
        for i in range(s):
            for k in range(n_clusters):
                total[k] = np.log(max(priors[i, k], TINY)) + heard[i, k]
            normalise(total)
            beliefs[i] = total
            change = 0.0
            for k in range(n_clusters):
                gap[k] = total[k] - told[i, k]
                change = max(change, abs(gap[k]))
            if change <= tol:
                continue
            told[i] = total
            sent += indptr[i + 1] - indptr[i]
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                for k in range(n_clusters):
                    heard[j, k] += pull[e] * gap[k]
        if sent == before:
            break
    return sent


@njit(cache=True, nogil=True)
def agreement(first, last, indptr, indices, twin, together, apart, cannot, must, messages, beliefs):
    """Expected weight of the plain pairs of nodes first..last that are kept, and of all of them.

    With messages, the two ends of a pair are judged together, P(equal) ∝ e^-same Σ_k c_i(k) c_j(k):
    two ends that are unsure but tied keep their pair. Without (mean field) they are independent.
    """
    # IN: CSR graph; together = e^-same, apart = e^-differ (2E,); cannot, must (2E, 1) weights of
    #     plain pairs; messages (2E, K) or (0, K); beliefs (s, K)
    kept = 0.0
    whole = 0.0
    for i in range(first, last):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if j <= i:
                continue
            equal = 0.0
            if messages.shape[0]:
                t = twin[e]
                left_sum = 0.0
                right_sum = 0.0
                for k in range(beliefs.shape[1]):
                    left = beliefs[i, k] / messages[e, k]
                    right = beliefs[j, k] / messages[t, k]
                    left_sum += left
                    right_sum += right
                    equal += left * right
                equal /= left_sum * right_sum
                joined = together[e] * equal
                parted = apart[e] * (1.0 - equal)
                equal = joined / (joined + parted)
            else:
                for k in range(beliefs.shape[1]):
                    equal += beliefs[i, k] * beliefs[j, k]
            kept += must[e, 0] * equal + cannot[e, 0] * (1.0 - equal)
            whole += must[e, 0] + cannot[e, 0]
    return kept, whole


@njit(cache=True, nogil=True)
def log_likelihood(first, last, chance, indptr, indices, together, apart):
    """log P(pairs of nodes first..last) if each node took its cluster by `chance` on its own."""
    # IN: chance (s, K); CSR graph; together, apart (2E,)
    total = 0.0
    for i in range(first, last):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if j <= i:
                continue
            equal = 0.0
            for k in range(chance.shape[1]):
                equal += chance[i, k] * chance[j, k]
            total += np.log(together[e] * equal + apart[e] * (1.0 - equal))
    return total


@njit(cache=True, nogil=True)
def lead(first, last, chance, other, indptr, indices, together, apart):
    """Sum and sum of squares, over the pairs of nodes first..last, of how much more probable
    (in nats) each pair is under `chance` than under `other`.
    """
    # IN: chance, other (s, K); CSR graph; together, apart (2E,)
    total = 0.0
    squares = 0.0
    for i in range(first, last):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if j <= i:
                continue
            equal = 0.0
            same = 0.0
            for k in range(chance.shape[1]):
                equal += chance[i, k] * chance[j, k]
                same += other[i, k] * other[j, k]
            gap = np.log(together[e] * equal + apart[e] * (1.0 - equal))
            gap -= np.log(together[e] * same + apart[e] * (1.0 - same))
            total += gap
            squares += gap * gap
    return total, squares


@njit(cache=True, nogil=True)
def below_top(scale, values, out):
    """scale * (values - the largest of the row): the logarithm of a softmax but for a constant."""
    # IN: values (n, K). OUT: out (n, K)
    for i in range(values.shape[0]):
        top = values[i, 0]
        for k in range(1, values.shape[1]):
            top = max(top, values[i, k])
        for k in range(values.shape[1]):
            out[i, k] = scale * (values[i, k] - top)


@njit(cache=True, nogil=True)
def to_shares(values):
    """Divide each row (K,) by its sum."""
    # OUT: values (n, K)
    for i in range(values.shape[0]):
        total = 0.0
        for k in range(values.shape[1]):
            total += values[i, k]
        for k in range(values.shape[1]):
            values[i, k] /= total


@njit(cache=True, nogil=True)
def slope_and_curvature(chance, values, targets, weights):
    """Derivatives in b of sum_i w_i sum_k t_ik log softmax(b v_i)_k."""
    # IN: chance (n, K), softmax(b v_i) but for a factor per row; values, targets (n, K);
    #     weights (n,)
    slope = 0.0
    curvature = 0.0
    for i in range(values.shape[0]):
        total = 0.0
        mean = 0.0
        square = 0.0
        seen = 0.0
        for k in range(values.shape[1]):
            part = chance[i, k] * values[i, k]
            total += chance[i, k]
            mean += part
            square += part * values[i, k]
            seen += targets[i, k] * values[i, k]
        mean /= total
        slope += weights[i] * (seen - mean)
        curvature += weights[i] * (square / total - mean * mean)
    return slope, curvature
