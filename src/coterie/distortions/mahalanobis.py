"""Mahalanobis distance: squared Euclidean distance under the inverse of a covariance."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from coterie._typing import Array
from coterie.data import Rows
from coterie.distortions.covariance import covariance_of, inverse_of, variances_of
from coterie.distortions.euclidean import SquaredEuclidean
from coterie.exceptions import InvalidParameter
from coterie.parameters import check_arguments
from coterie.words import warn

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
        check_arguments(Mahalanobis, locals())
        self.matrix = None if matrix is None else np.asarray(matrix, dtype=np.float64)
        if self.matrix is not None:
            self._check_matrix(self.matrix)

    @staticmethod
    def _check_matrix(matrix: Array) -> None:
        if not np.isfinite(matrix).all():
            raise InvalidParameter("matrix must be of finite numbers.")
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
            return Mahalanobis(_metric_of(X, diagonal=form == "diagonal"))
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


def _metric_of(X: Any, *, diagonal: bool) -> Array:
    """The inverse covariance of the rows, (d, d), or their inverse variances, (d,)."""
    rows = Rows(X)
    n, d = rows.n, rows.d
    sample = n / max(n - 1, 1)
    if diagonal:
        return inverse_of(sample * variances_of(rows))
    if d > _MOST_COLUMNS:
        raise InvalidParameter(
            f"the covariance of {d} columns has {d}^2 entries. Use distortion='cosine', "
            "metric_form='diagonal', or Mahalanobis(a) with one weight a_m for each column."
        )
    if n <= d:
        warn(
            f"the covariance of {n} rows in {d} columns is singular: under its inverse all rows "
            "are equally far apart. Use fewer columns (PCA), distortion='cosine', or "
            "Mahalanobis(a) with one weight a_m for each column.",
        )
    return inverse_of(sample * covariance_of(rows))
