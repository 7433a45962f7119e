"""Pairs of records that may be the same, found in time that grows as the number of records."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from coterie.data import one_thread
from coterie.exceptions import InvalidParameter
from coterie.records.fields import Field, as_written
from coterie.records.neighbors import nearest_texts
from coterie.records.texts import tidy
from coterie.words import warn

__all__ = [
    "find_candidates",
    "given_pairs",
    "most_alike",
    "pairs_in_groups",
    "places",
    "unique_pairs",
]

_NEIGHBORS = 10  # of the whole record
_FIELD_NEIGHBORS = 5  # of a distinctive field
_MOST_FIELDS = 3  # so many fields have neighbours of their own
_DISTINCT = 0.3  # a field is distinctive from this share of different values on
_LONG_ENOUGH = 6  # letters, on average, of a distinctive field
_BLOCK = 10  # records that share a value are pairs, if they are so few
_BLOCK_OF_TWO = 5  # the same for two values at once
_GIVEN_BLOCK = 100  # the same of a column that the user names

_TEXTS = ("text", "date", "category", "set")


def find_candidates(
    fields: list[Field],
    *,
    n_known: int | None = None,
    exclusive: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """Candidate pairs (m, 2), i < j, sorted; never more than a fixed number a record.

    Nearest neighbours by character n-grams of the whole record and of distinctive fields, nearest
    vectors, and records that share a rare value or two.

    Parameters
    ----------
    fields : list of Field
    n_known : int, optional
        Only pairs of a record from here on with one before it: new records with known ones.
    exclusive : (n,) int, optional
        Two records of one group are never the same; −1 is no group.
    """
    n = len(fields[0].values)
    groups = np.full(n, -1, dtype=np.int64) if exclusive is None else exclusive
    found = [_of_texts(fields, n_known, groups)]
    found += [_of_vectors(f.values, n_known) for f in fields if f.kind == "vector"]
    found.append(_of_equal_values(fields))
    return _allowed(unique_pairs(np.concatenate(found), n), n_known, groups)


def unique_pairs(pairs: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """The pairs with the smaller row first, sorted, each once; none of a row with itself."""
    low, high = pairs.min(axis=1, initial=n), pairs.max(axis=1, initial=-1)
    # Sorted and then compared: `np.unique` would hash, which is slower the more pairs there are.
    keys = np.sort((low * n + high)[low < high])
    keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])] if keys.size else keys
    return np.column_stack(np.divmod(keys, n)) if keys.size else np.empty((0, 2), dtype=np.int64)


def places(pairs: NDArray[np.int64], among: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Where each pair (m, 2), i < j, stands in a sorted list of pairs, or where it would."""
    keys = among[:, 0] * n + among[:, 1]
    return np.searchsorted(keys, pairs[:, 0] * n + pairs[:, 1])


def _allowed(
    pairs: NDArray[np.int64], n_known: int | None, groups: NDArray[np.int64]
) -> NDArray[np.int64]:
    apart = (groups[pairs[:, 0]] != groups[pairs[:, 1]]) | (groups[pairs[:, 0]] < 0)
    if n_known is not None:
        apart &= (pairs[:, 0] < n_known) & (pairs[:, 1] >= n_known)
    return pairs[apart]


# -- neighbours ----------------------------------------------------------------------------------
def _of_texts(
    fields: list[Field], n_known: int | None, groups: NDArray[np.int64]
) -> NDArray[np.int64]:
    texts = [field for field in fields if field.kind in _TEXTS]
    if not texts:
        return np.empty((0, 2), dtype=np.int64)
    found = [_neighbors(_whole(texts), _NEIGHBORS, n_known, groups)]
    if len(texts) > 1:
        distinctive = sorted(filter(_is_distinctive, texts), key=_distinctness, reverse=True)
        found += [
            _neighbors(field.values.tolist(), _FIELD_NEIGHBORS, n_known, groups)
            for field in distinctive[:_MOST_FIELDS]
        ]
    return np.concatenate(found)


def _whole(texts: list[Field]) -> list[str]:
    """All that is written in each record."""
    return [" ".join(filter(None, parts)) for parts in zip(*(f.values for f in texts), strict=True)]


def most_alike(fields: list[Field], exclusive: NDArray[np.int64]) -> NDArray[np.int64]:
    """Pairs (t, 2) of records each of which is the other's most alike, by all that is written.

    Many of them are the same wherever anything is, whatever the fields say of them.
    """
    texts = [field for field in fields if field.kind in _TEXTS]
    if not texts:
        return np.empty((0, 2), dtype=np.int64)
    ends = np.sort(_neighbors(_whole(texts), 1, None, exclusive), axis=1)
    pairs, times = np.unique(ends, axis=0, return_counts=True)
    return np.asarray(pairs[times > 1])


def _distinctness(field: Field) -> float:
    held = [text for text in field.values.tolist() if text]
    return len(set(held)) / len(field.values)


def _is_distinctive(field: Field) -> bool:
    held = [text for text in field.values.tolist() if text]
    if not held or field.kind != "text":
        return False
    return _distinctness(field) >= _DISTINCT and sum(map(len, held)) >= _LONG_ENOUGH * len(held)


def _neighbors(
    texts: list[str], k: int, n_known: int | None, groups: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Pairs of each text with the k most alike.

    Texts that occur more than once are looked up once, so that copies do not crowd out the
    others; they are paired with the next copy.
    """
    if n_known is not None or (groups >= 0).any():
        return nearest_texts(texts, k, n_known=n_known, groups=groups)
    different = list(dict.fromkeys(texts))
    if len(different) == len(texts):
        return nearest_texts(texts, k)
    number = {text: at for at, text in enumerate(different)}
    of_row = np.fromiter(map(number.__getitem__, texts), np.int64, count=len(texts))
    order = np.argsort(of_row, kind="stable")
    new = np.concatenate([[True], of_row[order[1:]] != of_row[order[:-1]]])
    copies = ~new[1:] & (of_row[order[1:]] != number.get("", -1))
    pairs = order[new][nearest_texts(different, k)]
    return np.concatenate([pairs, np.column_stack([order[:-1], order[1:]])[copies]])


def _of_vectors(values: NDArray[np.float64], n_known: int | None) -> NDArray[np.int64]:
    held = np.flatnonzero(~np.isnan(values).any(axis=1))
    known = held if n_known is None else held[held < n_known]
    asked = held if n_known is None else held[held >= n_known]
    k = min(_NEIGHBORS + (n_known is None), known.size)
    if k < 1 or not asked.size:
        return np.empty((0, 2), dtype=np.int64)
    search = NearestNeighbors(n_neighbors=k).fit(values[known])
    with one_thread():
        near = search.kneighbors(values[asked], return_distance=False)
    return np.column_stack([np.repeat(asked, k), known[near].ravel()])


# -- as the user says ----------------------------------------------------------------------------
def given_pairs(
    given: Any, columns: Mapping[str, NDArray[Any]] | None, n: int
) -> NDArray[np.int64]:
    """Pairs (m, 2) to compare besides: those given by row, or of records that share a value.

    Parameters
    ----------
    given : array-like of shape (m, 2), str, list of str, or None
        Pairs of rows, or columns.
    columns : mapping of str to (n,) ndarray, or None
        The table; None if the records are an array.
    n : int
        Records.
    """
    if given is None:
        return np.empty((0, 2), dtype=np.int64)
    names = [given] if isinstance(given, str) else given
    if len(names) and all(isinstance(name, str) for name in names):
        return unique_pairs(np.concatenate([_sharing(name, columns) for name in names]), n)
    pairs = np.asarray(given)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise InvalidParameter("candidates must be row numbers of shape (m, 2), or columns.")
    if pairs.size and not (pairs.min() >= 0 and pairs.max() < n):
        raise InvalidParameter(f"candidates name rows beyond 0 to {n - 1}.")
    return unique_pairs(pairs.astype(np.int64), n)


def _sharing(name: str, columns: Mapping[str, NDArray[Any]] | None) -> NDArray[np.int64]:
    """Pairs of records with the same value of a column."""
    if columns is None or name not in columns:
        known = "" if columns is None else f" The columns are {', '.join(columns)}."
        raise InvalidParameter(f"candidates={name!r} is no column of X.{known}")
    texts = [tidy(text) for text in as_written(columns[name])]
    code = _codes(texts)
    counts = np.bincount(code[code >= 0])
    if counts.max(initial=0) > _GIVEN_BLOCK:
        often = texts[int(np.flatnonzero(code == counts.argmax())[0])]
        warn(
            f"candidates: {counts.max()} records have {often!r} in {name!r}. Values of more than "
            f"{_GIVEN_BLOCK} records are passed over, there are {(counts > _GIVEN_BLOCK).sum()}; "
            "name a column of rarer values.",
        )
    return pairs_in_groups(code, _GIVEN_BLOCK)


# -- blocks --------------------------------------------------------------------------------------
def _of_equal_values(fields: list[Field]) -> NDArray[np.int64]:
    codes = [_codes(field.values.tolist()) for field in fields if field.kind in _TEXTS]
    found = [pairs_in_groups(code, _BLOCK) for code in codes]
    for a, b in combinations(codes, 2):
        both = np.where((a >= 0) & (b >= 0), a * (b.max(initial=0) + 1) + b, -1)
        found.append(pairs_in_groups(both, _BLOCK_OF_TWO))
    return np.concatenate(found) if found else np.empty((0, 2), dtype=np.int64)


def _codes(values: list[Any]) -> NDArray[np.int64]:
    """A number for every different value, −1 for none."""
    number: dict[Any, int] = {"": -1}
    for value in values:
        number.setdefault(value, len(number) - 1)
    return np.fromiter(map(number.__getitem__, values), np.int64, count=len(values))


def pairs_in_groups(group: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """All pairs within groups of 2 to `most` rows, (m, 2); rows of group −1 are in none."""
    order = np.argsort(group, kind="stable")
    order = order[group[order] >= 0]
    held = group[order]
    new = np.concatenate([[True], held[1:] != held[:-1]]) if held.size else np.zeros(0, bool)
    starts = np.flatnonzero(new)
    sizes = np.diff(np.append(starts, held.size))
    fits = np.repeat(sizes <= most, sizes)
    order, held = order[fits], held[fits]
    found = [np.empty((0, 2), dtype=np.int64)]
    for step in range(1, most):
        same = held[step:] == held[:-step] if step < held.size else np.zeros(0, bool)
        at = np.flatnonzero(same)
        found.append(np.column_stack([order[at], order[at + step]]))
    return np.concatenate(found)
