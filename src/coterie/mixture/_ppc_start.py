"""Where EM starts: labels for every row, and the mixture they make."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from coterie.cluster import PCKMeans
from coterie.constraints import Constraints
from coterie.data import Rows
from coterie.exceptions import InvalidParameter
from coterie.mixture._ppc_covariances import COVARIANCES
from coterie.mixture._ppc_gaussians import Mixture, gather, make_mixture, maximize
from coterie.mixture._ppc_weights import closed_form

__all__ = ["INITS", "mixture_from_labels", "mixture_from_model", "start_labels"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
INITS = ("neighborhoods", "kmeans", "random")


def start_labels(
    init: Any,
    X: Any,
    constraints: Constraints,
    n_clusters: int,
    random_state: np.random.RandomState,
    first: bool,
) -> IntArray:
    """Cluster (n,) of every row to start from.

    "neighborhoods" is a short PCKMeans run: it begins with the groups that the must-links form
    and keeps to the pairs. Its later starts begin with random rows instead. "kmeans" is
    scikit-learn's KMeans, drawn exactly as GaussianMixture draws it; "random" gives every row to
    the nearest of K random rows; an array (K, d) to the nearest of given means.
    """
    if not isinstance(init, str):
        return _nearest(X, _given_means(init, n_clusters, X.shape[1]))
    if init == "kmeans":
        start = KMeans(n_clusters, n_init=1, random_state=random_state).fit(X)
        return start.labels_.astype(np.int64)
    if init == "random":
        chosen = random_state.choice(X.shape[0], n_clusters, replace=False)
        return _nearest(X, X[chosen])
    model = PCKMeans(
        n_clusters,
        init="neighborhoods" if first else "random",
        max_iter=30 if first else 1,
        random_state=random_state.randint(2**31 - 1),
    )
    return model.fit(X, constraints=constraints).labels_.astype(np.int64)


def mixture_from_labels(
    rows: Rows,
    labels: IntArray,
    n_clusters: int,
    per_cluster: int,
    covariance_type: str,
    reg_covar: float,
    random_state: np.random.RandomState,
) -> Mixture:
    """The mixture that fits labels best; clusters of several components are split by KMeans."""
    if per_cluster > 1:
        labels = _split(rows, labels, n_clusters, per_cluster, random_state)
    covariance = COVARIANCES[covariance_type]
    n_components = n_clusters * per_cluster

    def resp(lo: int, hi: int) -> FloatArray:
        return np.equal.outer(labels[lo:hi], np.arange(n_components)).astype(np.float64)

    # Means first, then squares about them: no digits are lost where clusters lie far apart.
    middle = np.zeros((n_components, rows.d))
    means, _ = maximize(gather(rows, resp, middle, covariance), middle, 0.0, covariance)
    moments = gather(rows, resp, means, covariance)
    means, covariances = maximize(moments, means, reg_covar, covariance)
    empty = moments.counts == 0
    if empty.any():  # fewer distinct rows than components: as wide as all rows together
        wide = gather(rows, lambda lo, hi: np.ones((hi - lo, 1)), np.zeros((1, rows.d)), covariance)
        _, whole = maximize(wide, np.zeros((1, rows.d)), reg_covar, covariance)
        covariances = covariance.keep(covariances, whole, empty)
    return make_mixture(closed_form(moments.counts), means, covariances, covariance_type)


def mixture_from_model(
    model: Any, origin: FloatArray, n_components: int, covariance_type: str
) -> Mixture:
    """Where a fitted PPC or GaussianMixture of the same size and covariance type ended."""
    theirs = getattr(model, "covariance_type", covariance_type)
    shape = (n_components, origin.size)
    if theirs != covariance_type or np.shape(model.means_) != shape:
        raise InvalidParameter(
            f"init is a model with {theirs!r} covariances and means of shape "
            f"{np.shape(model.means_)}; expected {covariance_type!r} and {shape}."
        )
    means = np.array(model.means_, dtype=np.float64) - origin
    covariances = np.array(model.covariances_, dtype=np.float64)
    return make_mixture(closed_form(np.array(model.weights_)), means, covariances, covariance_type)


def _split(
    rows: Rows,
    labels: IntArray,
    n_clusters: int,
    per_cluster: int,
    random_state: np.random.RandomState,
) -> IntArray:
    """Components (n,): cluster k becomes components k·C .. k·C + C − 1."""
    out = labels * per_cluster
    for k in range(n_clusters):
        inside = np.flatnonzero(labels == k)
        parts = min(per_cluster, inside.size)
        if parts > 1:
            found = KMeans(parts, n_init=1, random_state=random_state).fit(rows.take(inside))
            out[inside] += found.labels_
    return out


def _given_means(init: Any, n_clusters: int, d: int) -> FloatArray:
    means = np.array(init, dtype=np.float64)
    if means.shape != (n_clusters, d) or not np.isfinite(means).all():
        raise InvalidParameter(
            f"init must be one of {list(INITS)}, a fitted model, or finite means of shape "
            f"{(n_clusters, d)}; got an array of shape {means.shape}."
        )
    return means


def _nearest(X: Any, means: Any) -> IntArray:
    """Nearest mean (n,) of each row."""
    rows = Rows.centered(X)
    centers = np.asarray(means, dtype=np.float64) - rows.origin
    half_norm = 0.5 * np.einsum("kd,kd->k", centers, centers)
    labels = np.empty(rows.n, dtype=np.int64)

    def fill(start: int, stop: int) -> None:
        for lo, hi, chunk in rows.chunks(start, stop, centers.shape[0]):
            labels[lo:hi] = (chunk @ centers.T - half_norm).argmax(axis=1)

    rows.for_each(fill)
    return labels
