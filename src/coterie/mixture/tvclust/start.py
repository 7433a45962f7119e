"""Where TVClust starts from: the scale of the columns, and K-Means at several sizes."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_array

from coterie.distortions.base import refuse
from coterie.exceptions import InvalidParameter
from coterie.validation import check_choice

__all__ = ["Measure", "measure_columns", "measure_counts", "starting_labels"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
_SAMPLE = 20_000  # rows K-Means looks at: a start, not a result


class Measure(NamedTuple):
    """The point rows are measured from and the variance of each column, (d,); (0,) for counts."""

    origin: Floats
    variance: Floats


def measure_counts(X: Any) -> Measure:
    """Counts are taken as they are, once none is negative."""
    what = "Negative values in data, and counts are 0 or more"
    refuse(X, lambda v: v < 0, what, "Use family='gaussian'.")
    return Measure(np.zeros(X.shape[1]), np.empty(0))


def measure_columns(X: Any, weights: Floats | None, standardize: bool) -> Measure:
    """Mean and variance of the columns; the mean variance for all unless `standardize`.

    A column that does not vary beyond rounding counts as one of variance 1.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        origin = np.average(X, axis=0, weights=weights).astype(np.float64)
        squares = np.square(X - origin, dtype=np.float64)
        variance = np.average(squares, axis=0, weights=weights)
    if not np.isfinite(variance).all():
        refuse(X, lambda v: np.abs(v) > 1e150, "its square overflows", "Rescale the column.")
    rounding = 64 * float(np.finfo(X.dtype).eps) * np.abs(X).max(axis=0).astype(np.float64)
    variance[variance <= rounding**2] = 0.0
    if not standardize:
        variance[:] = variance.mean()
    variance[variance == 0] = 1.0
    return Measure(origin, variance)


def starting_labels(
    X: Any,
    init: Any,
    n_starts: int,
    truncation: int,
    measure: Measure,
    rng: np.random.Generator,
) -> list[Ints]:
    """Labels (n,) of each start.

    Parameters
    ----------
    init : "kmeans", labels (n,), or a fitted model
    measure : Measure
        Columns are divided by their deviation; counts are compared by the square roots of their
        frequencies (Hellinger distance).
    """
    if isinstance(init, str):
        check_choice("init", init, ("kmeans",))
        return _kmeans_starts(_comparable(X, measure), n_starts, truncation, rng)
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


def _comparable(X: Any, measure: Measure) -> Any:
    """Rows among which plain Euclidean distances mean something."""
    if measure.variance.size:
        return (X - measure.origin) / np.sqrt(measure.variance)
    shares = normalize(X, norm="l1")
    return shares.sqrt() if sp.issparse(shares) else np.sqrt(shares)


def _kmeans_starts(X: Any, n_starts: int, truncation: int, rng: np.random.Generator) -> list[Ints]:
    """K-Means with 2 to `truncation` clusters, numbers spaced evenly by ratio; largest first."""
    n = X.shape[0]
    most = min(truncation, n)
    if most == 1:
        return [np.zeros(n, dtype=np.int64)]
    sizes = np.geomspace(2, most, n_starts).round().astype(int) if n_starts > 1 else [most]
    sample = X if n <= _SAMPLE else X[np.sort(rng.choice(n, _SAMPLE, replace=False))]
    starts = []
    for k in sizes:
        model = KMeans(int(k), n_init=1, random_state=int(rng.integers(2**31 - 1)))
        with warnings.catch_warnings():  # fewer distinct rows than clusters is no concern here
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(sample)
        starts.append(_by_size(model.labels_ if n <= _SAMPLE else model.predict(X)))
    return starts


def _by_size(labels: Any) -> Ints:
    """The same partition, the largest cluster 0: sticks are broken largest first."""
    _, inverse, counts = np.unique(labels, return_inverse=True, return_counts=True)
    rank = np.empty(len(counts), dtype=np.int64)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    return rank[inverse]
