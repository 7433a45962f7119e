"""The simplest mosaic: one prototype per cluster, which is K-Means."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from coterie.cluster.mosaic.field import Field, Float32, field_values
from coterie.cluster.mosaic.soft import SoftStage, State
from coterie.data import one_thread

Array = NDArray[Any]

_STARTS = 10
_POLISH = 20  # Lloyd steps over all rows
_FIRST_SHARPNESS, _MOST_SHARPNESS = 8.0, 1024.0


def centres(coordinates: Float32, weights: Array, n_clusters: int, seed: int) -> Float32:
    """The centres (K, e) of K-Means over all rows, the best of ten starts."""
    with one_thread():  # the sum over threads would round by their number
        model = KMeans(n_clusters, n_init=_STARTS, random_state=seed)
        return np.asarray(model.fit(coordinates, sample_weight=weights).cluster_centers_)


def polished_centres(
    coordinates: Float32, weights: Array, prototypes: Float32, near: Array, k: int, seed: int
) -> Float32 | None:
    """`centres` by way of the prototypes: K-Means of these, then a few steps over all rows.

    None if fewer than K prototypes hold any row.
    """
    counts = np.bincount(near, weights, minlength=len(prototypes))
    held = np.flatnonzero(counts > 0)
    if held.size < k:
        return None
    start = centres(prototypes[held], counts[held], k, seed)
    with one_thread():
        model = KMeans(k, init=start, n_init=1, max_iter=_POLISH)
        return np.asarray(model.fit(coordinates, sample_weight=weights).cluster_centers_)


def blob_field(coordinates: Float32, centres: Float32) -> tuple[Field, NDArray[np.float64]]:
    """The field in which each centre is its own feature, and its values (n, K)."""
    eye = np.eye(len(centres), dtype=np.float32)
    values = field_values(coordinates, centres, eye, eye)
    near = values.argmax(axis=1).astype(np.int64)
    return Field(centres, eye, values.astype(np.float32), eye, near), values


def blob_state(stage: SoftStage, field: Field, values: Array) -> State:
    """What the field of blobs says about the pairs, as sharply as suits them best.

    The state has not heard its pairs yet: `SoftStage.listen` does that.
    """
    start = stage.start(field.near, values.shape[1])
    best = stage.look(start, values, _FIRST_SHARPNESS)
    for factor in (2.0, 0.5):
        while 1.0 / _MOST_SHARPNESS < best.sharpness < _MOST_SHARPNESS:
            state = stage.look(start, values, best.sharpness * factor)
            if state.score <= best.score:
                break
            best = state
    return best
