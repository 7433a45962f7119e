"""TVClust's passes over rows: functions of a block for `map_blocks`.

Rows of the core (those in pairs) are listed with the block. Statistics are (T, width) sums over
rows, see `families`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data import Block
from coterie.mixture.tvclust import _kernels as kernels
from coterie.mixture.tvclust.families import Family, Scores

__all__ = [
    "Components",
    "CoreResp",
    "FreeSums",
    "LabelSums",
    "Labelled",
    "RowWeights",
    "core_sums",
    "free_sums",
    "label_sums",
    "row_posteriors",
    "row_scores",
]

Floats = NDArray[np.float64]
_ENTRIES = 1 << 18  # of the widest table made for a stretch of rows


class RowWeights(NamedTuple):
    """How often each row counts, (n,), or (0,) for once."""

    weights: Floats


class Components(NamedTuple):
    """The components as a row sees them: E ln p(x | cluster), and E ln of the weights (T,)."""

    family: Family
    score: Scores
    log_weights: Floats


class FreeSums(NamedTuple):
    """Statistics and summed entropy of free rows; logits (r, T) of core rows."""

    statistics: Floats
    entropy: float
    unary: Floats


def free_sums(block: Block, components: Components) -> FreeSums:
    """What an iteration needs of a block, by its `RowWeights`."""
    family, truncation = components.family, len(components.log_weights)
    sums, entropy = np.zeros((truncation, family.width)), 0.0
    unary = np.empty((block.listed.size, truncation))
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

    resp: Floats


def core_sums(block: Block, family: Family) -> Floats:
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
    weights: Floats


class LabelSums(NamedTuple):
    """What rows are added to."""

    family: Family
    n_clusters: int


def label_sums(block: Block, into: LabelSums) -> Floats:
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


def row_posteriors(block: Block, components: Components) -> Floats:
    """q(z) of each row as if it were in no pair, (b, T), by the block's `RowWeights`."""
    truncation = len(components.log_weights)
    resp = np.empty((block.stop - block.start, truncation))
    weights = block.state.weights
    for lo, hi, rows in _pieces(block, truncation):
        logits = components.score(rows)
        logits += components.log_weights
        if weights.size:
            logits *= weights[lo:hi, None]
        kernels.soften(logits, _NO_WEIGHTS, _NO_ROWS, _NO_UNARY)
        resp[lo:hi] = logits
    return resp


_NO_WEIGHTS, _NO_ROWS, _NO_UNARY = np.empty(0), np.empty(0, dtype=np.int64), np.empty((0, 0))


def row_scores(block: Block, components: Components) -> Floats:
    """The components' score and log-weight of each row, (b, K)."""
    n_clusters = len(components.log_weights)
    out = np.empty((block.stop - block.start, n_clusters))
    for lo, hi, rows in _pieces(block, n_clusters):
        np.add(components.score(rows), components.log_weights, out=out[lo:hi])
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
