"""Compiled loops over blocks of rows. Arrays in, arrays filled; see the callers for the meaning."""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def nearest(distances, row_term, weights, factor, slot, keep, labels, unary, lead):
    """Label each row with its nearest centre; copy the costs of constrained rows.

    Returns the summed cost of all rows under `labels`; a row's cost is factor * weight *
    distortion.
    """
    # IN: distances (b, K) without the row term; row_term (b,); weights (b,) or (0,) for ones;
    #     slot (b,) position of the row in `unary`, -1 for a free row, or (0,) for all free;
    #     keep: constrained rows keep the label they have
    # OUT: labels (b,); unary (r, K) costs and lead (r,), what the best other label costs above
    #      the one in `labels`, for constrained rows
    b, n_clusters = distances.shape
    total = 0.0
    for i in range(b):
        constrained = slot.size > 0 and slot[i] >= 0
        if not (constrained and keep):
            best = 0
            low = distances[i, 0]
            for k in range(1, n_clusters):
                if distances[i, k] < low:
                    low = distances[i, k]
                    best = k
            labels[i] = best
        y = labels[i]
        w = factor if weights.size == 0 else factor * weights[i]
        # A zero weight silences the row even where the distance is infinite.
        cost = w * (np.float64(distances[i, y]) + row_term[i]) if w > 0.0 else 0.0
        total += cost
        if constrained:
            other = np.inf
            for k in range(n_clusters):
                value = w * (np.float64(distances[i, k]) + row_term[i]) if w > 0.0 else 0.0
                unary[slot[i], k] = value
                if k != y and value < other:
                    other = value
            lead[slot[i]] = other - cost
    return total


@njit(cache=True, nogil=True)
def add_dense(rows, labels, weights, scale, sums, counts):
    """Add weighted rows to the sums of their clusters, passing over label -1."""
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
def label_dense(
    rows,
    shift,
    slope,
    offset,
    scale,
    row_term,
    weights,
    factor,
    slot,
    keep,
    labels,
    unary,
    lead,
    sums,
    counts,
):
    """`nearest` and `add_dense` for a whole block of dense rows, a cacheful at a time.

    Distances are offset_k + scale_i <x_i - shift, slope_k>; returns the cost of the rows.
    """
    # IN: rows (b, d); shift (d,) or (0,); slope (d, K); offset (K,); scale, row_term, weights
    #     (b,) or (0,); factor; slot (b,) or (0,); keep
    # OUT: labels, unary, lead, sums, counts as in `nearest` and `add_dense`
    b, d = rows.shape
    n_clusters = slope.shape[1]
    step = 256
    moved = np.empty((step if shift.size else 0, d), dtype=rows.dtype)
    buffer = np.empty((step, n_clusters), dtype=rows.dtype)
    total = 0.0
    for lo in range(0, b, step):
        hi = min(lo + step, b)
        distances = buffer[: hi - lo]
        chunk = rows[lo:hi]
        if shift.size:
            chunk = moved[: hi - lo]
            for i in range(hi - lo):
                for m in range(d):
                    chunk[i, m] = rows[lo + i, m] - shift[m]
        np.dot(chunk, slope, distances)
        for i in range(hi - lo):
            if scale.size:
                for k in range(n_clusters):
                    distances[i, k] *= scale[lo + i]
            for k in range(n_clusters):
                distances[i, k] += offset[k]
        total += nearest(
            distances,
            row_term[lo:hi],
            weights[lo:hi],
            factor,
            slot[lo:hi],
            keep,
            labels[lo:hi],
            unary,
            lead,
        )
        add_dense(chunk, labels[lo:hi], weights[lo:hi], scale[lo:hi], sums, counts)
    return total


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
