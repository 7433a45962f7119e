"""Rows that fulfil conditions: `--where "year >= 2020"`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.exceptions import InvalidData, InvalidParameter
from coterie.tables.formats import FORMATS, read_texts
from coterie.tables.table import Column, Table

__all__ = ["kept_rows"]

_MISSING = re.compile(r"\s*(?P<name>.+?)\s+is\s+(?P<no>not\s+)?missing\s*", re.IGNORECASE)
_COMPARED = re.compile(r"\s*(?P<name>.+?)\s*(?P<sign><=|>=|!=|==|=|<|>)\s*(?P<value>.*?)\s*")
_SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def kept_rows(table: Table, conditions: Iterable[str]) -> NDArray[np.int64]:
    """The rows that fulfil all conditions.

    Parameters
    ----------
    table : Table
    conditions : iterable of str
        `column = value`, also with !=, <, <=, > or >=, or `column is missing`, `column is not
        missing`. Numbers and dates are compared as such, however they are written; a row without a
        value fulfils none of these but `is missing`.

    Examples
    --------
    >>> from coterie.tables import Table, kept_rows
    >>> table = Table.of("t", {"year": np.array([2019, 2020, 2021]),
    ...                        "town": np.array(["Ulm", "Rom", None], dtype=object)})
    >>> kept_rows(table, ["year >= 2020"]).tolist(), kept_rows(table, ["town != Ulm"]).tolist()
    ([1, 2], [1])
    """
    keep = np.ones(table.n_rows, dtype=bool)
    for condition in conditions:
        keep &= _holds(table, condition)
        if not keep.any():
            raise InvalidData(f"{table.source}: no row is left where {condition}.")
    return np.flatnonzero(keep)


def _holds(table: Table, condition: str) -> NDArray[np.bool_]:
    found = _MISSING.fullmatch(condition)
    if found is not None:
        absent = table.column(_bare(found["name"]), "`where`").absent
        return ~absent if found["no"] else absent
    found = _COMPARED.fullmatch(condition)
    if found is None:
        raise InvalidParameter(
            f"`where` {condition!r} is no condition; write COLUMN = VALUE (or !=, <, <=, >, >=), "
            "COLUMN is missing, or COLUMN is not missing."
        )
    column = table.column(_bare(found["name"]), "`where`")
    return _compared(column, found["sign"], _bare(found["value"]), condition)


def _compared(column: Column, sign: str, value: str, condition: str) -> NDArray[np.bool_]:
    compare, known = _SIGNS[sign], ~column.absent
    numbers = _numbers(column, value)
    if numbers is not None:
        values, limit = numbers
        with np.errstate(invalid="ignore"):
            return np.asarray(known & compare(values, limit), dtype=bool)
    if sign not in ("=", "==", "!="):
        raise InvalidParameter(
            f"`where` {condition!r}: {value!r} or a value of column {column.name!r} is neither a "
            "number nor a date, and texts are only compared by = and !=."
        )
    texts = column.texts()
    return np.array(
        [bool(k) and compare(text.strip(), value) for k, text in zip(known, texts, strict=True)]
    )


def _numbers(column: Column, value: str) -> tuple[NDArray[Any], float] | None:
    """Column and value as numbers that can be compared; None if they are none."""
    if column.kind != "date":
        values, bad = column.numbers
        limit = float(read_texts([value], "point")[0])
        if not bad.size and not np.isnan(limit):
            return values, limit
    for form in FORMATS if column.kind in ("text", "date") else ("ymd",):  # 20240131 is a number
        limit = _limit(value, form)
        if np.isnan(limit):
            continue
        values, bad = column.read(form)
        if not bad.size:
            return values, limit
    return None


def _limit(value: str, form: str) -> float:
    """What is asked for: written as the column is, or as computers write numbers and dates."""
    plain = {"dmy": "ymd", "mdy": "ymd", "comma": "point", "short_comma": "short"}.get(form, form)
    as_there, as_plain = (float(read_texts([value], name)[0]) for name in (form, plain))
    return as_plain if np.isnan(as_there) else as_there


def _bare(text: str) -> str:
    """A name or value without quotes around it."""
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1] if quoted else text.strip()
