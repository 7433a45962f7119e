"""TVClust's passes over rows: functions of a block for `map_blocks`.

Rows of the core (those in pairs) are listed with the block. Statistics are (T, width) sums over
rows, see `families`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.preprocessing import normalize

from coterie._typing import FloatArray
from coterie.data import Block
from coterie.mixture.tvclust import _kernels as kernels
from coterie.mixture.tvclust.families import Family, Scores

__all__ = [
    "ColumnSums",
    "Comparison",
    "Components",
    "CoreResp",
    "FreeSums",
    "LabelSums",
    "Labelled",
    "RowWeights",
    "column_squares",
    "column_sums",
    "core_sums",
    "count_sums",
    "densities",
    "free_sums",
    "label_sums",
    "likeliest",
    "posterior_labels",
    "row_posteriors",
    "shares",
]

_ENTRIES = 1 << 18  # of the widest table made for a stretch of rows


class RowWeights(NamedTuple):
    """How often each row counts, (n,), or (0,) for once."""

    weights: FloatArray


# -- before the first iteration ----------------------------------------------------------------


class ColumnSums(NamedTuple):
    """Sum of the weights, weighted sums of the columns (d,), and largest entries (blocks, d)."""

    weight: float
    sums: FloatArray
    largest: FloatArray


def column_sums(block: Block, _: None) -> ColumnSums:
    """Of the dense rows of a block, by its `RowWeights`; sums that overflow are infinite."""
    weights = block.state.weights
    total, largest = np.zeros(block.rows.shape[1]), np.zeros((1, block.rows.shape[1]))
    with np.errstate(over="ignore", invalid="ignore"):
        for lo, hi, rows in block.chunks():
            total += _weighted_sums(rows.astype(np.float64), weights[lo:hi])
            np.maximum(largest, np.abs(rows).max(axis=0), out=largest)
    weight = float(weights.sum()) if weights.size else float(block.stop - block.start)
    return ColumnSums(weight, total, largest)


def count_sums(block: Block, _: None) -> FloatArray:
    """Sums of the columns (d,) of dense or CSR rows."""
    return np.asarray(block.rows.sum(axis=0, dtype=np.float64)).ravel()


def column_squares(block: Block, origin: FloatArray) -> FloatArray:
    """Weighted sums (d,) of squares about the origin, by the block's `RowWeights`."""
    total = np.zeros(len(origin))
    with np.errstate(over="ignore", invalid="ignore"):
        for lo, hi, rows in block.chunks():
            total += _weighted_sums(np.square(rows - origin), block.state.weights[lo:hi])
    return total


def _weighted_sums(rows: FloatArray, weights: FloatArray) -> FloatArray:
    return rows.sum(axis=0) if weights.size == 0 else (rows * weights[:, None]).sum(axis=0)


class Comparison(NamedTuple):
    """What makes plain Euclidean distances between rows mean something.

    Columns are divided by `deviation` (d,); counts, where it is (0,), are compared by the square
    roots of their frequencies (Hellinger distance).
    """

    deviation: FloatArray

    def __call__(self, rows: Any) -> Any:
        if self.deviation.size:
            return rows / self.deviation
        shares = normalize(rows, norm="l1")
        return shares.sqrt() if sp.issparse(shares) else np.sqrt(shares)


# -- an iteration ------------------------------------------------------------------------------


class Components(NamedTuple):
    """The components as a row sees them: E ln p(x | cluster), and E ln of the weights (T,)."""

    family: Family
    score: Scores
    log_weights: FloatArray


class FreeSums(NamedTuple):
    """Statistics and summed entropy of free rows; logits (r, T) of core rows."""

    statistics: FloatArray
    entropy: float
    unary: FloatArray


def free_sums(block: Block, components: Components) -> FreeSums:
    """What an iteration needs of a block, by its `RowWeights`."""
    family, truncation = components.family, len(components.log_weights)
    sums, entropy = np.zeros((truncation, family.width)), 0.0
    unary = block.empty("unary", (block.listed.size, truncation))
    weights = block.state.weights
    for lo, hi, rows in _pieces(block, truncation):
        logits = components.score(rows)
        logits += components.log_weights
        own = slice(*np.searchsorted(block.listed, (lo, hi)))
        entropy += kernels.soften(logits, weights[lo:hi], block.listed[own] - lo, unary[own])
        family.add(rows, logits, sums)
    return FreeSums(sums, entropy, unary)


class CoreResp(NamedTuple):
    """Responsibilities (r, T) of core rows, times their weights."""

    resp: FloatArray


def core_sums(block: Block, family: Family) -> FloatArray:
    """Statistics of the core rows of a block, by their `CoreResp`."""
    resp = block.listed_state.resp
    sums = np.zeros((resp.shape[1], family.width))
    step = max(64, _ENTRIES // family.width)
    for at in range(0, block.listed.size, step):
        rows = block.take(block.listed[at : at + step])
        family.add(rows, resp[at : at + step], sums)
    return sums


class Labelled(NamedTuple):
    """The cluster of each row, (n,), and its weight, (n,) or (0,)."""

    labels: NDArray[np.int64]
    weights: FloatArray


class LabelSums(NamedTuple):
    """What rows are added to."""

    family: Family
    n_clusters: int


def label_sums(block: Block, into: LabelSums) -> FloatArray:
    """Statistics of rows that have all their mass on their label, by the block's `Labelled`."""
    sums = np.zeros((into.n_clusters, into.family.width))
    eye = np.eye(into.n_clusters)
    labels, weights = block.state
    for lo, hi, rows in _pieces(block, into.n_clusters):
        resp = eye[labels[lo:hi]]
        if weights.size:
            resp *= weights[lo:hi, None]
        into.family.add(rows, resp, sums)
    return sums


def row_posteriors(block: Block, components: Components) -> FloatArray:
    """q(z) of each row as if it were in no pair, (b, T), by the block's `RowWeights`."""
    resp = np.empty((block.stop - block.start, len(components.log_weights)))
    for lo, hi, own in _posteriors(block, components):
        resp[lo:hi] = own
    return resp


def posterior_labels(block: Block, components: Components) -> NDArray[np.int32]:
    """The component of the highest q(z) of each row as if it were in no pair, (b,)."""
    labels = np.empty(block.stop - block.start, dtype=np.int32)
    for lo, hi, own in _posteriors(block, components):
        labels[lo:hi] = own.argmax(axis=1)
    return labels


def _posteriors(block: Block, components: Components) -> Iterator[tuple[int, int, FloatArray]]:
    """(lo, hi, q(z) of rows lo..hi)."""
    truncation, weights = len(components.log_weights), block.state.weights
    for lo, hi, rows in _pieces(block, truncation):
        logits = components.score(rows)
        logits += components.log_weights
        if weights.size:
            logits *= weights[lo:hi, None]
        kernels.soften(logits, _NO_WEIGHTS, _NO_ROWS, _NO_UNARY)
        yield lo, hi, logits


_NO_WEIGHTS, _NO_ROWS, _NO_UNARY = np.empty(0), np.empty(0, dtype=np.int64), np.empty((0, 0))


def likeliest(block: Block, components: Components) -> NDArray[np.int32]:
    """The component of the highest score and log-weight of each row, (b,)."""
    labels = np.empty(block.stop - block.start, dtype=np.int32)
    for lo, hi, rows in _pieces(block, len(components.log_weights)):
        labels[lo:hi] = (components.score(rows) + components.log_weights).argmax(axis=1)
    return labels


def shares(block: Block, components: Components) -> FloatArray:
    """The probability of each component for each row, (b, K), from scores and log-weights."""
    out = np.empty((block.stop - block.start, len(components.log_weights)))
    for lo, hi, rows in _pieces(block, len(components.log_weights)):
        joint = components.score(rows) + components.log_weights
        out[lo:hi] = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    return out


def densities(block: Block, components: Components) -> FloatArray:
    """The log-density of each row under all components together, (b,)."""
    out = np.empty(block.stop - block.start)
    for lo, hi, rows in _pieces(block, len(components.log_weights)):
        out[lo:hi] = logsumexp(components.score(rows) + components.log_weights, axis=1)
    return out


def _pieces(block: Block, n_clusters: int) -> Iterator[tuple[int, int, Any]]:
    """Rows in pieces small enough that the tables made for them stay in the cache."""
    for lo, hi, chunk in block.chunks():
        if not isinstance(chunk, np.ndarray):
            yield lo, hi, chunk
            continue
        step = max(64, _ENTRIES // (n_clusters * chunk.shape[1]))
        for at in range(lo, hi, step):
            end = min(at + step, hi)
            yield at, end, chunk[at - lo : end - lo]
