"""Rows in files that are read by groups of rows, and what their columns hold."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from coterie.data.stored import StoredRows
from coterie.exceptions import InvalidData
from coterie.words import nearest

__all__ = ["GroupedRows", "fill_columns", "number_type"]

_FILL_BYTES = 1 << 19  # of rows that columns are put side by side in


class GroupedRows(StoredRows):
    """Rows in groups, one below the other, of which the g-th holds rows edges[g]..edges[g + 1].

    `groups` says of each where it is.
    """

    edges: NDArray[np.int64]
    groups: list[Any]
    in_turn = True

    @property
    def passed_over(self) -> int:  # type: ignore[override]
        """Rows of the first row's group that are before it."""
        return self._first - int(self.edges[0])

    def cut(self, start: int, stop: int) -> Self:
        """Rows start..stop with the groups that they are in: what a task is told of files."""
        part = super().cut(start, stop)
        lo = int(np.searchsorted(self.edges, part._first, side="right")) - 1
        hi = int(np.searchsorted(self.edges, max(part._first + part.n, part._first + 1)))
        part.edges, part.groups = self.edges[lo : hi + 1], self.groups[lo:hi]
        return part

    def place(self, row: int) -> str:
        """The group and the row in it."""
        row += self._first
        group = int(np.searchsorted(self.edges, row, side="right")) - 1
        return f"{self._name(group)}, row {row - self.edges[group]}"

    def _read(self, start: int, stop: int) -> Any:
        places = list(self._pieces(start, stop))
        if len(places) == 1 and not self.is_sparse:  # a view: rows that are read are not written to
            group, lo, hi = places[0]
            return self._group(group)[lo:hi]
        pieces = (self._group(group)[lo:hi] for group, lo, hi in places)
        if self.is_sparse:
            return _stacked(list(pieces), self.d, self.dtype)
        rows = np.empty((stop - start, self.d), dtype=self.dtype)
        done = 0
        for piece in pieces:
            rows[done : done + len(piece)] = piece
            done += len(piece)
        return rows

    def _pieces(self, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
        """Rows start..stop as (group, lo, hi): rows lo..hi of that group."""
        group = int(np.searchsorted(self.edges, start, side="right")) - 1
        while start < stop:
            begin, end = int(self.edges[group]), min(int(self.edges[group + 1]), stop)
            if end > start:  # else an empty group
                yield group, start - begin, end - begin
                start = end
            group += 1

    def _take(self, rows: NDArray[np.int64]) -> Any:
        at = np.searchsorted(self.edges, rows, side="right") - 1
        pieces = [
            self._group(int(group))[rows[at == group] - self.edges[group]]
            for group in np.unique(at)  # rows rise, so that the pieces come in their order
        ]
        if self.is_sparse:
            return _stacked(pieces, self.d, self.dtype)
        return np.concatenate([np.empty((0, self.d), dtype=self.dtype), *pieces])

    @abstractmethod
    def _name(self, group: int) -> str:
        """Of a group, for messages."""

    @abstractmethod
    def _group(self, group: int) -> Any:
        """The rows (b, d) of a group, an array or CSR."""


def _stacked(pieces: list[Any], d: int, dtype: Any) -> Any:
    empty = sp.csr_matrix((0, d), dtype=dtype)
    rows = sp.csr_matrix(sp.vstack([empty, *pieces], format="csr", dtype=dtype))
    rows.sort_indices()
    return rows


def number_type(path: Path, schema: Any, name: str) -> np.dtype[Any]:
    """The numpy type of a column of Arrow's, refused if it holds no numbers."""
    types = import_module("pyarrow").types
    if name not in schema.names:
        raise InvalidData(
            f"{path} has no column {name!r}.{nearest(name, schema.names)} It has {schema.names}."
        )
    kind = schema.field(name).type
    if types.is_floating(kind):
        return np.dtype(kind.to_pandas_dtype())
    if types.is_integer(kind) or types.is_boolean(kind) or types.is_decimal(kind):
        return np.dtype(np.float64)
    raise InvalidData(
        f"{path}: column {name!r} holds {kind}, not numbers. Name the columns to use with "
        "columns=[...], or read mixed files by a Recipe (coterie.tables)."
    )


def fill_columns(batch: Any, names: Sequence[str], out: NDArray[Any]) -> None:
    """Write columns of a batch of Arrow's to `out` (rows, d); a missing value is NaN."""
    arrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    columns = []
    for name in names:
        values = batch.column(name)
        if arrow.types.is_decimal(values.type) or arrow.types.is_boolean(values.type):
            values = compute.cast(values, arrow.float64())
        columns.append(values.to_numpy(zero_copy_only=False))
    # A part that stays in the cache at a time: every column touches every line of it.
    step = max(256, _FILL_BYTES // max(1, out.shape[1] * out.itemsize))
    for lo in range(0, len(out), step):
        part = out[lo : lo + step]
        for position, values in enumerate(columns):
            part[:, position] = values[lo : lo + step]
