"""Kullback-Leibler divergence of counts with Laplace smoothing, section 5.3 of the paper.

A row of counts x with sum N over d columns becomes the distribution

    p = (x + alpha) / (N + alpha d) = s (x + alpha),  s = 1 / (N + alpha d),

so that a long row is smoothed less than a short one. The divergence to a centre mu is

    D(p, mu) = sum_m p_m log p_m - s <x, log mu> - s alpha sum_m log mu_m,

one product of the raw counts and a number for each row and centre: CSR rows are never filled. The
centre of a cluster is the mean of its p, so D is a Bregman divergence and J never rises.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import xlogy

from coterie._typing import Array
from coterie.distortions import CenterTerms, KLDivergence, SeparableBregman
from coterie.distortions.base import Bound, ConstantBound, slopes_of

__all__ = ["CountKL"]


class CountKL(SeparableBregman):
    """KL divergence of counts, `alpha` added to each count before the row is divided by its sum.

    Parameters
    ----------
    alpha : float
        Pseudo-count of every column; above 0.
    """

    name: ClassVar[str] = "kl"
    positive_only: ClassVar[bool] = True
    forms: ClassVar[tuple[str, ...]] = ()

    def __init__(self, alpha: float) -> None:
        self.alpha = float(alpha)

    def check_rows(self, X: Any) -> None:
        """No count may be negative, no row all zero."""
        KLDivergence().check_rows(X)

    def phi(self, x: Array) -> Array:
        """x log x - x."""
        return xlogy(x, x) - x

    def phi_prime(self, x: Array) -> Array:
        """log x."""
        return np.log(x)

    def row_scale(self, X: Any, A: Array | None = None) -> NDArray[np.float64]:
        """s = 1 / (N + alpha d)."""
        sums = np.asarray(X.sum(axis=1), dtype=np.float64).ravel()
        return np.asarray(1.0 / (sums + self.alpha * X.shape[1]))

    def row_term(self, X: Any, A: Array | None = None) -> NDArray[np.float64]:
        """sum_m p_m log p_m - p_m, from the counts that are not 0."""
        scale = self.row_scale(X)
        empty = self.phi(self.alpha * scale)  # of a column with no count
        if not sp.issparse(X):
            return self.phi((np.asarray(X, np.float64) + self.alpha) * scale[:, None]).sum(axis=1)
        stored = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        gain = self.phi((X.data.astype(np.float64) + self.alpha) * scale[stored]) - empty[stored]
        return np.bincount(stored, gain, minlength=X.shape[0]) + X.shape[1] * empty

    def center_terms(self, centers: Array, A: Array | None = None) -> CenterTerms:
        """g = -log mu and b = sum_m mu_m."""
        wide = np.asarray(centers, dtype=np.float64)
        slope, offset = -self.phi_prime(wide), wide.sum(axis=1)
        return CenterTerms(slope.astype(centers.dtype), offset.astype(centers.dtype))

    def product(
        self, X: Any, terms: CenterTerms, scale: Array | None, out: Array | None = None
    ) -> Array:
        """s_i (<x_i, g_k> + alpha sum_m g_km), (b, K)."""
        scale = self.row_scale(X) if scale is None else scale
        product = slopes_of(X, terms, out)
        product += self.alpha * terms.slope.sum(axis=1)
        product *= scale[:, None]
        return product

    def centroid(self, sums: Array, counts: Array, A: Array | None = None) -> Array:
        """The mean of p, from sums of w s x: what these lack of the counts is the smoothing.

        sum_m p_m = 1, so sum_i w_i s_i alpha = (sum_i w_i - sum_im w_i s_i x_im) / d.
        """
        added = (counts - sums.sum(axis=1)) / sums.shape[1]
        return (sums + added[:, None]) / counts[:, None]

    def between_columns(self, xi: Any, xj: Any) -> Array:
        """phi(p_i) + phi(p_j) - 2 phi of their mean, by column; fills sparse rows."""
        return np.asarray(super().between_columns(self._smoothed(xi), self._smoothed(xj)))

    def bound(self, X: Any) -> Bound:
        """2 log 2: both rows sum to 1, and p log 2p/(p + q) <= p log 2."""
        return ConstantBound(2 * np.log(2))

    def _smoothed(self, X: Any) -> NDArray[np.float64]:
        dense = X.toarray() if sp.issparse(X) else np.asarray(X)
        return np.asarray((dense + self.alpha) * self.row_scale(X)[:, None])
