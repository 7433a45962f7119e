"""The simplest mosaic: one prototype per cluster, which is K-Means."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from coterie._typing import Array
from coterie.cluster.mosaic.beliefs import (
    FIRST_SHARPNESS,
    find_posterior,
    fit_sharpness,
    judge_field,
    settle_noise,
    softmax,
    start_from,
)
from coterie.cluster.mosaic.field import MosaicField, field_values
from coterie.cluster.mosaic.finish import MosaicFit, Placer, data_costs, roughness
from coterie.cluster.mosaic.judging import Trial, log_chances, shares_of
from coterie.cluster.mosaic.noise import MOST_NOISE, Noise
from coterie.cluster.mosaic.passes import Float32, Landmarks
from coterie.cluster.mosaic.problem import MosaicProblem, MosaicSettings
from coterie.data import one_thread

__all__ = ["Blobs", "fit_blobs", "fit_positions", "other_blobs", "round_blobs"]


_MOST_SHARPNESS = 1024.0  # beyond, a row far from all centres is as sure as one beside a centre


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
    centres = k_means(coordinates, weights, n_clusters, tuning.kmeans_starts, seed)
    field, values = _blob_field(coordinates, centres, tuning.steepness)
    labels = field.near
    sharpness = fit_sharpness(values, eye[labels], weights, FIRST_SHARPNESS)
    costs = data_costs(values, weights, sharpness)[np.arange(len(values)), labels]
    objective = float(costs.sum()) + roughness(eye, settings.smoothness, sharpness)
    return MosaicFit(
        labels=labels,
        field=field,
        field_weights=eye,
        sharpness=sharpness,
        noise_rate=noise.rate,
        history=[objective],
        beliefs=softmax(sharpness, values),
        rounds=1,
    )


def round_blobs(
    problem: MosaicProblem, coordinates: Float32, n_clusters: int, seed: int
) -> Blobs | None:
    """K-Means of the rows at `coordinates` (n, e); None if fewer prototypes hold any row."""
    centres = k_means_of_rows(problem, coordinates, n_clusters, seed)
    if centres is None:
        return None
    field, _ = _blob_field(coordinates, centres, problem.tuning.steepness)
    return Blobs("means", field.near, field, np.eye(n_clusters))


def other_blobs(
    problem: MosaicProblem, name: str, labels: NDArray[np.int64], n_clusters: int
) -> Blobs:
    """Any clusters `labels` (n,), and the smooth field that follows them."""
    weights = problem.ridge.solve(np.eye(n_clusters)[labels])
    return Blobs(name, labels, problem.ridge.field, weights)


def fit_blobs(
    problem: MosaicProblem, blobs: Blobs, trial: Trial, rng: np.random.Generator
) -> MosaicFit:
    """The fit of clusters as they are: free rows by the field, rows in pairs as these say.

    The field is as sharp as foretells the pairs best. No more pairs can be wrong than it fails to
    foretell, and the pairs are heard at this rate: of pairs that contradict the clusters nobody
    knows whether they or the clusters are wrong.
    """
    values = blobs.field.values(blobs.weights)
    sharpness = _telling_sharpness(trial, values)
    if problem.noise.origin != "given":
        most = shares_of(trial, _together(trial, values, sharpness)).most_noise
        problem = problem.heard_at(Noise(min(max(most, problem.noise.rate), MOST_NOISE), "chosen"))
    start = start_from(problem, blobs.labels, blobs.weights.shape[1])
    state = judge_field(problem, start, values, sharpness)
    for _ in range(problem.tuning.pilot_rounds):
        state = find_posterior(problem, state)
    state = settle_noise(problem, state)
    placer = Placer(problem.evidence, problem.weights, state, rng)
    labels, _, cost = placer.place(values, state.nodes.argmax(axis=1))
    return MosaicFit(
        labels=labels,
        field=blobs.field,
        field_weights=blobs.weights,
        sharpness=sharpness,
        noise_rate=state.noise.rate,
        history=[cost + roughness(blobs.weights, problem.settings.smoothness, sharpness)],
        beliefs=state.rows,
        rounds=1,
    )


def _telling_sharpness(trial: Trial, values: Array) -> float:
    """How sharp field `values` (n, K) must be to foretell the pairs best, to a factor of two."""
    scores: dict[float, float] = {}

    def score(sharpness: float) -> float:
        if sharpness not in scores:
            together = _together(trial, values, sharpness)
            scores[sharpness] = float(log_chances(trial, together).sum())
        return scores[sharpness]

    best = FIRST_SHARPNESS
    for factor in (2.0, 0.5):
        while 1.0 / _MOST_SHARPNESS < best * factor < _MOST_SHARPNESS:
            if score(best * factor) <= score(best):
                break
            best *= factor
    return best


def _together(trial: Trial, values: Array, sharpness: float) -> NDArray[np.float64]:
    """How probably each pair of a trial (m,) is together by field `values` (n, K)."""
    left, right = (softmax(sharpness, values[trial.pairs[:, end]]) for end in (0, 1))
    return np.einsum("ij,ij->i", left, right)


def k_means(points: Array, weights: Array, n_clusters: int, n_init: int, seed: int) -> Float32:
    """The centres (K, e) of K-Means, the best of some starts."""
    with one_thread():  # the sum over threads would round by their number
        model = KMeans(n_clusters, n_init=n_init, random_state=seed)
        return np.asarray(model.fit(points, sample_weight=weights).cluster_centers_)


def k_means_of_rows(
    problem: MosaicProblem, coordinates: Float32, n_clusters: int, seed: int
) -> Float32 | None:
    """The centres of `k_means` of all rows: that of some, then steps over all.

    The better of two: of the prototypes, and of rows, a sample where they are many (unless clusters
    are so many that ten starts would take long). None if fewer than K prototypes hold any row.
    """
    field, tuning = problem.ridge.field, problem.tuning
    counts = field.counts(problem.weights)
    held = np.flatnonzero(counts > 0)
    if held.size < n_clusters:
        return None
    begin = partial(k_means, n_clusters=n_clusters, n_init=tuning.kmeans_starts, seed=seed)
    starts = [begin(field.landmarks.prototypes[held], counts[held])]
    most = tuning.most_numbers // (100 * n_clusters)
    chosen = np.random.default_rng(seed).permutation(len(coordinates))[:most]
    chosen = np.sort(chosen[problem.weights[chosen] > 0])
    if chosen.size > max(held.size, 10 * n_clusters):
        starts.append(begin(coordinates[chosen], problem.weights[chosen]))
    with one_thread():
        models = [
            KMeans(n_clusters, init=start, n_init=1).fit(coordinates, sample_weight=problem.weights)
            for start in starts
        ]
    return np.asarray(min(models, key=lambda model: model.inertia_).cluster_centers_)


def _blob_field(
    coordinates: Float32, centres: Float32, steepness: float
) -> tuple[MosaicField, NDArray[np.float64]]:
    eye = np.eye(len(centres), dtype=np.float32)
    landmarks = Landmarks(centres, eye, steepness)
    values = field_values(coordinates, landmarks, eye)
    near = values.argmax(axis=1).astype(np.int64)
    return MosaicField(landmarks, values.astype(np.float32), eye, near), values
