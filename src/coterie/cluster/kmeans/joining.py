"""Rows that join fitted K-Means: what its clusters cost them, new clusters, centres that move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coterie._typing import Array
from coterie.cluster.distances import row_distances
from coterie.cluster.statistics import NONE, Shape, Statistics, sum_rows
from coterie.data import Rows
from coterie.distortions import Distortion
from coterie.extension import Places

if TYPE_CHECKING:
    from coterie.cluster.kmeans.family import PairwiseKMeans

__all__ = ["add_clusters", "has_own_metrics", "move_centers", "places_of"]


def has_own_metrics(model: PairwiseKMeans) -> bool:
    """Whether each cluster has a metric of its own."""
    count = len(model.cluster_centers_)
    several = model._settings(count, model._distortion()).per_cluster
    return several and len(np.atleast_1d(np.asarray(model.distortion_params_))) == count


def places_of(model: PairwiseKMeans, X: Any) -> Places:
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


def add_clusters(model: PairwiseKMeans, X: Any, founders: list[Array]) -> None:
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


def move_centers(model: PairwiseKMeans, X: Any, labels: Array, weights: Array | None) -> None:
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
    model: PairwiseKMeans, X: Any, labels: Array | None, weights: Array | None = None
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


def _center(model: PairwiseKMeans, sums: Statistics) -> Array:
    return model._distortion().centroid(sums.sums, sums.counts, model.distortion_params_)


def _metric(model: PairwiseKMeans) -> Array | None:
    """The metric of a cluster that had none: that of all, or the mean of theirs."""
    A: Array | None = model.distortion_params_
    return A if A is None or not has_own_metrics(model) else A.mean(axis=0, keepdims=True)
