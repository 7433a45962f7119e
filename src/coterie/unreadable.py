"""Why rows could not be read, in words to act on: which cell, column or object, and the remedy."""

from __future__ import annotations

import os
from typing import Any

import narwhals as nw
import numpy as np

from coterie.words import counted

__all__ = ["why_unreadable"]

_SHOWN = 40  # characters of a value


def why_unreadable(X: Any, *, gaps: bool = False) -> str | None:
    """What is wrong with `X`, which scikit-learn's validation has refused; None if not known.

    With `gaps` missing values are nothing wrong.
    """
    if isinstance(X, str | os.PathLike):
        return (
            f"X is a path ({str(X)!r}). Open it first: coterie.data.open_rows(path) for numbers, "
            "coterie.tables.open_table(path) for columns of every kind."
        )
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        return "X is a lazy frame, which has no rows yet: pass X.collect()."
    if isinstance(frame, nw.DataFrame):
        return _not_a_number(frame) or _not_finite(_numbers(frame), frame.columns, gaps)
    return _no_number_among(X) or _not_finite(X, None, gaps)


def _not_a_number(frame: nw.DataFrame[Any]) -> str | None:
    """The first column that is not of numbers, with a value of it."""
    # Not by name: pandas' columns may be numbers, which a frame takes for places of columns.
    for name, column in zip(frame.columns, frame.iter_columns(), strict=True):
        if column.dtype.is_numeric() or column.dtype == nw.Boolean:
            continue
        value = next((v for v in column.to_list() if not _is_number(v)), None)
        if value is not None:
            return _no_number(name, value)
    return None


def _no_number_among(X: Any) -> str | None:
    """The first column of an array of objects, or of a list of rows, with a text that is none."""
    table = np.asarray(X, dtype=object) if isinstance(X, list | tuple) else X
    if not isinstance(table, np.ndarray) or table.ndim != 2 or table.dtype.kind not in "OUS":
        return None
    for number, column in enumerate(table.T):
        value = next((v for v in column if isinstance(v, str) and not _is_number(v)), None)
        if value is not None:
            return _no_number(number, str(value))
    return None


def _no_number(name: Any, value: Any) -> str:
    return (
        f"column {name!r} of X holds {_shown(value)}, which is no number. Leave the column out, or "
        "turn it into numbers: coterie.tables learns how each column is best used (Recipe), "
        "scikit-learn's ColumnTransformer does as it is told."
    )


def _numbers(frame: nw.DataFrame[Any]) -> Any:
    """Columns of numbers as (n, d) float64, missing cells as NaN."""
    columns = (column.cast(nw.Float64).to_numpy() for column in frame.iter_columns())
    return np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])


def _is_number(value: Any) -> bool:
    if value is None:
        return True
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _not_finite(X: Any, names: list[str] | None, gaps: bool) -> str | None:
    """The first cell that is NaN or infinite, and how many rows have one."""
    try:
        table = np.asarray(X.data if hasattr(X, "indptr") else X)
        if table.dtype.kind == "c":
            return None
        table = table.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
    bad = np.argwhere(np.isinf(table) if gaps else ~np.isfinite(table))
    if not len(bad):
        return None
    value = table[tuple(bad[0])]
    word = "NaN" if np.isnan(value) else "infinity"
    if table.ndim != 2:
        return f"X contains {word}. {_REMEDY[word]}"
    row, column = bad[0].tolist()
    place = f"row {row}, column {names[column] if names else column!r}"
    rows = counted(np.unique(bad[:, 0]).size, "row")
    return f"X contains {word} ({place}; {rows} with such cells). {_REMEDY[word]}"


_REMEDY = {
    "NaN": "Drop these rows or fill the cells (sklearn.impute.SimpleImputer in a pipeline, "
    "`coterie fit --impute` on the command line), or use PPC, which takes missing values.",
    "infinity": "Replace or drop such values; they have no distance to anything.",
}


def _shown(value: Any) -> str:
    words = repr(value)
    return words if len(words) <= _SHOWN else f"{words[: _SHOWN - 1]}…"
