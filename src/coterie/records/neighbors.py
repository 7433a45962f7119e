"""The texts most alike by character n-grams, found in passes over stretches of the texts.

Three passes: count in how many texts each n-gram occurs, list the texts of every n-gram that is
rare enough to look up, look every text up. A pass holds the n-grams of one stretch only. What stays
is the list, 8 bytes for each looked-up n-gram of a text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.records import _kernels
from coterie.records.texts import grams

__all__ = ["nearest_texts"]

Int = NDArray[np.int64]

_WORK = 400  # products for each neighbour: n-grams beyond that are too common to look up
_MANY = 30_000  # texts: from here on 3-grams are common, and 5-grams are looked up too
_STRETCH = 4096  # texts whose n-grams are held at a time
_SPACE = 256  # values of the hash for each text, so that few n-grams share one
_BUCKETS = 1 << 16, 1 << 24  # the fewest values and the most


class _Counted(NamedTuple):
    """The first pass: what is known of every n-gram.

    Attributes
    ----------
    lengths : tuple of int
        Of the n-grams.
    weight : (buckets,) float32
        log(1 + texts / texts with the n-gram).
    column : (buckets,) int32
        Number of a looked-up n-gram, −1 of others.
    start : (looked up + 1,) int64
        Texts with the looked-up n-grams before each.
    """

    lengths: tuple[int, ...]
    weight: NDArray[np.float32]
    column: NDArray[np.int32]
    start: Int


class _Rows(NamedTuple):
    """Looked-up n-grams of a stretch of texts, CSR."""

    indptr: Int
    columns: NDArray[np.int32]
    weights: NDArray[np.float32]


class _Listed(NamedTuple):
    """Which texts hold a looked-up n-gram: those of g are rows[start[g]:start[g + 1]]."""

    start: Int
    rows: NDArray[np.int32]
    weights: NDArray[np.float32]


def nearest_texts(
    texts: Sequence[str],
    k: int,
    *,
    n_known: int | None = None,
    groups: Int | None = None,
    stretch: int = _STRETCH,
) -> Int:
    """Pairs (m, 2) of each text with the k most alike by the cosine of its rarer n-grams.

    An n-gram that a text holds c times counts √c · log(1 + n / texts with it); texts have length 1.

    Parameters
    ----------
    texts : sequence of str
    k : int
    n_known : int, optional
        Only texts from here on are looked up, among those before it, whose n-grams are counted.
    groups : (n,) int64, optional
        Two texts of one group are no pair; −1 is no group.
    stretch : int
        Texts whose n-grams are held at a time; the result does not depend on it.
    """
    n = len(texts)
    groups = np.full(n, -1, dtype=np.int64) if groups is None else groups
    known, first = texts[:n_known], 0 if n_known is None else n_known
    # An n-gram that one text has alone leads nowhere, unless others are looked up.
    counted = _count(known, 2 if n_known is None else 1, _WORK * k, stretch)
    listed = _list(known, counted, stretch)
    found = []
    for start, part in _stretches(texts, stretch, first):
        rows = np.arange(start, start + len(part))
        near = _kernels.nearest(
            *_rows(part, counted),
            *listed,
            groups[rows],
            groups[:n_known],
            rows if n_known is None else np.full(rows.size, -1),
            k,
        )
        pairs = np.column_stack([np.repeat(rows, k), near.ravel()])
        found.append(pairs[pairs[:, 1] >= 0])
    return np.concatenate(found) if found else np.empty((0, 2), dtype=np.int64)


def _stretches(
    texts: Sequence[str], stretch: int, first: int = 0
) -> Iterator[tuple[int, Sequence[str]]]:
    """Stretches of the texts from the first on, with their starts."""
    for start in range(first, len(texts), stretch):
        yield start, texts[start : start + stretch]


def _count(texts: Sequence[str], least: int, work: int, stretch: int) -> _Counted:
    """The first pass. N-grams of `least` texts on are looked up, `work` products for each text."""
    n = len(texts)
    lengths = (3,) if n <= _MANY else (3, 5)
    buckets = 1 << int(np.ceil(np.log2(max(_SPACE * n, 1))))
    buckets = int(np.clip(buckets, *_BUCKETS))
    n_with = np.zeros(buckets, dtype=np.int64)
    for _, part in _stretches(texts, stretch):
        found, counts = np.unique(grams(part, lengths, buckets).indices, return_counts=True)
        n_with[found] += counts
    looked_up = np.flatnonzero((n_with >= least) & (n_with <= _most_texts(n_with, work * n)))
    column = np.full(buckets, -1, dtype=np.int32)
    column[looked_up] = np.arange(looked_up.size, dtype=np.int32)
    weight = np.log1p(n / np.maximum(n_with, 1)).astype(np.float32)
    start = np.concatenate([[0], np.cumsum(n_with[looked_up])])
    return _Counted(lengths, weight, column, start)


def _most_texts(n_with: Int, allowed: int) -> int:
    """N-grams of up to so many texts are looked up: their products stay within what is allowed."""
    n_grams = np.bincount(n_with)
    work = np.cumsum(np.square(np.arange(n_grams.size, dtype=np.float64)) * n_grams)
    return int(np.searchsorted(work, allowed, side="right")) - 1


def _rows(part: Sequence[str], counted: _Counted) -> _Rows:
    """Texts as rows of length 1, and of them the n-grams that are looked up."""
    counts = grams(part, counted.lengths, counted.weight.size)
    weight = np.sqrt(counts.data).astype(np.float32) * counted.weight[counts.indices]
    row = np.repeat(np.arange(len(part)), np.diff(counts.indptr))
    norm = np.sqrt(np.bincount(row, np.square(weight), minlength=len(part)))
    column = counted.column[counts.indices]
    held = column >= 0
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row[held], minlength=len(part)))])
    return _Rows(indptr, column[held], (weight[held] / norm[row[held]]).astype(np.float32))


def _list(texts: Sequence[str], counted: _Counted, stretch: int) -> _Listed:
    """The second pass."""
    rows = np.empty(counted.start[-1], dtype=np.int32)
    weights = np.empty(counted.start[-1], dtype=np.float32)
    place = counted.start[:-1].copy()
    for first, part in _stretches(texts, stretch):
        _kernels.list_rows(*_rows(part, counted), first, place, rows, weights)
    return _Listed(counted.start, rows, weights)
