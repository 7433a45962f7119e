"""Tables as records to compare: columns as they are, two files as one."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.constraints import Constraints
from coterie.exceptions import InvalidData, InvalidParameter
from coterie.tables.formats import DATES, read_texts
from coterie.tables.inputs import read_known_pairs
from coterie.tables.reading import read_table
from coterie.tables.table import Column, RowNumbers, Table
from coterie.words import warn

__all__ = [
    "RecordChoices",
    "RecordInputs",
    "column_values",
    "looks_like_records",
    "read_records",
    "row_marks",
]

SOURCE = "source"
_DISTINCT = 0.5  # share of different values from which a column of text tells records apart
_MANY = 50, 0.3  # or so many, and this share: too many to be categories, as of common names
_CODE = re.compile(r"[0+(][\d ()/-]{5,}")  # digits that are no amount: a phone number
_FEWEST = 20  # rows that can look like records
_SEEN = 200  # values that say whether a column holds dates
_DATES = 0.1  # share that may be no date
_LONGEST = 100  # letters, on average: longer texts are documents


class RecordChoices(NamedTuple):
    """What the user says about records.

    Attributes
    ----------
    id_column : str or None
    features, drop : sequence of str
        Compare only these columns, or all but these.
    kinds : dict
        Column to kind, "" where it is to be found. Only these are compared, if there are any.
    exclusive : str or None
        Column of groups that hold a thing at most once.
    """

    id_column: str | None = None
    features: Sequence[str] = ()
    drop: Sequence[str] = ()
    kinds: dict[str, str] = {}  # noqa: RUF012 (a named tuple's default is shared and not changed)
    exclusive: str | None = None


class RecordInputs(NamedTuple):
    """Records from one file or two.

    Attributes
    ----------
    table : Table
        All rows; with two files a column "source" says which each is from.
    ids : sequence of str
    columns : dict of str to (n,) ndarray
        What is compared.
    exclusive : (n,) ndarray or None
    group_column : str or None
        Where those groups are from.
    kinds : dict or None
        For `Dossier(fields=...)`.
    constraints : Constraints
    """

    table: Table
    ids: Sequence[str]
    columns: dict[str, NDArray[Any]]
    exclusive: NDArray[Any] | None
    group_column: str | None
    kinds: dict[str, str | None] | None
    constraints: Constraints


def read_records(
    data: str | os.PathLike[str],
    pairs: str | os.PathLike[str] | None = None,
    choices: RecordChoices | None = None,
    *,
    link: str | os.PathLike[str] | None = None,
    hard: bool = False,
) -> RecordInputs:
    """Read records and pairs.

    Parameters
    ----------
    data : path-like
    pairs : path-like, optional
        Answered pairs, by id if there is an id column, else by row number.
    choices : RecordChoices, optional
    link : path-like, optional
        Another table whose records come first: two records of one file are never the same.
    hard : bool
        Whether every pair must be kept.
    """
    choices = choices or RecordChoices()
    table = read_table(data)
    if link is not None:
        if choices.exclusive is not None:
            raise InvalidParameter("--link makes each file exclusive: leave --exclusive out.")
        table = _linked(read_table(link), table)
    ids = _ids(table, choices.id_column)
    exclusive = SOURCE if link is not None else choices.exclusive
    groups = None if exclusive is None else table.column(exclusive, "`exclusive`").texts()
    names = _compared(table, choices, exclusive)
    columns = {name: column_values(table.column(name, "`fields`")) for name in names}
    kinds = {name: choices.kinds[name] or None for name in names} if choices.kinds else None
    known = Constraints(table.n_rows)
    if pairs is not None:
        known = read_known_pairs(pairs, ids, by_id=choices.id_column is not None, hard=hard)
    return RecordInputs(table, ids, columns, groups, exclusive, kinds, known)


def _ids(table: Table, id_column: str | None) -> Sequence[str]:
    if id_column is None:
        return RowNumbers(table.n_rows)
    return table.ids(id_column)


def _same_columns(first: Table, second: Table) -> dict[str, str]:
    """Columns of the first table that the second has too, capital letters and signs aside.

    Says which have no like: they cannot be compared.
    """
    others = {_plain(name): name for name in second.columns}
    others |= {name: name for name in second.columns}
    found: dict[str, str] = {}
    for name in first.columns:
        other = others.get(name, others.get(_plain(name)))
        if other is not None and other not in found.values():
            found[name] = other
    alone = [
        f"{Path(table.source).name} alone has {', '.join(left)}"
        for table, known in ((first, set(found)), (second, set(found.values())))
        if (left := [name for name in table.columns if name not in known])
    ]
    if found and alone:
        warn(
            f"{'; '.join(alone)}. What only one file has is not compared: give columns that mean "
            "the same the same names.",
        )
    return found


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _linked(first: Table, second: Table) -> Table:
    """The columns that both tables have, one after the other, and which file a row is from."""
    if SOURCE in first.columns or SOURCE in second.columns:
        raise InvalidData(f"a column {SOURCE!r} is in the way of the one that --link adds.")
    common = _same_columns(first, second)
    if not common:
        raise InvalidData(
            f"{first.source} and {second.source} have no column in common; give columns that "
            "mean the same the same names."
        )
    columns = {
        name: Column(
            name, np.concatenate([first.column(name).texts(), second.column(other).texts()])
        )
        for name, other in common.items()
    }
    names = [Path(first.source).name, Path(second.source).name]
    if names[0] == names[1]:
        names = [first.source, second.source]
    source = np.repeat(np.array(names, dtype=object), [first.n_rows, second.n_rows])
    columns[SOURCE] = Column(SOURCE, source)
    n = first.n_rows

    def place(row: int) -> str:
        part, at = (first, row) if row < n else (second, row - n)
        return f"{part.source}, {part.place(at)}"

    return Table(" and ".join(names), n + second.n_rows, columns, place=place)


def _compared(table: Table, choices: RecordChoices, exclusive: str | None) -> list[str]:
    if not table.columns:
        raise InvalidData(f"{table.source} is an array file; records need named columns.")
    for name in (*choices.features, *choices.drop):
        table.column(name)
    given = list(choices.kinds) or list(choices.features) or list(table.columns)
    left_out = {*choices.drop, choices.id_column, exclusive}
    names = [name for name in given if name not in left_out]
    if not names:
        raise InvalidData(f"{table.source}: no column is left to compare records by.")
    return names


def column_values(column: Column) -> NDArray[Any]:
    """Numbers as numbers, everything else as text."""
    if column.kind == "number" and not column.is_arrow:
        return np.asarray(column.values)
    return column.texts()


def row_marks(columns: dict[str, NDArray[Any]]) -> NDArray[np.float64]:
    """A number for what each record holds, (n, 1), by which a log of answers knows its data."""
    marks = [
        zlib.crc32("\x1f".join("" if v is None else str(v) for v in row).encode())
        for row in zip(*columns.values(), strict=True)
    ]
    return np.array(marks, dtype=np.float64)[:, None]


def looks_like_records(table: Table, id_column: str | None = None) -> list[str]:
    """Columns of text in which nearly every row differs, dates aside; empty if fewer than two.

    >>> from coterie.tables import Table
    >>> names = np.array([f"name {i}" for i in range(30)], dtype=object)
    >>> looks_like_records(Table.of("t", {"name": names, "mail": names, "town": names[[0] * 30]}))
    ['name', 'mail']
    """
    if table.n_rows < _FEWEST:
        return []
    found = [
        name
        for name, column in table.columns.items()
        if name != id_column and column.kind == "text" and _tells_apart(column)
    ]
    return found if len(found) > 1 else []


def _tells_apart(column: Column) -> bool:
    texts = [text for text in column.texts().tolist() if text]
    if len(texts) < column.texts().size / 2:
        return False
    some = texts[:: max(len(texts) // _SEEN, 1)]
    codes = sum(_CODE.fullmatch(text) is not None for text in some) > len(some) / 2
    if not codes and column.numbers.bad.size < len(texts) / 2:
        return False
    if any(np.isnan(read_texts(some, form)).mean() < _DATES for form in DATES):
        return False  # rows with dates are as often events as people
    different = len(set(texts))
    many, share = _MANY
    varied = different >= _DISTINCT * len(texts) or different >= max(many, share * len(texts))
    return varied and sum(map(len, texts)) <= _LONGEST * len(texts)
