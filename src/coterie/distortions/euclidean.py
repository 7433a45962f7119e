"""Squared Euclidean distance, plain or under a metric: |x - mu|^2_A = (x - mu)' A (x - mu), (3.15).

A is None (identity), (d,) a diagonal, (K, d) a diagonal per cluster, or (1 or K, d, d) full
matrices, one for all or one per cluster.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from coterie._typing import Array
from coterie.data import Block, Rows, fold, map_blocks
from coterie.distortions.base import Bound, CenterTerms, LinearBound
from coterie.distortions.bregman import SeparableBregman, apply_entries, column_range
from coterie.distortions.covariance import covariance_of, inverse_of, variances_of
from coterie.distortions.diameter import FarthestPair
from coterie.distortions.learning import LinearProblem, MetricProblem, MetricTask
from coterie.distortions.precision import least_share
from coterie.distortions.rows import gather_pairs, refuse, row_sums

__all__ = ["SquaredEuclidean"]


class SquaredEuclidean(SeparableBregman):
    """Squared Euclidean distance; learns diagonal or full metrics, one or one per cluster."""

    name: ClassVar[str] = "sqeuclidean"
    translation_invariant: ClassVar[bool] = True
    forms: ClassVar[tuple[str, ...]] = ("diagonal", "full")
    per_cluster: ClassVar[bool] = True
    euclidean: ClassVar[bool] = True
    quadratic: ClassVar[bool] = True
    kmeans_factor: ClassVar[float] = 0.5

    def check_rows(self, X: Any) -> None:
        """Squared distances must not overflow."""
        most = np.sqrt(np.finfo(X.dtype).max / (8 * X.shape[1]))
        stored = X.data if sp.issparse(X) else X
        if stored.size and not (-most < stored.min() and stored.max() < most):
            refuse(
                X,
                lambda v: ~(np.abs(v) < most),
                f"squared distances of such values overflow {X.dtype}",
                "Rescale the columns (for example with sklearn.preprocessing.StandardScaler).",
            )

    def phi(self, x: Array) -> Array:
        """x^2."""
        return x * x

    def phi_prime(self, x: Array) -> Array:
        """2 x."""
        return 2 * x

    def row_term(self, X: Any, A: Array | None = None) -> NDArray[np.float64]:
        """x' A x under one metric; 0 where the metric differs by cluster."""
        if A is None or A.ndim == 1:
            return row_sums(X, A, power=2)
        if A.ndim == 3 and len(A) == 1:
            return np.einsum("ij,ij->i", np.asarray(X @ A[0]), _dense(X), dtype=np.float64)
        return np.zeros(X.shape[0])

    def center_terms(self, centers: Array, A: Array | None = None) -> CenterTerms:
        """g = -2 A mu, b = mu' A mu, and A itself where it differs by cluster."""
        wide = np.asarray(centers, dtype=np.float64)
        if A is None:
            moved = wide
        elif A.ndim <= 2:
            moved = A * wide
        else:
            moved = np.einsum("kij,kj->ki", np.broadcast_to(A, (len(wide), *A.shape[1:])), wide)
        offset = (moved * wide).sum(axis=1)
        shared = A is None or A.ndim == 1 or (A.ndim == 3 and len(A) == 1)
        square = None if A is None or shared else A.astype(centers.dtype)
        return CenterTerms((-2 * moved).astype(centers.dtype), offset.astype(centers.dtype), square)

    def between(self, X: Any, i: Array, j: Array, A: Array | None = None) -> Array:
        """|x_i - x_j|^2_A: (m,), or (m, K) where the metric differs by cluster."""
        groups = 1 if A is None or A.ndim == 1 else len(A)
        values = np.empty((len(i), groups))
        for lo, hi, xi, xj in gather_pairs(X, i, j):
            gap = xi - xj
            if A is None or A.ndim <= 2:
                weights = np.ones((1, gap.shape[1])) if A is None else np.atleast_2d(A)
                squared = gap.power(2) if sp.issparse(gap) else np.square(gap, dtype=np.float64)
                values[lo:hi] = squared @ weights.T
            else:
                wide = _dense(gap).astype(np.float64)
                for k, matrix in enumerate(A):
                    values[lo:hi, k] = np.einsum("ij,ij->i", wide @ matrix, wide)
        np.maximum(values, 0.0, out=values)
        return values[:, 0] if groups == 1 else values

    def between_gradient(self, X: Any, i: Array, j: Array, A: Array) -> Array:
        """Squared differences of the columns, or their products for full metrics."""
        if A.ndim <= 2:
            return super().between_gradient(X, i, j, A)
        source = Rows.of(X).source
        gap = _dense(source.take(i) - source.take(j)).astype(np.float64)
        return np.einsum("gi,gj->gij", gap, gap)

    def weight_scale(self, rows: Rows, weights: Array, form: str) -> Array | None:
        """Inverse variances; the diagonal of the inverse covariance for full metrics, whose
        weights answer to what a column varies where the others are known.
        """
        if form == "full":
            return np.diag(inverse_of(covariance_of(rows, weights)))
        return inverse_of(variances_of(rows, weights))

    def least_share(self, rows: Rows, weights: Array) -> Array:
        """As much as the values of the column were rounded to, or one of them stands out."""
        return least_share(rows, weights)

    def bound(self, X: Any) -> Bound:
        """The squared diameter of the data (2.6); a bound of it where there are many rows."""
        rows = Rows.of(X)
        return FarthestPair(rows) if FarthestPair.suits(rows) else DiameterBound(rows)

    def paper_bound(self, X: Any, i: Array, j: Array) -> Bound:
        """The sum of the distances of all cannot-linked pairs (section 3.3.3.1)."""
        return ScatterBound(self, X, i, j)

    # -- evidence for learning a metric ----------------------------------------------------
    def log_det(self, A: Array | None) -> Array:
        """log det A of each metric, (1,) or (K,): minus twice the log normaliser of a Gaussian."""
        if A is None:
            return np.zeros(1)
        if A.ndim <= 2:
            return np.log(np.atleast_2d(A)).sum(axis=1)
        return np.linalg.slogdet(A)[1]

    def metric_problem(self, task: MetricTask) -> MetricProblem:
        """Linear in A, less the log-determinant that normalises a Gaussian."""
        scatter = self.full_scatter(task) if task.form == "full" else self.scatter(task)
        return LinearProblem.of(task, *scatter, normalized=True)

    def full_scatter(self, task: MetricTask) -> tuple[Array, Array]:
        """As `scatter`, in products of columns, (G, d, d)."""
        pairs = task.pairs
        within = self.within_full(task.evidence, task.counts, task.centers)
        between = self.pair_scatter_full(task.rows, pairs.i, pairs.j, pairs.must - pairs.cannot)
        return within + between, np.einsum("gii->i", task.evidence)

    def within_full(self, outer: Array, counts: Array, centers: Array) -> Array:
        """sum_i (x_i - mu)(x_i - mu)' of each metric's rows, (G, d, d), from sums of x x'."""
        wide = np.asarray(centers, dtype=np.float64)
        means = np.einsum("k,ki,kj->kij", counts, wide, wide)
        return outer - (means if len(outer) == len(wide) else means.sum(axis=0, keepdims=True))

    def pair_scatter_full(self, X: Any, i: Array, j: Array, weights: Array) -> Array:
        """sum_p weights_pg (x_i - x_j)(x_i - x_j)', (G, d, d), for weights (m, G)."""
        d = Rows.of(X).d
        total = np.zeros((weights.shape[1], d, d))
        for lo, hi, xi, xj in gather_pairs(X, i, j):
            gap = _dense(xi - xj).astype(np.float64)
            for g, column in enumerate(weights[lo:hi].T):
                total[g] += (gap * column[:, None]).T @ gap
        return total

    def between_columns(self, xi: Any, xj: Any) -> Any:
        """(x - y)^2 of each column."""
        return apply_entries(np.square, xi - xj)


class DiameterBound(Bound):
    """Diagonal: sum_m a_m range_m^2 (the bounding box). Full: (2 max_i |x_i - mean|_A)^2."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        low, high = column_range(rows)
        self.box = LinearBound((high - low) ** 2)

    @cached_property
    def center(self) -> Array:
        """The mean of the rows, (d,)."""
        return fold(map_blocks(self.rows, _sum_block, None)) / self.rows.n

    def value(self, A: Array | None) -> float | Array:
        """The bound under each metric."""
        if A is None or A.ndim <= 2:
            return self.box.value(A)
        bounds = 4 * np.array([square for _, square in self._outermost(A)])
        return float(bounds[0]) if len(bounds) == 1 else bounds

    def gradient(self, A: Array) -> Array:
        """range^2, or 4 (x - mean)(x - mean)' of the outermost row."""
        if A.ndim <= 2:
            return self.box.gradient(A)
        gaps = np.array([gap for gap, _ in self._outermost(A)])
        return 4 * np.einsum("ki,kj->kij", gaps, gaps)

    def _outermost(self, A: Array) -> list[tuple[Array, float]]:
        """The row farthest from the mean under each metric, less the mean, and its distance."""
        best = [(np.zeros(A.shape[1]), 0.0) for _ in A]
        for found in map_blocks(self.rows, _outermost_block, _Outward(self.center, A)):
            best = [new if new[1] > old[1] else old for old, new in zip(best, found, strict=True)]
        return best


class _Outward(NamedTuple):
    center: Array
    A: Array


def _sum_block(block: Block, _: None) -> Array:
    return np.asarray(block.rows.sum(axis=0, dtype=np.float64)).ravel()


def _outermost_block(block: Block, outward: _Outward) -> list[tuple[Array, float]]:
    """For each metric the row of the block that is farthest from the centre, and its distance."""
    best = [(np.zeros(outward.center.size), 0.0) for _ in outward.A]
    for lo in range(0, block.rows.shape[0], 16_384):
        rows = _dense(block.rows[lo : lo + 16_384]) - outward.center
        for k, matrix in enumerate(outward.A):
            squares = np.einsum("ij,ij->i", rows @ matrix, rows)
            top = int(squares.argmax())
            if squares[top] > best[k][1]:
                best[k] = (rows[top], float(squares[top]))
    return best


class ScatterBound(Bound):
    """The sum of the distances of the listed pairs, linear in A."""

    def __init__(self, distortion: SquaredEuclidean, X: Any, i: Array, j: Array) -> None:
        ones = np.ones((len(i), 1))
        self.box = LinearBound(distortion.pair_scatter(X, i, j, ones)[0])
        self.full = lambda: distortion.pair_scatter_full(X, i, j, ones)[0]

    def value(self, A: Array | None) -> float | Array:
        """<A, scatter>."""
        if A is None or A.ndim <= 2:
            return self.box.value(A)
        bounds = np.einsum("kij,ij->k", A, self.full())
        return float(bounds[0]) if len(bounds) == 1 else bounds

    def gradient(self, A: Array) -> Array:
        """The scatter of the pairs."""
        if A.ndim <= 2:
            return self.box.gradient(A)
        return np.broadcast_to(self.full(), A.shape)


def _dense(X: Any) -> Array:
    """Rows as an array: a full metric needs products of columns, so the result is dense anyway."""
    return X.toarray() if sp.issparse(X) else X
