"""Tables as files, in the format the name of the file asks for; whole or not at all."""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from coterie.exceptions import InvalidParameter, NotWritten
from coterie.files import new_file, write_array
from coterie.tables.arrow import pyarrow, writable
from coterie.tables.choices import VECTORS
from coterie.tables.formats import NUMBERS, read_texts
from coterie.tables.table import Column, Table

__all__ = [
    "check_format",
    "keeps_types",
    "neutral",
    "with_results",
    "write_delimited",
    "write_table",
    "write_tables",
]

_AT_ONCE = 1 << 16  # rows turned into Python values at a time
# Spreadsheets run what begins with one of these; numbers and amounts do too and are left alone.
_FORMULA = re.compile(r"[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def with_results(table: Table, results: dict[str, Any], numbers: Iterable[str] = ()) -> Table:
    """The columns of a table and of the results; array files give row numbers for their columns.

    Columns named in `numbers` are given as such even where the table holds text. Vectors from an
    array file beside the table are left there.
    """
    written = {n: column for n, column in table.columns.items() if n != VECTORS}
    columns = dict(written) if table.matrix is None else {}
    for name in numbers:
        if columns[name].kind == "text":
            columns[name] = Column(name, columns[name].numbers.values)
    if not columns:
        columns["row"] = Column("row", np.arange(table.n_rows))
        columns |= written
    columns |= {name: Column(name, values) for name, values in results.items()}
    return Table(table.source, table.n_rows, columns)


def keeps_types(path: Path) -> bool:
    """Whether the format tells numbers from text; in the others a number stays as it is written."""
    return path.suffix.lower() in (".parquet", ".feather", ".arrow", ".jsonl")


def check_format(path: Path) -> None:
    """Refuse, before any work is done, a name that says no format or one that needs pyarrow."""
    if path.suffix.lower() not in WRITERS:
        raise InvalidParameter(f"{path}: the name must end in {', '.join(WRITERS)}.")
    if path.suffix.lower() in (".parquet", ".feather", ".arrow"):
        pyarrow(f"writing {path.suffix} files")


def write_table(table: Table, path: str | os.PathLike[str], *, raw: bool = False) -> None:
    """Write a table whole or not at all.

    Parameters
    ----------
    table : Table
    path : path-like
        .csv, .tsv, .jsonl, .parquet, .feather or .arrow; .npy holds the column `cluster` alone.
    raw : bool
        CSV and TSV: leave cells that a spreadsheet would run as formulas as they are. Otherwise
        an apostrophe is put before them.

    Raises
    ------
    NotWritten
        The disk is full or the folder cannot be written to; nothing was left behind.

    Examples
    --------
    >>> import numpy as np, pathlib, tempfile
    >>> from coterie.tables import Table, read_table, write_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "t.csv"
    >>> write_table(Table.of("t", {"x": np.array([1.5, 2.0])}), path)
    >>> read_table(path).column("x").numbers.values.tolist()
    [1.5, 2.0]
    """
    write_tables([table], path, raw=raw)


def write_tables(
    tables: Iterable[Table], path: str | os.PathLike[str], *, raw: bool = False
) -> None:
    """Write tables one below the other, whole or not at all; one at a time is held.

    Parameters
    ----------
    tables : iterable of Table
        At least one, all with the same columns of the same types.
    path, raw
        As in `write_table`.
    """
    target = Path(path)
    check_format(target)
    with new_file(target) as temporary:
        WRITERS[target.suffix.lower()](iter(tables), temporary, raw)


def neutral(value: Any) -> Any:
    """A cell that a spreadsheet shows instead of running: '=1+1 for =1+1.

    Only texts are changed, and of those not the ones that are numbers or amounts as we read them,
    like -3.5 and -3,50 €: in these there is nothing to run.

    >>> neutral("=SUM(A1)"), neutral("-3.5"), neutral("-x"), neutral("a=b"), neutral("-3,50 €")
    ("'=SUM(A1)", '-3.5', "'-x", 'a=b', '-3,50 €')
    """
    if isinstance(value, str) and _FORMULA.match(value) and not _is_amount(value):
        return "'" + value
    return value


def _is_amount(text: str) -> bool:
    return _NUMBER.fullmatch(text.strip()) is not None or any(
        not np.isnan(read_texts([text], form)[0]) for form in NUMBERS
    )


def _blocks(table: Table) -> Iterator[Iterable[tuple[Any, ...]]]:
    """The rows as Python values, so many at a time."""
    for start in range(0, table.n_rows, _AT_ONCE):
        stop = min(start + _AT_ONCE, table.n_rows)
        yield zip(*(column.cells(start, stop) for column in table.columns.values()), strict=True)


def write_delimited(
    tables: Iterable[Table], stream: TextIO, delimiter: str = ",", *, raw: bool = False
) -> None:
    """Write tables to a stream one below the other, one row a line; see `write_table`."""
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    for number, table in enumerate(tables):
        texts = [column.kind != "number" for column in table.columns.values()]
        names = list(table.columns)
        if number == 0:
            writer.writerow(names if raw else map(neutral, names))
        for rows in _blocks(table):
            if raw or not any(texts):
                writer.writerows(rows)
            else:
                writer.writerows(
                    [neutral(v) if text else v for v, text in zip(row, texts, strict=True)]
                    for row in rows
                )


def _delimited(delimiter: str) -> Callable[[Iterator[Table], Path, bool], None]:
    def write(tables: Iterator[Table], path: Path, raw: bool) -> None:
        with path.open("w", newline="", encoding="utf-8") as stream:
            write_delimited(tables, stream, delimiter, raw=raw)

    return write


def _write_jsonl(tables: Iterator[Table], path: Path, raw: bool) -> None:
    with path.open("w", encoding="utf-8") as stream:
        for table in tables:
            names = list(table.columns)
            for rows in _blocks(table):
                for row in rows:
                    line = dict(zip(names, map(_json_value, row), strict=True))
                    stream.write(json.dumps(line, ensure_ascii=False, default=str) + "\n")


def _json_value(value: Any) -> Any:
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _write_npy(tables: Iterator[Table], path: Path, raw: bool) -> None:
    write_array(path, np.concatenate([table.columns["cluster"].values for table in tables]))


def _arrow_table(table: Table) -> Any:
    arrow = pyarrow("writing Parquet files")
    arrays = {
        name: writable(column.values)
        if column.is_arrow
        else arrow.array(column.values, from_pandas=True)
        for name, column in table.columns.items()
    }
    return arrow.table(arrays)


def _write_parquet(tables: Iterator[Table], path: Path, raw: bool) -> None:
    def opened(first: Table, schema: Any) -> Any:
        # Dictionaries pay for texts; for numbers they cost time and save nothing.
        texts = [name for name, column in first.columns.items() if column.kind == "text"]
        return import_module("pyarrow.parquet").ParquetWriter(path, schema, use_dictionary=texts)

    _through_arrow(tables, opened)


def _write_feather(tables: Iterator[Table], path: Path, raw: bool) -> None:
    def opened(first: Table, schema: Any) -> Any:
        arrow = pyarrow("writing Feather files")
        packed = "lz4" if arrow.Codec.is_available("lz4") else None
        options = arrow.ipc.IpcWriteOptions(compression=packed, unify_dictionaries=True)
        return arrow.ipc.new_file(str(path), schema, options=options)

    _through_arrow(tables, opened)


def _through_arrow(tables: Iterator[Table], opened: Callable[[Table, Any], Any]) -> None:
    """Write tables with what `opened` gives for the first one and its schema."""
    try:
        first = next(tables)
        table = _arrow_table(first)
        with opened(first, table.schema) as writer:
            writer.write_table(table)
            for rest in tables:
                writer.write_table(_arrow_table(rest))
    except pyarrow("this").ArrowException as error:
        raise NotWritten(f"nothing was written: {error}.") from error


WRITERS: dict[str, Callable[[Iterator[Table], Path, bool], None]] = {
    ".csv": _delimited(","),
    ".tsv": _delimited("\t"),
    ".jsonl": _write_jsonl,
    ".parquet": _write_parquet,
    ".feather": _write_feather,
    ".arrow": _write_feather,
    ".npy": _write_npy,
}
