"""Clusterings by position alone, which pairs choose from where they are too few to teach.

Each is right for some data: round clusters (K-Means), stretched ones of unequal size (a mixture
of Gaussians), clusters that a few of many columns tell apart (a mixture with independent columns),
bands and rings (neighbours), islands of any size (links). To choose among five takes far fewer
pairs than to learn a shape, and wrong ones do not matter much.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.cluster.hierarchy import average, cut_tree
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from coterie._typing import Array
from coterie.cluster.mosaic.columns import LEAST_SPREAD, MOST_COLUMNS
from coterie.cluster.mosaic.judging import Trial, clear_lead, log_chances
from coterie.cluster.mosaic.parallel import side_by_side
from coterie.cluster.mosaic.passes import Float32
from coterie.cluster.mosaic.problem import MosaicProblem
from coterie.cluster.mosaic.space import MosaicSpace
from coterie.cluster.mosaic.starts import cluster_prototypes
from coterie.data import one_thread

__all__ = ["Geometry", "best_geometry", "by_directions", "geometries", "single_starts"]

_ROWS_AT_ONCE = 1 << 16
_MIXTURE_STEPS = 50  # of expectation and maximisation: more change little
_ROWS_A_CLUSTER = 5  # a mixture of more clusters is not tried


class Geometry(NamedTuple):
    """A name, and the cluster (n,) of every row."""

    name: str
    labels: NDArray[np.int64]


def best_geometry(found: list[Geometry], trial: Trial, confidence: float) -> Geometry:
    """The one that foretells the pairs best; the first unless others are clearly better."""
    first, *others = (log_chances(trial, trial.together(each.labels)) for each in found)
    best, most = found[0], first.sum()
    for geometry, chances in zip(found[1:], others, strict=True):
        if chances.sum() > most and clear_lead(trial.pairs, chances - first, confidence):
            best, most = geometry, chances.sum()
    return best


def geometries(
    X: Any, coordinates: Float32, problem: MosaicProblem, n_clusters: int, seed: int
) -> list[Geometry]:
    """All but K-Means, where there is enough to learn them from.

    Parameters
    ----------
    X : (n, d)
        The rows as they were given.
    coordinates : (n, e)
        Where they lie.
    problem : MosaicProblem
        Its prototypes stand for the rows.
    """
    tasks: list[Callable[[], list[Geometry]]] = [
        partial(_of_prototypes, problem, n_clusters, seed),
        *_mixtures(X, coordinates, problem, n_clusters, seed),
    ]
    with warnings.catch_warnings():  # here: the filters are those of all threads
        warnings.simplefilter("ignore", ConvergenceWarning)  # near enough; or fewer distinct rows
        return [geometry for found in side_by_side(tasks) for geometry in found]


# -- of directions ---------------------------------------------------------------------------------
def by_directions(
    coordinates: Float32, space: MosaicSpace, problem: MosaicProblem, n_clusters: int, seed: int
) -> Geometry:
    """Rows of unit length by their direction in the space that K directions span best.

    Rows of K clusters of directions lie near the span of K means; the rest of many columns is
    noise that K-Means of all coordinates would listen to.
    """
    points = _from_origin(coordinates, space)
    scatter = points.T @ (problem.weights[:, None] * points)
    few = min(n_clusters, scatter.shape[0])
    last = scatter.shape[0] - 1
    _, axes = scipy.linalg.eigh(scatter, subset_by_index=[last - few + 1, last])
    points = points @ axes
    points /= np.maximum(np.linalg.norm(points, axis=1, keepdims=True), np.finfo(float).tiny)
    sample = _sample(problem.weights, min(len(points), problem.tuning.deciding_pairs), seed)
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows
        model = KMeans(n_clusters, n_init=problem.tuning.kmeans_starts, random_state=seed)
        return Geometry("directions", model.fit(points[sample]).predict(points).astype(np.int64))


def _from_origin(coordinates: Float32, space: MosaicSpace) -> NDArray[np.float64]:
    """Rows (n, e + 1) as seen from the row of zeros, the last coordinate what components leave."""
    zero = -space.mean * space.basis if space.basis.ndim == 1 else -space.mean @ space.basis
    unit = space.basis[0] if space.basis.ndim == 1 else np.linalg.norm(space.basis[:, 0])
    left = float(unit**2 * (space.mean @ space.mean) - zero @ zero)
    height = np.full((len(coordinates), 1), np.sqrt(max(left, 0.0)))
    return np.hstack([coordinates.astype(np.float64) - zero, height])


# -- of prototypes ---------------------------------------------------------------------------------
def _of_prototypes(problem: MosaicProblem, n_clusters: int, seed: int) -> list[Geometry]:
    field, tuning = problem.ridge.field, problem.tuning
    counts = field.counts(problem.weights)
    held = np.flatnonzero(counts > 0)
    if held.size < 2 * n_clusters:
        return []
    prototypes = field.landmarks.prototypes[held].astype(np.float64)
    points = _cut_points(prototypes, n_clusters)
    starts = tuning.kmeans_starts
    by_neighbours = cluster_prototypes(points, counts[held], n_clusters, starts, seed)
    by_links = cut_tree(average(prototypes), n_clusters)[:, 0]
    place = np.zeros(field.n_prototypes, dtype=np.int64)  # where each is among those held
    place[held] = np.arange(held.size)
    near = place[field.near]
    return [Geometry("neighbours", by_neighbours[near]), Geometry("links", by_links[near])]


def single_starts(problem: MosaicProblem, n_clusters: int, seeds: range) -> list[Array]:
    """Clusters (n,) of K-Means of the prototypes from one start each, good or bad."""
    field = problem.ridge.field
    points, counts = field.landmarks.prototypes.astype(np.float64), field.counts(problem.weights)
    return [cluster_prototypes(points, counts, n_clusters, 1, seed)[field.near] for seed in seeds]


def _cut_points(prototypes: Array, n_clusters: int) -> NDArray[np.float64]:
    """Points (M, K) of unit length that K-Means parts as a normalised cut would.

    Of the graph of the 2 ln M nearest prototypes of each (a graph of nearest neighbours holds
    together from about ln M on, and barely): leading eigenvectors of D^-1/2 A D^-1/2.
    """
    squares = np.square(prototypes).sum(axis=1)
    gaps = squares[:, None] + squares - 2.0 * prototypes @ prototypes.T
    np.fill_diagonal(gaps, np.inf)
    few = min(int(np.ceil(2.0 * np.log(len(prototypes)))), len(prototypes) - 1)
    graph = np.zeros(gaps.shape)
    np.put_along_axis(graph, np.argpartition(gaps, few - 1, axis=1)[:, :few], 1.0, axis=1)
    graph += graph.T
    root = 1.0 / np.sqrt(graph.sum(axis=1))
    last = len(graph) - 1
    _, vectors = scipy.linalg.eigh(
        root[:, None] * graph * root, subset_by_index=[last - n_clusters + 1, last]
    )
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(length, 1e-12))


# -- of mixtures -----------------------------------------------------------------------------------
def _mixtures(
    X: Any, coordinates: Float32, problem: MosaicProblem, n_clusters: int, seed: int
) -> list[Callable[[], list[Geometry]]]:
    """What learns them, each by itself."""
    n, e = coordinates.shape
    size = min(n, problem.tuning.deciding_pairs)
    if size < _ROWS_A_CLUSTER * n_clusters:
        return []
    sample = _sample(problem.weights, size, seed)
    kind = "full" if size >= 2 * n_clusters * e else "tied"  # enough to learn every covariance
    # Principal components mix the columns; a column by itself may be what matters.
    plain = not sp.issparse(X) and X.shape[1] <= MOST_COLUMNS
    rows = X if plain else coordinates
    return [
        partial(_of_mixture, "ellipses", coordinates, sample, n_clusters, kind, seed),
        partial(_of_mixture, "columns", rows, sample, n_clusters, "diag", seed),
    ]


def _sample(weights: Array, size: int, seed: int) -> Array:
    """Rows to learn from, as often as they count."""
    rng = np.random.default_rng(seed)
    if (weights == weights[0]).all():
        return np.sort(rng.permutation(weights.size)[:size])
    return np.sort(rng.choice(weights.size, size, p=weights / weights.sum()))


def _of_mixture(
    name: str, rows: Any, sample: Array, k: int, kind: str, seed: int
) -> list[Geometry]:
    """Each row to the component it most probably comes from."""
    part = np.asarray(rows[sample], dtype=np.float64)
    centre, variance = part.mean(axis=0), part.var(axis=0)
    # One unit for all coordinates, or each column its own.
    spread = np.sqrt(variance if kind == "diag" else np.full_like(variance, variance.mean()))
    spread[spread == 0] = 1.0
    model = GaussianMixture(
        k, covariance_type=kind, reg_covar=LEAST_SPREAD, max_iter=_MIXTURE_STEPS, random_state=seed
    )
    labels = np.empty(rows.shape[0], dtype=np.int64)
    with one_thread():
        model.fit((part - centre) / spread)
        for lo in range(0, labels.size, _ROWS_AT_ONCE):
            some = np.asarray(rows[lo : lo + _ROWS_AT_ONCE], dtype=np.float64)
            labels[lo : lo + _ROWS_AT_ONCE] = model.predict((some - centre) / spread)
    return [Geometry(name, labels)]
