"""What a fitted model says about the form of its clusters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from coterie._typing import Array
from coterie.cluster.statistics import NONE, Shape, sum_rows
from coterie.data import Block, Rows, fold, map_blocks, without_gaps
from coterie.distortions import SquaredEuclidean, get_distortion

__all__ = ["Labelled", "cluster_shape"]


class Labelled(NamedTuple):
    """The cluster of each row, as state of a pass."""

    labels: Array


class _From(NamedTuple):
    """The point (d,) that rows are summed from, and how many clusters there are."""

    origin: Array
    n_clusters: int


def cluster_shape(model: Any, rows: Any) -> tuple[Array, Array, Array | None]:
    """Labels (n,), centres (K, d) and metrics of the clusters of a model fitted to `rows`.

    Centres are the means of the rows of each cluster that has any. Metrics are those the model
    learned for squared Euclidean distances, or the inverses of its covariances; None (Euclidean)
    where it has neither.
    """
    labels = without_gaps(model.labels_)
    used = np.flatnonzero(np.bincount(model.labels_))
    return labels, means_by_label(rows, labels), _metrics(model, used)


def means_by_label(rows: Any, labels: Array) -> Array:
    """Means (K, d) of the rows of each label 0..K-1, none of which may be empty, by one pass."""
    rows = Rows.of(rows)
    origin = rows.take(np.array([0]))[0].astype(np.float64)
    counts = np.bincount(labels)
    about = _From(origin, counts.size)
    sums = fold(map_blocks(rows, _sums_by_label, about, state=Labelled(labels)))
    return np.asarray(sums / counts[:, None] + origin)


def _sums_by_label(block: Block, about: _From) -> Array:
    def pieces() -> Iterator[tuple[int, int, Array]]:
        for lo, hi, rows in block.chunks():
            yield lo, hi, rows - about.origin

    shape = Shape(about.n_clusters, about.origin.size)
    return sum_rows(pieces(), block.state.labels, NONE, NONE, SquaredEuclidean(), shape).sums


def _metrics(model: Any, used: Array) -> Array | None:
    """Metrics of the clusters `used`, in a shape that `propagate_gaussian` takes."""
    if hasattr(model, "covariances_") and hasattr(model, "covariance_type"):
        return np.linalg.inv(_covariances(model)[used])
    A = getattr(model, "distortion_params_", None)
    if A is None or not get_distortion(model.distortion).quadratic:
        return None
    shared = A.ndim == 1 or (A.ndim == 3 and len(A) == 1)
    return A if shared else A[used]


def _covariances(model: Any) -> Array:
    """Covariance (K, d, d) of each cluster of a mixture, of one or several components each.

    That of several is the covariance of their mixture: Σ = Σ_c p_c (Σ_c + (μ_c - μ)(μ_c - μ)ᵀ).
    """
    weights, means = model.weights_, model.means_
    m, d = means.shape
    given = np.asarray(model.covariances_)
    kind = getattr(model, "covariance_type_", model.covariance_type)  # what "auto" came to
    if kind == "full":
        each = given
    elif kind == "tied":
        each = np.broadcast_to(given, (m, d, d))
    else:  # "diag" (m, d) or "spherical" (m,)
        each = given.reshape(m, -1)[:, :, None] * np.eye(d)
    per_cluster = int(getattr(model, "components_per_cluster", 1))
    if per_cluster == 1:
        return each
    share = weights.reshape(-1, per_cluster)
    share = share / share.sum(axis=1, keepdims=True)
    means = means.reshape(*share.shape, d)
    gaps = means - np.einsum("kc,kcd->kd", share, means)[:, None]
    within = np.einsum("kc,kcde->kde", share, each.reshape(*share.shape, d, d))
    return within + np.einsum("kc,kcd,kce->kde", share, gaps, gaps)
