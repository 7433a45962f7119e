"""The farthest pair of rows under a metric (Eaton 2005, 2.6), found exactly.

Every two rows p, q satisfy |p - q| <= |p - c| + |q - c| whatever the point c. So once a pair of
length L is known, a row nearer to c than L - max |x - c| is an end of no longer pair. With c the
middle of a pair that a few sweeps find (each from the last row to the one farthest from it) few
rows are left in few dimensions, and those are compared with one another.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from coterie._typing import Array
from coterie.data import Rows
from coterie.distortions.base import Bound

__all__ = ["FarthestPair", "farthest_pair"]

# n² (d + 8): what comparing every two rows may cost, some 10 ms. A fit asks for tens of metrics,
# and for each cluster its own: 1,300 rows of 20 columns, 2,000 of 4.
_MOST_WORK = 5e7
_BLOCK = 256  # rows compared with all others at once
_KEPT = 64  # metrics whose farthest pair is remembered


class FarthestPair(Bound):
    """max_ij |x_i - x_j|²_A: a maximum of functions linear in A, so convex and homogeneous."""

    def __init__(self, rows: Rows) -> None:
        X = rows.take(np.arange(rows.n))
        X = (X.toarray() if sp.issparse(X) else X).astype(np.float64)
        self.X = X - X.mean(axis=0)  # rows far from the origin keep their digits
        self._found: dict[bytes, Array] = {}

    @staticmethod
    def suits(rows: Rows) -> bool:
        """Whether the search is cheap wherever the rows lie: phi_max must be one function of A."""
        return rows.n**2 * (rows.d + 8) <= _MOST_WORK

    def value(self, A: Array | None) -> float | Array:
        """The squared diameter under each metric."""
        gaps = self._gaps(A)
        if A is None or A.ndim <= 2:
            weights = np.ones_like(gaps) if A is None else np.atleast_2d(A)
            values = np.einsum("gd,gd->g", gaps * weights, gaps)
            return values if A is not None and A.ndim == 2 else float(values[0])
        values = np.einsum("gd,gde,ge->g", gaps, A, gaps)
        return float(values[0]) if len(values) == 1 else values

    def gradient(self, A: Array) -> Array:
        """(x' - x'')², or (x' - x'')(x' - x'')' for full matrices (2.9); one of them at a tie."""
        gaps = self._gaps(A)
        if A.ndim == 3:
            return np.einsum("gd,ge->gde", gaps, gaps)
        return (gaps**2).reshape(A.shape)

    def _gaps(self, A: Array | None) -> Array:
        """x' - x'' (G, d) under each metric; a metric is mostly asked for again at once."""
        metrics = [None] if A is None else list(np.atleast_2d(A))
        return np.array([self._gap(metric) for metric in metrics])

    def _gap(self, metric: Array | None) -> Array:
        key = b"" if metric is None else metric.tobytes()
        gap = self._found.get(key)
        if gap is None:
            i, j = farthest_pair(_under(self.X, metric))
            gap = self.X[i] - self.X[j]
            if len(self._found) >= _KEPT:
                self._found.clear()
            self._found[key] = gap
        return gap


def _under(X: Array, metric: Array | None) -> Array:
    """Rows (n, d) whose Euclidean distances are those of X under a metric (d,) or (d, d)."""
    if metric is None:
        return X
    if metric.ndim == 1:
        return np.asarray(X * np.sqrt(metric))
    values, vectors = np.linalg.eigh(metric)
    return np.asarray(X @ (vectors * np.sqrt(np.maximum(values, 0.0))))


def farthest_pair(Z: Array) -> tuple[int, int]:
    """Numbers of two rows of Z (n, d) that are farthest apart."""
    i, j, longest = _sweep(Z)
    outward = np.sqrt(((Z - (Z[i] + Z[j]) / 2) ** 2).sum(axis=1))
    order = np.argsort(-outward, kind="stable")
    order = order[outward[order] + outward[order[0]] >= longest]
    ends, outward = Z[order], outward[order]
    squares = (ends**2).sum(axis=1)
    for start in range(0, len(ends), _BLOCK):
        reach = longest - outward[start]  # partners must lie at least so far out
        stop = int(np.searchsorted(-outward, -reach, side="right"))
        if stop <= start + 1:
            break  # what follows lies further in on both sides
        block, others = slice(start, min(start + _BLOCK, stop)), slice(start, stop)
        apart = squares[block, None] + squares[others] - 2 * ends[block] @ ends[others].T
        a, b = np.unravel_index(int(apart.argmax()), apart.shape)
        p, q = int(order[start + a]), int(order[start + b])
        length = float(np.linalg.norm(Z[p] - Z[q]))
        if length > longest:
            i, j, longest = p, q, length
    return i, j


def _sweep(Z: Array) -> tuple[int, int, float]:
    """Two rows far apart and their distance: from a row to the farthest while that gets longer."""
    i, j, longest = 0, 0, 0.0
    start = int(((Z - Z.mean(axis=0)) ** 2).sum(axis=1).argmax())
    while True:
        lengths = ((Z - Z[start]) ** 2).sum(axis=1)
        end = int(lengths.argmax())
        length = float(np.sqrt(lengths[end]))
        if not length > longest:  # of NaN neither is
            return i, j, longest
        i, j, longest, start = start, end, length, end
