"""Where TVClust starts from: the scale of the columns, rows to search in, K-Means."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from coterie._typing import FloatArray, IntArray
from coterie.constraints import Constraints
from coterie.data import Rows, check_blocks, fold, gather, map_blocks, one_thread, without_gaps
from coterie.distortions.rows import refuse
from coterie.exceptions import InvalidParameter
from coterie.mixture.tvclust.passes import RowWeights, column_squares, column_sums, count_sums
from coterie.validation import check_first_labels

__all__ = [
    "Measure",
    "given_labels",
    "kmeans_labels",
    "measure_columns",
    "measure_counts",
    "neighbourhood_labels",
    "search_rows",
    "start_sizes",
]

_SAMPLE = 5_000  # rows that the search looks at: a start, not a result
_NEIGHBOURHOOD = 5  # rows of a group that is worth a start
_BLUR_SAMPLE = 20_000  # rows whose values are counted


class Measure(NamedTuple):
    """The point rows are measured from; variance and blur of each column, (d,) or (0,) for counts.

    Poisson: `variance` holds the mean of each column.
    """

    origin: FloatArray
    variance: FloatArray
    blur: FloatArray


def measure_counts(X: Any, family: str) -> Measure:
    """Counts are taken as they are, once none is negative; Bernoulli: once all are 0 or 1."""
    rows = Rows(X)
    check_blocks(rows, _Counts(family))
    typical = np.empty(0)
    if family == "poisson":
        typical = fold(map_blocks(rows, count_sums, None)) / rows.n
        typical[typical == 0] = 1.0  # nobody is seen there; any rate will do
    return Measure(np.zeros(rows.d), typical, np.empty(0))


class _Counts(NamedTuple):
    """What a family of counts takes."""

    family: str

    def check_rows(self, X: Any) -> None:
        """Refuse what is negative; Bernoulli: what is not 0 or 1."""
        if self.family == "bernoulli":
            what = "Values other than 0 and 1 in data, and family='bernoulli' takes no others"
            refuse(X, lambda v: (v != 0) & (v != 1), what, "Use another family.")
        what = "Negative values in data, and counts are 0 or more"
        refuse(X, lambda v: v < 0, what, "Use family='gaussian'.")


class _Squares(NamedTuple):
    """Values whose squares are numbers."""

    def check_rows(self, X: Any) -> None:
        """Refuse what is too large."""
        refuse(X, lambda v: np.abs(v) > 1e150, "its square overflows", "Rescale the column.")


def measure_columns(X: Any, weights: FloatArray, standardize: bool) -> Measure:
    """Mean and variance of the columns; the mean variance for all unless `standardize`.

    A column that does not vary beyond rounding counts as one of variance 1. `weights` (n,), or
    (0,) for ones. The blur is what the values of a column leave open, see `_blur`.
    """
    rows, state = Rows(X), RowWeights(weights)
    found = fold(map_blocks(rows, column_sums, None, state=state), joined=("largest",))
    origin = found.sums / found.weight
    squares = fold(map_blocks(rows, column_squares, origin, state=state))
    variance = squares / found.weight
    if not np.isfinite(variance).all():
        check_blocks(rows, _Squares())
    rounding = 64 * float(np.finfo(rows.dtype).eps) * found.largest.max(axis=0)
    variance[variance <= rounding**2] = 0.0
    blur = _blur(rows, weights) * variance
    if not standardize:
        variance[:] = variance.mean()
    variance[variance == 0] = 1.0
    return Measure(origin, variance, blur)


def _blur(rows: Rows, weights: FloatArray) -> FloatArray:
    """How far values that many rows share leave open where these rows are, (d,), in variances.

    A density per unit of length means nothing where rows share one value (yes and no, whole
    numbers, an amount that is 0 for most): a cluster of such rows would be as tight as one likes.
    A value that a share f of the rows has stands for the stretch that holds as many rows of a
    smooth column: near its middle a normal column of deviation s has f of its rows in a length of
    sqrt(2 pi) f s, and a length l has the variance l^2 / 12. The mean over rows is
    (pi / 6) s^2 sum f^3: nothing for columns of distinct values, .13 s^2 for an even yes and no.
    """
    step = -(-rows.n // _BLUR_SAMPLE)
    sample = gather(rows, np.arange(0, rows.n, step))
    shares = np.empty(rows.d)
    counted = weights[::step] if weights.size else None
    for m in range(rows.d):
        _, place = np.unique(sample[:, m], return_inverse=True)
        held = np.bincount(place, counted)
        shares[m] = np.sum((held / held.sum()) ** 3)
    return np.pi / 6 * shares


def given_labels(init: Any, X: Any, truncation: int) -> IntArray:
    """Labels (n,) from 0 without gaps: `init` itself, or those of a fitted model."""
    labels = without_gaps(check_first_labels(init, X, ("kmeans",)))
    used = int(labels.max()) + 1
    if used > truncation:
        raise InvalidParameter(
            f"init has {used} clusters, more than truncation={truncation}: raise truncation."
        )
    return labels


def start_sizes(most: int) -> list[int]:
    """Numbers of clusters to start from: 1, 2, 3, 5, 8, 13, 21, 34, ... up to `most`.

    A larger `most` adds numbers and changes none; splits and merges lead to those between.
    """
    sizes = [1, 2]
    while sizes[-1] <= most:
        sizes.append(sizes[-1] + sizes[-2])
    return [size for size in sizes if size <= most]


def kmeans_labels(comparable: Any, n_clusters: int, rng: np.random.Generator) -> IntArray:
    """Labels (n,) by K-Means of rows that plain distances compare."""
    if n_clusters == 1:
        return np.zeros(comparable.shape[0], dtype=np.int64)
    model = KMeans(n_clusters, n_init=1, random_state=int(rng.integers(2**31 - 1)))
    with one_thread(), warnings.catch_warnings():  # fewer distinct rows are of no concern
        warnings.simplefilter("ignore", ConvergenceWarning)
        labels = model.fit(comparable).labels_
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def neighbourhood_labels(
    comparable: Any, constraints: Constraints, sizes: list[int]
) -> list[IntArray]:
    """Labels (n,) by the largest groups that must-links connect, as many as each of `sizes`.

    Rows in none of them go to the nearest mean. Groups of few rows say less about a cluster than
    K-Means does and make no start.
    """
    n = constraints.n_samples
    i, j = constraints.must_link.T
    graph = sp.coo_array((np.ones(len(i)), (i, j)), shape=(n, n))
    _, group = connected_components(graph, directed=False)
    counts = np.bincount(group)
    largest = np.argsort(-counts, kind="stable")
    largest = largest[counts[largest] >= _NEIGHBOURHOOD]
    found = []
    for size in sorted({*sizes, len(largest)}):
        if not 1 < size <= min(len(largest), sizes[-1]):
            continue
        place = np.full(len(counts), -1)
        place[largest[:size]] = np.arange(size)
        labels = place[group]
        own = sp.csr_array(np.eye(size + 1)[labels][:, :size])  # label -1 has no column
        means = np.asarray((own.T @ comparable) / counts[largest[:size], None])
        nearest = (comparable @ means.T - 0.5 * np.square(means).sum(axis=1)).argmax(axis=1)
        found.append(np.where(labels < 0, nearest, labels).astype(np.int64))
    return found


def search_rows(constraints: Constraints, rng: np.random.Generator) -> IntArray:
    """The rows that the search looks at, sorted: all, or of many some, half of them in pairs."""
    n = constraints.n_samples
    if n <= _SAMPLE:
        return np.arange(n)
    ends = constraints.pairs[rng.permutation(constraints.n_pairs)[: _SAMPLE // 4]]
    known = np.unique(ends)
    others = np.setdiff1d(rng.choice(n, _SAMPLE, replace=False), known)
    return np.sort(np.concatenate([known, rng.permutation(others)[: _SAMPLE - known.size]]))
