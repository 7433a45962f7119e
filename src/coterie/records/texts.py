"""Texts as numbers: tidied, cut into character n-grams, weighed by how rare the n-grams are."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["Letters", "grams", "letters_of", "tidy", "weighed"]

_NO_WORD = re.compile(r"[\W_]+")
_BUCKETS = 1 << 22  # values of the hash
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


def tidy(text: str) -> str:
    """Small letters and digits without accents, one space between words.

    >>> tidy("  Café-Bar  O'Neill, 12/3 ")
    'cafe bar o neill 12 3'
    """
    if not text.isascii():
        parts = unicodedata.normalize("NFKD", text)
        text = "".join(part for part in parts if not unicodedata.combining(part))
    return _NO_WORD.sub(" ", text.casefold()).strip()


class Letters(NamedTuple):
    """Texts one after the other: text t is `codes[start[t]:start[t + 1]]`."""

    start: NDArray[np.int64]
    codes: NDArray[np.int64]


def letters_of(texts: Sequence[str]) -> Letters:
    """The code points of the texts."""
    lengths = np.fromiter(map(len, texts), np.int64, count=len(texts))
    codes = np.frombuffer("".join(texts).encode("utf-32-le"), dtype=np.uint32).astype(np.int64)
    return Letters(np.concatenate([[0], np.cumsum(lengths)]), codes)


def grams(
    texts: Sequence[str], lengths: Sequence[int], buckets: int = _BUCKETS
) -> sparse.csr_array:
    """Counts (n, buckets) of the character n-grams of these lengths, told apart by a hash.

    Words count with a space on either side; a text of fewer letters than `length` has none.
    """
    padded = letters_of([f" {text} " if text else "" for text in texts])
    rows = np.repeat(np.arange(len(texts)), np.diff(padded.start))
    codes = padded.codes.astype(np.uint64)
    found_rows, found = [], []
    for length in lengths:
        size = max(codes.size - length + 1, 0)
        value = np.full(size, length, dtype=np.uint64)
        for offset in range(length):
            value = value * _FACTOR + codes[offset : offset + size]
            value ^= value >> np.uint64(29)
        inside = rows[:size] == rows[codes.size - size :]
        found_rows.append(rows[:size][inside])
        found.append((value[inside] % np.uint64(buckets)).astype(np.int64))
    row, column = np.concatenate(found_rows), np.concatenate(found)
    counts = sparse.coo_array(
        (np.ones(row.size), (row, column)), shape=(len(texts), buckets)
    ).tocsr()
    counts.sum_duplicates()
    return counts


def weighed(counts: Any) -> tuple[sparse.csr_array, NDArray[np.int64]]:
    """Rows of length 1 over the n-grams that occur, and in how many rows each does.

    An entry is sqrt(count) · log(1 + n / rows with the n-gram).
    """
    buckets, columns = np.unique(counts.indices, return_inverse=True)
    n_with = np.bincount(columns, minlength=buckets.size)
    data = np.sqrt(counts.data) * np.log1p(counts.shape[0] / n_with)[columns]
    made = sparse.csr_array(
        (data, columns.astype(np.int64), counts.indptr.astype(np.int64)),
        shape=(counts.shape[0], buckets.size),
    )
    made.sort_indices()
    norms = np.sqrt(np.asarray(made.multiply(made).sum(axis=1))).ravel()
    made.data /= np.repeat(np.maximum(norms, 1e-300), np.diff(made.indptr))
    return made, n_with
