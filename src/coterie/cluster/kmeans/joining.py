"""What a fitted K-Means does with new rows: where they belong, and what changes when they join."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from coterie._typing import Array
from coterie.base import in_memory
from coterie.cluster.distances import least_cost, nearest_centers, row_distances
from coterie.cluster.kmeans.values import KMeansSettings
from coterie.cluster.statistics import NONE, Shape, Statistics, sum_rows
from coterie.data import Rows, check_blocks
from coterie.distortions import Distortion
from coterie.extension import ExtensibleClusterer, Placed, Places
from coterie.validation import check_sample_weight, refuse_constraints_as_y

__all__ = ["TakesNewRows", "has_own_metrics"]


class TakesNewRows(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ExtensibleClusterer):
    """`predict`, `transform` and `score`, and rows that join by `extend` and `partial_fit`."""

    _constant_penalty = False  # whether a broken pair costs the same wherever its rows are
    cluster_centers_: Array
    cluster_weights_: Array
    cluster_sums_: Array
    distortion_params_: Any
    w_: float

    # -- what a subclass says ------------------------------------------------------------------
    @abstractmethod
    def _distortion(self) -> Distortion:
        """The distortion asked for."""

    @abstractmethod
    def _settings(self, n_clusters: int, distortion: Distortion) -> KMeansSettings:
        """The member of the family, from the parameters."""

    # -- new rows join -------------------------------------------------------------------------
    def _places(self, X: Any) -> Places:
        return places_of(self, X)

    def _admit(self, X: Any, placed: Placed) -> None:
        add_clusters(self, X, placed.founders)

    def partial_fit(
        self, X: Any, y: Any = None, *, constraints: Any = None, sample_weight: Any = None
    ) -> Self:
        """Let new rows join as `extend` does, and move the centres to the means of all rows so far.

        For what the new rows cost: sums over the rows of each cluster are kept. Rows of earlier
        calls keep their labels, and a metric that was learned stays. The first call is `fit`.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (m, n_features)
        y : ignored
        constraints : Constraints, optional
            As in `extend`: of all rows so far, then the new ones.
        sample_weight : array-like of shape (m,), optional
        """
        refuse_constraints_as_y(self, y, "partial_fit")
        if not hasattr(self, "labels_"):
            return self.fit(X, constraints=constraints, sample_weight=sample_weight)
        X = in_memory(self._check_new_rows(X))
        weights = check_sample_weight(sample_weight, X.shape[0])
        self._join(X, constraints)
        move_centers(self, X, self.labels_[-X.shape[0] :], weights)
        return self

    # -- new rows ------------------------------------------------------------------------------
    def _new_rows(self, X: Any) -> tuple[Rows, Array, Distortion]:
        """New rows and the centres, measured from one point, and the distortion."""
        check_is_fitted(self)
        X = self._check_new_rows(X)
        distortion = self._distortion()
        rows = Rows(X)
        check_blocks(rows, distortion)
        centers, shift = self.cluster_centers_.astype(X.dtype), None
        if distortion.translation_invariant and not rows.is_sparse:
            shift = centers.mean(axis=0)
            centers = centers - shift
        return Rows(X, shift), centers, distortion

    def predict(self, X: Any) -> Array:
        """The nearest centre of each row, (n,). Constraints hold for the rows of `fit` only."""
        return nearest_centers(*self._new_rows(X), self.distortion_params_, self._log_normalizer())

    def transform(self, X: Any) -> Any:
        """Distortion of each row to each centre, (n, K).

        Of rows not in memory as `coterie.data.DerivedRows`, which are worked out as they are read.
        """
        return row_distances(*self._new_rows(X), self.distortion_params_)

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the summed distortion of the rows to their nearest centres (higher is better)."""
        return -least_cost(*self._new_rows(X), self.distortion_params_)

    def _log_normalizer(self) -> Array:
        """log det A of each cluster's metric where metrics were learned, (1,) or (K,)."""
        return np.zeros(1)


def has_own_metrics(model: TakesNewRows) -> bool:
    """Whether each cluster has a metric of its own."""
    count = len(model.cluster_centers_)
    several = model._settings(count, model._distortion()).per_cluster
    return several and len(np.atleast_1d(np.asarray(model.distortion_params_))) == count


def places_of(model: TakesNewRows, X: Any) -> Places:
    """What each cluster costs rows X (m, d), and what a broken pair does.

    Where a pair costs as much as its rows are apart (HMRFKMeans, MPCKMeans, LCVQE), the rows of the
    fit are not there to ask; a pair of weight 1 costs `w_` times what two centres are apart.
    """
    factor = model._settings(len(model.cluster_centers_), model._distortion()).factor
    rows, centers, distortion = model._new_rows(X)
    gaps = np.asarray(row_distances(rows, centers, distortion, model.distortion_params_))
    costs = factor * (gaps.astype(np.float64) - model._log_normalizer())
    price = float(model.w_)
    if not model._constant_penalty:
        price *= _between_centers(centers, distortion, model.distortion_params_)

    def found(rows: Array) -> Array:
        center = _center(model, _sums(model, X[rows], None))
        gap = row_distances(Rows(X), center.astype(X.dtype), distortion, _metric(model))
        return factor * np.asarray(gap, dtype=np.float64)[:, 0]

    return Places(costs, price, np.inf, found)


def _between_centers(centers: Array, distortion: Distortion, A: Array | None) -> float:
    """Mean distortion of a centre from another; 1 where there is one only."""
    gaps = np.asarray(row_distances(Rows(centers), centers, distortion, A), dtype=np.float64)
    return float(gaps.sum() / max(gaps.size - len(gaps), 1)) or 1.0


def add_clusters(model: TakesNewRows, X: Any, founders: list[Array]) -> None:
    """New clusters around the rows that found them, with the mean of the others' metrics."""
    for rows in founders:
        if has_own_metrics(model):
            model.distortion_params_ = np.concatenate([model.distortion_params_, _metric(model)])
        center = _center(model, _sums(model, X[rows], None))
        model.cluster_centers_ = np.concatenate(
            [model.cluster_centers_, center.astype(model.cluster_centers_.dtype)]
        )
        model.cluster_weights_ = np.append(model.cluster_weights_, 0.0)
        model.cluster_sums_ = np.concatenate([model.cluster_sums_, np.zeros_like(center)])
    model._n_features_out = len(model.cluster_centers_)


def move_centers(model: TakesNewRows, X: Any, labels: Array, weights: Array | None) -> None:
    """Centres of all rows so far and of X (m, d), which have these labels (m,)."""
    fresh = _sums(model, X, labels, weights)
    model.cluster_weights_ = model.cluster_weights_ + fresh.counts
    model.cluster_sums_ = model.cluster_sums_ + fresh.sums
    grown = (fresh.counts > 0) & (model.cluster_weights_ > 0)
    some = Statistics(model.cluster_weights_[grown], model.cluster_sums_[grown])
    centers = model.cluster_centers_.copy()
    centers[grown] = _center(model, some)
    model.cluster_centers_ = centers


def _sums(
    model: TakesNewRows, X: Any, labels: Array | None, weights: Array | None = None
) -> Statistics:
    """Sums of rows by label (m,), or of all together."""
    n = X.shape[0]
    distortion, A = model._distortion(), model.distortion_params_
    scale = distortion.row_scale(X, A)
    shape = Shape(1 if labels is None else len(model.cluster_centers_), X.shape[1])
    of_row = np.zeros(n, dtype=np.int32) if labels is None else labels.astype(np.int32)
    scales = NONE if scale is None else np.asarray(scale, np.float64)
    own = NONE if weights is None else weights
    return sum_rows([(0, n, X)], of_row, own, scales, distortion, shape)


def _center(model: TakesNewRows, sums: Statistics) -> Array:
    return model._distortion().centroid(sums.sums, sums.counts, model.distortion_params_)


def _metric(model: TakesNewRows) -> Array | None:
    """The metric of a cluster that had none: that of all, or the mean of theirs."""
    A: Array | None = model.distortion_params_
    return A if A is None or not has_own_metrics(model) else A.mean(axis=0, keepdims=True)
