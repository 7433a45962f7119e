"""Rows with their clusters, into a file or onto the screen."""

from __future__ import annotations

import sys
from pathlib import Path

from coterie.exceptions import InvalidParameter
from coterie.tables import Table, write_table
from coterie.tables import writing as _writing

__all__ = ["STDOUT", "check_format", "check_free", "write_output"]

STDOUT = Path("-")
RESULTS = ("cluster", "confidence")  # the columns that fit and predict add


def check_free(table: Table) -> None:
    """Refuse, before any work is done, a table that has columns of the results' names."""
    for name in RESULTS:
        if name in table.columns:
            raise InvalidParameter(
                f"{table.source} has a column {name!r} already; rename or remove it, as the result "
                "would be written there."
            )


def check_format(path: Path) -> None:
    """Refuse, before any work is done, a name that says no format."""
    try:
        if path != STDOUT:
            _writing.check_format(path)
    except InvalidParameter as error:
        raise InvalidParameter(f"-o {error} (- is the screen.)") from error


def write_output(table: Table, path: Path, *, raw: bool) -> None:
    """Write a table, as CSV where the path is `STDOUT`."""
    if path == STDOUT:
        _writing.write_delimited(table, sys.stdout, raw=raw)
    else:
        write_table(table, path, raw=raw)
