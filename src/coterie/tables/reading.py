"""One reader for every format: the name of a file says how it is read."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from coterie.exceptions import InvalidData
from coterie.tables.arrays import read_npy, read_npz
from coterie.tables.arrow import read_arrow, read_parquet
from coterie.tables.delimited import raw_bytes, raw_text, read_delimited
from coterie.tables.table import Column, Table

__all__ = ["FORMATS", "read_table"]


def read_table(path: str | os.PathLike[str], *, empty: bool = False) -> Table:
    """The table in a file, read as the ending of its name says.

    Parameters
    ----------
    path : path-like
        .csv, .tsv or .jsonl (also .gz); .parquet, .arrow or .feather (needs pyarrow); .npy or
        .npz. Text stays as it was written until numbers are asked for.
    empty : bool
        Whether a file without rows is taken.

    Raises
    ------
    InvalidData
        A file that cannot be read so; the message names the line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from coterie.tables import read_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("code,height\\n007,1.62\\n008,1.91\\n")
    >>> table = read_table(path)
    >>> table.ids("code"), table.column("height").numbers.values.tolist()
    (['007', '008'], [1.62, 1.91])
    """
    path = Path(path)
    suffix = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    reader = FORMATS.get(suffix.lower())
    if reader is None or (path.suffix == ".gz" and suffix.lower() not in _PACKED):
        raise InvalidData(
            f"{path}: the name must end in {', '.join(FORMATS)} (the text formats also in .gz)."
        )
    if path.stat().st_size == 0:
        raise InvalidData(f"{path} is empty.")
    table = reader(path)
    if not table.n_rows and not empty:
        raise InvalidData(f"{path} has no rows.")
    return table


def _read_jsonl(path: Path) -> Table:
    """One JSON object a line; a key that a line lacks is a missing value."""
    rows: list[dict[str, Any]] = []
    lines: list[int] = []
    for number, line in enumerate(raw_text(path, raw_bytes(path)).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InvalidData(f"{path}, line {number}: not JSON ({error}).") from error
        if not isinstance(row, dict):
            raise InvalidData(
                f'{path}, line {number}: expected an object like {{"text": "..."}}, got '
                f"{type(row).__name__}."
            )
        rows.append(row)
        lines.append(number)
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: Column(name, _json_column([row.get(name) for row in rows])) for name in names}
    return Table(str(path), len(rows), columns, place=lambda row: f"line {lines[row]}")


def _json_column(values: list[Any]) -> Any:
    """Numbers if there are only numbers (NaN for null), else texts."""
    try:
        if all(type(value) is int for value in values):
            return np.array(values, dtype=np.int64)
        if all(isinstance(value, bool | int | float) or value is None for value in values):
            return np.array([np.nan if value is None else float(value) for value in values])
    except OverflowError:  # a whole number too long for a number: an id
        pass
    column = np.empty(len(values), dtype=object)
    column[:] = [
        value if value is None or isinstance(value, str) else _text(value) for value in values
    ]
    return column


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


FORMATS: dict[str, Callable[[Path], Table]] = {
    ".csv": read_delimited,
    ".tsv": lambda path: read_delimited(path, "\t"),
    ".jsonl": _read_jsonl,
    ".parquet": read_parquet,
    ".arrow": read_arrow,
    ".feather": read_arrow,
    ".npy": read_npy,
    ".npz": read_npz,
}
_PACKED = (".csv", ".tsv", ".jsonl")
