"""Compiled loops over blocks of rows. Arrays in, arrays filled; see the callers for the meaning."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def nearest(distances, row_term, weights, slot, labels, unary):
    """Label each free row with its nearest centre; copy the distances of constrained rows.

    Returns the weighted distortion of the free rows.
    """
    # IN: distances (b, K) without the row term; row_term (b,); weights (b,) or (0,) for ones;
    #     slot (b,) position of the row in `unary`, -1 for a free row, or (0,) for all free.
    # OUT: labels (b,), -1 for constrained rows; unary (r, K) weighted distances.
    b, n_clusters = distances.shape
    total = 0.0
    for i in range(b):
        w = 1.0 if weights.size == 0 else weights[i]
        if slot.size and slot[i] >= 0:
            labels[i] = -1
            for k in range(n_clusters):
                value = np.float64(distances[i, k]) + row_term[i]
                # A zero weight silences the row even where the distance is infinite.
                unary[slot[i], k] = w * value if w > 0.0 else 0.0
            continue
        best = 0
        low = distances[i, 0]
        for k in range(1, n_clusters):
            if distances[i, k] < low:
                low = distances[i, k]
                best = k
        labels[i] = best
        if w > 0.0:
            total += w * (np.float64(low) + row_term[i])
    return total


@njit(cache=True, nogil=True)
def add_dense(rows, labels, weights, scale, sums, counts):
    """Add weighted rows to the sums of their clusters, skipping label -1."""
    # IN: rows (b, d); labels (b,); weights, scale (b,) or (0,) for ones
    # OUT: sums (K, d) float64 += w s x; counts (K,) float64 += w
    b, d = rows.shape
    for i in range(b):
        k = labels[i]
        if k < 0:
            continue
        w = 1.0 if weights.size == 0 else weights[i]
        counts[k] += w
        if scale.size:
            w *= scale[i]
        for m in range(d):
            sums[k, m] += w * rows[i, m]


@njit(cache=True, nogil=True)
def add_sparse(data, indices, indptr, labels, weights, scale, sums, counts):
    """`add_dense` for a block of CSR rows."""
    # IN: CSR arrays of the block; labels (b,); weights, scale (b,) or (0,) for ones
    # OUT: sums (K, d) float64; counts (K,) float64
    for i in range(labels.shape[0]):
        k = labels[i]
        if k < 0:
            continue
        w = 1.0 if weights.size == 0 else weights[i]
        counts[k] += w
        if scale.size:
            w *= scale[i]
        for p in range(indptr[i], indptr[i + 1]):
            sums[k, indices[p]] += w * data[p]
