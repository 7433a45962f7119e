"""The simplest mosaic: one prototype per cluster, which is K-Means."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from coterie._typing import Array
from coterie.cluster.kmeans.problem import KMeansProblem
from coterie.cluster.kmeans.relocation import relocate
from coterie.cluster.kmeans.run import Start, run
from coterie.cluster.kmeans.values import KMeansSettings
from coterie.cluster.mosaic.beliefs import (
    FIRST_SHARPNESS,
    ends_together,
    fit_sharpness,
    hear_pairs,
    softmax,
)
from coterie.cluster.mosaic.field import MosaicField, field_values
from coterie.cluster.mosaic.finish import MosaicFit, Placer, roughness
from coterie.cluster.mosaic.judging import Telling, Trial, shares_of, telling_sharpness
from coterie.cluster.mosaic.noise import DEFAULT_NOISE, MOST_NOISE, Noise
from coterie.cluster.mosaic.passes import Float32, Highest, Landmarks, field_map, highest_at
from coterie.cluster.mosaic.problem import MosaicProblem, MosaicSettings
from coterie.cluster.mosaic.tuning import Tuning
from coterie.constraints import Constraints
from coterie.data import Rows, fold, map_blocks, one_thread
from coterie.distortions import get_distortion

__all__ = [
    "Blobs",
    "corner_blobs",
    "fit_blobs",
    "fit_positions",
    "other_blobs",
    "round_blobs",
    "telling",
]


_ROWS_A_CENTRE = 20  # of a sample for K-Means: where it starts, not where it ends
_STEPS, _TOLERANCE = 300, 1e-6  # of K-Means whose centres are moved, as of `PCKMeans`
_MOST_SHARPNESS = 1024.0  # beyond, a row far from all centres is as sure as one beside a centre
_FAINT = 1e-30  # the largest weight, below which the others may be 0 in single precision


class Blobs(NamedTuple):
    """Clusters by position, which have heard no pair.

    Attributes
    ----------
    name : str
        Their kind.
    labels : (n,)
    field : MosaicField
        One that follows them, ...
    weights : (r, K)
        ... with these weights.
    """

    name: str
    labels: NDArray[np.int64]
    field: MosaicField
    weights: Array


def fit_positions(
    coordinates: Float32,
    weights: Array,
    noise: Noise,
    n_clusters: int,
    settings: MosaicSettings,
    seed: int,
) -> MosaicFit:
    """Without pairs: K-Means, a prototype per cluster that is its own field."""
    tuning, eye = settings.tuning, np.eye(n_clusters)
    centres = _k_means_by_sample(coordinates, weights, n_clusters, tuning, seed, [])
    blobs = _of_centres(coordinates, centres, tuning.steepness)
    part = coordinates[:: max(1, len(coordinates) * n_clusters // tuning.most_numbers)]
    values = field_values(part, blobs.field.landmarks, eye)
    seen, count = eye[values.argmax(axis=1)], np.ones(len(part))
    sharpness = fit_sharpness(values, seen, count, FIRST_SHARPNESS)
    highest = _highest(blobs, coordinates)
    gaps = 1.0 + highest.squares - 2.0 * highest.tops
    cost = 0.5 * sharpness * float(weights @ gaps)
    return MosaicFit(
        labels=highest.labels,
        by_field=highest.labels,
        field=blobs.field,
        field_weights=eye,
        sharpness=sharpness,
        noise_rate=noise.rate,
        history=[cost + roughness(eye, settings.smoothness, sharpness)],
        together=np.empty(0),
        rounds=1,
    )


def round_blobs(
    problem: MosaicProblem, coordinates: Float32, n_clusters: int, seed: int
) -> Blobs | None:
    """K-Means of the rows at `coordinates` (n, e); None if fewer prototypes hold any row."""
    centres = k_means_of_rows(problem, coordinates, n_clusters, seed)
    if centres is None:
        return None
    return _of_centres(coordinates, centres, problem.tuning.steepness)


def corner_blobs(coordinates: Float32, steepness: float) -> Blobs:
    """Rows whose coordinates (n, K) are chances of clusters: to the cluster of the highest.

    The corner of a cluster is where its chance is 1; the nearest corner is the highest chance.
    """
    corners = np.eye(coordinates.shape[1], dtype=np.float32)
    return _of_centres(coordinates, corners, steepness)._replace(name="columns")


def other_blobs(
    problem: MosaicProblem, name: str, labels: NDArray[np.int64], n_clusters: int
) -> Blobs:
    """Any clusters `labels` (n,), and the smooth field that follows them."""
    weights = problem.ridge.solve(np.eye(n_clusters)[labels])
    return Blobs(name, labels, problem.ridge.field, weights)


def fit_blobs(
    problem: MosaicProblem,
    blobs: Blobs,
    coordinates: Float32,
    trial: Trial,
    rng: np.random.Generator,
    noise: Noise | None = None,
) -> MosaicFit:
    """The fit of clusters as they are: free rows by the field, rows in pairs as these say.

    The field is as sharp as foretells the pairs best; or sharper, as far as they might as well be
    wrong and nobody has said how many are. No more of them can be than it fails to
    foretell, and unless `noise` is given the pairs are heard at this rate: of pairs that contradict
    the clusters nobody knows whether they or the clusters are wrong. A handful cannot tell: they
    are taken for as certain as plain pairs are by default, and make nobody sure of the field.
    """
    evidence, core, k = problem.evidence, problem.evidence.core, blobs.weights.shape[1]
    handful = evidence.n_subjects < 2 * problem.tuning.folds  # none can be held out
    doubt = problem.noise.origin != "given"
    sharpest = FIRST_SHARPNESS if handful else _MOST_SHARPNESS
    told = telling(trial, blobs, coordinates, sharpest, doubt)
    sharpness, most = told.sharpness, shares_of(trial, told.together).most_noise
    if handful and problem.noise.origin != "given":
        noise = Noise(DEFAULT_NOISE, "given")
    if noise is not None:
        problem = problem.heard_at(noise)
    elif problem.noise.origin != "given":
        problem = problem.heard_at(Noise(min(max(most, problem.noise.rate), MOST_NOISE), "chosen"))
    values = field_values(coordinates[core.rows], blobs.field.landmarks, blobs.weights)
    prior = softmax(sharpness, core.contract(problem.weights[core.rows, None] * values))
    nodes, seen = hear_pairs(problem, prior)
    begun = nodes.argmax(axis=1)
    del nodes  # numbers for each node and cluster, of which there may be thousands
    together = ends_together(problem, prior, seen.rate)
    del prior
    placer = Placer(evidence, problem.weights, k, sharpness, seen.rate, rng)
    highest = _highest(blobs, coordinates)
    labels, _, cost = placer.place_core(values, begun, highest)
    return MosaicFit(
        labels=labels,
        by_field=highest.labels,
        field=blobs.field,
        field_weights=blobs.weights,
        sharpness=sharpness,
        noise_rate=seen.rate,
        history=[cost + roughness(blobs.weights, problem.settings.smoothness, sharpness)],
        together=together,
        rounds=1,
    )


def _highest(blobs: Blobs, coordinates: Float32) -> Highest:
    field = field_map(blobs.field.landmarks, blobs.weights)
    parts = map_blocks(Rows(coordinates), highest_at, field)
    return fold(parts, joined=("labels", "tops", "squares"))


def telling(
    trial: Trial,
    blobs: Blobs,
    coordinates: Float32,
    most: float = _MOST_SHARPNESS,
    doubt: bool = False,
) -> Telling:
    """How sharp the field must be to foretell the pairs best, `most` or less (and `doubt`)."""
    rows, ends = np.unique(trial.pairs, return_inverse=True)
    values = field_values(coordinates[rows], blobs.field.landmarks, blobs.weights)
    here = trial._replace(pairs=ends.reshape(-1, 2))
    return telling_sharpness(here, values, first=FIRST_SHARPNESS, most=most, doubt=doubt)


def k_means(points: Array, weights: Array, n_clusters: int, n_init: int, seed: int) -> Float32:
    """The centres (K, e) of K-Means, the best of some starts and of one from where they all ended.

    Which of ten ends has the smallest sum of squares is half chance where clusters are many. The
    ends together are a small sample of where centres belong: K-Means of them all is one more
    start, and often the best (Bradley and Fayyad 1998). Then centres of the best are moved to
    where they are missed, as those of `PCKMeans` are.
    """
    rng = np.random.RandomState(seed)
    found = [_lloyd(points, weights, n_clusters, rng, 1) for _ in range(n_init)]
    ends = np.concatenate([each.cluster_centers_ for each in found])
    held = [np.bincount(each.labels_, weights, minlength=n_clusters) for each in found]
    means = _lloyd(ends, np.concatenate(held), n_clusters, rng, n_init).cluster_centers_
    found.append(_lloyd(points, weights, n_clusters, rng, 1, means))
    best = min(found, key=lambda model: model.inertia_).cluster_centers_
    return _moved(points, weights, best, int(rng.randint(2**31 - 1)))


def _moved(points: Array, weights: Array, centres: Array, seed: int) -> Float32:
    """Centres (K, e) from where two share a cluster to where one is missed."""
    points = np.asarray(points, dtype=np.float64)  # one kernel for all: another takes seconds
    no_pairs, plain = Constraints(len(points)), get_distortion("sqeuclidean")
    problem = KMeansProblem(points, no_pairs, weights, plain, KMeansSettings(len(centres)))
    geometry = problem.geometry(problem.measure(problem.initial_metric()), 1.0)
    start = Start((centres - problem.rows.origin).astype(problem.rows.dtype))
    found = run(problem, start, geometry, max_iter=_STEPS, tol=_TOLERANCE, seed=seed)
    found = relocate(problem, found, geometry, max_iter=_STEPS, tol=_TOLERANCE, seed=seed)
    return np.asarray(found.centers + problem.rows.origin, dtype=np.float32)


def _lloyd(
    points: Array, weights: Array, n_clusters: int, seed: Any, n_init: int, init: Any = "k-means++"
) -> KMeans:
    most = weights.max()
    if not _FAINT < most < 1 / _FAINT:  # they are counted in the points' single precision
        weights = weights / most
    with one_thread(), warnings.catch_warnings():  # threads would round by their number
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows: said by fit
        model = KMeans(n_clusters, init=init, n_init=n_init, random_state=seed)
        return model.fit(points, sample_weight=weights)


def k_means_of_rows(
    problem: MosaicProblem, coordinates: Float32, n_clusters: int, seed: int
) -> Float32 | None:
    """The centres of `k_means` of all rows: that of some, then steps over all.

    The better of two: of the prototypes, unless they are the rows or clusters are too many for
    them, and of rows, a sample where they are many. None if fewer than K rows differ.
    """
    field, tuning = problem.ridge.field, problem.tuning
    counts = field.counts(problem.weights)
    held = np.flatnonzero(counts > 0)
    if held.size < min(n_clusters, tuning.pilot_prototypes):
        return None
    starts = []
    if 2 * n_clusters <= tuning.pilot_prototypes and held.size < len(coordinates):
        few = field.landmarks.prototypes[held]
        starts = [k_means(few, counts[held], n_clusters, tuning.kmeans_starts, seed)]
    return _k_means_by_sample(coordinates, problem.weights, n_clusters, tuning, seed, starts)


def _k_means_by_sample(
    points: Array, weights: Array, n_clusters: int, tuning: Tuning, seed: int, starts: list[Float32]
) -> Float32:
    """Centres from the best of some starts and of `k_means` of a sample, then steps over all."""
    most = max(tuning.most_numbers // (100 * n_clusters), _ROWS_A_CENTRE * n_clusters)
    chosen = np.random.default_rng(seed).permutation(len(points))[:most]
    chosen = np.sort(chosen[weights[chosen] > 0])
    if chosen.size < n_clusters:
        chosen = np.arange(len(points))
    own = k_means(points[chosen], weights[chosen], n_clusters, tuning.kmeans_starts, seed)
    models = [_lloyd(points, weights, n_clusters, seed, 1, start) for start in (*starts, own)]
    return np.asarray(min(models, key=lambda model: model.inertia_).cluster_centers_)


def _of_centres(coordinates: Float32, centres: Float32, steepness: float) -> Blobs:
    """Rows at `coordinates` (n, e) to the nearest centre (K, e)."""
    eye = np.eye(len(centres), dtype=np.float32)
    landmarks = Landmarks(centres, eye, steepness)
    found = map_blocks(Rows(coordinates), highest_at, field_map(landmarks, eye))
    near = fold(found, joined=("labels", "tops", "squares")).labels
    nothing = np.empty((0, len(centres)), dtype=np.float32)  # features would take n times K
    return Blobs("means", near, MosaicField(landmarks, nothing, eye, near), eye)
