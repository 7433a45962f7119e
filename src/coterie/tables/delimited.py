"""Comma- and tab-separated files. Every value stays text until a command asks for numbers, so
codes like 007 survive the way through.

pyarrow reads them where it is installed. The plain reader below says what is right: whatever
pyarrow refuses is read again by it, and it finds the line to name.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from coterie.exceptions import InvalidData
from coterie.tables.arrow import give_back
from coterie.tables.header import distinct_names
from coterie.tables.table import Column, Table
from coterie.tables.unpacking import unpacked_gzip

__all__ = ["raw_bytes", "raw_text", "read_delimited"]

_LONGEST_FIELD = 1 << 27  # letters; the csv module's own limit is far below a long text
_FOR_EXCEL = re.compile(rb"\A(?:\xef\xbb\xbf)?sep=.\r?\n")  # says which sign parts values
_BOMS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


def read_delimited(path: Path, delimiter: str | None = None) -> Table:
    """A file with a header, plain or gzipped, in UTF-8; the delimiter is found if not given."""
    raw, notes = _as_utf8(path, _checked_bytes(path))
    first = raw.lstrip(b"\r\n").split(b"\n", 1)[0].decode("utf-8-sig", errors="replace")
    # The sign that parts the header's names; a tie goes to the comma.
    mark = delimiter or max(",;\t|", key=first.count)
    columns, renamed = _read_by_arrow(path, raw, mark) or _read_plain(path, raw, mark)
    n_rows = len(next(iter(columns.values())))

    def place(row: int) -> str:
        return f"line {_line_of(path, row, mark)}"

    return Table(str(path), n_rows, columns, place=place, notes=(*notes, *renamed))


def _as_utf8(path: Path, raw: bytes) -> tuple[bytes, tuple[str, ...]]:
    """The bytes in UTF-8, and a note if they were in the usual 8-bit code of Windows.

    Text is in that code if not one letter of it is UTF-8; otherwise a byte of it is damaged. A line
    for Excel alone is made blank, so that lines keep their numbers.
    """
    raw = _FOR_EXCEL.sub(b"\n", raw)
    try:
        raw.decode("utf-8")
        return raw, ()
    except UnicodeDecodeError:
        if not raw.decode("utf-8", errors="ignore").isascii():
            return raw, ()  # raw_text names the line
    try:
        text = raw.decode("cp1252")
    except UnicodeDecodeError:
        return raw, ()
    return text.encode("utf-8"), (f"{path.name} is not UTF-8; read as Windows-1252 (Latin-1)",)


def raw_bytes(path: Path) -> bytes:
    """What a file holds, unpacked if its name ends in .gz."""
    return unpacked_gzip(path) if path.suffix == ".gz" else path.read_bytes()


def raw_text(path: Path, raw: bytes) -> str:
    """The bytes as UTF-8 text without the mark some editors put in front."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InvalidData(
            f"{path}, line {line}: not UTF-8 text (byte {raw[error.start]:#04x}); save the file as "
            f"UTF-8, for instance: iconv -f latin1 -t utf-8 {path.name}"
        ) from error


def _checked_bytes(path: Path) -> bytes:
    raw = raw_bytes(path)
    for mark, encoding in _BOMS.items():
        if raw.startswith(mark):
            raise InvalidData(f"{path} is {encoding} text; save it as UTF-8.")
    nul = raw.find(b"\0")
    if nul >= 0:
        line = raw.count(b"\n", 0, nul) + 1
        raise InvalidData(f"{path}, line {line}: a NUL byte; this is not a text table.")
    if not raw.strip(b"\xef\xbb\xbf \t\r\n"):
        raise InvalidData(f"{path} is empty.")
    return raw


def _records(path: Path, text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """(line it ends on, values) of every record; blank lines are left out."""
    before = csv.field_size_limit(_LONGEST_FIELD)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for values in reader:
            if values:
                yield reader.line_num, values
    except csv.Error as error:
        raise InvalidData(f"{path}, line {reader.line_num}: {error}.") from error
    finally:
        csv.field_size_limit(before)


_Read = tuple[dict[str, Column], tuple[str, ...]]  # the columns, and notes about their names


def _read_plain(path: Path, raw: bytes, delimiter: str) -> _Read:
    records = _records(path, raw_text(path, raw), delimiter)
    names, notes = distinct_names(path, next(records)[1])
    rows = []
    for line, values in records:
        if len(values) != len(names):
            raise InvalidData(
                f"{path}, line {line}: {len(values)} values for the {len(names)} columns of the "
                "header. Delete what stands above the header, or put values that hold a "
                f"{delimiter!r} in quotes."
            )
        rows.append(values)
    by_column = zip(*rows, strict=True) if rows else ((),) * len(names)
    read = {
        name: Column(name, _objects(values)) for name, values in zip(names, by_column, strict=True)
    }
    return read, notes


def _objects(values: Any) -> Any:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def _read_by_arrow(path: Path, raw: bytes, delimiter: str) -> _Read | None:
    """As `_read_plain`; None where pyarrow is not there or does not like the file."""
    try:
        arrow, reader = import_module("pyarrow"), import_module("pyarrow.csv")
    except ImportError:
        return None
    first = raw.split(b"\n", 1)[0]
    if not first.strip() or b'"' in first or b"\r" in first.rstrip(b"\r"):
        return None  # the header may stand elsewhere or span lines
    if raw.count(b'"') % 2:
        return None  # pyarrow takes a quote that is never closed for one that is
    given = raw_text(path, first).rstrip("\r").split(delimiter)
    names, notes = distinct_names(path, given)
    try:
        table = reader.read_csv(
            arrow.BufferReader(raw),
            read_options=reader.ReadOptions(column_names=names, skip_rows=1),
            parse_options=reader.ParseOptions(delimiter=delimiter, newlines_in_values=b'"' in raw),
            convert_options=reader.ConvertOptions(
                column_types=dict.fromkeys(names, arrow.large_string()), strings_can_be_null=False
            ),
        )
    except arrow.ArrowException:
        return None
    give_back()  # it read by several threads, each with memory of its own
    return {name: Column(name, table.column(name)) for name in names}, notes


def _line_of(path: Path, row: int, delimiter: str) -> int:
    """The line a row ends on; the file is read again, as this is only asked for a message."""
    raw, _ = _as_utf8(path, raw_bytes(path))
    records = _records(path, raw_text(path, raw), delimiter)
    for number, (line, _) in enumerate(records, start=-1):
        if number == row:
            return line
    return row + 2
