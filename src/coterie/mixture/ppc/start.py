"""Where EM starts: the first mixture, from pairs, K-Means, chance or an earlier fit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from coterie.cluster import Mosaic, PCKMeans
from coterie.constraints import Constraints
from coterie.data import Rows
from coterie.exceptions import InvalidParameter
from coterie.mixture.ppc.covariances import COVARIANCES
from coterie.mixture.ppc.gaussians import Mixture, gather, make_mixture, maximize
from coterie.mixture.ppc.weights import closed_form

__all__ = ["INITS", "Shape", "mixture_from_model", "start_mixture"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
INITS = ("neighborhoods", "mosaic", "kmeans", "random")


class Shape(NamedTuple):
    """Number and kind of the Gaussians of a mixture."""

    n_clusters: int
    per_cluster: int
    covariance_type: str
    reg_covar: float


def start_mixture(
    rows: Rows,
    X: Any,
    constraints: Constraints,
    shape: Shape,
    init: Any,
    random_state: np.random.RandomState,
    number: int,
) -> Mixture:
    """The mixture that start `number` (from 0) begins with.

    "neighborhoods" is a short PCKMeans run, which begins with the groups that the must-links form
    and keeps to the pairs; its second start is "mosaic", its later ones are "random". Where the
    must-links join most rows into one group (neighbours in an image) groups say nothing about
    clusters, and it is "kmeans". "mosaic" is a run of Mosaic, which finds clusters of any shape
    where pairs tell: thin ones inside wide ones, of which the means say nothing. "kmeans" is
    scikit-learn's KMeans, as GaussianMixture uses it. "random" puts Gaussians as wide as all rows
    together on random rows, which leaves it to the pairs to tell them apart. An array (K, d) gives
    each row to the nearest of the means.
    """
    seed = int(random_state.randint(2**31 - 1))
    if not isinstance(init, str):
        labels = _nearest(X, _given_means(init, shape.n_clusters, X.shape[1]))
        return mixture_from_labels(rows, labels, shape, seed)
    init = _kind(init, constraints, number)
    if init == "random":
        return _wide_on_random_rows(rows, shape, random_state)
    if init == "kmeans":
        labels = KMeans(shape.n_clusters, n_init=1, random_state=seed).fit(X).labels_
    else:
        model: Any = PCKMeans(shape.n_clusters, max_iter=30, random_state=seed)
        if init == "mosaic":
            model = Mosaic(shape.n_clusters, random_state=seed)
        labels = model.fit(X, constraints=constraints).labels_
    return mixture_from_labels(rows, labels.astype(np.int64), shape, seed)


def _kind(init: str, constraints: Constraints, number: int) -> str:
    """Which of `INITS` a start is."""
    if init != "neighborhoods":
        return init
    telling = constraints.n_pairs > 0 and not _joins_most(constraints)
    if number == 0:
        return init if telling or not constraints.n_pairs else "kmeans"
    return "mosaic" if number == 1 and telling else "random"


def _wide_on_random_rows(rows: Rows, shape: Shape, random_state: np.random.RandomState) -> Mixture:
    count = shape.n_clusters * shape.per_cluster
    means = np.asarray(rows.take(random_state.choice(rows.n, count, replace=False)), np.float64)
    covariances = _of_all(rows, shape, count)
    return make_mixture(np.full(count, 1.0 / count), means, covariances, shape.covariance_type)


def _of_all(rows: Rows, shape: Shape, count: int) -> FloatArray:
    """`count` times the covariance of all rows."""
    covariance = COVARIANCES[shape.covariance_type]
    middle = np.zeros((1, rows.d))
    for _ in range(2):  # the mean, then squares about it
        moments = gather(rows, lambda lo, hi: np.ones((hi - lo, 1)), middle, covariance)
        middle, whole = maximize(moments, middle, shape.reg_covar, covariance)
    return covariance.repeat(whole, count)


def _joins_most(constraints: Constraints) -> bool:
    """Whether must-links, hard and soft, join more than half of all rows into one group."""
    closure = constraints.closure(hard_only=False)
    return bool(closure.sizes.max() > constraints.n_samples / 2)


def mixture_from_labels(rows: Rows, labels: IntArray, shape: Shape, seed: int) -> Mixture:
    """The mixture that fits labels best; clusters of several components are split by KMeans."""
    if shape.per_cluster > 1:
        labels = _split(rows, labels, shape, seed)
    covariance = COVARIANCES[shape.covariance_type]
    count = shape.n_clusters * shape.per_cluster

    def resp(lo: int, hi: int) -> FloatArray:
        return np.equal.outer(labels[lo:hi], np.arange(count)).astype(np.float64)

    # Means first, then squares about them: no digits are lost where clusters lie far apart.
    middle = np.zeros((count, rows.d))
    means, _ = maximize(gather(rows, resp, middle, covariance), middle, 0.0, covariance)
    moments = gather(rows, resp, means, covariance)
    means, covariances = maximize(moments, means, shape.reg_covar, covariance)
    empty = moments.counts == 0
    if empty.any():  # fewer distinct rows than components: as wide as all rows together
        covariances = covariance.keep(covariances, _of_all(rows, shape, count), empty)
    return make_mixture(closed_form(moments.counts), means, covariances, shape.covariance_type)


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


def _split(rows: Rows, labels: IntArray, shape: Shape, seed: int) -> IntArray:
    """Components (n,): cluster k becomes components k·C .. k·C + C − 1."""
    out = labels * shape.per_cluster
    for k in range(shape.n_clusters):
        inside = np.flatnonzero(labels == k)
        parts = min(shape.per_cluster, inside.size)
        if parts > 1:
            found = KMeans(parts, n_init=1, random_state=seed).fit(rows.take(inside))
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
