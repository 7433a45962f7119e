"""Records by field: what a column holds, and its values in the form they are compared in."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.exceptions import InvalidData, InvalidParameter
from coterie.records.codes import are_codes
from coterie.records.texts import tidy
from coterie.validation import check_choice
from coterie.words import warn

__all__ = ["KINDS", "Field", "as_written", "read_fields"]

#: What a field may hold.
KINDS = ("text", "date", "number", "category", "set", "vector")

_MOSTLY = 0.9  # of the values must look like dates for a column to hold dates
_ABSENT = {"", "na", "n/a", "nan", "none", "null", "nat", "<na>"}
_YEAR_FIRST = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[T ].*)?")
_DIGITS = re.compile(r"((?:1[6-9]|20|21)\d\d)(\d\d)(\d\d)")
_YEAR_LAST = re.compile(r"(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})")
_DECIMAL = re.compile(r"[^\d\s.+-]{0,3}\s?[+-]?\d+(,\d{3})*\.\d+\s?[^\d\s]{0,3}")
_NOT_NUMBER = re.compile(r"[^\d.eE+-]")
_SET_MARKS = re.compile(r"[;|,]")


class Field(NamedTuple):
    """One field of all records.

    Attributes
    ----------
    name : str
    kind : str
        One of `KINDS`.
    values : (n,) or (n, d) ndarray
        Tidied texts ("" where missing), sets as texts with ";" between their members, dates as
        "yyyymmdd"; numbers (NaN where missing); vectors (rows of NaN where missing).
    coded : bool
        Whether the numbers among the words of texts are codes, and compared on their own.
    """

    name: str
    kind: str
    values: NDArray[Any]
    coded: bool = False

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which records have no value, (n,)."""
        if self.kind == "vector":
            return np.isnan(self.values).any(axis=1)
        if self.kind == "number":
            return np.isnan(self.values)
        return self.values == ""

    def joined(self, other: Field) -> Field:
        """The field of these records and then of others, compared as that of these."""
        return self._replace(values=np.concatenate([self.values, other.values]))


def read_fields(
    X: Any, kinds: Mapping[str, Any] | None = None, *, found: bool = False
) -> list[Field]:
    """The fields of a table.

    Parameters
    ----------
    X : dict of columns, or array (n, d)
        An array of numbers is one vector, unless `kinds` says which of its columns are which.
    kinds : mapping, optional
        Of a table, column to kind (`KINDS`): only these are used. Of an array, name to a slice or
        list of columns (a vector), or to a pair of those and a kind. None: every column, its kind
        by its values.
    found : bool, default=False
        Whether the `kinds` were found by other values. Then, as without `kinds`, what is no number
        in a field of numbers counts as missing, with a warning; else it is refused.
    """
    found = found or kinds is None
    columns = _columns(X, kinds)
    if not columns:
        raise InvalidData("there is no field to compare records by.")
    lengths = {len(values) for values, _ in columns.values()}
    if len(lengths) > 1:
        raise InvalidData(f"the columns are of different lengths: {sorted(lengths)}.")
    return [_field(name, values, kind, found) for name, (values, kind) in columns.items()]


def _columns(X: Any, kinds: Mapping[str, Any] | None) -> dict[str, tuple[NDArray[Any], Any]]:
    """Name to values and kind (None: to be found)."""
    if isinstance(X, Mapping):
        named = {str(name): np.asarray(values) for name, values in X.items()}
    else:
        array = np.asarray(X)
        if array.ndim != 2:
            raise InvalidData(
                "records come as a data frame, a dict of columns or an array (n, d); got an "
                f"array of shape {array.shape}."
            )
        if array.dtype.kind in "biuf":
            return _of_numbers(array.astype(np.float64), kinds)
        named = {f"column {at}": array[:, at] for at in range(array.shape[1])}
    if kinds is None:
        return {name: (values, None) for name, values in named.items()}
    lost = [name for name in kinds if name not in named]
    if lost:
        raise InvalidParameter(
            f"fields: there is no column {lost[0]!r}; the records have {', '.join(named)}."
        )
    return {name: (named[name], kind) for name, kind in kinds.items()}


def _of_numbers(
    array: NDArray[np.float64], kinds: Mapping[str, Any] | None
) -> dict[str, tuple[NDArray[Any], Any]]:
    if kinds is None:
        return {"X": (array, "vector")}
    found = {}
    for name, given in kinds.items():
        at, kind = given if isinstance(given, tuple) else (given, "vector")
        try:
            part = array[:, at]
        except (IndexError, TypeError) as error:
            raise InvalidParameter(
                f"fields[{name!r}]={given!r} must be a slice or list of columns of an array of "
                f"shape {array.shape}, or a pair of that and a kind."
            ) from error
        found[name] = (part if kind == "vector" or part.ndim == 1 else part[:, 0], kind)
    return found


def _field(name: str, values: NDArray[Any], kind: str | None, found: bool) -> Field:
    if kind is None:
        kind = _kind_of(values)
    check_choice(f"kind of the field {name!r}", kind, KINDS)
    read = _read_found_numbers if found and kind == "number" else _READERS[kind]
    held = read(name, values)
    return Field(name, kind, held, kind == "text" and are_codes(held, as_written(values)))


def _kind_of(values: NDArray[Any]) -> str:
    """By the values: whole numbers are names of things (a postcode), others are amounts."""
    if values.ndim == 2:
        return "vector"
    if values.dtype.kind == "M":
        return "date"
    if values.dtype.kind in "biuf":
        held = values[~np.isnan(values.astype(np.float64))]
        return "text" if (held == np.floor(held)).all() else "number"
    texts = [text for text in as_written(values) if text]
    some = texts[:: max(len(texts) // 1000, 1)]
    for kind, looks_like in (("date", _date), ("number", _DECIMAL.fullmatch)):
        if some and sum(bool(looks_like(text)) for text in some) >= _MOSTLY * len(some):
            return kind
    # Sets of one member have no mark, so half is enough; commas stand in names and addresses too.
    if some and sum(";" in text or "|" in text for text in some) >= 0.5 * len(some):
        return "set"
    return "text"


def as_written(values: NDArray[Any]) -> list[str]:
    """Values as they are written, "" for none; whole numbers without ".0"."""
    out = []
    for value in values.tolist():
        if value is None or value != value:
            out.append("")
        elif isinstance(value, float) and value.is_integer():
            out.append(str(int(value)))
        else:
            text = str(value).strip()
            out.append("" if text.casefold() in _ABSENT else text)
    return out


def _date(text: str) -> str:
    """A date as yyyymmdd; "" if it is none. Of 03/04/2001 the day is taken to come first."""
    if first := _YEAR_FIRST.fullmatch(text) or _DIGITS.fullmatch(text):
        year, month, day = first.groups()
    elif last := _YEAR_LAST.fullmatch(text):
        day, month, year = last.groups()
    else:
        return ""
    if int(month) > 12 >= int(day):
        day, month = month, day
    return f"{year}{int(month):02d}{int(day):02d}"


def _read_texts(name: str, values: NDArray[Any]) -> NDArray[np.object_]:
    return _objects([tidy(text) for text in as_written(values)])


def _read_dates(name: str, values: NDArray[Any]) -> NDArray[np.object_]:
    # What cannot be read as a date stays as it was written: a slip of a digit is still alike.
    return _objects([_date(text) or tidy(text) for text in as_written(values)])


def _read_sets(name: str, values: NDArray[Any]) -> NDArray[np.object_]:
    members = [
        sorted({tidy(part) for part in _SET_MARKS.split(text)}) for text in as_written(values)
    ]
    return _objects([";".join(filter(None, parts)) for parts in members])


def _read_numbers(name: str, values: NDArray[Any]) -> NDArray[np.float64]:
    out, unread = _numbers_of(values)
    if unread:
        row, text = unread[0]
        raise InvalidData(
            f"row {row}: {text!r} in the field {name!r} is not a number; give the field the kind "
            "text, or mend the value."
        )
    return out


def _read_found_numbers(name: str, values: NDArray[Any]) -> NDArray[np.float64]:
    """Of a field that mostly holds numbers, which nobody said: the others count as missing."""
    out, unread = _numbers_of(values)
    if unread:
        row, text = unread[0]
        warn(
            f"{name!r} is compared as a number, and {len(unread)} of its values are none "
            f"({text!r} in row {row}): they count as missing. Give the field the kind text to "
            "compare what is written.",
        )
    return out


def _numbers_of(values: NDArray[Any]) -> tuple[NDArray[np.float64], list[tuple[int, str]]]:
    """The numbers, NaN for none; and the rows with something else, with what it is."""
    if values.dtype.kind in "biuf":
        return values.astype(np.float64), []
    out = np.full(len(values), np.nan)
    unread = []
    for row, text in enumerate(as_written(values)):
        if not tidy(text):
            continue
        try:
            out[row] = float(_NOT_NUMBER.sub("", text.replace(",", "")))
        except ValueError:
            unread.append((row, text))
    return out, unread


def _read_vectors(name: str, values: NDArray[Any]) -> NDArray[np.float64]:
    array = np.asarray(
        [np.ravel(value) for value in values] if values.dtype == object else values,
        dtype=np.float64,
    )
    return np.ascontiguousarray(array.reshape(len(array), -1))


def _objects(texts: list[str]) -> NDArray[np.object_]:
    out = np.empty(len(texts), dtype=object)
    out[:] = texts
    return out


_READERS: dict[str, Callable[[str, NDArray[Any]], NDArray[Any]]] = {
    "text": _read_texts,
    "category": _read_texts,
    "date": _read_dates,
    "set": _read_sets,
    "number": _read_numbers,
    "vector": _read_vectors,
}
