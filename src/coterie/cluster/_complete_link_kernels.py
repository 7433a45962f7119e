"""Compiled steps of constrained complete-link clustering, on a symmetric distance matrix."""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

_TILE = 1024


@njit(cache=True, nogil=True)
def all_shortest(S):
    """Floyd-Warshall: shortest paths between the nodes of S (q, q), in place."""  # IN/OUT S
    q = S.shape[0]
    for k in range(q):
        for i in range(q):
            through = S[i, k]
            for j in range(q):
                S[i, j] = min(S[i, j], through + S[k, j])


@njit(cache=True, nogil=True)
def min_plus(S, B, out):
    """out[k, y] = min over l of S[k, l] + B[l, y]."""  # IN S (q, q), B (q, s); OUT out (q, s)
    q, s = B.shape
    for lo in range(0, s, _TILE):
        hi = min(lo + _TILE, s)
        for k in range(q):
            for y in range(lo, hi):
                out[k, y] = B[k, y]
            for m in range(q):
                through = S[k, m]
                for y in range(lo, hi):
                    out[k, y] = min(out[k, y], through + B[m, y])


@njit(cache=True, nogil=True, fastmath={"nnan"})
def shorten(B, D):
    """D[x, y] = min(D[x, y], B[k, x] + B[k, y]): the way through node k, for every k, symmetric.

    The whole cost of the method: q s^2 / 2 sums. Tiles of B stay in the cache while the rows of D
    pass by, and four ways are weighed for each reading of D.
    """  # IN B (q, s), q a multiple of 4 (repeat a row to fill up); IN/OUT D (s, s)
    q, s = B.shape
    for lo in range(0, s, _TILE):
        hi = min(lo + _TILE, s)
        for first in range(0, q, 32):
            for x in range(lo, s):
                row, stop = D[x], min(hi, x)
                for k in range(first, min(first + 32, q), 4):
                    b0, b1, b2, b3 = B[k], B[k + 1], B[k + 2], B[k + 3]
                    t0, t1, t2, t3 = b0[x], b1[x], b2[x], b3[x]
                    for y in range(lo, stop):
                        one, two = min(t0 + b0[y], t1 + b1[y]), min(t2 + b2[y], t3 + b3[y])
                        row[y] = min(row[y], min(one, two))
    for x in range(s):
        for y in range(x):
            D[y, x] = D[x, y]


@njit(cache=True, nogil=True)
def complete_linkage(D, left, right, height):
    """Agglomerate by nearest-neighbour chains while any merge has a finite height.

    D is destroyed: row a comes to hold the largest distances of the cluster named by node a.
    Merge m joins the clusters named left[m] and right[m], the first of which names the result.
    Merges come children first, not by height. Returns their number.
    """  # IN/OUT D (s, s); OUT left, right (s - 1,) int64, height (s - 1,)
    s = D.shape[0]
    active = np.arange(s)
    n_active = s
    place = np.arange(s)
    chain = np.empty(s, np.int64)
    length = 0
    count = 0
    while n_active > 0:
        if length == 0:
            chain[0] = active[0]
            length = 1
        a = chain[length - 1]
        best = -1
        low = np.inf
        if length > 1:  # at equal distance turn back, so that the chain ends
            best = chain[length - 2]
            low = D[a, best]
        for t in range(n_active):
            b = active[t]
            if b != a and D[a, b] < low:
                low = D[a, b]
                best = b
        gone = a
        if best < 0:  # apart from every other cluster: done with
            length = 0
        elif length > 1 and best == chain[length - 2]:
            gone, kept = max(a, best), min(a, best)
            left[count], right[count], height[count] = kept, gone, low
            count += 1
            for t in range(n_active):
                b = active[t]
                far = max(D[kept, b], D[gone, b])
                D[kept, b] = far
                D[b, kept] = far
            length -= 2
        else:
            chain[length] = best
            length += 1
            continue
        n_active -= 1
        last = active[n_active]
        active[place[gone]] = last
        place[last] = place[gone]
    return count
