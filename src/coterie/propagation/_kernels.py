"""Compiled loops of propagation: distances to candidates, walks on a graph, pairs near a pair."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numba.extending import register_jitable
from numpy.typing import NDArray

from coterie._typing import FloatArray, IntArray


@njit(cache=True, nogil=True)
def squared_lengths(
    X: FloatArray,  # IN (n, d)
    ends: FloatArray,  # IN (e, d)
    indptr: IntArray,  # IN (e + 1,)
    rows: IntArray,  # IN (indptr[-1],) candidates of each end
    factor: FloatArray,  # IN (1, d) for A = diag(factor²), or (d, d) for A = factor factorᵀ
    out: FloatArray,  # OUT (indptr[-1],) (x − x_end)ᵀ A (x − x_end)
) -> None:
    """Squared Mahalanobis lengths; exactly 0 between equal rows, which a product of X is not."""
    d = X.shape[1]
    diagonal = factor.shape[0] == 1
    gap = np.empty(d)
    for e in range(len(ends)):
        for at in range(indptr[e], indptr[e + 1]):
            total = 0.0
            for m in range(d):
                gap[m] = X[rows[at], m] - ends[e, m]
            if diagonal:
                for m in range(d):
                    total += (gap[m] * factor[0, m]) ** 2
            else:
                for k in range(d):
                    along = 0.0
                    for m in range(d):
                        along += gap[m] * factor[m, k]
                    total += along * along
            out[at] = total


class Walk(NamedTuple):
    """Walks on a symmetric graph that go on with probability `alpha` after each step.

    Attributes
    ----------
    indptr, indices, weights : (n + 1,), (nnz,), (nnz,)
        CSR arrays of the graph.
    degree : (n,) float64
        Sum of the weights of each row.
    alpha : float
    smallest : float
        What is pushed along edges is at least this.
    """

    indptr: IntArray
    indices: IntArray
    weights: FloatArray
    degree: FloatArray
    alpha: float
    smallest: float


class Pushing(NamedTuple):
    """What `hitting` writes on, (n,) each; it leaves zeros and False where it found them."""

    residual: FloatArray  # zeros
    green: FloatArray  # zeros
    queue: IntArray
    queued: NDArray[np.bool_]  # False


@register_jitable
def hitting(walk, end, pushing, out_rows, out_values):  # type: ignore[no-untyped-def]
    """Probability that a walk from i reaches `end` before it stops, for every i it may come from.

    Solves g = e_end + alpha P g by pushing residuals of at least `smallest` along the edges, so
    that 0 <= g - computed <= smallest / (1 - alpha); the probability is g(i) / g(end). Returns how
    many rows were reached; they stand first in the outputs, in the order they were reached.
    """  # IN; OUT pushing, out_rows (n,), out_values (n,)
    indptr, indices, weights, degree, alpha, smallest = walk
    residual, green, queue, queued = pushing
    n = queue.size
    residual[end] = 1.0
    queue[0] = end
    queued[end] = True
    first, waiting, reached = 0, 1, 0
    while waiting:
        u = queue[first]
        first = (first + 1) % n
        waiting -= 1
        queued[u] = False
        pushed = residual[u]
        residual[u] = 0.0
        if green[u] == 0.0:
            out_rows[reached] = u
            reached += 1
        green[u] += pushed
        for at in range(indptr[u], indptr[u + 1]):
            v = indices[at]
            residual[v] += alpha * weights[at] / degree[v] * pushed
            if residual[v] >= smallest and not queued[v]:
                queue[(first + waiting) % n] = v
                waiting += 1
                queued[v] = True
    top = green[end]
    for k in range(reached):
        u = out_rows[k]
        out_values[k] = min(1.0, green[u] / top)
        for at in range(indptr[u], indptr[u + 1]):
            residual[indices[at]] = 0.0
    for k in range(reached):
        green[out_rows[k]] = 0.0
        residual[out_rows[k]] = 0.0
    return reached


@njit(cache=True, nogil=True)
def walk_lists(
    walk: Walk,
    ends: IntArray,  # IN (e,)
    budget: float,
    most: int,
    lengths: IntArray,  # OUT (e,) rows within the budget of each end
    rows: IntArray,  # OUT (up to `most`,) or empty: count only
    energy: FloatArray,  # OUT as `rows`: -2 log of the probability
) -> int:
    """Rows whose walk reaches an end with -2 log probability <= `budget`, for each end.

    Returns their number, or more than `most` as soon as that is exceeded.
    """
    n = walk.degree.size
    pushing = Pushing(np.zeros(n), np.zeros(n), np.empty(n, np.int64), np.zeros(n, np.bool_))
    near, value = np.empty(n, dtype=np.int64), np.empty(n)
    total = 0
    for e in range(ends.size):
        reached = hitting(walk, ends[e], pushing, near, value)
        start = total
        for k in range(reached):
            q = -2.0 * np.log(value[k])
            if q <= budget:
                if total < rows.size:
                    rows[total] = near[k]
                    energy[total] = q
                total += 1
        lengths[e] = total - start
        if total > most:
            break
    return total


class Lists(NamedTuple):
    """Rows near each of e ends, nearest first: CSR arrays with the q of each."""

    indptr: IntArray
    rows: IntArray
    energy: FloatArray


class Pairs(NamedTuple):
    """Pairs of rows i < j near a source, with the smaller q of their two orientations."""

    i: IntArray
    j: IntArray
    source: IntArray
    energy: FloatArray


@njit(cache=True, nogil=True)
def near_pairs(
    sources: IntArray,  # IN (m, 2) numbers of the two ends of each source
    ends: IntArray,  # IN (e,) rows
    near: Lists,  # IN
    n: int,
    budget: float,
    share_ends: bool,
    most: int,
    found: Pairs,  # OUT (up to `most`,) each, or empty: count only
) -> int:
    """Pairs {i, j} with min(q_A(i) + q_B(j), q_A(j) + q_B(i)) <= budget, once for each source.

    Both lists are sorted, so the work is that of the lists and the output. Returns the number of
    pairs, or more than `most` as soon as that is exceeded.
    """
    indptr, rows, energy = near
    out_i, out_j, out_source, out_energy = found
    q_a, q_b = np.full(n, np.inf), np.full(n, np.inf)
    total = 0
    for s in range(sources.shape[0]):
        a, b = sources[s, 0], sources[s, 1]
        row_a, row_b = ends[a], ends[b]
        for at in range(indptr[a], indptr[a + 1]):
            q_a[rows[at]] = energy[at]
        for at in range(indptr[b], indptr[b + 1]):
            q_b[rows[at]] = energy[at]
        for x in range(indptr[a], indptr[a + 1]):
            i = rows[x]
            if energy[x] > budget or total > most:
                break
            for y in range(indptr[b], indptr[b + 1]):
                q = energy[x] + energy[y]
                if q > budget:
                    break
                j = rows[y]
                n_shared = (i in (row_a, row_b)) + (j in (row_a, row_b))
                if i == j or n_shared == 2 or (n_shared and not share_ends):
                    continue
                other = q_a[j] + q_b[i]
                if other < q or (other == q and j < i):
                    continue  # the other orientation speaks for this pair
                if total < out_i.size:
                    out_i[total] = min(i, j)
                    out_j[total] = max(i, j)
                    out_source[total] = s
                    out_energy[total] = q
                total += 1
        for at in range(indptr[a], indptr[a + 1]):
            q_a[rows[at]] = np.inf
        for at in range(indptr[b], indptr[b + 1]):
            q_b[rows[at]] = np.inf
        if total > most:
            break
    return total
