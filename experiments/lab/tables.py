"""Compressed CSV tables that can be appended to and that survive an interruption.

A table is gzip: `replace` writes it as one member, every `append` adds a member of its own, and
readers of gzip see one text. Nothing of the time or place of writing is in the bytes, so the same
rows written again are the same file and git sees no change.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import zlib
from pathlib import Path
from typing import Any

Row = dict[str, Any]
_GZIP = 16 + zlib.MAX_WBITS  # tells zlib to expect a gzip member


def short(value: Any) -> str:
    """As it stands in the files. Five digits: no standard error here is finer."""
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def read(path: Path, columns: list[str]) -> list[Row]:
    """The complete lines of a table; a last line without its end was being written."""
    if not path.exists():
        return []
    found = _unpack(path.read_bytes())
    whole = found[: found.rfind(b"\n") + 1]
    reader = csv.DictReader(io.StringIO(whole.decode("utf-8")))
    if reader.fieldnames is None:
        return []
    if not set(reader.fieldnames) <= set(columns):  # one was renamed: nothing can be kept
        return []
    return [{name: row.get(name, "") for name in columns} for row in reader]  # or one was added


def append(path: Path, columns: list[str], rows: list[Row]) -> None:
    """Add rows and have them on disk when this returns."""
    with path.open("ab") as file:
        file.write(_pack(_text(columns, rows)))
        file.flush()
        os.fsync(file.fileno())


def replace(path: Path, columns: list[str], rows: list[Row]) -> None:
    """Write beside it and rename, so that an interruption leaves one or the other whole."""
    beside = path.with_suffix(".tmp")
    beside.write_bytes(_pack(",".join(columns) + "\n" + _text(columns, rows)))
    beside.replace(path)


def _text(columns: list[str], rows: list[Row]) -> str:
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, columns, restval="", lineterminator="\n")
    writer.writerows({name: short(value) for name, value in row.items()} for row in rows)
    return buffer.getvalue()


def _pack(text: str) -> bytes:
    """One member, without the name and the time that gzip writes by default."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=0) as file:
        file.write(text.encode("utf-8"))
    return buffer.getvalue()


def _unpack(packed: bytes) -> bytes:
    """All members; of the last, if it was being written, what there is of it.

    Bytes that are not gzip are an error (`zlib.error`), not an interruption.
    """
    found = []
    while packed:
        member = zlib.decompressobj(_GZIP)
        found.append(member.decompress(packed))
        packed = member.unused_data
    return b"".join(found)
