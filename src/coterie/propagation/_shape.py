"""What a fitted model says about the form of its clusters."""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie._typing import Array
from coterie.distortions import SquaredEuclidean, get_distortion

__all__ = ["cluster_shape"]


def cluster_shape(model: Any, rows: Array) -> tuple[Array, Array, Array | None]:
    """Labels (n,), centres (K, d) and metrics of the clusters of a model fitted to `rows`.

    Centres are the means of the rows of each cluster that has any. Metrics are those the model
    learned for squared Euclidean distances, or the inverses of its covariances; None (Euclidean)
    where it has neither.
    """
    used, labels = np.unique(model.labels_, return_inverse=True)
    return labels, means_by_label(rows, labels), _metrics(model, used)


def means_by_label(rows: Array, labels: Array) -> Array:
    """Means (K, d) of the rows of each label 0..K-1, none of which may be empty."""
    origin = rows[0].astype(np.float64)
    counts = np.bincount(labels)
    sums = np.zeros((counts.size, rows.shape[1]))
    np.add.at(sums, labels, rows - origin)
    return sums / counts[:, None] + origin


def _metrics(model: Any, used: Array) -> Array | None:
    """Metrics of the clusters `used`, in a shape that `propagate_gaussian` takes."""
    if hasattr(model, "covariances_") and hasattr(model, "covariance_type"):
        return np.linalg.inv(_covariances(model)[used])
    A = getattr(model, "distortion_params_", None)
    if A is None or not isinstance(get_distortion(model.distortion), SquaredEuclidean):
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
