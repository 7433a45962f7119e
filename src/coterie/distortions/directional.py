"""Directional distortions: cosine distance and Pearson correlation distance.

d_A(x, mu) = 1 - x' A mu / (|x|_A |mu|_A) with A = diag(a), (3.17); correlation is the same for
rows with their own mean taken off, which sparse rows carry along without being filled.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from coterie.distortions.base import (
    Bound,
    CenterTerms,
    ConstantBound,
    Distortion,
    gather_pairs,
    row_sums,
)
from coterie.exceptions import InvalidData

__all__ = ["Correlation", "Cosine"]

Array = NDArray[Any]


class Cosine(Distortion):
    """Cosine distance 1 - cos(x, mu); rows and centres count by direction only."""

    name: ClassVar[str] = "cosine"
    forms: ClassVar[tuple[str, ...]] = ("diagonal",)

    def check_rows(self, X: Any) -> None:
        """A row of zeros has no direction."""
        norms = self.squared_norms(X)
        bad = np.flatnonzero(~(norms > 0) | ~np.isfinite(norms))
        if bad.size:
            what = "is constant" if self.name == "correlation" else "is all zeros"
            if not np.isfinite(norms[bad[0]]):
                what = "has squares that overflow"
            raise InvalidData(
                f"row {bad[0]} {what} ({bad.size} such rows): it has no direction for the "
                f"{self.name} distance. Drop those rows, or use distortion='sqeuclidean'."
            )

    def squared_norms(self, X: Any, A: Array | None = None) -> NDArray[np.float64]:
        """|x|^2_A of every row."""
        return row_sums(X, A, power=2)

    def row_term(self, X: Any, A: Array | None = None) -> NDArray[np.float64]:
        """1."""
        return np.ones(X.shape[0])

    def row_scale(self, X: Any, A: Array | None = None) -> Array:
        """1 / |x|_A."""
        return 1.0 / np.sqrt(self.squared_norms(X, A))

    def center_terms(self, centers: Array, A: Array | None = None) -> CenterTerms:
        """g = -A mu / |mu|_A, b = 0."""
        norms = np.sqrt(self.squared_norms(centers, A))
        unit = centers / np.where(norms > 0, norms, 1.0)[:, None]
        slope = -unit if A is None else -unit * A
        return CenterTerms(slope.astype(centers.dtype), np.zeros(len(centers), centers.dtype))

    def centroid(self, sums: Array, counts: Array, A: Array | None = None) -> Array:
        """sum_i x_i / |x_i|_A scaled to unit length, the minimiser (3.24 for unit rows).

        Rows that cancel out leave a centre of length zero, at distance 1 from every row.
        """
        norms = np.sqrt(self.squared_norms(sums, A))
        return sums / np.where(norms > 0, norms, 1.0)[:, None]

    def between_columns(self, xi: Any, xj: Any) -> Any:
        """x_im x_jm of matching rows: what the cosine of a pair is made of, besides the lengths."""
        return xi.multiply(xj) if sp.issparse(xi) else xi * xj

    def from_columns(self, columns: Any, A: Array, scales: Array) -> Array:
        """`between` from kept `between_columns`, (m,); `scales` are 1 / (|x_i|_A |x_j|_A)."""
        return np.maximum(1.0 - np.asarray(columns @ A) * scales, 0.0)

    def dots(self, xi: Any, xj: Any, A: Array | None = None) -> NDArray[np.float64]:
        """x_i' A x_j of matching rows, (m,)."""
        return row_sums(self.between_columns(xi, xj), A)

    def cosines(self, xi: Any, xj: Any, A: Array | None = None) -> NDArray[np.float64]:
        """cos_A of matching rows, (m,)."""
        lengths = np.sqrt(self.squared_norms(xi, A) * self.squared_norms(xj, A))
        return self.dots(xi, xj, A) / lengths

    def between(self, X: Any, i: Array, j: Array, A: Array | None = None) -> Array:
        """1 - cos_A(x_i, x_j)."""
        values = np.empty(len(i))
        for lo, hi, xi, xj in gather_pairs(X, i, j):
            values[lo:hi] = 1.0 - self.cosines(xi, xj, A)
        return np.maximum(values, 0.0)

    def bound(self, X: Any) -> Bound:
        """1 for non-negative rows, 2 otherwise."""
        least = X.data.min() if sp.issparse(X) and X.nnz else X.min()
        return ConstantBound(1.0 if least >= 0 else 2.0)

    def paper_bound(self, X: Any, i: Array, j: Array) -> Bound:
        """1 (section 3.3.3.2)."""
        return ConstantBound(1.0)

    def angle_gradient(self, xi: Any, xj: Any, weights: Array, A: Array) -> NDArray[np.float64]:
        """sum_p weights_p d cos_A(x_i, x_j) / d a_m over matching rows, (d,).

        d cos / d a_m = x_m y_m / (|x||y|) - cos/2 (x_m^2/|x|^2 + y_m^2/|y|^2): (3.29) without the
        minus that turns it into the derivative of the distance.
        """
        left, right = self.squared_norms(xi, A), self.squared_norms(xj, A)
        lengths = np.sqrt(left * right)
        cosine = self.dots(xi, xj, A) / lengths
        gradient = self.between_columns(xi, xj).T @ (weights / lengths)
        for rows, norms in ((xi, left), (xj, right)):
            squares = rows.power(2) if sp.issparse(rows) else rows * rows
            gradient = gradient - 0.5 * (squares.T @ (weights * cosine / norms))
        return np.asarray(gradient, dtype=np.float64)


class Correlation(Cosine):
    """Pearson correlation distance 1 - r(x, mu): the cosine of rows less their own mean.

    Its metric is not learned: with weights, which mean to take off would be a second choice.
    """

    name: ClassVar[str] = "correlation"
    forms: ClassVar[tuple[str, ...]] = ()

    def squared_norms(self, X: Any, A: Array | None = None) -> NDArray[np.float64]:
        """|x - mean(x)|^2, without filling sparse rows."""
        means = row_sums(X) / X.shape[1]
        if sp.issparse(X):
            return np.maximum(row_sums(X, power=2) - X.shape[1] * means**2, 0.0)
        gaps = X - means[:, None]
        return np.einsum("ij,ij->i", gaps, gaps)

    def center_terms(self, centers: Array, A: Array | None = None) -> CenterTerms:
        """g = -(mu - mean(mu)) / |mu - mean(mu)|: taking off the centre's mean is enough."""
        return super().center_terms(centers - centers.mean(axis=1, keepdims=True), A)

    def centroid(self, sums: Array, counts: Array, A: Array | None = None) -> Array:
        """The sum of the standardised rows, itself standardised."""
        return super().centroid(sums - sums.mean(axis=1, keepdims=True), counts, A)

    def dots(self, xi: Any, xj: Any, A: Array | None = None) -> NDArray[np.float64]:
        """<x_i - mean, x_j - mean> of matching rows."""
        d = xi.shape[1]
        return super().dots(xi, xj) - row_sums(xi) * row_sums(xj) / d

    def bound(self, X: Any) -> Bound:
        """2: a correlation can be -1 whatever the signs of the data."""
        return ConstantBound(2.0)
