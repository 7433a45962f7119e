"""Mahalanobis distance: squared Euclidean distance under the inverse of a covariance."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp

from coterie._typing import Array
from coterie.data import Block, Rows, fold, map_blocks
from coterie.distortions.base import column_sums
from coterie.distortions.euclidean import SquaredEuclidean
from coterie.exceptions import CoterieWarning, InvalidParameter

__all__ = ["Mahalanobis"]


class Mahalanobis(SquaredEuclidean):
    """Squared Euclidean distance under a given metric (the inverse of a covariance).

    Where a metric is learned it starts from the given one. A diagonal that is learned starts from
    the inverse variances: of all diagonals, the Gaussian nearest to the given one.

    Parameters
    ----------
    matrix : array-like of shape (d, d) or (d,), optional
        The metric A, full or its diagonal. None: the inverse covariance of the rows, found in
        `fit`.
    """

    name: ClassVar[str] = "mahalanobis"
    euclidean: ClassVar[bool] = False

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

    def bind(self, X: Any, form: str | None = None) -> Mahalanobis:
        """The distortion with its metric fixed: by the rows where none was given.

        With `form` "diagonal" or "full" the metric has that form, which learning starts from.
        """
        if self.matrix is None:
            return Mahalanobis(_inverse_covariance(X, diagonal=form == "diagonal"))
        if self.matrix.shape[-1] != X.shape[1]:
            raise InvalidParameter(
                f"matrix is for {self.matrix.shape[-1]} columns but X has {X.shape[1]}."
            )
        if form == "diagonal" and self.matrix.ndim == 2:
            return Mahalanobis(1 / np.diag(np.linalg.inv(self.matrix)))
        if form == "full" and self.matrix.ndim == 1:
            return Mahalanobis(np.diag(self.matrix))
        return self

    def initial(self, d: int) -> Array:
        """The given metric in the shape that learning starts from."""
        assert self.matrix is not None, "bind the distortion to the rows first"
        return self.matrix if self.matrix.ndim == 1 else self.matrix[None]


_MOST_COLUMNS = 10_000  # of which all products fit in memory (0.8 GB)
_LEAST_VARIANCE = 1e-10  # of the mean variance: what a direction without any is taken to have


def _inverse_covariance(X: Any, *, diagonal: bool) -> Array:
    """The inverse covariance of the rows, (d, d), or their inverse variances, (d,).

    Rows are read in blocks, and sparse ones are not filled. Directions in which the rows do not
    vary are given a little variance; in them only new rows can differ.
    """
    rows = Rows(X)
    n, d = rows.n, rows.d
    if not diagonal and d > _MOST_COLUMNS:
        raise InvalidParameter(
            f"the covariance of {d} columns has {d}^2 entries. Use distortion='cosine', "
            "metric_form='diagonal', or Mahalanobis(a) with one weight a_m for each column."
        )
    mean = column_sums(rows) / n
    scatter = fold(map_blocks(rows, _scatter_block, _About(mean, diagonal)))
    # Sparse rows were summed about the origin.
    scatter -= n * (mean**2 if diagonal else np.outer(mean, mean)) if rows.is_sparse else 0.0
    covariance = scatter / max(n - 1, 1)
    variances = covariance if diagonal else np.diag(covariance)
    least = _LEAST_VARIANCE * (variances.mean() or 1.0)  # rows all alike say nothing of scale
    if diagonal:
        return 1 / np.maximum(covariance, least)
    if n <= d:
        warnings.warn(
            f"the covariance of {n} rows in {d} columns is singular: under its inverse all rows "
            "are equally far apart. Use fewer columns (PCA), distortion='cosine', or "
            "Mahalanobis(a) with one weight a_m for each column.",
            CoterieWarning,
            stacklevel=2,
        )
    values, vectors = np.linalg.eigh(covariance)
    inverse = (vectors / np.maximum(values, least)) @ vectors.T
    return (inverse + inverse.T) / 2


class _About(NamedTuple):
    mean: Array
    diagonal: bool


def _scatter_block(block: Block, about: _About) -> Array:
    """sum_i (x_i - mean)(x_i - mean)' of dense rows, sum_i x_i x_i' of sparse ones, or its
    diagonal.
    """
    rows = block.rows.astype(np.float64)
    if sp.issparse(rows):
        if about.diagonal:
            return np.asarray(rows.power(2).sum(axis=0)).ravel()
        return (rows.T @ rows).toarray()
    total = np.zeros(about.mean.size) if about.diagonal else np.zeros([about.mean.size] * 2)
    for lo in range(0, len(rows), 16_384):
        gaps = rows[lo : lo + 16_384] - about.mean
        total += (gaps * gaps).sum(axis=0) if about.diagonal else gaps.T @ gaps
    return total
