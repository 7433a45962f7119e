"""Rows as people know them: an id and a few fields each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from coterie.exceptions import InvalidParameter

__all__ = [
    "Records",
    "Units",
    "number",
    "on_scale",
    "read_columns",
    "read_ids",
    "read_units",
    "short_name",
    "shorten",
    "shown_value",
]

LONGEST = 240  # characters of a field; whole documents would bury everything else
_LONGEST_NAME = 80  # of a row, a column, a class
MOST_FIELDS = 8
_MOST_DECIMALS = 5
MOST_WORDS = 12  # of a sparse row


def number(value: float, digits: int = 3) -> str:
    """A number to `digits` figures with a real minus sign."""
    if math.isinf(value):
        return "−∞" if value < 0 else "∞"
    whole = float(value).is_integer() and abs(value) < 1e6
    return _signed(f"{value:,.0f}" if whole else f"{value:,.{digits}g}")


def on_scale(value: float, spread: float) -> str:
    """A number to about a hundredth of its spread, so that rounding errors do not show."""
    decimals = 2 - round(math.log10(spread))
    if not 0 <= decimals <= _MOST_DECIMALS or abs(value) >= 1e9:
        return number(round(value, decimals))
    return _signed(f"{value:,.{decimals}f}")


def _signed(text: str) -> str:
    nothing = not text.strip("-0.,")
    return text.removeprefix("-") if nothing else text.replace("-", "−")


def shorten(text: Any, longest: int = LONGEST) -> str:
    """One line of at most `longest` characters."""
    line = " ".join(str(text).split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def short_name(name: Any) -> str:
    """The name of a row, a column or a class, in a cell: people put whole texts there."""
    return shorten(name, _LONGEST_NAME)


class Units(NamedTuple):
    """X = (value − center) / spread, (d,) each: how columns were scaled."""

    center: NDArray[np.float64]
    spread: NDArray[np.float64]

    def shown(self, column: int, value: float) -> float:
        """A value of X in the column's own units."""
        return float(self.center[column] + self.spread[column] * value)


def read_units(units: Any, width: int) -> Units:
    """Center and spread of every column; 0 and 1 if not given."""
    if units is None:
        return Units(np.zeros(width), np.ones(width))
    center, spread = (np.asarray(part, dtype=np.float64) for part in units)
    if center.shape != (width,) or spread.shape != (width,) or not (spread > 0).all():
        raise InvalidParameter(
            f"units must be a center and a spread above 0 for each of the {width} columns."
        )
    return Units(center, spread)


class Records:
    """Fields of rows, as text.

    Parameters
    ----------
    records : data frame, mapping of columns, sequence of texts, or None
        None shows the features themselves: the columns asked for, or a sparse row's heaviest ones.
    X : array or CSR matrix of shape (n, d)
    names : list of str
        Of the columns of X.
    units : Units, optional
        How values of X are shown.
    """

    def __init__(self, records: Any, X: Any, names: list[str], units: Units | None = None) -> None:
        self._columns = None if records is None else read_columns(records, X.shape[0])
        self._X = X
        self._names = names
        self._units = units or read_units(None, X.shape[1])

    def fields(self, row: int, features: Sequence[int] = ()) -> list[tuple[str, str]]:
        """(name, value) of the fields of a row.

        Those of the features that are columns of the records come first; without records they are
        all that is shown.
        """
        if self._columns is not None:
            first = [self._names[j] for j in features if self._names[j] in self._columns]
            shown = [*dict.fromkeys([*first, *self._columns])][:MOST_FIELDS]
            return [(short_name(name), shown_value(self._columns[name][row])) for name in shown]
        if sp.issparse(self._X):
            return [("heaviest columns", self._heaviest(row))]
        chosen = list(features)[:MOST_FIELDS] or range(min(MOST_FIELDS, len(self._names)))
        return [
            (short_name(self._names[j]), number(self._units.shown(j, self._X[row, j])))
            for j in chosen
        ]

    def _heaviest(self, row: int) -> str:
        begin, end = self._X.indptr[row : row + 2]
        columns, values = self._X.indices[begin:end], self._X.data[begin:end]
        order = np.lexsort((columns, -values))[:MOST_WORDS]
        return ", ".join(short_name(self._names[j]) for j in columns[order])


def shown_value(value: Any) -> str:
    """A cell as text, "" for none."""
    if isinstance(value, (float, np.floating)):
        return "" if math.isnan(value) else number(float(value), 6)
    return "" if value is None else shorten(value)


def read_columns(records: Any, n: int) -> dict[str, Any]:
    """Columns by name; each can be asked for the value of a row."""
    if isinstance(records, Mapping):
        columns = {str(name): values for name, values in records.items()}
    elif isinstance(records, Sequence) and all(isinstance(text, str) for text in records):
        columns = {"text": records}
    else:
        try:
            frame = nw.from_native(records, eager_only=True)
        except TypeError as error:
            raise InvalidParameter(
                "records must be a data frame, a mapping of columns or a list of texts, "
                f"got {type(records).__name__}."
            ) from error
        columns = {str(name): frame.get_column(name) for name in frame.columns}
    for name, values in columns.items():
        if len(values) != n:
            raise InvalidParameter(f"records: {name!r} has {len(values)} values for {n} rows.")
    return columns


def read_ids(ids: Any, n: int) -> list[str]:
    """A name for every row: its id, else "row 0", "row 1", …"""
    if ids is None:
        return [f"row {row}" for row in range(n)]
    names = [short_name(name) for name in ids]
    if len(names) != n:
        raise InvalidParameter(f"ids has {len(names)} entries for {n} rows: give one each.")
    return names
