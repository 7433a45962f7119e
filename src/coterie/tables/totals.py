"""The last row of a table, where it sums up the others."""

from __future__ import annotations

import re

from coterie.tables.table import Column, Table

__all__ = ["total_row"]

_TOTAL = re.compile(
    r"(grand |sub)?totals?|sum|sums|(gesamt)?summe|gesamt|insgesamt|total g[ée]n[ée]ral|somme|"
    r"totale|totales|suma|totaal|average|mean|mittelwert|moyenne",
    re.IGNORECASE,
)


def total_row(table: Table, row: int | None = None) -> str:
    """What to say of the last row if it holds a total of the others, "" if not.

    Parameters
    ----------
    table : Table
    row : int, optional
        A row that something is said of: if it is not the last one there is nothing to say.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie.tables import Table
    >>> table = Table.of("t", {"town": np.array(["Ulm", "Rom", "Total"], dtype=object)})
    >>> total_row(table)
    "The last row (row 2) seems to be a total; leave it out with `where` 'town != Total'. "
    """
    last = table.n_rows - 1
    if last < 1 or (row is not None and row != last):
        return ""
    for name, column in table.columns.items():
        if column.kind != "text":
            continue
        text = (column.part(last, last + 1).texts()[0] or "").strip()
        if _TOTAL.fullmatch(text.rstrip(":")) and not _elsewhere(column, text, last):
            return (
                f"The last row ({table.place(last)}) seems to be a total; leave it out with "
                f"`where` '{name} != {text}'. "
            )
    return ""


def _elsewhere(column: Column, text: str, last: int) -> bool:
    """Whether a row above the last one holds the same text."""
    return any(other is not None and other.strip() == text for other in column.texts()[:last])
