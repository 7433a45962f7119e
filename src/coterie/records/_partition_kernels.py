"""Correlation clustering of one component: exact by subsets, or greedy and then moves."""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["agglomerate", "best_partition", "improve"]


@njit(cache=True, nogil=True)
def best_partition(weight: np.ndarray) -> np.ndarray:
    """Labels (n,) of the partition whose clusters hold the largest sum of weights (n, n).

    best[S] = max over T ⊆ S that holds the first row of S of within[T] + best[S \\ T]: 3^n steps.
    Of equal partitions the one with smaller clusters of first rows is kept.
    """
    n = weight.shape[0]
    full = (1 << n) - 1
    within = np.zeros(full + 1)
    for mask in range(1, full + 1):
        low = 0
        while not (mask >> low) & 1:
            low += 1
        rest = mask & ~(1 << low)
        value = within[rest]
        for j in range(low + 1, n):
            if (rest >> j) & 1:
                value += weight[low, j]
        within[mask] = value
    best = np.zeros(full + 1)
    choice = np.zeros(full + 1, dtype=np.int64)
    for mask in range(1, full + 1):
        low = mask & -mask
        rest = mask & ~low
        best[mask] = best[rest]
        choice[mask] = low
        part = rest
        while part > 0:
            value = within[part | low] + best[rest & ~part]
            if value > best[mask] + 1e-12:
                best[mask] = value
                choice[mask] = part | low
            part = (part - 1) & rest
    labels = np.zeros(n, dtype=np.int64)
    mask, label = full, 0
    while mask > 0:
        for j in range(n):
            if (choice[mask] >> j) & 1:
                labels[j] = label
        mask &= ~choice[mask]
        label += 1
    return labels


@njit(cache=True, nogil=True)
def agglomerate(weight: np.ndarray) -> np.ndarray:
    """Labels (n,): the two clusters with the largest sum between them join while it is above 0.

    Greedy additive edge contraction (Keuper et al. 2015) on a dense component; each row remembers
    its best partner.
    """
    n = weight.shape[0]
    between = weight.copy()
    alive = np.ones(n, dtype=np.bool_)
    labels = np.empty(n, dtype=np.int64)
    partner = np.full(n, -1, dtype=np.int64)
    for i in range(n):
        labels[i] = i
        for j in range(n):
            if j != i and (partner[i] < 0 or between[i, j] > between[i, partner[i]]):
                partner[i] = j
    for _ in range(n - 1):
        a = -1
        for i in range(n):
            if alive[i] and (a < 0 or between[i, partner[i]] > between[a, partner[a]]):
                a = i
        b = partner[a]
        if between[a, b] <= 0.0:
            break
        alive[b] = False
        for j in range(n):
            between[a, j] += between[b, j]
            between[j, a] = between[a, j]
            if labels[j] == b:
                labels[j] = a
        for i in range(n):
            if not alive[i]:
                continue
            if i == a or partner[i] == a or partner[i] == b:
                partner[i] = -1
                for j in range(n):
                    if not alive[j] or j == i:
                        continue
                    if partner[i] < 0 or between[i, j] > between[i, partner[i]]:
                        partner[i] = j
            elif between[i, a] > between[i, partner[i]]:
                partner[i] = a
        if partner[a] < 0:
            break
    return labels


@njit(cache=True, nogil=True)
def improve(weight: np.ndarray, labels: np.ndarray, exact_up_to: int) -> np.ndarray:
    """Better labels (n,): rows move, clusters join, and small clusters are divided anew exactly.

    Two clusters that attract each other somewhere are divided anew together where they are small.
    The sum of weights within clusters never falls.
    """
    n = weight.shape[0]
    labels = labels.copy()
    members = np.empty(n, dtype=np.int64)
    for _ in range(100):
        changed = _move_rows(weight, labels)
        for i in range(n):
            for j in range(i + 1, n):
                if weight[i, j] <= 0.0:
                    continue
                a, b = labels[i], labels[j]
                size = 0
                for row in range(n):
                    if labels[row] == a or labels[row] == b:
                        members[size] = row
                        size += 1
                if size <= exact_up_to:
                    changed |= _divide_anew(weight, labels, members[:size])
                elif a != b:
                    changed |= _join(weight, labels, a, b)
        if not changed:
            break
    return labels


@njit(cache=True, nogil=True)
def _free_label(labels: np.ndarray) -> int:
    """A label that no row has; there are as many labels as rows."""
    used = np.zeros(labels.size + 1, dtype=np.bool_)
    for label in labels:
        used[label] = True
    free = 0
    while used[free]:
        free += 1
    return free


@njit(cache=True, nogil=True)
def _move_rows(weight: np.ndarray, labels: np.ndarray) -> bool:
    """Each row to the cluster, or to one of its own, where its sum is largest."""
    n = labels.size
    sums = np.zeros(n + 1)
    changed = False
    for i in range(n):
        for label in range(n + 1):
            sums[label] = 0.0
        for j in range(n):
            if j != i:
                sums[labels[j]] += weight[i, j]
        best, gain = labels[i], sums[labels[i]]
        for j in range(n):
            if sums[labels[j]] > gain + 1e-9:
                best, gain = labels[j], sums[labels[j]]
        if gain < -1e-9:
            best = _free_label(labels)
        if best != labels[i]:
            labels[i] = best
            changed = True
    return changed


@njit(cache=True, nogil=True)
def _join(weight: np.ndarray, labels: np.ndarray, a: int, b: int) -> bool:
    total = 0.0
    for i in range(labels.size):
        if labels[i] == a:
            for j in range(labels.size):
                if labels[j] == b:
                    total += weight[i, j]
    if total <= 1e-9:
        return False
    for j in range(labels.size):
        if labels[j] == b:
            labels[j] = a
    return True


@njit(cache=True, nogil=True)
def _divide_anew(weight: np.ndarray, labels: np.ndarray, members: np.ndarray) -> bool:
    """The best partition of these rows, if it is better than theirs."""
    size = members.size
    part = np.empty((size, size))
    now = 0.0
    for i in range(size):
        for j in range(size):
            part[i, j] = weight[members[i], members[j]]
            if j < i and labels[members[i]] == labels[members[j]]:
                now += part[i, j]
    found = best_partition(part)
    then = 0.0
    for i in range(size):
        for j in range(i):
            if found[i] == found[j]:
                then += part[i, j]
    if then <= now + 1e-9:
        return False
    first = np.full(size + 1, -1, dtype=np.int64)
    for i in range(size):
        labels[members[i]] = labels.size  # set aside, so that labels they had are free
    for i in range(size):
        if first[found[i]] < 0:
            first[found[i]] = _free_label(labels)
        labels[members[i]] = first[found[i]]
    return True
