"""Files as they are given on the command line: tables inside files, and the standard input."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from coterie.files import split_name

__all__ = ["DataFile", "saved_input", "split_pairs"]

STDIN = "-"
# What the standard input begins with, and the ending of a file that holds such.
_BEGINNINGS = {
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"SQLite format 3": ".db",
    b"\x93NUMPY": ".npy",
    b"\x1f\x8b": ".csv.gz",
    b"PK": ".xlsx",
    b"[": ".json",
    b"{": ".json",
}


class DataFile(click.Path):
    """A file, a table inside one (shop.db::customers) or, if allowed, the standard input (-)."""

    name = "file"

    def __init__(self, *, stdin: bool = False, **options: Any) -> None:
        super().__init__(exists=True, path_type=Path, **options)
        self.stdin = stdin

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        """The path as it was given; of the standard input, that of a file which holds it."""
        if str(value) == STDIN and self.stdin:
            return saved_input(ctx)
        path, inside = split_name(Path(value))
        if inside is None:
            return super().convert(value, param, ctx)
        super().convert(str(path), param, ctx)
        return Path(value)


def saved_input(ctx: click.Context | None) -> Path:
    """The standard input as a file, which is gone when the command ends."""
    content = sys.stdin.buffer.read()
    start = content.lstrip()[:16]
    ending = next((end for mark, end in _BEGINNINGS.items() if start.startswith(mark)), ".csv")
    folder = tempfile.TemporaryDirectory(prefix="coterie-")
    if ctx is not None:
        ctx.call_on_close(folder.cleanup)
    path = Path(folder.name) / f"stdin{ending}"
    path.write_bytes(content)
    return path


def split_pairs(data: Sequence[Path], pairs: Path | None) -> tuple[tuple[Path, ...], Path | None]:
    """DATA and PAIRS of `fit DATA... [PAIRS]`.

    The last of several files holds pairs unless all are parts of one table, in Parquet; of those,
    if it has the columns of pairs and the first has not.
    """
    if len(data) < 2 or pairs is not None or not data[-1].is_file():
        return tuple(data), pairs
    parquet = data[0].suffix == data[-1].suffix == ".parquet"
    if parquet and not (_holds_pairs(data[-1]) and not _holds_pairs(data[0])):
        return tuple(data), None
    return tuple(data[:-1]), data[-1]


def _holds_pairs(path: Path) -> bool:
    from coterie.data.parquet import open_parquet

    with open_parquet(path) as file:
        names = {name.lower() for name in file.schema_arrow.names}
    return "kind" in names and ({"a", "b"} <= names or {"i", "j"} <= names)
