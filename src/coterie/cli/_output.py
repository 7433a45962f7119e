"""Rows with their clusters, into a file or onto the screen."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable
from pathlib import Path

from coterie.exceptions import InvalidParameter
from coterie.tables import Table, write_tables
from coterie.tables import writing as _writing

__all__ = ["STDOUT", "check_format", "check_free", "write_output"]

STDOUT = Path("-")
RESULTS = ("cluster", "confidence")  # the columns that fit and predict add


def check_free(source: str, names: Collection[str]) -> None:
    """Refuse, before any work is done, columns that have the results' names."""
    for name in RESULTS:
        if name in names:
            raise InvalidParameter(
                f"{source} has a column {name!r} already; rename or remove it, as the result "
                "would be written there."
            )


def check_format(path: Path) -> None:
    """Refuse, before any work is done, a name that says no format."""
    try:
        if path != STDOUT:
            _writing.check_format(path)
    except InvalidParameter as error:
        raise InvalidParameter(f"-o {error} (- is the screen.)") from error


def write_output(tables: Iterable[Table], path: Path, *, raw: bool) -> None:
    """Write tables one below the other, as CSV where the path is `STDOUT`."""
    if path == STDOUT:
        _writing.write_delimited(tables, sys.stdout, raw=raw)
    else:
        write_tables(tables, path, raw=raw)
