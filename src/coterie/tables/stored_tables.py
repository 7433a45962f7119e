"""Tables inside other files: sheets of a workbook, tables of an SQLite or DuckDB database."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any

from coterie.exceptions import CoterieError, InvalidData, MissingDependency
from coterie.files import INSIDE_MARK
from coterie.tables.header import check_width, distinct_names, titles_left_out
from coterie.tables.table import Column, Table, values_of
from coterie.tables.unpacking import Unpacked, check_unpacked
from coterie.words import counted, nearest

__all__ = ["read_duckdb", "read_sqlite", "read_xlsx"]

_MOST_LINES = 1_048_576  # of a sheet, as Excel has it
_FIRST_LOOK = 20  # lines
_FETCHED = 10_000  # rows at a time
_VALUE = 40  # bytes of a Python number in a list


def read_xlsx(path: Path, name: str | None = None) -> Table:
    """A sheet of an Excel workbook; the first one with rows in it, or the one of this name.

    The first row with values is the header, titles above it aside; cells are the values that Excel
    last worked out.
    """
    openpyxl = _needed("openpyxl", "reading Excel files", "excel")
    try:
        check_unpacked(path)
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except CoterieError:
        raise
    except Exception as error:  # openpyxl lets anything through: of zip, of XML, its own
        raise _no_workbook(path, error) from error
    with closing(book):
        sheets = {sheet.title: sheet for sheet in book.worksheets}
        wanted = [_chosen(path, name, sheets, "sheet")] if name else list(sheets)
        for title in wanted:
            cells = _filled_rows(path, sheets[title])
            if len(cells) > 1:
                return _sheet(f"{path}{INSIDE_MARK}{title}", cells)
    place = f"{path}{INSIDE_MARK}{name}" if name else str(path)
    raise InvalidData(f"{place} holds no header with rows below it. Sheets: {', '.join(sheets)}.")


def _no_workbook(path: Path, error: Exception) -> InvalidData:
    return InvalidData(f"{path} is not a whole Excel workbook: {error}.")


def _filled_rows(path: Path, sheet: Any) -> dict[int, list[Any]]:
    """The rows that hold a value, by their place, each up to its last one.

    What a sheet says of its size is not believed: one cell in the last corner of a sheet would be
    seventeen billion empty ones.
    """
    sheet.reset_dimensions()
    found: dict[int, list[Any]] = {}
    unpacked, widest = Unpacked(path), 0
    try:
        for line, given in enumerate(sheet.iter_rows(values_only=True)):
            if line >= _MOST_LINES:
                raise InvalidData(f"{path} has rows beyond the {_MOST_LINES:,} of a sheet.")
            row = [_blank_is_none(value) for value in given]
            if width := _width(row):
                found[line] = row[:width]
                widest = max(widest, width)
                unpacked.reach(8 * widest * len(found))  # what it is as a table
    except CoterieError:
        raise
    except Exception as error:  # cells are read as they are asked for
        raise _no_workbook(path, error) from error
    return found


def _sheet(source: str, cells: dict[int, list[Any]]) -> Table:
    """The table whose header is the first of the lines with values that is no title.

    Titles have one value; so have remarks below the table, behind an empty row. Lines of two
    values above an empty row and a wider table are remarks. A first line with gaps above one of
    texts without any names groups of columns: the header is the second; if each has what the other
    lacks, the header is both.
    """
    filled = list(cells)
    start = next((at for at, line in enumerate(filled) if _n_values(cells[line]) > 1), 0)
    start = max(start, _below_remarks(cells, filled))
    if start == len(filled) - 1:
        start = 0  # one column, and a remark in the last line
    top = [cells[line] for line in filled[start : start + 3]]
    if _is_in_two_lines(top):
        cells = {**cells, filled[start + 1]: _joined(*top[:2])}
        start += 1
    else:
        start += _names_groups(top)
    stop = _end(cells, filled, start)
    below, filled = len(filled) - stop, filled[:stop]
    width = max(len(cells[line]) for line in filled[start:])
    check_width(source, width)
    header, *rows = (cells[line] + [None] * (width - len(cells[line])) for line in filled[start:])
    lines = filled[start + 1 :]
    names = ["" if value is None else str(value) for value in header]
    table = _table(source, names, rows)
    notes = [titles_left_out(start, "row")] if start else []
    notes += [f"{counted(below, 'row')} below the table left out"] if below else []
    return Table(
        table.source,
        table.n_rows,
        table.columns,
        place=lambda row: f"row {lines[row] + 1}",
        notes=(*notes, *table.notes),
    )


def _below_remarks(cells: dict[int, list[Any]], filled: list[int]) -> int:
    """Which of the lines comes first after "as of | 3 May" and an empty row; 0 for none."""
    for at in range(1, min(len(filled) - 1, _FIRST_LOOK)):
        if filled[at] > filled[at - 1] + 1:
            above = max(_n_values(cells[line]) for line in filled[:at])
            below = max(_n_values(cells[line]) for line in filled[at : at + 3])
            return at if above <= 2 < below else 0
    return 0


def _is_in_two_lines(rows: Sequence[Sequence[Any]]) -> bool:
    """Whether the first two of three rows are one header, some of whose cells reach over both."""
    if len(rows) < 3:
        return False
    width = max(map(_width, rows))
    first, second = (list(row) + [None] * (width - len(row)) for row in rows[:2])
    texts = all(value is None or isinstance(value, str) for value in (*first, *second))
    whole = all(a is not None or b is not None for a, b in zip(first, second, strict=True))
    numbers = any(isinstance(value, int | float) for value in rows[2])
    return texts and whole and numbers and None in first and None in second


def _joined(groups: Sequence[Any], names: Sequence[Any]) -> list[str]:
    """One header of two lines: "Sales" above "EUR" and "pieces" is "Sales EUR", "Sales pieces"."""
    joined, group = [], ""
    for at in range(max(len(groups), len(names))):
        above = groups[at] if at < len(groups) else None
        below = names[at] if at < len(names) else None
        group = above or group
        joined.append(" ".join(filter(None, [above if below is None else group, below])))
    return joined


def _names_groups(rows: Sequence[Sequence[Any]]) -> bool:
    """Whether the first of three rows names groups of the columns that the second names."""
    if len(rows) < 3:
        return False
    groups, names, first = rows
    width = max(_width(row) for row in rows)
    texts = all(isinstance(name, str) for name in names[:width])
    numbers = any(isinstance(value, int | float) for value in first)
    return _n_values(groups) < width and _n_values(names) == width and texts and numbers


def _end(cells: dict[int, list[Any]], filled: list[int], start: int) -> int:
    """How many of the `filled` lines are above the remarks below a table of several columns."""
    stop = len(filled)
    if _n_values(cells[filled[start]]) < 3:
        return stop
    while stop > start + 2 and _n_values(cells[filled[stop - 1]]) == 1:
        stop -= 1
    # Without an empty row between them they may be rows of the table that are nearly empty.
    behind = stop < len(filled) and filled[stop] > filled[stop - 1] + 1
    return stop if behind else len(filled)


def _width(row: Sequence[Any]) -> int:
    return max((at + 1 for at, value in enumerate(row) if value is not None), default=0)


def _n_values(row: Sequence[Any]) -> int:
    return sum(value is not None for value in row)


def read_sqlite(path: Path, name: str | None = None) -> Table:
    """A table or view of an SQLite database, which is only read."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            # Python is let in now and then, so that Ctrl-C ends a view that does not end.
            database.set_progress_handler(lambda: 0, 1_000_000)
            found = database.execute(
                "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
                "AND name NOT LIKE 'sqlite_%' ORDER BY name"
            )
            return _from_database(path, database, name, [row[0] for row in found])
    except sqlite3.DatabaseError as error:
        if str(error) == "interrupted":
            raise KeyboardInterrupt from error
        raise InvalidData(f"{path} is not a whole SQLite database: {error}.") from error


def read_duckdb(path: Path, name: str | None = None) -> Table:
    """A table or view of a DuckDB database, which is only read."""
    duckdb = _needed("duckdb", "reading DuckDB files", "duckdb")
    try:
        # A view may read other files, or the network, unless that is forbidden.
        closed = {"enable_external_access": False, "lock_configuration": True}
        with closing(duckdb.connect(str(path), read_only=True, config=closed)) as database:
            found = database.execute(
                "SELECT table_name FROM information_schema.tables "
                "WHERE table_schema = 'main' ORDER BY table_name"
            ).fetchall()
            return _from_database(path, database, name, [row[0] for row in found])
    except duckdb.PermissionException as error:
        raise InvalidData(
            f"{path}: a view in it reads other files, which a view may not do here ({error}). Make "
            "a table of it first: CREATE TABLE ... AS SELECT * FROM the view."
        ) from error
    except duckdb.Error as error:
        raise InvalidData(f"{path} is not a whole DuckDB database: {error}.") from error


def _from_database(path: Path, database: Any, name: str | None, there: Sequence[str]) -> Table:
    if not there:
        raise InvalidData(f"{path} holds no table.")
    name = _chosen(path, name, there, "table")
    quoted = name.replace('"', '""')
    result = database.execute(f'SELECT * FROM "{quoted}"')
    names = [column[0] for column in result.description]
    rows: list[list[Any]] = []
    unpacked = Unpacked(path)
    while part := result.fetchmany(_FETCHED):
        unpacked.add(sum(map(_size, part)))
        rows += map(list, part)
    return _table(f"{path}{INSIDE_MARK}{name}", names, rows)


def _size(row: Sequence[Any]) -> int:
    return _VALUE * len(row) + sum(len(value) for value in row if isinstance(value, str | bytes))


def _table(source: str, names: list[str], rows: list[list[Any]]) -> Table:
    names, notes = distinct_names(source, names)
    by_column: Iterable[Any] = zip(*rows, strict=True) if rows else ((),) * len(names)
    columns = {
        name: Column(name, values_of([_plain(value) for value in values]))
        for name, values in zip(names, by_column, strict=True)
    }
    return Table(source, len(rows), columns, notes=notes)


def _plain(value: Any) -> Any:
    """A value that `values_of` knows: decimals are numbers, bytes are texts."""
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    if type(value).__name__ == "Decimal":
        return float(value)
    return value


def _blank_is_none(value: Any) -> Any:
    return None if isinstance(value, str) and not value.strip() else value


def _chosen(path: Path, name: str | None, there: Iterable[str], what: str) -> str:
    known = list(there)
    if name is None and len(known) == 1:
        return known[0]
    if name is None:
        raise InvalidData(
            f"{path} holds several {what}s: {', '.join(known)}. Say which, for instance "
            f"{path}{INSIDE_MARK}{known[0]}"
        )
    if name not in known:
        raise InvalidData(
            f"{path} has no {what} {name!r}.{nearest(name, known)} It has {', '.join(known)}."
        )
    return name


def _needed(module: str, what: str, extra: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingDependency(
            f"{what} needs {module}; install it with: pip install 'coterie[{extra}]', or use CSV."
        ) from error
