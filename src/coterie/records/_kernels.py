"""Loops over postings, strings and pairs that NumPy cannot do."""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = [
    "cosines",
    "count_levels",
    "edit_similarities",
    "expect",
    "list_rows",
    "log_odds",
    "look_alike",
    "nearest",
]


@njit(cache=True, nogil=True)
def list_rows(
    indptr: np.ndarray,  # IN, as the next two: features of some rows, CSR
    features: np.ndarray,
    weights: np.ndarray,
    first: int,  # IN: number of the first of these rows
    place: np.ndarray,  # IN, OUT: where the next row with a feature is written
    posting_rows: np.ndarray,  # OUT
    posting_weights: np.ndarray,  # OUT
) -> None:
    """Write down with each feature which rows have it, and their weights."""
    for row in range(indptr.size - 1):
        for at in range(indptr[row], indptr[row + 1]):
            feature = features[at]
            posting_rows[place[feature]] = first + row
            posting_weights[place[feature]] = weights[at]
            place[feature] += 1


@njit(cache=True, nogil=True)
def nearest(
    indptr: np.ndarray,
    features: np.ndarray,
    weights: np.ndarray,
    posting_start: np.ndarray,
    posting_rows: np.ndarray,
    posting_weights: np.ndarray,
    group_of_query: np.ndarray,
    group_of_row: np.ndarray,
    own: np.ndarray,
    k: int,
) -> np.ndarray:
    """The k rows with the largest products with each query, (q, k); −1 where there are fewer.

    `own[q]` is the row that query q itself is (−1: none). Rows of the query's own group are left
    out, unless the group is −1. Ties go to the smaller row. Sums are float32: many rows are
    touched in no order, and the fewer bytes they take the more of them are at hand.
    """
    n_queries = indptr.size - 1
    total = np.zeros(group_of_row.size, dtype=np.float32)
    touched = np.empty(group_of_row.size + 1, dtype=np.int32)
    found = np.full((n_queries, k), -1, dtype=np.int64)
    products = np.zeros(k, dtype=np.float32)
    for query in range(n_queries):
        n_touched = 0
        for at in range(indptr[query], indptr[query + 1]):
            feature, weight = features[at], weights[at]
            for place in range(posting_start[feature], posting_start[feature + 1]):
                # Without a branch, which would be guessed wrongly half of the time.
                row = posting_rows[place]
                before = total[row]
                touched[n_touched] = row
                n_touched += before == np.float32(0.0)
                total[row] = before + weight * posting_weights[place]
        group = group_of_query[query]
        held, least = 0, np.float32(0.0)
        for t in range(n_touched):
            row = touched[t]
            product = total[row]
            total[row] = 0.0
            if product < least or row == own[query]:
                continue
            if group >= 0 and group == group_of_row[row]:
                continue
            # The list stays sorted, best first: insertion among at most k.
            place = held
            while place > 0 and (
                product > products[place - 1]
                or (product == products[place - 1] and row < found[query, place - 1])
            ):
                place -= 1
            if place >= k:
                continue
            for move in range(min(held, k - 1), place, -1):
                found[query, move] = found[query, move - 1]
                products[move] = products[move - 1]
            found[query, place] = row
            products[place] = product
            held = min(held + 1, k)
            if held == k:
                least = products[k - 1]
    return found


@njit(cache=True, nogil=True)
def cosines(
    indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, a: np.ndarray, b: np.ndarray
) -> np.ndarray:
    """Products of listed pairs of CSR rows with sorted indices, (m,)."""
    out = np.zeros(a.size, dtype=np.float64)
    for m in range(a.size):
        p, p_end = indptr[a[m]], indptr[a[m] + 1]
        q, q_end = indptr[b[m]], indptr[b[m] + 1]
        product = 0.0
        while p < p_end and q < q_end:
            if indices[p] == indices[q]:
                product += data[p] * data[q]
                p += 1
                q += 1
            elif indices[p] < indices[q]:
                p += 1
            else:
                q += 1
        out[m] = product
    return out


@njit(cache=True, nogil=True)
def edit_similarities(
    start: np.ndarray, letters: np.ndarray, a: np.ndarray, b: np.ndarray, longest: int
) -> np.ndarray:
    """1 − edits / letters of the longer, (m,); neighbours that changed places are one edit.

    The optimal string alignment distance. −1 where one of the two is longer than `longest`.
    """
    out = np.empty(a.size, dtype=np.float64)
    before = np.zeros(longest + 1, dtype=np.int64)
    last = np.zeros(longest + 1, dtype=np.int64)
    row = np.zeros(longest + 1, dtype=np.int64)
    for m in range(a.size):
        i0, n = start[a[m]], start[a[m] + 1] - start[a[m]]
        j0, w = start[b[m]], start[b[m] + 1] - start[b[m]]
        if n > longest or w > longest:
            out[m] = -1.0
            continue
        for j in range(w + 1):
            last[j] = j
        for i in range(1, n + 1):
            row[0] = i
            for j in range(1, w + 1):
                same = letters[i0 + i - 1] == letters[j0 + j - 1]
                least = last[j - 1] + (0 if same else 1)
                least = min(least, last[j] + 1, row[j - 1] + 1)
                if (
                    i > 1
                    and j > 1
                    and letters[i0 + i - 1] == letters[j0 + j - 2]
                    and letters[i0 + i - 2] == letters[j0 + j - 1]
                ):
                    least = min(least, before[j - 2] + 1)
                row[j] = least
            before, last, row = last, row, before
        out[m] = 1.0 - last[w] / max(n, w, 1)
    return out


@njit(cache=True, nogil=True)
def expect(
    levels: np.ndarray, log_weight: np.ndarray, log_level: np.ndarray, share: np.ndarray
) -> float:
    """Fill `share` (m, C) with each pair's probabilities of the classes; the log-likelihood.

    log_level[c, f, level] is 0 where a value is missing.
    """
    m, n_fields = levels.shape
    n_classes = log_weight.size
    total = 0.0
    for p in range(m):
        top = -np.inf
        for c in range(n_classes):
            value = log_weight[c]
            for f in range(n_fields):
                value += log_level[c, f, levels[p, f]]
            share[p, c] = value
            top = max(top, value)
        mass = 0.0
        for c in range(n_classes):
            share[p, c] = np.exp(share[p, c] - top)
            mass += share[p, c]
        for c in range(n_classes):
            share[p, c] /= mass
        total += top + np.log(mass)
    return total


@njit(cache=True, nogil=True)
def count_levels(levels: np.ndarray, share: np.ndarray, counts: np.ndarray) -> None:
    """Add each pair's share of a class to the levels it has: counts (C, F, levels)."""
    for p in range(levels.shape[0]):
        for c in range(share.shape[1]):
            for f in range(levels.shape[1]):
                counts[c, f, levels[p, f]] += share[p, c]


@njit(cache=True, nogil=True)
def half_at_a_time(ratio: np.ndarray, levels: np.ndarray, identifying: np.ndarray) -> float:
    """Mean over half of the identifying fields, rounded down, of the product of their ratios.

    Elementary symmetric polynomials: `sums[k]` is Σ over k different fields, `counts[k]` how many.
    """
    half = max(identifying.size // 2, 1)
    sums, counts = np.zeros(half + 1), np.zeros(half + 1)
    sums[0] = counts[0] = 1.0
    for f in identifying:
        for k in range(half, 0, -1):
            sums[k] += sums[k - 1] * ratio[f, levels[f]]
            counts[k] += counts[k - 1]
    return sums[half] / counts[half]


@njit(cache=True, nogil=True)
def look_alike(ratio: np.ndarray, levels: np.ndarray, identifying: np.ndarray) -> np.ndarray:
    """`half_at_a_time` of each pair, levels (m, F), (m,)."""
    found = np.empty(levels.shape[0])
    for p in range(levels.shape[0]):
        found[p] = half_at_a_time(ratio, levels[p], identifying)
    return found


@njit(cache=True, nogil=True)
def log_odds(
    levels: np.ndarray,
    log_weight: np.ndarray,
    log_level: np.ndarray,
    same: np.ndarray,
    ratio: np.ndarray,
    identifying: np.ndarray,
    share: float,
) -> np.ndarray:
    """log P(same) / P(different) of each pair, (m,), see `PairClasses.log_odds`.

    ratio[c, f, level] is P(level | strangers) / P(level | class c), `identifying` the fields that
    tell things apart, and `share` how many look-alikes there are for each pair of a
    class that is "same".
    """
    n_classes, n_fields = log_weight.size, levels.shape[1]
    found = np.empty(levels.shape[0])
    joint = np.empty(n_classes)
    for p in range(levels.shape[0]):
        for c in range(n_classes):
            joint[c] = log_weight[c]
            for f in range(n_fields):
                joint[c] += log_level[c, f, levels[p, f]]
        top = joint.max()
        yes, no = 0.0, 0.0
        for c in range(n_classes):
            chance = np.exp(joint[c] - top)
            yes += chance * same[c]
            no += chance * (1.0 - same[c])
            if same[c] > 0.5 and identifying.size > 1:
                no += chance * same[c] * share * half_at_a_time(ratio[c], levels[p], identifying)
        found[p] = np.log(max(yes, 1e-300)) - np.log(max(no, 1e-300))
    return found
