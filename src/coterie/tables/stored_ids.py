"""The ids of rows in files: looked up by reading the column through, never held."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from coterie.exceptions import InvalidData
from coterie.tables.arrow import arrow_texts, texts_of_arrow
from coterie.tables.streaming import StoredTable

__all__ = ["SomeIds", "StoredIds"]


class _Ids(Sequence[str]):
    """Ids by the numbers of their rows; a subclass says how long they are and finds one."""

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        at = range(len(self))[index]
        return [self._text(row) for row in at] if isinstance(at, range) else self._text(at)

    @abstractmethod
    def _text(self, row: int) -> str:
        """The id of a row, counted from 0."""


class StoredIds(_Ids):
    """The ids of a `StoredTable` as texts; one that is asked for by its row is read then.

    Parameters
    ----------
    table : StoredTable
    name : str
        The column of ids. Those that are looked up must be there once.
    """

    def __init__(self, table: StoredTable, name: str) -> None:
        self.column = table.ids(name)

    def __len__(self) -> int:
        return len(self.column)

    def _text(self, row: int) -> str:
        start = 0
        for batch in self.column.batches():
            if row < start + len(batch):
                return str(arrow_texts(batch.slice(row - start, 1))[0])
            start += len(batch)
        raise IndexError(row)

    def find(self, texts: Iterable[str | None]) -> dict[str | None, int]:
        """Row of each of the ids that is there, by one reading; refuses one that is there twice."""
        arrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
        wanted = list(dict.fromkeys(text for text in texts if text is not None))
        sought = arrow.array(wanted, arrow.large_string())
        rows = np.full(len(wanted), -1, dtype=np.int64)
        start = 0
        for batch in self.column.batches():
            at = compute.index_in(texts_of_arrow(batch), value_set=sought)
            hits = np.flatnonzero(np.asarray(at.is_valid()))
            numbers = np.asarray(at.take(arrow.array(hits)), dtype=np.int64)
            self._refuse_second(wanted, rows, numbers, start + hits)
            rows[numbers] = start + hits
            start += len(batch)
        return {text: row for text, row in zip(wanted, rows.tolist(), strict=True) if row >= 0}

    def _refuse_second(self, wanted: list[str], rows: Any, numbers: Any, at: Any) -> None:
        """An id that was found before, or is found twice in this batch."""
        _, first = np.unique(numbers, return_index=True)
        again = np.ones(numbers.size, dtype=bool)
        again[first] = rows[numbers[first]] >= 0
        if again.any():
            place = int(np.flatnonzero(again)[0])
            number = int(numbers[place])
            other = rows[number] if rows[number] >= 0 else at[np.flatnonzero(numbers == number)[0]]
            raise InvalidData(
                f"column {self.column.name!r}: the id {wanted[number]!r} is used twice (rows "
                f"{other} and {at[place]}); ids must differ."
            )


class SomeIds(_Ids):
    """The ids of some rows (m,) out of all of them."""

    def __init__(self, ids: Sequence[str], rows: NDArray[np.int64]) -> None:
        self.ids, self.rows = ids, rows

    def __len__(self) -> int:
        return len(self.rows)

    def _text(self, row: int) -> str:
        return self.ids[int(self.rows[row])]
