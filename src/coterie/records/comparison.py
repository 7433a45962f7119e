"""Two records field by field: how alike their values are, in a few levels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import chain
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from coterie.records import _kernels
from coterie.records.codes import among_words, numbers_of, rare_up_to, without_numbers
from coterie.records.fields import Field
from coterie.records.texts import grams, letters_of, weighed

__all__ = [
    "BOTH_MISSING",
    "LEVELS",
    "N_LEVELS",
    "ONE_MISSING",
    "SCORES",
    "Comparison",
    "compared_names",
]

BOTH_MISSING, ONE_MISSING = 0, 1
# Of a likeness from 0 to 1, between the levels of unequal values.
_EDGES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
#: What each level says, in words; the last three are equal values, the rarer the better.
LEVELS = (
    "missing in both",
    "missing in one",
    "differs",
    "hardly alike",
    "a little alike",
    "somewhat alike",
    "nearly half alike",
    "half alike",
    "rather alike",
    "alike",
    "very alike",
    "nearly the same",
    "the same, as often",
    "the same",
    "the same, and rare",
)
N_LEVELS = len(LEVELS)
#: How much agreement a level is, 0 to 1; NaN where a value is missing.
SCORES = np.array(
    [np.nan, np.nan, 0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.75, 0.85, 0.95, 1.0, 1.0, 1.0]
)
_COMMON, _MIDDLE, _RARE = N_LEVELS - 3, N_LEVELS - 2, N_LEVELS - 1
_MIDDLING_UP_TO = 20, 0.02  # records or share of them, for a value that is neither rare nor common
_COMMON_FROM = 0.2  # share of the records
_SHORT = 32  # letters: edits are counted in values up to this length
_PAIRS_AT_ONCE = 200_000
_RAREST_COUNTS = 3.0  # power of the weights of numbers: a model's code above sizes and volts


class Values(ABC):
    """The different values of one field, numbered, and how alike two of them are."""

    code: NDArray[np.int64]  # (n,) number of each record's value, −1 if missing

    @abstractmethod
    def alike(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float64]:
        """Likeness of values a and b by number, 0 to 1, (m,)."""


class Members:
    """Sets, and how much of two of them is in common (Jaccard), rare members counting for more."""

    def __init__(self, sets: list[list[str]], power: float = 1.0) -> None:
        numbers: dict[str, int] = {}
        members = [sorted({numbers.setdefault(m, len(numbers)) for m in each}) for each in sets]
        indptr = np.concatenate([[0], np.cumsum([len(each) for each in members])]).astype(np.int64)
        indices = np.array([at for each in members for at in each], dtype=np.int64)
        weight = np.log1p(len(sets) / np.maximum(np.bincount(indices), 1))[indices] ** power
        self._has = indptr, indices, np.sqrt(weight)
        self.total = np.diff(np.concatenate([[0.0], np.cumsum(weight)])[indptr])

    def common(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float64]:
        """Weight of the members that sets a and b share, in that of all members of both, (m,)."""
        shared = _kernels.cosines(*self._has, a, b)
        return shared / np.maximum(self.total[a] + self.total[b] - shared, 1e-300)


class TextValues(Values):
    """Cosine of character 3-grams, or one minus the share of letters edited, the larger.

    Where words with numbers in them stand among other words (a house number), it is the mean of
    that and of the numbers in common: 12 and 14 Long Street are neighbours, not slips. Where they
    are codes, only the other words count: codes are compared on their own, see `Comparison`.
    """

    def __init__(self, values: NDArray[np.object_], coded: bool = False) -> None:
        if coded:
            values = without_numbers(values)
        self.texts, self.code = _numbered(values)
        self._grams = _as_kernels_take(weighed(grams(self.texts, (3,)))[0])
        self._letters = letters_of(self.texts)
        self._numbers = None if coded else _numbers_in(self.texts)

    def alike(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float64]:
        """See `Values`."""
        whole = np.maximum(_kernels.cosines(*self._grams, a, b), self.edited(a, b))
        if self._numbers is None:
            return whole
        both = (self._numbers.total[a] > 0) & (self._numbers.total[b] > 0)
        return np.where(both, 0.5 * (whole + self._numbers.common(a, b)), whole)

    def edited(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float64]:
        """One minus the share of letters that differ; −1 where a value is long."""
        return _kernels.edit_similarities(*self._letters, a, b, _SHORT)


def _numbers_in(texts: list[str]) -> Members | None:
    """The numbers of each text; None if they do not stand among words."""
    numbers = [numbers_of(text) for text in texts]
    return Members(numbers, _RAREST_COUNTS) if among_words(texts, numbers) else None


class DateValues(TextValues):
    """Edits of yyyymmdd; day and month that changed places are one."""

    def alike(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float64]:
        """See `Values`."""
        texts = np.array([text if len(text) == 8 else "" for text in self.texts])
        swapped = np.char.add(
            np.char.add(_part(texts, 0, 4), _part(texts, 6, 8)), _part(texts, 4, 6)
        )
        is_swap = (texts[a] == swapped[b]) & (texts[a] != "")
        return np.where(is_swap, 0.85, np.maximum(self.edited(a, b), 0.0))


class CategoryValues(Values):
    """Equal or not."""

    def __init__(self, values: NDArray[np.object_]) -> None:
        _, self.code = _numbered(values)

    def alike(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float64]:
        """See `Values`."""
        return (a == b).astype(np.float64)


class SetValues(Values):
    """Members in common among all members of the two, rare ones above all."""

    def __init__(self, values: NDArray[np.object_], power: float = 1.0) -> None:
        texts, self.code = _numbered(values)
        self._members = Members([text.split(";") for text in texts], power)

    def alike(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float64]:
        """See `Values`."""
        return self._members.common(a, b)


class NumberValues(Values):
    """Relative difference: 1 within a hundredth, 0 from a half on."""

    def __init__(self, values: NDArray[np.float64]) -> None:
        self._values, code = np.unique(values, return_inverse=True)
        self.code = np.where(np.isnan(values), -1, code)

    def alike(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float64]:
        """See `Values`."""
        x, y = self._values[a], self._values[b]
        size = np.maximum(np.maximum(np.abs(x), np.abs(y)), 1e-300)
        part = np.abs(x - y) / size
        return np.interp(part, [0.01, 0.02, 0.1, 0.2, 0.5], [0.95, 0.8, 0.6, 0.4, 0.0])


class VectorValues(Values):
    """1 / (1 + d / s) of distances d, s the median distance of a record from its nearest."""

    def __init__(self, values: NDArray[np.float64], scale: float | None = None) -> None:
        absent = np.asarray(np.isnan(values).any(axis=1))
        self._values = np.where(absent[:, None], 0.0, values)
        _, first, code = np.unique(self._values, axis=0, return_index=True, return_inverse=True)
        self._values = self._values[first]
        self.code = np.where(absent, -1, code.ravel())
        self.scale = self._own_scale() if scale is None else scale

    def _own_scale(self) -> float:
        """From at most 500 values to all, so that it costs little."""
        if len(self._values) < 2:
            return 1.0
        x = self._values - self._values.mean(axis=0)  # squares far from the origin cancel
        some = x[:: max(len(x) // 500, 1)]
        squares = np.square(x).sum(axis=1)
        nearest = []
        for row in some:
            distance = np.sqrt(np.maximum(squares - 2 * (x @ row) + row @ row, 0.0))
            nearest.append(np.partition(distance, 1)[1])
        return float(np.median(nearest)) or 1.0

    def alike(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float64]:
        """See `Values`."""
        distance = np.sqrt(np.square(self._values[a] - self._values[b]).sum(axis=1))
        return 1.0 / (1.0 + distance / self.scale)


_VALUES: dict[str, type[Any]] = {
    "date": DateValues,
    "category": CategoryValues,
    "set": SetValues,
    "number": NumberValues,
    "vector": VectorValues,
}


class Comparison:
    """All fields of the records, ready to compare pairs of them.

    Codes among the words of some fields are compared as one field more, the last: a title agrees
    in its words or in its model, which are two things; and one shop writes the model into the
    title, another into the description.

    Parameters
    ----------
    fields : list of Field
    n_known : int, optional
        How often values occur is counted among the first so many records; all if not given.
    """

    DIFFERS: ClassVar[int] = 2

    def __init__(self, fields: list[Field], n_known: int | None = None) -> None:
        self.names = compared_names(fields)
        self.values: list[Values] = [_values_of(field) for field in fields]
        coded = [field for field in fields if field.coded]
        if coded:
            self.values.append(SetValues(_codes_of(coded), _RAREST_COUNTS))
        self._equal_level = [_equal_levels(values.code, n_known) for values in self.values]

    def levels(self, pairs: NDArray[np.int64]) -> NDArray[np.int8]:
        """The level of every field, (m, F), of the pairs (m, 2)."""
        found = np.empty((len(pairs), len(self.values)), dtype=np.int8)
        for start in range(0, len(pairs), _PAIRS_AT_ONCE):
            some = slice(start, start + _PAIRS_AT_ONCE)
            for f, values in enumerate(self.values):
                a, b = values.code[pairs[some, 0]], values.code[pairs[some, 1]]
                found[some, f] = _levels_of(values, a, b, self._equal_level[f])
        return found


def compared_names(fields: list[Field]) -> list[str]:
    """What pairs are compared by: the fields, and the codes in some of them."""
    names = [field.name for field in fields]
    coded = ", ".join(field.name for field in fields if field.coded)
    return [*names, f"numbers in {coded}"] if coded else names


def _values_of(field: Field) -> Values:
    if field.kind == "text":
        return TextValues(field.values, field.coded)
    found: Values = _VALUES[field.kind](field.values)
    return found


def _codes_of(fields: list[Field]) -> NDArray[np.object_]:
    """The numbers among the words of these fields, as sets, (n,)."""
    found = np.empty(len(fields[0].values), dtype=object)
    rows = zip(*(field.values.tolist() for field in fields), strict=True)
    found[:] = [";".join(sorted({*chain.from_iterable(map(numbers_of, row))})) for row in rows]
    return found


def _levels_of(
    values: Values, a: NDArray[np.int64], b: NDArray[np.int64], equal_level: NDArray[np.int8]
) -> NDArray[np.int8]:
    level = np.empty(a.size, dtype=np.int8)
    present = (a >= 0) & (b >= 0)
    level[~present] = np.where((a < 0) & (b < 0), BOTH_MISSING, ONE_MISSING)[~present]
    equal = present & (a == b)
    level[equal] = equal_level[a[equal]]
    other = np.flatnonzero(present & ~equal)
    if other.size:
        # Many pairs of records share a pair of values: each is compared once.
        x, y = np.minimum(a[other], b[other]), np.maximum(a[other], b[other])
        keys, back = np.unique(x * (equal_level.size + 1) + y, return_inverse=True)
        x, y = np.divmod(keys, equal_level.size + 1)
        alike = values.alike(x, y)
        level[other] = (Comparison.DIFFERS + np.digitize(alike, _EDGES)).astype(np.int8)[back]
    return level


def _equal_levels(code: NDArray[np.int64], n_known: int | None) -> NDArray[np.int8]:
    """The level that equality of each value is, (values,)."""
    known = code[:n_known]
    counts = np.bincount(known[known >= 0], minlength=int(code.max(initial=-1)) + 1)
    n = int((known >= 0).sum())
    level = np.full(counts.size, _COMMON, dtype=np.int8)
    level[counts <= max(_MIDDLING_UP_TO[0], _MIDDLING_UP_TO[1] * n)] = _MIDDLE
    level[counts <= rare_up_to(n)] = _RARE
    level[counts > max(2, _COMMON_FROM * n)] = _COMMON  # of few records
    return level


def _as_kernels_take(rows: sparse.csr_array) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The arrays of a CSR matrix, always of the same types."""
    return rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data


def _numbered(values: NDArray[np.object_]) -> tuple[list[str], NDArray[np.int64]]:
    """The different texts, sorted, and each record's number among them (−1 for "")."""
    texts = sorted(set(values.tolist()) - {""})
    number = {text: at for at, text in enumerate(texts)} | {"": -1}
    return texts, np.fromiter(map(number.__getitem__, values.tolist()), np.int64, count=len(values))


def _part(texts: NDArray[Any], start: int, stop: int) -> NDArray[Any]:
    return np.array([text[start:stop] for text in texts.tolist()])
