"""A table: named columns, or the matrix of an array file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import cached_property
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from coterie.exceptions import InvalidData
from coterie.words import nearest

__all__ = [
    "MISSING_WORDS",
    "Column",
    "Numbers",
    "RowNumbers",
    "Table",
    "missing",
    "values_of",
]

MISSING_WORDS = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NaT", "null", "NULL")
_POINT = re.compile(r"\.")
_CODE = re.compile(r"^\s*0[0-9]+\s*$")
_NUMBER = re.compile(
    r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity)", re.ASCII | re.IGNORECASE
)


class Numbers(NamedTuple):
    """A column read as numbers: NaN where missing; `bad` are the rows that hold something else."""

    values: NDArray[Any]
    bad: NDArray[np.int64]


@dataclass(frozen=True)
class Column:
    """One column, as it was read.

    Attributes
    ----------
    name : str
    values : (n,) ndarray or pyarrow.ChunkedArray
        An ndarray holds numbers, dates, or objects that are str or None; one of shape (n, d) holds
        a vector for every row.
    missing : tuple of str
        Texts that say that there is no value.
    """

    name: str
    values: Any
    missing: tuple[str, ...] = MISSING_WORDS

    def __len__(self) -> int:
        return len(self.values)

    @property
    def is_arrow(self) -> bool:
        """Whether the values are pyarrow's."""
        return not isinstance(self.values, np.ndarray)

    @property
    def kind(self) -> str:
        """What it holds: "number", "text", "date", "vector" or "other"."""
        if self.is_arrow:
            from coterie.tables.arrow import kind_of_type

            return kind_of_type(self.values.type)
        if self.values.ndim == 2:
            return "vector"
        return {"M": "date", "O": "text"}.get(self.values.dtype.kind, "number")

    def texts(self) -> NDArray[np.object_]:
        """Every value as text, (n,); None where there is none. Whole numbers without ".0"."""
        if self.is_arrow:
            from coterie.tables.arrow import arrow_texts

            return arrow_texts(self.values)
        if self.values.dtype == object:
            return self.values
        if self.kind in ("date", "vector"):
            return _texts(self.values.tolist())
        listed = self.values.tolist()
        texts = [
            _number_text(value) if isinstance(value, float) else str(value) for value in listed
        ]
        return np.array(texts, dtype=object)

    @cached_property
    def numbers(self) -> Numbers:
        """Every value as a number, (n,) float64 (float32 where it is stored so)."""
        if self.is_arrow:
            from coterie.tables.arrow import arrow_numbers

            found = arrow_numbers(self.values, self.missing)
            if found is not None:
                return Numbers(found, np.empty(0, dtype=np.int64))
        if self.kind == "number":
            values = self.values
            exact = values.dtype in (np.float32, np.float64)
            return Numbers(values if exact else values.astype(float), np.empty(0, dtype=np.int64))
        return _parse(self.texts(), self.missing)

    @cached_property
    def absent(self) -> NDArray[np.bool_]:
        """Which rows (n,) hold no value."""
        return missing(self.texts(), self.missing)

    @cached_property
    def empty(self) -> NDArray[np.bool_]:
        """Which rows (n,) hold nothing at all, not even a word for it."""
        return missing(self.texts(), ())

    def known_texts(self) -> tuple[NDArray[np.object_], NDArray[np.int64], NDArray[np.int64]]:
        """The different texts (m,) in sorted order, which of them each row with a value holds, and
        those rows.
        """
        rows = np.flatnonzero(~self.absent)
        # Not by np.unique: its texts would all have the room of the longest.
        first: dict[str, int] = {}
        found = [first.setdefault(str(text), len(first)) for text in self.texts()[rows]]
        ordered = sorted(first)
        rank = np.empty(len(first), dtype=np.int64)
        rank[[first[text] for text in ordered]] = np.arange(len(first))
        texts = np.empty(len(first), dtype=object)
        texts[:] = ordered
        return texts, rank[np.array(found, dtype=np.int64)], rows

    def read(self, form: str) -> Numbers:
        """Every value as a number by a format of `coterie.tables.formats`; dates in seconds."""
        if self.kind == "date":
            return Numbers(self._seconds(), np.empty(0, dtype=np.int64))
        from coterie.tables.formats import read_texts

        texts, which, rows = self.known_texts()
        values = np.full(len(self), np.nan)
        values[rows] = read_texts(texts, form)[which]
        return Numbers(values, rows[np.isnan(values[rows])])

    @property
    def has_points(self) -> bool:
        """Whether some text has a point in it."""
        return self._any_has(_POINT)

    @property
    def has_codes(self) -> bool:
        """Whether some text is digits behind a zero, as in 007."""
        return self._any_has(_CODE)

    def _any_has(self, pattern: re.Pattern[str]) -> bool:
        if self.is_arrow and self.kind == "text":
            from coterie.tables.arrow import any_has

            return any_has(self.values, pattern.pattern)
        return any(pattern.search(text) for text in self.texts() if text)

    def _seconds(self) -> NDArray[np.float64]:
        values = self.values
        if self.is_arrow:
            from coterie.tables.arrow import arrow_seconds

            return arrow_seconds(values)
        seconds = values.astype("datetime64[us]").astype(np.int64) / 1e6
        return np.where(np.isnat(values), np.nan, seconds)

    def take(self, rows: NDArray[np.int64]) -> Column:
        """The column of these rows."""
        return replace(
            self, values=self.values.take(rows, **({} if self.is_arrow else {"axis": 0}))
        )

    def part(self, start: int, stop: int) -> Column:
        """Rows start to stop, without a copy."""
        return replace(self, values=self.values[start:stop])

    def cells(self, start: int, stop: int) -> list[Any]:
        """Rows start to stop as Python values."""
        if self.is_arrow:
            return list(self.values.slice(start, stop - start).to_pylist())
        return list(self.values[start:stop].tolist())


class RowNumbers(Sequence[str]):
    """The ids of rows that were given none: "0", "1", ...; made when looked at."""

    def __init__(self, n_rows: int) -> None:
        self._rows = range(n_rows)

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        found = self._rows[index]
        return str(found) if isinstance(found, int) else list(map(str, found))


@dataclass(frozen=True)
class Table:
    """What a file holds.

    Attributes
    ----------
    source : str
        Name of the file, for messages.
    n_rows : int
    columns : dict of Column
        In the order of the file.
    matrix : (n, d) ndarray or CSR, or None
        The rows of a .npy or .npz file; such a file has columns only beside them.
    place : callable
        Where a row stands in the file, for messages: "line 7".
    notes : tuple of str
        What the reader did that the user should know.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie.tables import Table
    >>> table = Table.of("people", {"name": np.array(["ann", "bob"], dtype=object),
    ...                             "height": np.array([1.62, 1.91])})
    >>> table.n_rows, table.ids("name"), table.column("height").kind
    (2, ['ann', 'bob'], 'number')
    """

    source: str
    n_rows: int
    columns: dict[str, Column]
    matrix: Any = None
    place: Callable[[int], str] = field(default=lambda row: f"row {row}", compare=False)
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, source: str, columns: dict[str, Any]) -> Table:
        """A table of these arrays (n,): numbers, or objects that are str or None."""
        n_rows = len(next(iter(columns.values())))
        return cls(source, n_rows, {name: Column(name, v) for name, v in columns.items()})

    @property
    def names(self) -> list[str]:
        """Of the columns."""
        return list(self.columns)

    def column(self, name: str, asked_by: str | None = None) -> Column:
        """The column of this name; an error suggests the nearest one and says what asked for it."""
        if name in self.columns:
            return self.columns[name]
        asked = f" ({asked_by})" if asked_by else ""
        if not self.columns:
            raise InvalidData(f"{self.source} has no named columns, so no {name!r}{asked}.")
        raise InvalidData(
            f"{self.source} has no column {name!r}{asked}.{nearest(name, self.columns)} "
            f"It has {_listed(self.columns)}."
        )

    def ids(self, name: str | None) -> Sequence[str]:
        """The id of every row: column `name`, all different; row numbers from 0 for None."""
        if name is None:
            return RowNumbers(self.n_rows)
        ids: list[str] = self.column(name, "`id_column`").texts().tolist()
        rows = dict(zip(ids, range(len(ids)), strict=True))
        empty = next((row for row, value in enumerate(ids) if not value), None)
        if empty is not None:
            raise InvalidData(f"{self.source}, {self.place(empty)}: no id in column {name!r}.")
        if len(rows) < len(ids):
            row = next(row for row, value in enumerate(ids) if rows[value] != row)
            raise InvalidData(
                f"{self.source}: the id {ids[row]!r} is used twice ({self.place(row)} and "
                f"{self.place(rows[ids[row]])}); ids must differ."
            )
        return ids

    def with_missing(self, words: Sequence[str]) -> Table:
        """The same table in which these texts, and empty cells, say that there is no value."""
        known = ("", *(word for word in words if word))
        columns = {name: replace(column, missing=known) for name, column in self.columns.items()}
        return replace(self, columns=columns)

    def take(self, rows: NDArray[np.int64]) -> Table:
        """These rows; messages name their places in the file."""
        place, numbers = self.place, rows.tolist()
        return replace(
            self,
            n_rows=len(numbers),
            columns={name: column.take(rows) for name, column in self.columns.items()},
            matrix=None if self.matrix is None else self.matrix[rows],
            place=lambda row: place(numbers[row]),
        )

    def forget_numbers(self) -> None:
        """Give back the memory of columns that were read as numbers; they can be read again."""
        from coterie.tables.arrow import give_back

        for column in self.columns.values():
            column.__dict__.pop("numbers", None)
        give_back()

    def named(self, name: str) -> Table:
        """The same table whose messages name rows by their text in this column too."""
        from coterie.tables.row_texts import ColumnTexts

        place, ids = self.place, ColumnTexts(self.columns[name])
        return replace(self, place=lambda row: f"{ids[row]!r} ({place(row)})")


def missing(texts: NDArray[np.object_], words: Sequence[str] = MISSING_WORDS) -> NDArray[np.bool_]:
    """Which texts (n,) say that there is no value: None, blanks and `words`."""
    nothing = {None, *words}
    return np.fromiter(
        (text in nothing or not text.strip() for text in texts), np.bool_, count=len(texts)
    )


def _listed(names: Any, most: int = 12) -> str:
    shown = list(names)
    more = f" and {len(shown) - most} more" if len(shown) > most else ""
    return ", ".join(shown[:most]) + more


def _number_text(value: float) -> str | None:
    if value != value:
        return None
    return str(int(value)) if value.is_integer() else repr(value)


def values_of(values: Sequence[Any]) -> NDArray[Any]:
    """Values (n,) of any type as the array that fits them: numbers, dates, vectors, else texts."""
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, int | float) for value in known):
        whole = all(isinstance(value, int) for value in known)
        if whole and not (min(known) >= -(2**63) and max(known) < 2**63):
            return _texts(values)  # too long for a number: an id
        if whole and len(known) == len(values):
            return np.array(values, dtype=np.int64)
        return np.array([np.nan if value is None else float(value) for value in values])
    if known and all(isinstance(value, date) for value in known):
        plain = [None if value is None else _without_zone(value) for value in values]
        return np.array(plain, dtype="datetime64[us]")
    if known and len(known) == len(values) and _are_vectors(known):
        return np.array(values, dtype=np.float64)
    return _texts(values)


def _without_zone(value: date) -> date:
    """A date or a time; one with a zone in that of Greenwich."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None)
    return value


def _are_vectors(values: Sequence[Any]) -> bool:
    first = values[0]
    return (
        isinstance(first, list)
        and bool(first)
        and all(
            isinstance(value, list)
            and len(value) == len(first)
            and all(type(number) in (int, float) for number in value)
            for value in values
        )
    )


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list | dict | bool):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def _texts(values: Sequence[Any]) -> NDArray[np.object_]:
    column = np.empty(len(values), dtype=object)
    column[:] = [None if value is None else _as_text(value) for value in values]
    return column


def _parse(texts: NDArray[np.object_], words: Sequence[str]) -> Numbers:
    """The definition of a number in a text file; what pyarrow reads faster must agree with it."""
    values = np.full(len(texts), np.nan)
    absent = missing(texts, words)
    bad = []
    for row in np.flatnonzero(~absent).tolist():
        text = texts[row].strip()
        if _NUMBER.fullmatch(text):
            values[row] = float(text)
        else:
            bad.append(row)
    return Numbers(values, np.array(bad, dtype=np.int64))
