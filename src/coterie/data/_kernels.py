"""Compiled loops over blocks of rows. Arrays in, arrays filled; see the callers for the meaning."""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

BEYOND = -2  # label of a free row that costs `limit` or more with every centre


@njit(cache=True, nogil=True)
def cost_of(w, distance, root):
    """w times the distance, or w times its square root."""
    return w * np.sqrt(max(distance, 0.0)) if root else w * distance


@njit(cache=True, nogil=True)
def nearest(
    distances, offset, row_term, weights, factor, limit, root, slot, keep, labels, unary, lead
):
    """Label each row with its nearest centre; copy the costs of constrained rows.

    Distances are distances_ik + offset_k + row_term_i. Returns the summed cost of all rows under
    `labels`; a row's cost is factor * weight * distance.
    """
    # IN: distances (b, K); offset (K,); row_term (b,); weights (b,) or (0,) for ones; limit:
    #     free rows that cost as much are labelled BEYOND and not summed (inf: none); root: the
    #     distance is the square root; slot (b,) position of the row in `unary`, -1 for a free
    #     row, or (0,) for all free; keep: constrained rows keep the label they have
    # OUT: labels (b,); unary (r, K) costs and lead (r,), what the best other label costs above
    #      the one in `labels`, for constrained rows
    n_clusters = distances.shape[1]
    total = 0.0
    for i in range(distances.shape[0]):
        w = factor if weights.size == 0 else factor * weights[i]
        free = slot.size == 0 or slot[i] < 0
        if free or not keep:
            best = 0
            low = distances[i, 0] + offset[0]
            for k in range(1, n_clusters):
                here = distances[i, k] + offset[k]
                if here < low:
                    low = here
                    best = k
            labels[i] = best
            if free:
                # A zero weight silences the row even where the distance is infinite.
                if w > 0.0:
                    cost = cost_of(w, np.float64(low) + row_term[i], root)
                    if limit < np.inf and not cost < limit:
                        labels[i] = BEYOND
                    else:
                        total += cost
                continue
        at = slot[i]
        y = labels[i]
        other = np.inf
        for k in range(n_clusters):
            cost = 0.0
            if w > 0.0:
                cost = cost_of(w, np.float64(distances[i, k] + offset[k]) + row_term[i], root)
            unary[at, k] = cost
            if k != y and cost < other:
                other = cost
        lead[at] = other - unary[at, y]
        total += unary[at, y]
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
def add_squares_dense(rows, labels, weights, squares):
    """Add the weighted squares of the rows' entries to their clusters, passing over label -1."""
    # IN: rows (b, d); labels (b,); weights (b,) or (0,) for ones
    # OUT: squares (K, d) float64 += w x^2
    b, d = rows.shape
    for i in range(b):
        k = labels[i]
        if k < 0:
            continue
        w = 1.0 if weights.size == 0 else weights[i]
        for m in range(d):
            x = np.float64(rows[i, m])
            squares[k, m] += w * (x * x)


@njit(cache=True, nogil=True)
def label_dense(
    rows,
    shift,
    slope,
    curve,
    offset,
    scale,
    row_term,
    weights,
    factor,
    limit,
    root,
    slot,
    keep,
    labels,
    unary,
    lead,
    sums,
    counts,
    squares,
):
    """`nearest`, `add_dense` and `add_squares_dense` for a block of rows, a cacheful at a time.

    Distances are offset_k + scale_i <x_i - shift, slope_k> + <(x_i - shift)^2, curve_k>; returns
    the cost of the rows.
    """
    # IN: rows (b, d); shift (d,) or (0,); slope (d, K); curve (d, K) or (0, K); offset (K,);
    #     scale, row_term, weights (b,) or (0,); factor, limit, root; slot (b,) or (0,); keep
    # OUT: labels, unary, lead, sums, counts, squares (or (0, d): not wanted) as in the parts
    b, d = rows.shape
    n_clusters = slope.shape[1]
    step = 256
    moved = np.empty((step if shift.size else 0, d), dtype=rows.dtype)
    buffer = np.empty((step, n_clusters), dtype=rows.dtype)
    curved = step if curve.size else 0
    powers = np.empty((curved, d), dtype=rows.dtype)
    curvature = np.empty((curved, n_clusters), dtype=rows.dtype)
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
        if scale.size:
            for i in range(hi - lo):
                for k in range(n_clusters):
                    distances[i, k] *= scale[lo + i]
        if curve.size:
            for i in range(hi - lo):
                for m in range(d):
                    powers[i, m] = chunk[i, m] * chunk[i, m]
            np.dot(powers[: hi - lo], curve, curvature[: hi - lo])
            for i in range(hi - lo):
                for k in range(n_clusters):
                    distances[i, k] += curvature[i, k]
        total += nearest(
            distances,
            offset,
            row_term[lo:hi],
            weights[lo:hi],
            factor,
            limit,
            root,
            slot[lo:hi],
            keep,
            labels[lo:hi],
            unary,
            lead,
        )
        add_dense(chunk, labels[lo:hi], weights[lo:hi], scale[lo:hi], sums, counts)
        if squares.size:
            add_squares_dense(chunk, labels[lo:hi], weights[lo:hi], squares)
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


@njit(cache=True, nogil=True)
def add_squares_sparse(data, indices, indptr, labels, weights, squares):
    """`add_squares_dense` for a block of CSR rows."""
    # IN: CSR arrays of the block; labels (b,); weights (b,) or (0,) for ones
    # OUT: squares (K, d) float64
    for i in range(labels.shape[0]):
        k = labels[i]
        if k < 0:
            continue
        w = 1.0 if weights.size == 0 else weights[i]
        for p in range(indptr[i], indptr[i + 1]):
            x = np.float64(data[p])
            squares[k, indices[p]] += w * (x * x)


@njit(cache=True, nogil=True)
def label_sparse(
    data,
    indices,
    indptr,
    slope,
    curve,
    offset,
    scale,
    row_term,
    weights,
    factor,
    limit,
    root,
    slot,
    keep,
    labels,
    unary,
    lead,
    sums,
    counts,
    squares,
):
    """`label_dense` for a block of CSR rows; `indptr` (b + 1,) points into whole `data`."""
    # IN: CSR arrays; the rest as in `label_dense`
    # OUT: labels, unary, lead, sums, counts, squares
    b = indptr.shape[0] - 1
    n_clusters = slope.shape[1]
    step = 256
    buffer = np.empty((step, n_clusters), dtype=slope.dtype)
    total = 0.0
    for lo in range(0, b, step):
        hi = min(lo + step, b)
        distances = buffer[: hi - lo]
        distances[:] = 0.0
        for i in range(hi - lo):
            for p in range(indptr[lo + i], indptr[lo + i + 1]):
                x = data[p]
                m = indices[p]
                for k in range(n_clusters):
                    distances[i, k] += x * slope[m, k]
            if scale.size:
                for k in range(n_clusters):
                    distances[i, k] *= scale[lo + i]
            if curve.size:
                for p in range(indptr[lo + i], indptr[lo + i + 1]):
                    x = data[p] * data[p]
                    m = indices[p]
                    for k in range(n_clusters):
                        distances[i, k] += x * curve[m, k]
        total += nearest(
            distances,
            offset,
            row_term[lo:hi],
            weights[lo:hi],
            factor,
            limit,
            root,
            slot[lo:hi],
            keep,
            labels[lo:hi],
            unary,
            lead,
        )
        add_sparse(
            data,
            indices,
            indptr[lo : hi + 1],
            labels[lo:hi],
            weights[lo:hi],
            scale[lo:hi],
            sums,
            counts,
        )
        if squares.size:
            add_squares_sparse(
                data, indices, indptr[lo : hi + 1], labels[lo:hi], weights[lo:hi], squares
            )
    return total
