"""Compiled greedy labelling by saturation."""

# mypy: allow-untyped-defs
from __future__ import annotations

import heapq

import numpy as np
from numba import njit

from coterie.inference._kernels import next_uniform, node_costs, pair_cost


@njit(cache=True, nogil=True)
def saturation_labels(model, todo, seed, jitter, labels):
    """Label the nodes of `todo` one by one, the one with fewest labels left first (DSATUR).

    Ties go to the node of larger degree, then (with `jitter`) at random. Each takes its cheapest
    label given its labelled neighbours; a node left without one keeps -1. Returns how many do.
    """  # IN; OUT labels (s,): -1 on todo
    unary, indptr, indices = model.unary, model.indptr, model.indices
    same, differ = model.same, model.differ
    n_labels = unary.shape[1]
    state = np.array([seed], dtype=np.uint64)
    allowed = np.zeros((labels.shape[0], n_labels), dtype=np.bool_)
    left = np.zeros(labels.shape[0], dtype=np.int64)
    noise = np.zeros(labels.shape[0])
    costs = np.empty(n_labels)
    heap = [(np.int64(0), np.int64(0), 0.0, np.int64(0)) for _ in range(0)]
    for i in todo:
        for k in range(n_labels):
            if np.isfinite(unary[i, k]):
                allowed[i, k] = True
                left[i] += 1
        if jitter:
            noise[i] = next_uniform(state)
        heapq.heappush(heap, (left[i], indptr[i] - indptr[i + 1], noise[i], i))
    stuck = 0
    done = np.zeros(labels.shape[0], dtype=np.bool_)
    while len(heap) > 0:
        size, _, _, i = heapq.heappop(heap)
        if done[i] or size != left[i]:
            continue  # labelled already, or pushed again with fewer labels left
        done[i] = True
        node_costs(i, unary, indptr, indices, same, differ, labels, costs)
        best = np.argmin(costs)
        if np.isinf(costs[best]):
            stuck += 1
            continue
        labels[i] = best
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if done[j]:
                continue
            fewer = False
            for k in range(n_labels):
                if allowed[j, k] and np.isinf(pair_cost(same, differ, e, best, k)):
                    allowed[j, k] = False
                    left[j] -= 1
                    fewer = True
            if fewer:
                heapq.heappush(heap, (left[j], indptr[j] - indptr[j + 1], noise[j], j))
    return stuck
