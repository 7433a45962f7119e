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
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from coterie.exceptions import InvalidData
from coterie.tables.arrow import give_back
from coterie.tables.header import (
    NO_HEADER,
    ROW_NAMES,
    distinct_names,
    has_row_names,
    header_at,
    is_row,
    numbered,
    parted_by_spaces,
    titles_left_out,
)
from coterie.tables.table import Column, Table
from coterie.tables.unpacking import unpacked_gzip
from coterie.words import counted

__all__ = ["raw_bytes", "raw_text", "read_delimited"]

_LONGEST_FIELD = 1 << 27  # letters; the csv module's own limit is far below a long text
_FOR_EXCEL = re.compile(rb"\A(?:\xef\xbb\xbf)?sep=.\r?\n")  # says which sign parts values
_BOM = b"\xef\xbb\xbf"
# How files begin that are no text, and what to do with them.
_OTHER_FILES = {
    b"PK\x03\x04": "an Excel workbook (name it .xlsx) or a zip archive (unpack it)",
    b"\xd0\xcf\x11\xe0": "a file of an Office before 2007; save it as .xlsx",
    b"PAR1": "a Parquet file; name it .parquet",
    b"ARROW1": "an Arrow file; name it .arrow",
    b"SQLite format 3\0": "an SQLite database; name it .sqlite",
    b"\x1f\x8b": "gzipped; let its name end in .gz",
}
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # how such files begin
_MARKS = ",;\t|"  # a tie goes to the comma
_SPACES = re.compile(rb" +")
_MARGINS = re.compile(rb"^ +| +(?=\r?$)", re.MULTILINE)
_FIRST_LOOK = 1 << 16  # bytes in which the header and some rows stand
_LOOKED_AT = 20  # rows that tell where the header is
_COPIED = 1 << 26  # bytes; see _arrows_own


class _Text(NamedTuple):
    """A file as text.

    Attributes
    ----------
    raw : bytes
        In UTF-8. Lines above the header are blank, so that lines keep their numbers.
    mark : str
        The sign that parts values.
    has_header : bool
    notes : tuple of str
    """

    raw: bytes
    mark: str
    has_header: bool
    notes: tuple[str, ...]


def read_delimited(path: Path, delimiter: str | None = None) -> Table:
    """A file, plain or gzipped, in UTF-8; delimiter and header are found if not given."""
    text = _text_of(path, _checked_bytes(path), delimiter)
    columns, renamed = _read_by_arrow(path, text) or _read_plain(path, text)
    n_rows = len(next(iter(columns.values())))

    def place(row: int) -> str:
        return f"line {_line_of(path, row, delimiter)}"

    return Table(str(path), n_rows, columns, place=place, notes=(*text.notes, *renamed))


def _text_of(path: Path, raw: bytes, delimiter: str | None) -> _Text:
    """The text of a file, what parts its values, and whether it has a header."""
    raw, notes = _as_utf8(path, raw)
    start = raw[:_FIRST_LOOK].decode("utf-8-sig", errors="replace").split("\n")
    lines = [line.rstrip("\r") for line in (start[:-1] if len(raw) > _FIRST_LOOK else start)]
    filled = [at for at, line in enumerate(lines) if line.strip()][:_LOOKED_AT]
    rows = [lines[at] for at in filled if not lines[at].startswith("#")]
    for sign in (" ", "\t") if delimiter is None and filled[:1] == [0] else ():
        quoted = sign == "\t" or all(line.startswith('"') for line in rows[1:])
        if has_row_names([_values(line, sign) for line in rows], counting=not quoted):
            named = f'"row"{sign}'.encode() + raw.removeprefix(_BOM)
            return _Text(named, sign, True, (*notes, ROW_NAMES))
    if delimiter is None and parted_by_spaces(rows):
        text = _text_of(path, _SPACES.sub(b"\t", _MARGINS.sub(b"", raw)), "\t")
        return text._replace(notes=(*notes, *text.notes))
    first = lines[filled[0]] if filled else ""
    mark = delimiter or max(_MARKS, key=first.count)
    if any(lines[at].count('"') % 2 for at in filled) or not filled:
        return _Text(raw, mark, True, notes)  # a record may span lines
    above, sign = _titles([lines[at] for at in filled], delimiter or mark, delimiter)
    if above:
        mark = sign
        raw = b"\n" * filled[above] + raw.split(b"\n", filled[above])[-1]
        notes = (*notes, titles_left_out(above, "line"))
        filled = filled[above:]
    if is_row([_values(lines[at], mark) for at in filled]):
        return _Text(raw, mark, False, (*notes, NO_HEADER))
    return _Text(raw, mark, True, notes)


def _titles(lines: list[str], mark: str, delimiter: str | None) -> tuple[int, str]:
    """How many of the first lines stand above the header, and what parts values below them.

    `mark` is what parts the first line. Where it parts all lines into rows of one width, no other
    sign is tried.
    """
    widths = {len(_values(line, mark)) for line in lines}
    if delimiter or (len(widths) == 1 and mark in lines[0] and not lines[0].startswith("#")):
        signs = [mark]
    else:
        signs = sorted(_MARKS, key=lines[-1].count, reverse=True)
    for sign in signs:
        above = header_at([_values(line, sign) for line in lines])
        if above:
            return above, sign
    return 0, mark


def _values(line: str, mark: str) -> list[str]:
    """The values of a line with quotes that it closes itself."""
    if '"' not in line:
        return line.split(mark)
    return next(csv.reader(io.StringIO(line, newline=""), delimiter=mark))  # up to a lone \r


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
    told = f"{path.name} is not UTF-8; read as Windows-1252 (Latin-1)"
    return text.encode("utf-8"), (f"{told}; if letters look wrong, save it as UTF-8",)


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
            f"{path}, line {line}: not UTF-8 text (byte {raw[error.start]:#04x}); "
            f"save it as UTF-8, for instance: iconv -f CODE -t utf-8 {path.name} > new.csv, where "
            "CODE is cp850, shift_jis, gb18030 or what else it was written in"
        ) from error


def _checked_bytes(path: Path) -> bytes:
    raw = _from_utf_16(path, raw_bytes(path))
    for start, what in _OTHER_FILES.items():
        if raw.startswith(start):
            raise InvalidData(f"{path} is no text table but {what}.")
    nul = raw.find(b"\0")
    if nul >= 0:
        line = raw.count(b"\n", 0, nul) + 1
        raise InvalidData(f"{path}, line {line}: a NUL byte; this is not a text table.")
    if not raw.strip(b"\xef\xbb\xbf \t\r\n"):
        raise InvalidData(f"{path} is empty.")
    return raw


def _from_utf_16(path: Path, raw: bytes) -> bytes:
    """UTF-8 of what Excel calls Unicode text; anything else as it is."""
    code = "utf-16" if raw.startswith(_UTF_16) else _code_by_nuls(raw[:_FIRST_LOOK])
    if code is None:
        return raw
    try:
        return raw.decode(code).encode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidData(f"{path} is damaged UTF-16 text; save it as UTF-8.") from error


def _code_by_nuls(start: bytes) -> str | None:
    """The code of UTF-16 text without a mark in front: every other byte of plain letters is NUL."""
    odd, even = start[1::2].count(0), start[::2].count(0)
    if max(odd, even) <= len(start) // 4 or min(odd, even):
        return None
    return "utf-16-le" if odd else "utf-16-be"


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


def _read_plain(path: Path, text: _Text) -> _Read:
    delimiter = text.mark
    records = _records(path, raw_text(path, text.raw), delimiter)
    first = next(records)
    names, notes = _names(path, text, first[1])
    records = records if text.has_header else chain([first], records)
    rows = []
    for line, values in records:
        if len(values) != len(names):
            remedy = f"Put values that hold a {delimiter!r} in quotes"
            if len(values) < len(names):
                remedy = f"Write a {delimiter!r} for each value that is missing"
            raise InvalidData(
                f"{path}, line {line}: {counted(len(values), 'value')} for the {len(names)} "
                f"columns of the header. {remedy}, or delete what stands above the header."
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


def _names(path: Path, text: _Text, first: list[str]) -> tuple[list[str], tuple[str, ...]]:
    """The names of the columns, where the first record holds these values; and notes."""
    return distinct_names(path, first if text.has_header else numbered(len(first)))


def _read_by_arrow(path: Path, text: _Text) -> _Read | None:
    """As `_read_plain`; None where pyarrow is not there or does not like the file."""
    try:
        arrow, reader = import_module("pyarrow"), import_module("pyarrow.csv")
    except ImportError:
        return None
    raw, delimiter = text.raw, text.mark
    first = raw.split(b"\n", 1)[0]
    if not first.strip() or b'"' in first or b"\r" in first.rstrip(b"\r"):
        return None  # the header may stand elsewhere or span lines
    if raw.count(b'"') % 2:
        return None  # pyarrow takes a quote that is never closed for one that is
    given = raw_text(path, first).rstrip("\r").split(delimiter)
    names, notes = _names(path, text, given)
    try:
        table = reader.read_csv(
            arrow.BufferReader(_arrows_own(arrow, raw)),
            read_options=reader.ReadOptions(column_names=names, skip_rows=int(text.has_header)),
            parse_options=reader.ParseOptions(delimiter=delimiter, newlines_in_values=b'"' in raw),
            convert_options=reader.ConvertOptions(
                column_types=dict.fromkeys(names, arrow.large_string()), strings_can_be_null=False
            ),
        )
    except arrow.ArrowException:
        return None
    give_back()  # it read by several threads, each with memory of its own
    return {name: Column(name, table.column(name)) for name in names}, notes


def _arrows_own(arrow: Any, raw: bytes) -> Any:
    """A copy of bytes that pyarrow's threads may free at any time.

    One of them may still hold what was read when Python ends. Bytes of Python are freed under
    Python's lock, which is not given any more then: the thread, and with it the command, aborts.
    After large files there is so much to do that threads have long let go.
    """
    if len(raw) > _COPIED:
        return raw
    copy = arrow.allocate_buffer(len(raw))
    np.frombuffer(copy, dtype=np.uint8)[:] = np.frombuffer(raw, dtype=np.uint8)
    return copy


def _line_of(path: Path, row: int, delimiter: str | None) -> int:
    """The line a row ends on; the file is read again, as this is only asked for a message."""
    text = _text_of(path, _checked_bytes(path), delimiter)
    records = _records(path, raw_text(path, text.raw), text.mark)
    for number, (line, _) in enumerate(records, start=-int(text.has_header)):
        if number == row:
            return line
    return row + 2
