"""Compiled loops of Mosaic: beliefs about clusters, passed along the user's pairs."""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

LEAST_MESSAGE = 1e-12  # a cluster that one pair rules out may still be ruled in by others
CAP = 20.0  # nats: in the soft stage a hard pair is a pair of this strength


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
def divide(belief, message, cavity):
    """What a node believes without one message: belief / message, normalised."""
    # IN: belief, message (K,). OUT: cavity (K,)
    total = 0.0
    for k in range(belief.shape[0]):
        cavity[k] = belief[k] / message[k]
        total += cavity[k]
    scale = 1.0 / total
    for k in range(belief.shape[0]):
        cavity[k] *= scale


@njit(cache=True, nogil=True, fastmath=True)
def gather(start, messages, lo, hi, belief):
    """The belief exp(start) times messages lo..hi, normalised."""
    # IN: start (K,), messages (2E, K). OUT: belief (K,)
    belief[:] = start
    normalise(belief)
    for e in range(lo, hi):
        top = 0.0
        for k in range(belief.shape[0]):
            belief[k] *= messages[e, k]
            top = max(top, belief[k])
        if top < 1e-100:  # many messages: stay clear of underflow
            belief /= top
    belief /= belief.sum()


@njit(cache=True, nogil=True, fastmath=True)
def propagate(logits, indptr, same, differ, twin, damping, sweeps, messages, beliefs):
    """Sum-product sweeps from the messages given; beliefs at the end.

    A message is e^-same c(k) + e^-differ (1 - c(k)), scaled to a largest value of 1, c the belief
    of the sender without what the receiver told it: O(K), as the cost is one number for all
    clusters, and free of logarithms.
    """
    # IN: logits (s, K); CSR graph; same, differ (2E, 1); twin (2E,)
    # OUT: messages (2E, K), entry e of node i holds what i is told along e; beliefs (s, K)
    s, n_clusters = logits.shape
    cavity = np.empty(n_clusters)
    for _ in range(sweeps):
        for i in range(s):
            gather(logits[i], messages, indptr[i], indptr[i + 1], beliefs[i])
            for e in range(indptr[i], indptr[i + 1]):
                divide(beliefs[i], messages[e], cavity)
                together = np.exp(-min(same[e, 0], CAP))
                apart = np.exp(-min(differ[e, 0], CAP))
                top = 0.0
                for k in range(n_clusters):
                    cavity[k] = together * cavity[k] + apart * (1.0 - cavity[k])
                    top = max(top, cavity[k])
                out = twin[e]
                scale = 1.0 / top
                for k in range(n_clusters):
                    told = max(cavity[k] * scale, LEAST_MESSAGE)
                    messages[out, k] = damping * messages[out, k] + (1.0 - damping) * told
    for i in range(s):
        gather(logits[i], messages, indptr[i], indptr[i + 1], beliefs[i])


@njit(cache=True, nogil=True)
def mean_field(logits, indptr, indices, same, differ, sweeps, beliefs):
    """Mean-field sweeps in index order, from the beliefs given."""
    # IN: logits (s, K); CSR graph; same, differ (2E, 1). OUT: beliefs (s, K)
    s, n_clusters = logits.shape
    total = np.empty(n_clusters)
    for _ in range(sweeps):
        for i in range(s):
            for k in range(n_clusters):
                total[k] = logits[i, k]
            for e in range(indptr[i], indptr[i + 1]):
                pull = min(differ[e, 0], CAP) - min(same[e, 0], CAP)
                j = indices[e]
                for k in range(n_clusters):
                    total[k] += pull * beliefs[j, k]
            normalise(total)
            beliefs[i] = total


@njit(cache=True, nogil=True)
def agreement(indptr, indices, twin, same, differ, cannot, must, messages, beliefs):
    """Expected weight of the plain pairs that are kept, and of all plain pairs.

    With messages, the two ends of a pair are judged together, P(equal) ∝ e^-same Σ_k c_i(k) c_j(k):
    two ends that are unsure but tied keep their pair. Without (mean field) they are independent.
    """
    # IN: CSR graph; same, differ (2E, 1) costs; cannot, must (2E, 1) weights of plain pairs;
    #     messages (2E, K) or (0, K); beliefs (s, K)
    kept = 0.0
    whole = 0.0
    left = np.empty(beliefs.shape[1])
    right = np.empty(beliefs.shape[1])
    for i in range(beliefs.shape[0]):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if j <= i:
                continue
            equal = 0.0
            if messages.shape[0]:
                divide(beliefs[i], messages[e], left)
                divide(beliefs[j], messages[twin[e]], right)
                for k in range(beliefs.shape[1]):
                    equal += left[k] * right[k]
                together = np.exp(-min(same[e, 0], CAP)) * equal
                apart = np.exp(-min(differ[e, 0], CAP)) * (1.0 - equal)
                equal = together / (together + apart)
            else:
                for k in range(beliefs.shape[1]):
                    equal += beliefs[i, k] * beliefs[j, k]
            kept += must[e, 0] * equal + cannot[e, 0] * (1.0 - equal)
            whole += must[e, 0] + cannot[e, 0]
    return kept, whole


@njit(cache=True, nogil=True)
def log_likelihood(logits, indptr, indices, same, differ):
    """log P(pairs) if each node took its cluster by softmax(logits), no pair of its own heard."""
    # IN: logits (s, K); CSR graph; same, differ (2E, 1)
    chance = np.empty_like(logits)
    for i in range(logits.shape[0]):
        chance[i] = logits[i]
        normalise(chance[i])
    total = 0.0
    for i in range(logits.shape[0]):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if j <= i:
                continue
            equal = 0.0
            for k in range(logits.shape[1]):
                equal += chance[i, k] * chance[j, k]
            together = np.exp(-min(same[e, 0], CAP))
            apart = np.exp(-min(differ[e, 0], CAP))
            total += np.log(together * equal + apart * (1.0 - equal))
    return total


@njit(cache=True, nogil=True)
def softmax_rows(scale, values, out):
    """softmax(scale * values) of each row; returns nothing."""
    # IN: values (n, K). OUT: out (n, K)
    for i in range(values.shape[0]):
        for k in range(values.shape[1]):
            out[i, k] = scale * values[i, k]
        normalise(out[i])


@njit(cache=True, nogil=True)
def slope_and_curvature(scale, values, targets, weights):
    """Derivatives in `scale` of sum_i w_i sum_k t_ik log softmax(scale v_i)_k."""
    # IN: values, targets (n, K); weights (n,)
    slope = 0.0
    curvature = 0.0
    chance = np.empty(values.shape[1])
    for i in range(values.shape[0]):
        if weights[i] <= 0.0:
            continue
        for k in range(values.shape[1]):
            chance[k] = scale * values[i, k]
        normalise(chance)
        mean = 0.0
        square = 0.0
        seen = 0.0
        for k in range(values.shape[1]):
            mean += chance[k] * values[i, k]
            square += chance[k] * values[i, k] ** 2
            seen += targets[i, k] * values[i, k]
        slope += weights[i] * (seen - mean)
        curvature += weights[i] * (square - mean * mean)
    return slope, curvature
