"""Where EM starts: the first mixture, from pairs, K-Means, chance or an earlier fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from coterie._typing import FloatArray, IntArray
from coterie.cluster import Mosaic, PCKMeans
from coterie.constraints import Constraints
from coterie.data import Rows, fold, map_blocks
from coterie.exceptions import InvalidParameter
from coterie.mixture.ppc.gaussians import (
    Mixture,
    MixtureShape,
    Moments,
    RowLabels,
    StartMeans,
    label_moments,
    make_mixture,
    maximize,
    nearest_means,
)
from coterie.mixture.ppc.prior import closed_form

__all__ = ["INITS", "begins_without_pairs_too", "mixture_from_model", "start_mixture"]

INITS = ("neighborhoods", "mosaic", "kmeans", "random")


def start_mixture(
    rows: Rows,
    X: Any,
    constraints: Constraints,
    shape: MixtureShape,
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
        means = _given_means(init, shape.n_clusters, rows.d) - rows.origin
        labels = np.concatenate(list(map_blocks(rows, nearest_means, means)))
        return mixture_from_labels(rows, labels, shape, seed)
    init = _kind(init, constraints, number)
    if init == "random":
        return _wide_on_random_rows(rows, shape, random_state)
    if init == "kmeans":
        labels = KMeans(shape.n_clusters, n_init=1, random_state=seed).fit(X).labels_
    else:
        model: Any = PCKMeans(
            shape.n_clusters, init="neighborhoods", max_iter=30, random_state=seed
        )
        if init == "mosaic":
            model = Mosaic(shape.n_clusters, random_state=seed)
        labels = model.fit(X, constraints=constraints).labels_
    return mixture_from_labels(rows, labels.astype(np.int64), shape, seed)


def _kind(init: str, constraints: Constraints, number: int) -> str:
    """Which of `INITS` a start is."""
    if init != "neighborhoods":
        return init
    telling = _pairs_tell(constraints)
    if number == 0:
        return init if telling or not constraints.n_pairs else "kmeans"
    return "mosaic" if number == 1 and telling else "random"


def _wide_on_random_rows(
    rows: Rows, shape: MixtureShape, random_state: np.random.RandomState
) -> Mixture:
    count = shape.n_components
    means = np.asarray(rows.take(random_state.choice(rows.n, count, replace=False)), np.float64)
    return make_mixture(np.full(count, 1.0 / count), means, _of_all(rows, shape), shape)


def _of_all(rows: Rows, shape: MixtureShape) -> FloatArray:
    """The covariance of all rows for every component."""
    together = RowLabels(np.zeros(rows.n, dtype=np.int64))
    middle = np.zeros((1, rows.d))
    for _ in range(2):  # the mean, then squares about it
        moments = _moments(rows, together, middle, shape)
        middle, whole = maximize(moments, middle, shape.covariance, shape.reg_covar)
    return shape.covariance.repeat(whole, shape.n_components)


def _moments(rows: Rows, labels: RowLabels, means: FloatArray, shape: MixtureShape) -> Moments:
    about = StartMeans(means, shape.covariance)
    return fold(map_blocks(rows, label_moments, about, state=labels))


def _pairs_tell(constraints: Constraints) -> bool:
    """Whether there are pairs whose groups say something about clusters."""
    return constraints.n_pairs > 0 and not _joins_most(constraints)


def begins_without_pairs_too(constraints: Constraints) -> bool:
    """Whether the mixture without pairs is one more start, so that pairs make nothing worse.

    Not where must-links join most rows and there is nothing else (neighbours in an image): the
    first start is then that of the mixture without pairs anyway.
    """
    return _pairs_tell(constraints) or bool((constraints.kind < 0).any())


def _joins_most(constraints: Constraints) -> bool:
    """Whether must-links, hard and soft, join more than half of all rows into one group."""
    closure = constraints.closure(hard_only=False)
    return bool(closure.sizes.max() > constraints.n_samples / 2)


def mixture_from_labels(rows: Rows, labels: IntArray, shape: MixtureShape, seed: int) -> Mixture:
    """The mixture that fits labels best; clusters of several components are split by KMeans."""
    if shape.per_cluster > 1:
        labels = _split(rows, labels, shape, seed)
    components, covariance = RowLabels(labels), shape.covariance
    # Means first, then squares about them: no digits are lost where clusters lie far apart.
    middle = np.zeros((shape.n_components, rows.d))
    means, _ = maximize(_moments(rows, components, middle, shape), middle, covariance, 0.0)
    moments = _moments(rows, components, means, shape)
    means, covariances = maximize(moments, means, covariance, shape.reg_covar)
    empty = moments.counts == 0
    if empty.any():  # fewer distinct rows than components: as wide as all rows together
        covariances = covariance.keep(covariances, _of_all(rows, shape), empty)
    return make_mixture(closed_form(moments.counts), means, covariances, shape)


def mixture_from_model(model: Any, origin: FloatArray, shape: MixtureShape) -> Mixture:
    """Where a fitted PPC or GaussianMixture of the same size and covariance type ended."""
    theirs = getattr(model, "covariance_type", shape.covariance_type)
    expected = (shape.n_components, origin.size)
    if theirs != shape.covariance_type or np.shape(model.means_) != expected:
        raise InvalidParameter(
            f"init is a model with {theirs!r} covariances and means of shape "
            f"{np.shape(model.means_)}; expected {shape.covariance_type!r} and {expected}."
        )
    means = np.array(model.means_, dtype=np.float64) - origin
    covariances = np.array(model.covariances_, dtype=np.float64)
    return make_mixture(closed_form(np.array(model.weights_)), means, covariances, shape)


def _split(rows: Rows, labels: IntArray, shape: MixtureShape, seed: int) -> IntArray:
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
