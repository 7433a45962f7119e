"""One reader for every format: the name of a file says how it is read."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from coterie.exceptions import CoterieError, InvalidData
from coterie.files import split_name
from coterie.parameters import check_arguments
from coterie.tables.arrays import read_npy, read_npz
from coterie.tables.arrow import read_arrow, read_parquet
from coterie.tables.delimited import raw_bytes, raw_text, read_delimited
from coterie.tables.header import check_width
from coterie.tables.stored_tables import read_duckdb, read_sqlite, read_xlsx
from coterie.tables.table import Column, Table, values_of

__all__ = ["FORMATS", "read_table"]


def read_table(path: str | os.PathLike[str], *, empty: bool = False) -> Table:
    """The table in a file, read as the ending of its name says.

    Parameters
    ----------
    path : path-like
        .csv, .tsv, .txt, .json or .jsonl (also .gz); .parquet, .arrow or .feather (needs pyarrow);
        .xlsx (needs openpyxl); .sqlite, .db or .duckdb; .npy or .npz. A sheet of a workbook or a
        table of a database is named after two colons: "shop.db::customers". Text stays as it was
        written until numbers are asked for.
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
    check_arguments(read_table, locals())
    path, inside = split_name(Path(path))
    suffix = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    reader = FORMATS.get(suffix.lower())
    if reader is None or (path.suffix == ".gz" and suffix.lower() not in _PACKED):
        raise InvalidData(
            f"{path}: the name must end in {', '.join(FORMATS)} (the text formats also in .gz)."
        )
    if path.stat().st_size == 0:
        raise InvalidData(f"{path} is empty.")
    try:
        table = reader(path) if inside is None else reader(path, inside)
    except OSError as error:
        if isinstance(error, CoterieError) or error.filename is not None:
            raise
        raise InvalidData(f"{path} cannot be read: {error.strerror or error}.") from error
    if not table.n_rows and not empty:
        raise InvalidData(f"{path} has no rows.")
    return table


def _parsed(text: str) -> Any:
    """JSON, with "\ufffd" for half a letter (``\\ud83d`` alone), which no file can be given."""
    found = json.loads(text)
    return _whole_letters(found) if _HALF.search(text) else found


def _whole_letters(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_whole_letters(item) for item in value]
    if isinstance(value, dict):
        return {_whole_letters(name): _whole_letters(item) for name, item in value.items()}
    return value


def _read_json(path: Path) -> Table:
    """A list of objects, one for each row; or an object with a list for each column."""
    try:
        content = _parsed(raw_text(path, raw_bytes(path)))
    except (ValueError, RecursionError) as error:
        if isinstance(error, json.JSONDecodeError) and error.msg == "Extra data":
            return _read_jsonl(path)  # many write JSON lines into a file of this name
        raise InvalidData(f"{path} is not JSON ({error}).") from error
    content, notes = _rows_within(content)
    if isinstance(content, list) and all(isinstance(row, dict) for row in content):
        by_name = _by_name(path, content)
    elif isinstance(content, dict) and all(isinstance(v, list) for v in content.values()):
        by_name = content
    else:
        raise InvalidData(
            f'{path}: expected a list of objects like [{{"x": 1}}, ...] or lists by column like '
            '{"x": [1, ...]}.'
        )
    lengths = {len(values) for values in by_name.values()}
    if len(lengths) > 1:
        raise InvalidData(f"{path}: the lists of its columns differ in length: {sorted(lengths)}.")
    columns = {name: Column(name, values_of(values)) for name, values in by_name.items()}
    return Table(str(path), lengths.pop() if lengths else 0, columns, notes=notes)


def _rows_within(content: Any) -> tuple[Any, tuple[str, ...]]:
    """The rows of what a service answered, as {"rows": [...], "total": 7}, and a note if anything
    else was there; objects of the same keys, as pandas writes them, are lists by column.
    """
    if not isinstance(content, dict):
        return content, ()
    if len(content) == 1:
        return next(iter(content.values())), ()
    inside = list(content.values())
    if all(isinstance(value, dict) and [*value] == [*inside[0]] for value in inside):
        return {name: [*value.values()] for name, value in content.items()}, ()
    lists = [name for name, value in content.items() if isinstance(value, list)]
    rows = content[lists[0]] if len(lists) == 1 else []
    if rows and all(isinstance(row, dict) for row in rows):
        return rows, (f"rows are those of {lists[0]!r} in the file; what is beside it is left out",)
    return content, ()


def _by_name(source: Path, rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """The values of each name, None where a row lacks it; objects inside are columns a.b."""
    flat = [_flat(row) for row in rows]
    names = dict.fromkeys(name for row in flat for name in row)
    check_width(source, len(names))
    return {name: [row.get(name) for row in flat] for name in names}


def _flat(row: dict[str, Any], before: str = "", depth: int = 8) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dict) and value and depth:
            found.update(_flat(value, f"{before}{name}.", depth - 1))
        else:
            found[before + name] = value
    return found


def _read_jsonl(path: Path) -> Table:
    """One JSON object a line; a key that a line lacks is a missing value."""
    rows: list[dict[str, Any]] = []
    lines: list[int] = []
    for number, line in enumerate(raw_text(path, raw_bytes(path)).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = _parsed(line)
        except (ValueError, RecursionError) as error:
            raise InvalidData(f"{path}, line {number}: not JSON ({error}).") from error
        if not isinstance(row, dict):
            raise InvalidData(
                f'{path}, line {number}: expected an object like {{"text": "..."}}, got '
                f"{type(row).__name__}."
            )
        rows.append(row)
        lines.append(number)
    columns = {
        name: Column(name, values_of(values)) for name, values in _by_name(path, rows).items()
    }
    return Table(str(path), len(rows), columns, place=lambda row: f"line {lines[row]}")


FORMATS: dict[str, Callable[..., Table]] = {
    ".csv": read_delimited,
    ".txt": read_delimited,
    ".tsv": lambda path: read_delimited(path, "\t"),
    ".json": _read_json,
    ".jsonl": _read_jsonl,
    ".parquet": read_parquet,
    ".arrow": read_arrow,
    ".feather": read_arrow,
    ".npy": read_npy,
    ".npz": read_npz,
    ".xlsx": read_xlsx,
    ".xlsm": read_xlsx,
    ".sqlite": read_sqlite,
    ".sqlite3": read_sqlite,
    ".db": read_sqlite,
    ".duckdb": read_duckdb,
}
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_PACKED = (".csv", ".txt", ".tsv", ".json", ".jsonl")
