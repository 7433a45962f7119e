"""The simplest mosaic: one prototype per cluster, which is K-Means."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from coterie._typing import Array
from coterie.cluster.mosaic.beliefs import (
    FIRST_SHARPNESS,
    MosaicState,
    find_posterior,
    fit_sharpness,
    judge_field,
    settle_noise,
    softmax,
    start_from,
)
from coterie.cluster.mosaic.field import MosaicField, field_values
from coterie.cluster.mosaic.finish import MosaicFit, Placer, data_costs, roughness
from coterie.cluster.mosaic.noise import Noise
from coterie.cluster.mosaic.passes import Float32, Landmarks
from coterie.cluster.mosaic.problem import MosaicProblem, MosaicSettings
from coterie.data import one_thread

__all__ = ["Blobs", "fit_blobs", "fit_positions", "rival_blobs"]


_MOST_SHARPNESS = 1024.0  # beyond, a row far from all centres is as sure as one beside a centre


class Blobs(NamedTuple):
    """A field in which each centre is its own feature, its values (n, K), and what it predicts."""

    field: MosaicField
    values: NDArray[np.float64]
    state: MosaicState


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


def rival_blobs(
    problem: MosaicProblem, coordinates: Float32, n_clusters: int, seed: int
) -> Blobs | None:
    """K-Means of the rows at `coordinates` (n, e), as sharp as predicts the pairs best.

    By way of the prototypes of `problem`; None if fewer than K of them hold any row. The state has
    not heard its pairs yet.
    """
    centres = k_means_by_prototypes(problem, coordinates, n_clusters, seed)
    if centres is None:
        return None
    field, values = _blob_field(coordinates, centres, problem.tuning.steepness)
    start = start_from(problem, field.near, n_clusters)
    best = judge_field(problem, start, values, FIRST_SHARPNESS)
    for factor in (2.0, 0.5):
        while 1.0 / _MOST_SHARPNESS < best.sharpness < _MOST_SHARPNESS:
            state = judge_field(problem, start, values, best.sharpness * factor)
            if state.score <= best.score:
                break
            best = state
    return Blobs(field, values, best)


def fit_blobs(problem: MosaicProblem, blobs: Blobs, rng: np.random.Generator) -> MosaicFit:
    """The fit of blobs: free rows to their centre, rows in pairs as these say."""
    state = blobs.state
    for _ in range(problem.tuning.pilot_rounds):
        state = find_posterior(problem, state)
    state = settle_noise(problem, state)
    eye, smoothness = np.eye(state.rows.shape[1]), problem.settings.smoothness
    placer = Placer(problem.evidence, problem.weights, state, rng)
    labels, _, cost = placer.place(blobs.values, state.nodes.argmax(axis=1))
    history = [cost + roughness(eye, smoothness, state.sharpness)]
    return MosaicFit(
        labels=labels,
        field=blobs.field,
        field_weights=eye,
        sharpness=state.sharpness,
        noise_rate=state.noise.rate,
        history=history,
        beliefs=state.rows,
        rounds=1,
    )


def k_means(points: Array, weights: Array, n_clusters: int, n_init: int, seed: int) -> Float32:
    """The centres (K, e) of K-Means, the best of some starts."""
    with one_thread():  # the sum over threads would round by their number
        model = KMeans(n_clusters, n_init=n_init, random_state=seed)
        return np.asarray(model.fit(points, sample_weight=weights).cluster_centers_)


def k_means_by_prototypes(
    problem: MosaicProblem, coordinates: Float32, n_clusters: int, seed: int
) -> Float32 | None:
    """The centres of `k_means` of rows: that of their prototypes, then a few steps over all."""
    field, tuning = problem.ridge.field, problem.tuning
    counts = field.counts(problem.weights)
    held = np.flatnonzero(counts > 0)
    if held.size < n_clusters:
        return None
    prototypes = field.landmarks.prototypes[held]
    start = k_means(prototypes, counts[held], n_clusters, tuning.kmeans_starts, seed)
    with one_thread():
        model = KMeans(n_clusters, init=start, n_init=1)
        return np.asarray(model.fit(coordinates, sample_weight=problem.weights).cluster_centers_)


def _blob_field(
    coordinates: Float32, centres: Float32, steepness: float
) -> tuple[MosaicField, NDArray[np.float64]]:
    eye = np.eye(len(centres), dtype=np.float32)
    landmarks = Landmarks(centres, eye, steepness)
    values = field_values(coordinates, landmarks, eye)
    near = values.argmax(axis=1).astype(np.int64)
    return MosaicField(landmarks, values.astype(np.float32), eye, near), values
