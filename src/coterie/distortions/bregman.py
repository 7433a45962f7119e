"""Bregman divergences that add over columns; Itakura-Saito, and your own.

d_A(x, mu) = sum_m a_m [phi(x_m) - phi(mu_m) - phi'(mu_m) (x_m - mu_m)], with weights a_m > 0
(all 1 where A is None). Squared Euclidean distance, which also takes a full matrix and one metric
a cluster, stands in `euclidean.py`, the divergences of non-negative rows in `divergence.py`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from coterie._typing import Array
from coterie.data import Block, Rows, fold, map_blocks
from coterie.distortions.base import Bound, ByColumn, CenterTerms, LinearBound
from coterie.distortions.learning import LinearProblem, MetricProblem, MetricTask
from coterie.distortions.rows import gather_pairs, refuse, row_sums
from coterie.exceptions import InvalidData
from coterie.parameters import check_arguments

__all__ = ["Bregman", "ItakuraSaito", "SeparableBregman", "apply_entries", "column_range"]


class SeparableBregman(ByColumn):
    """A Bregman divergence from a convex function of one number, `phi`, applied to each column."""

    forms: ClassVar[tuple[str, ...]] = ("diagonal",)

    @abstractmethod
    def phi(self, x: Array) -> Array:
        """phi of every entry."""

    @abstractmethod
    def phi_prime(self, x: Array) -> Array:
        """phi' of every entry; only ever asked of centres."""

    def row_term(self, X: Any, A: Array | None = None) -> NDArray[np.float64]:
        """sum_m a_m phi(x_m)."""
        return row_sums(self.row_evidence(X), A)

    def center_terms(self, centers: Array, A: Array | None = None) -> CenterTerms:
        """g = -a phi'(mu), b = sum_m a_m (phi'(mu_m) mu_m - phi(mu_m))."""
        wide = np.asarray(centers, dtype=np.float64)
        weights = np.ones(wide.shape[1]) if A is None else A
        slope = -weights * self.phi_prime(wide)
        offset = -(slope * wide).sum(axis=1) - self.phi(wide) @ weights
        return CenterTerms(slope.astype(centers.dtype), offset.astype(centers.dtype))

    def centroid(self, sums: Array, counts: Array, A: Array | None = None) -> Array:
        """The arithmetic mean, the minimiser for every Bregman divergence."""
        return sums / counts[:, None]

    def between_columns(self, xi: Any, xj: Any) -> Any:
        """phi(x) + phi(y) - 2 phi((x + y)/2) by column: both divergences to the mean, (3.20)."""
        middle = apply_entries(self.phi, (xi + xj) * 0.5)
        return apply_entries(self.phi, xi) + apply_entries(self.phi, xj) - 2 * middle

    def from_columns(self, columns: Any, A: Array, scales: Array) -> Array:
        """`between` of pairs whose `between_columns` are kept, (m,), or (m, K) for A (K, d)."""
        gap = np.asarray(columns @ A.T)
        return np.maximum(gap, 0.0, out=gap)

    def between(self, X: Any, i: Array, j: Array, A: Array | None = None) -> Array:
        """Sum of both rows' divergences to their mean, weighted by a: (m,)."""
        values = np.empty(len(i))
        for lo, hi, xi, xj in gather_pairs(X, i, j):
            values[lo:hi] = row_sums(self.between_columns(xi, xj), A)
        return np.maximum(values, 0.0)

    def between_gradient(self, X: Any, i: Array, j: Array, A: Array) -> Array:
        """`between_columns` of the pairs: the distance is linear in a."""
        source = Rows.of(X).source
        columns = self.between_columns(source.take(i), source.take(j))
        return np.asarray(columns.toarray() if sp.issparse(columns) else columns).reshape(A.shape)

    def bound(self, X: Any) -> Bound:
        """From the box around the data: `between` grows as two values move apart."""
        low, high = column_range(X)
        return LinearBound(self.phi(low) + self.phi(high) - 2 * self.phi((low + high) / 2))

    # -- evidence for learning a diagonal metric -------------------------------------------
    def weight_scale(self, rows: Rows, weights: Array, form: str) -> Array | None:
        """One over the mean divergence of the rows from their mean, by column."""
        count, sums, evidence = fold(map_blocks(rows, _spread_block, self, state=_Weights(weights)))
        scatter = np.maximum(evidence / count - self.phi(sums / count), 0.0)
        return 1 / np.maximum(scatter, _LEAST_SCATTER * (scatter.mean() or 1.0))

    def row_evidence(self, X: Any) -> Any:
        """phi of every entry; of the stored ones for CSR rows, where phi(0) is 0."""
        return apply_entries(self.phi, X)

    def metric_problem(self, task: MetricTask) -> MetricProblem:
        """Linear in a: divergences within the clusters and of the broken pairs, by column."""
        return LinearProblem.of(task, *self.scatter(task), normalized=False)

    def scatter(self, task: MetricTask) -> tuple[Array, Array]:
        """Divergences by column, (G, d): within clusters and of broken must-links less broken
        cannot-links; and those of all rows from their mean, (d,).
        """
        within = self.within(task)
        if not task.per_cluster:
            within = within.sum(axis=0, keepdims=True)
        pairs, signed = task.pairs, task.pairs.must - task.pairs.cannot
        if pairs.kept is None:
            between = self.pair_scatter(task.rows, pairs.i, pairs.j, signed)
        else:
            between = np.asarray((pairs.kept.T @ signed).T)
        count = task.counts.sum()
        total = task.evidence.sum(axis=0) - count * self.phi(task.sums.sum(axis=0) / count)
        return within + between, np.maximum(total, 0.0)

    def within(self, task: MetricTask) -> Array:
        """Divergence of the rows of each cluster from its centroid, by column, (K, d), for a = 1.

        sum_i phi(x_im) - n_k phi(mu_km): the linear term of the divergence is zero at the mean.
        """
        wide = np.asarray(task.centers, dtype=np.float64)
        return np.maximum(task.evidence - task.counts[:, None] * self.phi(wide), 0.0)

    def pair_scatter(self, X: Any, i: Array, j: Array, weights: Array) -> Array:
        """sum_p weights_pg between_m(x_i, x_j) by column, (G, d), for weights (m, G)."""
        total = np.zeros((weights.shape[1], Rows.of(X).d))
        for lo, hi, xi, xj in gather_pairs(X, i, j):
            total += (self.between_columns(xi, xj).T @ weights[lo:hi]).T
        return total


_LEAST_SCATTER = 1e-6  # of the mean scatter: what a constant column is taken to have


class _Weights(NamedTuple):
    """Of the rows, (n,), or (0,) for ones."""

    weights: Array


class _Spread(NamedTuple):
    """Sums over rows of w, and by column of w x and w phi(x)."""

    weight: float
    sums: Array
    evidence: Array


def _spread_block(block: Block, distortion: SeparableBregman) -> _Spread:
    given = block.state.weights
    weights = given if given.size else np.ones(block.stop - block.start)
    sums, evidence = (
        np.asarray(values.T @ weights, dtype=np.float64).ravel()
        for values in (block.rows, distortion.row_evidence(block.rows))
    )
    return _Spread(float(weights.sum()), sums, evidence)


def apply_entries(function: Callable[[Array], Array], X: Any) -> Any:
    """`function` of every entry in float64; of the stored entries for CSR rows."""
    if not sp.issparse(X):
        return function(np.asarray(X, dtype=np.float64))
    values = function(X.data.astype(np.float64))
    return sp.csr_matrix((values, X.indices, X.indptr), X.shape)


def column_range(X: Any) -> tuple[Array, Array]:
    """Least and greatest value of every column, (d,) each, in float64."""
    ranges = list(map_blocks(Rows.of(X), _range_block, None))
    low, high = (np.array(side) for side in zip(*ranges, strict=True))
    return low.min(axis=0), high.max(axis=0)


def _range_block(block: Block, _: None) -> tuple[Array, Array]:
    low, high = block.rows.min(axis=0), block.rows.max(axis=0)
    if sp.issparse(low):
        low, high = low.toarray().ravel(), high.toarray().ravel()
    return low.astype(np.float64), high.astype(np.float64)


class ItakuraSaito(SeparableBregman):
    """Itakura-Saito distance x/mu - log(x/mu) - 1, for strictly positive rows (power spectra)."""

    name: ClassVar[str] = "itakura-saito"
    positive_only: ClassVar[bool] = True

    def check_rows(self, X: Any) -> None:
        """All entries must be above 0 (so a sparse matrix cannot be used)."""
        if sp.issparse(X):
            raise InvalidData(
                "Itakura-Saito needs every entry above 0, a sparse matrix has zeros. "
                "Use distortion='kl' or 'cosine' for sparse rows."
            )
        refuse(
            X,
            lambda v: v < 0,
            "Negative values in data; Itakura-Saito needs more than 0",
            "Drop it.",
        )
        refuse(X, lambda v: v == 0, "Itakura-Saito needs values above 0", "Add a small constant.")

    def phi(self, x: Array) -> Array:
        """-log x."""
        return -np.log(x)

    def phi_prime(self, x: Array) -> Array:
        """-1/x."""
        return -1.0 / x

    def weight_scale(self, rows: Rows, weights: Array, form: str) -> Array | None:
        """None: ratios have no unit."""
        return None


class Bregman(SeparableBregman):
    """Any Bregman divergence from a convex function and its derivative, applied to each column.

    Parameters
    ----------
    phi, phi_prime : callable
        The function and its derivative, entry by entry: array in, array of the same shape out.
    low, high : float
        The open or closed interval the rows must lie in.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie.distortions import Bregman
    >>> cubic = Bregman(lambda x: x**3, lambda x: 3 * x**2, low=0)
    >>> cubic.to_centers(np.array([[1.0, 2.0]]), np.array([[1.0, 1.0]]))
    array([[4.]])
    """

    name: ClassVar[str] = "bregman"

    def __init__(
        self,
        phi: Callable[[Array], Array],
        phi_prime: Callable[[Array], Array],
        *,
        low: float = -np.inf,
        high: float = np.inf,
    ) -> None:
        check_arguments(Bregman, locals())
        self.function = phi
        self.derivative = phi_prime
        self.low = low
        self.high = high

    def check_rows(self, X: Any) -> None:
        """All entries must lie in [low, high], and have finite phi."""
        what = f"this Bregman is for values from low={self.low:g} to high={self.high:g}"
        refuse(X, lambda v: (v < self.low) | (v > self.high), what, "Rescale or drop the column.")
        refuse(
            X, lambda v: ~np.isfinite(self.phi(v)), "phi is not finite there", "Set low and high."
        )
        if sp.issparse(X) and self.phi(np.zeros(1))[0] != 0:
            raise InvalidData(
                f"phi(0) = {self.phi(np.zeros(1))[0]:g}: a sparse matrix would have to be filled. "
                "Pass phi minus phi(0): a constant changes no divergence."
            )

    def phi(self, x: Array) -> Array:
        """The given function."""
        return np.asarray(self.function(np.asarray(x, dtype=np.float64)))

    def phi_prime(self, x: Array) -> Array:
        """The given derivative."""
        return np.asarray(self.derivative(np.asarray(x, dtype=np.float64)))
