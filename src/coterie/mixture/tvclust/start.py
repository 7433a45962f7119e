"""Where TVClust starts from: the scale of the columns, and K-Means at several sizes."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_array

from coterie._typing import FloatArray, IntArray
from coterie.data import Rows, fold, map_blocks
from coterie.distortions.base import refuse
from coterie.exceptions import InvalidParameter
from coterie.mixture.tvclust.passes import (
    Comparison,
    RowWeights,
    StartCenters,
    column_squares,
    column_sums,
    nearest_center,
)
from coterie.validation import check_choice

__all__ = ["Measure", "measure_columns", "measure_counts", "starting_labels"]

_SAMPLE = 20_000  # rows K-Means looks at: a start, not a result


class Measure(NamedTuple):
    """The point rows are measured from and the variance of each column, (d,); (0,) for counts."""

    origin: FloatArray
    variance: FloatArray


def measure_counts(X: Any) -> Measure:
    """Counts are taken as they are, once none is negative."""
    what = "Negative values in data, and counts are 0 or more"
    refuse(X, lambda v: v < 0, what, "Use family='gaussian'.")
    return Measure(np.zeros(X.shape[1]), np.empty(0))


def measure_columns(X: Any, weights: FloatArray, standardize: bool) -> Measure:
    """Mean and variance of the columns; the mean variance for all unless `standardize`.

    A column that does not vary beyond rounding counts as one of variance 1. `weights` (n,), or
    (0,) for ones.
    """
    rows, state = Rows(X), RowWeights(weights)
    found = fold(map_blocks(rows, column_sums, None, state=state), joined=("largest",))
    origin = found.sums / found.weight
    squares = fold(map_blocks(rows, column_squares, origin, state=state))
    variance = squares / found.weight
    if not np.isfinite(variance).all():
        refuse(X, lambda v: np.abs(v) > 1e150, "its square overflows", "Rescale the column.")
    rounding = 64 * float(np.finfo(X.dtype).eps) * found.largest.max(axis=0)
    variance[variance <= rounding**2] = 0.0
    if not standardize:
        variance[:] = variance.mean()
    variance[variance == 0] = 1.0
    return Measure(origin, variance)


def starting_labels(
    rows: Rows,
    X: Any,
    init: Any,
    n_starts: int,
    truncation: int,
    measure: Measure,
    rng: np.random.Generator,
) -> list[IntArray]:
    """Labels (n,) of each start.

    Parameters
    ----------
    rows : Rows
        X, measured from the origin of `measure`.
    init : "kmeans", labels (n,), or a fitted model
    measure : Measure
        Gives the scale on which K-Means compares columns.
    """
    if isinstance(init, str):
        check_choice("init", init, ("kmeans",))
        comparable = Comparison(np.sqrt(measure.variance))
        return _kmeans_starts(rows, comparable, n_starts, truncation, rng)
    if hasattr(init, "predict"):
        given = init.labels_ if len(init.labels_) == X.shape[0] else init.predict(X)
    else:
        given = check_array(init, ensure_2d=False, dtype=None, input_name="init")
    if np.shape(given) != (X.shape[0],):
        raise InvalidParameter(
            f"init has shape {np.shape(given)}, expected ({X.shape[0]},): one label a row; or use "
            "'kmeans' or a fitted model."
        )
    values, labels = np.unique(np.asarray(given), return_inverse=True)
    if len(values) > truncation:
        raise InvalidParameter(
            f"init has {len(values)} clusters, more than truncation={truncation}: raise truncation."
        )
    return [labels.astype(np.int64).ravel()]


def _kmeans_starts(
    rows: Rows, comparable: Comparison, n_starts: int, truncation: int, rng: np.random.Generator
) -> list[IntArray]:
    """K-Means with 2 to `truncation` clusters, numbers spaced evenly by ratio; largest first."""
    most = min(truncation, rows.n)
    if most == 1:
        return [np.zeros(rows.n, dtype=np.int64)]
    sizes = np.geomspace(2, most, n_starts).round().astype(int) if n_starts > 1 else [most]
    sampled = rows.n > _SAMPLE
    looked_at = np.sort(rng.choice(rows.n, _SAMPLE, replace=False)) if sampled else None
    sample = comparable(rows.take(np.arange(rows.n) if looked_at is None else looked_at))
    starts = []
    for k in sizes:
        model = KMeans(int(k), n_init=1, random_state=int(rng.integers(2**31 - 1)))
        with warnings.catch_warnings():  # fewer distinct rows than clusters is no concern here
            warnings.simplefilter("ignore", ConvergenceWarning)
            labels = model.fit(sample).labels_
        if sampled:
            start = StartCenters(comparable, model.cluster_centers_)
            labels = np.concatenate(list(map_blocks(rows, nearest_center, start)))
        starts.append(_by_size(labels))
    return starts


def _by_size(labels: Any) -> IntArray:
    """The same partition, the largest cluster 0: sticks are broken largest first."""
    _, inverse, counts = np.unique(labels, return_inverse=True, return_counts=True)
    rank = np.empty(len(counts), dtype=np.int64)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    return rank[inverse]
