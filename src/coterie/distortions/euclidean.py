"""Squared Euclidean distance, plain or under a metric: |x - mu|^2_A = (x - mu)' A (x - mu), (3.15).

A is None (identity), (d,) a diagonal, (K, d) a diagonal per cluster, or (1 or K, d, d) full
matrices, one for all or one per cluster.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from coterie.distortions.base import CenterTerms, gather_pairs, row_sums
from coterie.distortions.bregman import SeparableBregman, column_range
from coterie.exceptions import InvalidData, InvalidParameter

__all__ = ["Mahalanobis", "SquaredEuclidean"]

Array = NDArray[Any]


class SquaredEuclidean(SeparableBregman):
    """Squared Euclidean distance; learns diagonal or full metrics, one or one per cluster."""

    name: ClassVar[str] = "sqeuclidean"
    translation_invariant: ClassVar[bool] = True
    forms: ClassVar[tuple[str, ...]] = ("diagonal", "full")
    per_cluster: ClassVar[bool] = True

    def check_rows(self, X: Any) -> None:
        """Squares must not overflow."""
        with np.errstate(over="ignore", invalid="ignore"):
            spread = row_sums(X, power=2)
        bad = np.flatnonzero(~np.isfinite(spread))
        if bad.size:
            raise InvalidData(
                f"row {bad[0]} has values whose squares overflow; rescale the columns "
                "(for example with sklearn.preprocessing.StandardScaler)."
            )

    def phi(self, x: Array) -> Array:
        """x^2."""
        return x * x

    def phi_prime(self, x: Array) -> Array:
        """2 x."""
        return 2 * x

    def row_term(self, X: Any, A: Array | None = None) -> NDArray[np.float64]:
        """x' A x under one metric; 0 where the metric differs by cluster (see `cross`)."""
        if A is None or A.ndim == 1:
            return row_sums(X, A, power=2)
        if A.ndim == 3 and len(A) == 1:
            return np.einsum("ij,ij->i", np.asarray(X @ A[0]), _dense(X), dtype=np.float64)
        return np.zeros(X.shape[0])

    def center_terms(self, centers: Array, A: Array | None = None) -> CenterTerms:
        """g = -2 A mu, b = mu' A mu, and A itself where it differs by cluster."""
        if A is None or A.ndim == 1:
            return super().center_terms(centers, A)
        wide = np.asarray(centers, dtype=np.float64)
        if A.ndim == 2:
            moved = A * wide
        else:
            moved = np.einsum("kij,kj->ki", np.broadcast_to(A, (len(wide), *A.shape[1:])), wide)
        offset = (moved * wide).sum(axis=1)
        square = None if A.ndim == 3 and len(A) == 1 else A.astype(centers.dtype)
        return CenterTerms((-2 * moved).astype(centers.dtype), offset.astype(centers.dtype), square)

    def cross(self, X: Any, terms: CenterTerms, scale: Array | None) -> Array:
        """b_k + <x, g_k> + x' A_k x where the metric differs by cluster."""
        values = super().cross(X, terms, scale)
        if terms.square is None:
            return values
        if terms.square.ndim == 2:
            squared = X.power(2) if sp.issparse(X) else X * X
            values += squared @ terms.square.T
            return values
        rows = _dense(X)
        for k, matrix in enumerate(terms.square):
            values[:, k] += np.einsum("ij,ij->i", rows @ matrix, rows)
        return values

    def between(self, X: Any, i: Array, j: Array, A: Array | None = None) -> Array:
        """|x_i - x_j|^2_A: (m,), or (m, K) where the metric differs by cluster."""
        groups = 1 if A is None or A.ndim == 1 else len(A)
        values = np.empty((len(i), groups))
        for lo, hi, xi, xj in gather_pairs(X, i, j):
            gap = xi - xj
            if A is None or A.ndim <= 2:
                weights = np.ones((1, X.shape[1])) if A is None else np.atleast_2d(A)
                squared = gap.power(2) if sp.issparse(gap) else np.square(gap, dtype=np.float64)
                values[lo:hi] = squared @ weights.T
            else:
                wide = _dense(gap).astype(np.float64)
                for k, matrix in enumerate(A):
                    values[lo:hi, k] = np.einsum("ij,ij->i", wide @ matrix, wide)
        np.maximum(values, 0.0, out=values)
        return values[:, 0] if groups == 1 else values

    def phi_max(self, X: Any, A: Array | None = None) -> float | Array:
        """The squared diameter of the data or a bound of it, under each metric.

        Diagonal: sum_m a_m range_m^2 (the bounding box). Full: (2 max_i |x_i - mean|_A)^2.
        """
        if A is None or A.ndim <= 2:
            low, high = column_range(X)
            weights = np.ones((1, len(low))) if A is None else np.atleast_2d(A)
            bounds = weights @ (high - low) ** 2
        else:
            center = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
            bounds = np.zeros(len(A))
            for lo in range(0, X.shape[0], 16_384):
                rows = _dense(X[lo : lo + 16_384]) - center
                farthest = [4 * np.einsum("ij,ij->i", rows @ m, rows).max() for m in A]
                np.maximum(bounds, farthest, out=bounds)
        return float(bounds[0]) if len(bounds) == 1 else bounds


class Mahalanobis(SquaredEuclidean):
    """Squared Euclidean distance under a given metric (the inverse of a covariance).

    Parameters
    ----------
    matrix : array-like of shape (d, d) or (d,), optional
        The metric A, full or its diagonal. None: the inverse covariance of the rows, found in
        `fit`.
    """

    name: ClassVar[str] = "mahalanobis"

    def __init__(self, matrix: Any = None) -> None:
        self.matrix = None if matrix is None else np.asarray(matrix, dtype=np.float64)
        if self.matrix is not None:
            self._check_matrix(self.matrix)

    @staticmethod
    def _check_matrix(matrix: Array) -> None:
        if matrix.ndim == 1:
            positive = bool((matrix > 0).all())
        elif matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1]:
            symmetric = np.allclose(matrix, matrix.T, rtol=1e-8, atol=0)
            positive = symmetric and bool(np.linalg.eigvalsh(matrix)[0] > 0)
        else:
            raise InvalidParameter(
                f"matrix has shape {matrix.shape}; give (d, d), or (d,) for a diagonal."
            )
        if not positive:
            raise InvalidParameter("matrix must be symmetric and positive definite.")

    def bind(self, X: Any) -> Mahalanobis:
        """The distortion with its metric fixed: by the rows where none was given."""
        if self.matrix is None:
            covariance = np.atleast_2d(np.cov(_dense(X), rowvar=False))
            ridge = 1e-10 * max(np.trace(covariance) / len(covariance), np.finfo(float).tiny)
            return Mahalanobis(np.linalg.inv(covariance + ridge * np.eye(len(covariance))))
        if self.matrix.shape[-1] != X.shape[1]:
            raise InvalidParameter(
                f"matrix is for {self.matrix.shape[-1]} columns but X has {X.shape[1]}."
            )
        return self

    def initial(self, d: int) -> Array:
        """The given metric in the shape that learning starts from."""
        assert self.matrix is not None, "bind the distortion to the rows first"
        return self.matrix if self.matrix.ndim == 1 else self.matrix[None]


def _dense(X: Any) -> Array:
    """Rows as an array: a full metric needs products of columns, so the result is dense anyway."""
    return X.toarray() if sp.issparse(X) else X
