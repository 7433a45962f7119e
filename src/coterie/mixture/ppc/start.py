"""Where EM starts: the first mixture, from pairs, K-Means, chance or an earlier fit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans

from coterie._typing import FloatArray, IntArray
from coterie.cluster import Mosaic, PCKMeans
from coterie.constraints import Constraints
from coterie.data import Rows, fold, map_blocks, one_thread
from coterie.exceptions import InvalidParameter
from coterie.mixture.ppc.gaussians import RowLabels, StartMeans, label_moments, nearest_means
from coterie.mixture.ppc.model import Mixture, MixtureShape, Moments, make_mixture, maximize
from coterie.mixture.ppc.prior import closed_form

__all__ = [
    "INITS",
    "Start",
    "StartRows",
    "begins_without_pairs_too",
    "column_moments",
    "find_start",
    "mixture_from_model",
    "mixture_of",
    "type_of",
    "within_clusters",
]

INITS = ("neighborhoods", "mosaic", "kmeans", "random")


class StartRows(NamedTuple):
    """Rows that starts look at: gaps are filled with the column's mean.

    Attributes
    ----------
    rows : Rows
    X : array (n, d), or stored rows
        The same rows, as estimators take them.
    weights : (n,), of size 0 where all count once
    known : (d,)
        Share of each column's values that are no gaps.
    """

    rows: Rows
    X: Any
    weights: FloatArray
    known: FloatArray

    @property
    def sample_weight(self) -> FloatArray | None:
        """The weights as estimators take them."""
        return self.weights if self.weights.size else None


class Start(NamedTuple):
    """Where a start begins, whatever the shape of its Gaussians.

    Attributes
    ----------
    labels : (n,) int, or None
        Cluster of each row.
    means : (G, d), or None
        Rows on which Gaussians as wide as all rows together are put.
    seed : int
    """

    labels: IntArray | None
    means: FloatArray | None
    seed: int


def find_start(
    given: StartRows,
    constraints: Constraints,
    n_clusters: int,
    n_components: int,
    init: Any,
    random_state: np.random.RandomState,
    number: int,
) -> Start:
    """What start `number` (from 0) begins with.

    "neighborhoods" is a short PCKMeans run, which begins with the groups that the must-links form
    or by k-means++, whichever is best, and keeps to the pairs; its second start is "mosaic", its
    later ones are "random". Where there are only must-links and they join most rows into one group
    (neighbours in an image) groups say nothing about clusters, and it is "kmeans". "mosaic" is a
    run of Mosaic, which finds clusters of any shape where pairs tell: thin ones inside wide ones,
    of which the means say nothing. "kmeans" is scikit-learn's KMeans, as GaussianMixture uses it.
    "random" puts Gaussians as wide as all rows together on random rows, which leaves it to the
    pairs to tell them apart. An array (K, d) gives each row to the nearest of the means.
    """
    rows = given.rows
    seed = int(random_state.randint(2**31 - 1))
    if not isinstance(init, str):
        means = _given_means(init, n_clusters, rows.d) - rows.origin
        labels = np.concatenate(list(map_blocks(rows, nearest_means, means)))
        return Start(labels, None, seed)
    init = _kind(init, constraints, number, rows.in_memory)
    if init == "random":
        return Start(None, _random_rows(given, n_components, random_state), seed)
    if init == "kmeans":
        model: Any = KMeans(n_clusters, n_init=1, random_state=seed)
        if not rows.in_memory:  # what reads files by passes
            model = PCKMeans(n_clusters, init="k-means++", random_state=seed)
        with one_thread():
            labels = model.fit(given.X, sample_weight=given.sample_weight).labels_
    else:
        model = PCKMeans(n_clusters, max_iter=30, random_state=seed)
        if init == "mosaic":
            model = Mosaic(n_clusters, random_state=seed)
        model.fit(given.X, constraints=constraints, sample_weight=given.sample_weight)
        labels = model.labels_
    return Start(np.asarray(labels).astype(np.int32, copy=False), None, seed)


def mixture_of(start: Start, given: StartRows, shape: MixtureShape) -> Mixture:
    """The mixture of a shape that a start begins with."""
    if start.labels is not None:
        return mixture_from_labels(given, start.labels, shape, start.seed)
    assert start.means is not None
    even = np.full(shape.n_components, 1.0 / shape.n_components)
    return make_mixture(even, start.means, _of_all(given, shape), shape)


def within_clusters(start: Start, given: StartRows) -> FloatArray:
    """Covariance (d, d) within the clusters of a start; of all rows where it has none.

    Gaps were filled with one value, so what they add to no square is made up for.
    """
    plain = MixtureShape(1, 1, "tied", 0.0)
    if start.labels is None:
        within = _of_all(given, plain)
    else:
        n_clusters = int(start.labels.max()) + 1
        within = _fitted(given, start.labels, plain._replace(n_clusters=n_clusters))[2]
    return within / np.sqrt(np.outer(given.known, given.known))


def column_moments(given: StartRows) -> tuple[FloatArray, FloatArray]:
    """Mean and variance (d,) of each column, measured from the origin of the rows."""
    means, variances = _whole(given, MixtureShape(1, 1, "diag", 0.0))
    return means[0], variances[0] / given.known


def _kind(init: str, constraints: Constraints, number: int, in_memory: bool) -> str:
    """Which of `INITS` a start is; one by Mosaic reads rows too often for files."""
    if init != "neighborhoods":
        return init
    telling = _pairs_tell(constraints)
    if number == 0:
        return init if telling or not constraints.n_pairs else "kmeans"
    return "mosaic" if number == 1 and telling and in_memory else "random"


def _random_rows(given: StartRows, count: int, random_state: np.random.RandomState) -> FloatArray:
    chance = given.weights / given.weights.sum() if given.weights.size else None
    chosen = random_state.choice(given.rows.n, count, replace=False, p=chance)
    return np.asarray(given.rows.take(chosen), np.float64)


def _of_all(given: StartRows, shape: MixtureShape) -> FloatArray:
    """The covariance of all rows for every component."""
    return shape.covariance.repeat(_whole(given, shape)[1], shape.n_components)


def _whole(given: StartRows, shape: MixtureShape) -> tuple[FloatArray, FloatArray]:
    """Mean (1, d) and covariance of all rows as one component."""
    together = np.zeros(given.rows.n, dtype=np.int32)
    middle = np.zeros((1, given.rows.d))
    for _ in range(2):  # the mean, then squares about it
        moments = _moments(given, together, middle, shape)
        middle, whole = maximize(moments, middle, shape)
    return middle, whole


def _moments(given: StartRows, labels: IntArray, means: FloatArray, shape: MixtureShape) -> Moments:
    about = StartMeans(means, shape.covariance)
    state = RowLabels(labels, given.weights)
    return fold(map_blocks(given.rows, label_moments, about, state=state))


def _pairs_tell(constraints: Constraints) -> bool:
    """Whether there are pairs that say something about clusters.

    Must-links that join most rows do not where they are all there is (neighbours in an image);
    beside cannot-links most rows may well be of one cluster.
    """
    apart = bool((constraints.kind < 0).any())
    return apart or (constraints.n_pairs > 0 and not _joins_most(constraints))


def begins_without_pairs_too(constraints: Constraints) -> bool:
    """Whether the mixture without pairs is one more start, so that pairs make nothing worse.

    Not where pairs tell nothing: the first start is then that of the mixture without pairs anyway.
    """
    return _pairs_tell(constraints)


def _joins_most(constraints: Constraints) -> bool:
    """Whether must-links, hard and soft, join more than half of all rows into one group."""
    closure = constraints.closure(hard_only=False)
    return bool(closure.sizes.max() > constraints.n_samples / 2)


def mixture_from_labels(
    given: StartRows, labels: IntArray, shape: MixtureShape, seed: int
) -> Mixture:
    """The mixture that fits labels best; clusters of several components are split by KMeans."""
    if shape.per_cluster > 1:
        labels = _split(given.rows, labels, shape, seed)
    moments, means, covariances = _fitted(given, labels, shape)
    empty = moments.counts == 0
    if empty.any():  # fewer distinct rows than components: as wide as all rows together
        covariances = shape.covariance.keep(covariances, _of_all(given, shape), empty)
    return make_mixture(closed_form(moments.counts), means, covariances, shape)


def _fitted(
    given: StartRows, labels: IntArray, shape: MixtureShape
) -> tuple[Moments, FloatArray, FloatArray]:
    """Moments, means and covariances of labels.

    Means first, then squares about them: no digits are lost where clusters lie far apart.
    """
    means = np.zeros((shape.n_components, given.rows.d))
    for _ in range(2):
        moments = _moments(given, labels, means, shape)
        means, covariances = maximize(moments, means, shape)
    return moments, means, covariances


def type_of(model: Any) -> str:
    """The covariance type of a fitted PPC or GaussianMixture."""
    return str(getattr(model, "covariance_type_", model.covariance_type))


def mixture_from_model(model: Any, origin: FloatArray, shape: MixtureShape) -> Mixture:
    """Where a fitted PPC or GaussianMixture of the same size and covariance type ended."""
    theirs = type_of(model)
    expected = (shape.n_components, origin.size)
    if theirs != shape.covariance_type or np.shape(model.means_) != expected:
        raise InvalidParameter(
            f"init is a model with {theirs!r} covariances and means of shape "
            f"{np.shape(model.means_)}; expected {shape.covariance_type!r} and {expected}."
        )
    means = np.array(model.means_, dtype=np.float64) - origin
    covariances = np.array(model.covariances_, dtype=np.float64)
    if shape.prior is not None:  # no thinner than the prior allows
        many = np.full(shape.n_components, np.inf)
        covariances = shape.covariance.most_probable(covariances, many, shape.prior)
    return make_mixture(closed_form(np.array(model.weights_)), means, covariances, shape)


def _split(rows: Rows, labels: IntArray, shape: MixtureShape, seed: int) -> IntArray:
    """Components (n,): cluster k becomes components k·C .. k·C + C − 1."""
    out = labels * shape.per_cluster
    for k in range(shape.n_clusters):
        inside = np.flatnonzero(labels == k)
        parts = min(shape.per_cluster, inside.size)
        if parts > 1:
            with one_thread():
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
