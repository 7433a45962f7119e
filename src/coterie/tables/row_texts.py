"""A text for each row of a table, made when it is looked at."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import overload

from coterie.tables.table import Column, Table

__all__ = ["ColumnTexts", "row_contents"]

_ROWS_AT_ONCE = 1 << 14


class _MadeTexts(Sequence[str], ABC):
    """A text for each row, made when looked at, a stretch of rows at a time.

    Texts of all rows are several tables large.
    """

    @abstractmethod
    def _made(self, start: int, stop: int) -> list[str]:
        """Those of some rows."""

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), _ROWS_AT_ONCE):
            yield from self._made(start, min(start + _ROWS_AT_ONCE, len(self)))

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        rows = range(len(self))[index]
        if isinstance(rows, int):
            return self._made(rows, rows + 1)[0]
        if rows.step == 1:
            return self._made(rows.start, rows.stop)
        return [self[row] for row in rows]


class ColumnTexts(_MadeTexts):
    """The values of a column that is never empty, as texts: ids that are not held.

    >>> import numpy as np
    >>> from coterie.tables import Column
    >>> ColumnTexts(Column("x", np.array([1.5, 2.0])))[1]
    '2'
    """

    def __init__(self, column: Column) -> None:
        self._column = column

    def __len__(self) -> int:
        return len(self._column)

    def _made(self, start: int, stop: int) -> list[str]:
        texts: list[str] = self._column.part(start, stop).texts().tolist()
        return texts


def row_contents(table: Table) -> Sequence[str]:
    """What every row says, all its cells in one text; two rows alike have the same.

    >>> import numpy as np
    >>> from coterie.tables import Table, row_contents
    >>> table = Table.of("t", {"x": np.array([1.5, 2.5]), "y": np.array(["a", "b"])})
    >>> list(row_contents(table))
    ['1.5\\x1fa', '2.5\\x1fb']
    """
    return _RowContents(table)


class _RowContents(_MadeTexts):
    def __init__(self, table: Table) -> None:
        self._table = table

    def __len__(self) -> int:
        return self._table.n_rows

    def _made(self, start: int, stop: int) -> list[str]:
        columns = self._table.columns.values()
        cells = (column.part(start, stop).texts().tolist() for column in columns)
        return [
            "\x1f".join("" if cell is None else str(cell) for cell in row)
            for row in zip(*cells, strict=True)
        ]
