"""A table: named columns, or the matrix of an array file."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from coterie.exceptions import InvalidData
from coterie.words import nearest

__all__ = ["MISSING_WORDS", "Column", "Numbers", "RowNumbers", "Table", "missing"]

MISSING_WORDS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL")
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
        An ndarray holds numbers, or objects that are str or None.
    """

    name: str
    values: Any

    def __len__(self) -> int:
        return len(self.values)

    @property
    def is_arrow(self) -> bool:
        """Whether the values are pyarrow's."""
        return not isinstance(self.values, np.ndarray)

    @property
    def kind(self) -> str:
        """What it holds: "number", "text", or "other" (dates, lists)."""
        if self.is_arrow:
            from coterie.tables.arrow import kind_of_type

            return kind_of_type(self.values.type)
        return "number" if self.values.dtype.kind in "biuf" else "text"

    def texts(self) -> NDArray[np.object_]:
        """Every value as text, (n,); None where there is none. Whole numbers without ".0"."""
        if self.is_arrow:
            from coterie.tables.arrow import arrow_texts

            return arrow_texts(self.values)
        if self.values.dtype == object:
            return self.values
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

            found = arrow_numbers(self.values)
            if found is not None:
                return Numbers(found, np.empty(0, dtype=np.int64))
        if self.kind == "number":
            values = self.values
            exact = values.dtype in (np.float32, np.float64)
            return Numbers(values if exact else values.astype(float), np.empty(0, dtype=np.int64))
        return _parse(self.texts())

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

    def named(self, ids: Sequence[str]) -> Table:
        """The same table whose messages name rows by id too."""
        place = self.place
        return replace(self, place=lambda row: f"{ids[row]!r} ({place(row)})")


def missing(texts: NDArray[np.object_]) -> NDArray[np.bool_]:
    """Which texts (n,) say that there is no value: None and `MISSING_WORDS`."""
    words = {None, *MISSING_WORDS}
    return np.fromiter(
        (text in words or not text.strip() for text in texts), np.bool_, count=len(texts)
    )


def _listed(names: Any, most: int = 12) -> str:
    shown = list(names)
    more = f" and {len(shown) - most} more" if len(shown) > most else ""
    return ", ".join(shown[:most]) + more


def _number_text(value: float) -> str | None:
    if value != value:
        return None
    return str(int(value)) if value.is_integer() else repr(value)


def _parse(texts: NDArray[np.object_]) -> Numbers:
    """The definition of a number in a text file; what pyarrow reads faster must agree with it."""
    values = np.full(len(texts), np.nan)
    absent = missing(texts)
    bad = []
    for row in np.flatnonzero(~absent).tolist():
        text = texts[row].strip()
        if _NUMBER.fullmatch(text):
            values[row] = float(text)
        else:
            bad.append(row)
    return Numbers(values, np.array(bad, dtype=np.int64))
