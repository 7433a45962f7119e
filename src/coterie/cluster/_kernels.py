"""Compiled loops over blocks of rows. Records of arrays in, arrays filled."""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

BEYOND = -2  # label of a free row that costs `limit` or more with every centre


@njit(cache=True, nogil=True)
def _cost_of(w, distance, root):
    """w times the distance, or w times its square root; a weight of 0 silences an infinity."""
    if not w > 0.0:
        return 0.0
    return w * np.sqrt(max(distance, 0.0)) if root else w * distance


@njit(cache=True, nogil=True)
def nearest(product, offset, start, first, terms, price, listed, before, labels, unary, lead):
    """Label rows start.. of a block with their nearest centres; copy the costs of listed rows.

    The distance of row i from centre k is product_ik + offset_k + term_i, its cost factor * weight
    * distance. Returns the summed cost of these rows under `labels`, and the first listed row that
    is not among them.
    """
    # IN: product (c, K); offset (K,); first: number of the first listed row from `start` on;
    #     terms: weight (c,) or (0,) for ones, term (c,); price: factor, limit (free rows that
    #     cost as much are labelled BEYOND and not summed), root (the distance is the square root);
    #     listed (r,) positions in the block; before (r,) labels they keep, or (0,)
    # OUT: labels (b,); unary (r, K) costs of listed rows and lead (r,), what the best other label
    #      costs above the one in `labels`
    weight, term, _ = terms  # once: see `inference._kernels`
    n_clusters = product.shape[1]
    total = 0.0
    at = first
    for c in range(product.shape[0]):
        i = start + c
        w = price.factor if weight.size == 0 else price.factor * weight[c]
        free = at == listed.size or listed[at] != i
        if free or before.size == 0:
            best = 0
            low = product[c, 0] + offset[0]
            for k in range(1, n_clusters):
                here = product[c, k] + offset[k]
                if here < low:
                    low = here
                    best = k
            labels[i] = best
        else:
            labels[i] = before[at]
        if free:
            cost = _cost_of(w, np.float64(low) + term[c], price.root)
            if price.limit < np.inf and w > 0.0 and not cost < price.limit:
                labels[i] = BEYOND
            else:
                total += cost
            continue
        y = labels[i]
        other = np.inf
        for k in range(n_clusters):
            here = product[c, k] + offset[k]
            cost = _cost_of(w, np.float64(here) + term[c], price.root)
            unary[at, k] = cost
            if k != y and cost < other:
                other = cost
        lead[at] = other - unary[at, y]
        total += unary[at, y]
        at += 1
    return total, at


@njit(cache=True, nogil=True)
def add_dense(rows, labels, weights, scale, sums, counts):
    """Add weighted rows to the sums of their clusters, passing over negative labels."""
    # IN: rows (b, d); labels (b,) int32; weights, scale (b,) or (0,) for ones
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
    """`add_dense` for CSR rows."""
    # IN: CSR arrays; labels (b,) int32; weights, scale (b,) or (0,) for ones
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
