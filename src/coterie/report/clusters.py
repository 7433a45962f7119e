"""What makes a cluster stand out, which rows are typical of it, and which are in doubt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from coterie._typing import FloatArray
from coterie.report.shown import Units, on_scale, read_units

__all__ = [
    "Cluster",
    "Typical",
    "Units",
    "centers_of",
    "describe",
    "least_certain",
    "moments",
    "on_scale",
    "read_units",
    "words_alone",
]

TOP_FEATURES = 6
TOP_WORDS = 15
NEAREST = 5
_BLOCK = 1 << 16  # rows centred at a time


@dataclass(frozen=True)
class Typical:
    """A feature by which a cluster differs from all rows, in its own units."""

    column: int
    name: str
    here: float
    overall: float
    spread: float  # standard deviation over all rows
    difference: float  # (here − overall) / spread


@dataclass(frozen=True)
class Cluster:
    """One cluster; `typical` and `nearest` are empty for those that are only counted."""

    index: int
    name: str
    size: int
    share: float
    typical: tuple[Typical, ...] = ()
    nearest: tuple[int, ...] = ()


def describe(
    X: Any,
    members: NDArray[np.int64],
    mean: FloatArray,
    spread: FloatArray,
    names: list[str],
    units: Units,
) -> tuple[tuple[Typical, ...], tuple[int, ...]]:
    """By what the rows `members` of X differ from all rows, and the rows nearest their mean.

    Parameters
    ----------
    X : (n, d) ndarray or CSR
    members : (m,)
    mean, spread : (d,)
        Of all rows; see `moments`.
    names : list of str
        Of the columns.
    units : Units
        How they were scaled.
    """
    center = np.asarray(X[members].mean(axis=0, dtype=np.float64)).ravel()
    typical = _typical_words if sp.issparse(X) else _typical
    return typical(center, mean, spread, names, units), _nearest(X, members, center)


def centers_of(X: Any, labels: NDArray[np.int64], n_clusters: int) -> FloatArray:
    """The mean of each cluster, (K, d), for labels 0 … K − 1."""
    n = labels.size
    member = sp.csr_array((np.ones(n), (labels, np.arange(n))), shape=(n_clusters, n))
    sizes = np.maximum(np.bincount(labels, minlength=n_clusters), 1)
    sums = member @ X
    sums = sums.toarray() if sp.issparse(sums) else np.asarray(sums)
    return np.asarray(sums / sizes[:, None], dtype=np.float64)


def least_certain(
    X: Any, members: NDArray[np.int64], centers: FloatArray, own: int, most: int
) -> list[tuple[int, int, float]]:
    """Members that are nearest to another cluster's mean, for how near they are to their own.

    Returns
    -------
    list of (row, other cluster, ratio)
        By rising ratio d(row, other mean) / d(row, own mean), squared distances; below 1 the row
        is nearer to the other. At most `most`; empty where there is no other cluster.
    """
    if len(centers) < 2:
        return []
    rows = X[members]
    squares = np.square(centers).sum(axis=1)
    length = (
        np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
        if sp.issparse(rows)
        else np.square(rows).sum(axis=1)
    )
    gap = np.maximum(length[:, None] - 2 * np.asarray(rows @ centers.T) + squares, 0.0)
    mine = gap[:, own].copy()
    gap[:, own] = np.inf
    other = gap.argmin(axis=1)
    ratio = gap[np.arange(len(members)), other] / np.maximum(mine, 1e-300)
    order = np.argsort(ratio, kind="stable")[:most]
    return [(int(members[at]), int(other[at]), float(ratio[at])) for at in order]


def words_alone(names: list[str]) -> list[str]:
    """Names without what comes before the colon ("note:river"), where that is the same in all."""
    columns = {name.partition(":")[0] for name in names if ":" in name}
    if len(columns) != 1 or not all(":" in name for name in names):
        return names
    return [name.partition(":")[2] for name in names]


def moments(X: Any) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of every column, (d,) each, without a copy of X."""
    mean = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
    if sp.issparse(X):
        squares = np.asarray(X.multiply(X).mean(axis=0)).ravel()
        return mean, np.sqrt(np.maximum(squares - mean**2, 0.0))
    total = np.zeros_like(mean)
    for lo in range(0, X.shape[0], _BLOCK):
        total += ((X[lo : lo + _BLOCK] - mean) ** 2).sum(axis=0)
    return mean, np.sqrt(total / X.shape[0])


def _typical(
    center: FloatArray,
    mean: FloatArray,
    spread: FloatArray,
    names: list[str],
    units: Units,
) -> tuple[Typical, ...]:
    """Columns by standardised difference (center − mean) / spread, largest first."""
    z = _standardised(center, mean, spread)
    order = np.argsort(-np.abs(z), kind="stable")[:TOP_FEATURES]
    return _as_typical(order[z[order] != 0], z, center, mean, spread, names, units)


def _typical_words(
    center: FloatArray,
    mean: FloatArray,
    spread: FloatArray,
    names: list[str],
    units: Units,
) -> tuple[Typical, ...]:
    """Columns of sparse rows that a cluster has more of: what it lacks is almost everything.

    Of counts and weights of words by what each adds to the divergence of the cluster's words from
    all words, p log(p / q): neither words that are everywhere nor those that hardly ever occur.
    """
    z = _standardised(center, mean, spread)
    worth = z
    if mean.min(initial=0.0) >= 0 and center.sum() > 0:
        p, q = center / center.sum(), mean / mean.sum()
        worth = p * np.log(np.divide(p, q, out=np.ones_like(p), where=p > 0))
    order = np.argsort(-worth, kind="stable")[:TOP_WORDS]
    return _as_typical(order[worth[order] > 0], z, center, mean, spread, names, units)


def _standardised(center: FloatArray, mean: FloatArray, spread: FloatArray) -> FloatArray:
    tiny = np.finfo(np.float64).eps * np.maximum(np.abs(mean), 1.0)
    return np.divide(center - mean, spread, out=np.zeros_like(mean), where=spread > tiny)


def _as_typical(
    order: NDArray[np.intp],
    z: FloatArray,
    center: FloatArray,
    mean: FloatArray,
    spread: FloatArray,
    names: list[str],
    units: Units,
) -> tuple[Typical, ...]:
    return tuple(
        Typical(
            column=int(j),
            name=names[j],
            here=units.shown(j, center[j]),
            overall=units.shown(j, mean[j]),
            spread=float(units.spread[j] * spread[j]),
            difference=float(z[j]),
        )
        for j in order
    )


def _nearest(X: Any, members: NDArray[np.int64], center: FloatArray) -> tuple[int, ...]:
    """The members nearest to the mean of the cluster, by squared Euclidean distance.

    Sparse rows by the cosine: short ones, and most of all empty ones, are near to every mean.
    """
    rows = X[members]
    if sp.issparse(rows):
        length = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
        product = np.asarray(rows @ center).ravel()
        distance = -np.divide(product, length, out=np.full(length.shape, -np.inf), where=length > 0)
    else:
        distance = ((rows - center) ** 2).sum(axis=1)
    return tuple(members[np.argsort(distance, kind="stable")[:NEAREST]].tolist())
