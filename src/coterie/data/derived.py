"""Rows that are made of other rows whenever they are read: what `transform` gives for files."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie._typing import Array
from coterie.data.engines import one_blas_thread
from coterie.data.passes import edges_of, join, map_blocks
from coterie.data.rows import Block, Rows
from coterie.data.stored import StoredRows

__all__ = ["DerivedRows", "each_row"]


def each_row(
    rows: Rows,
    function: Callable[[Block, Any], Array],
    arguments: Any,
    width: int,
    dtype: Any = np.float64,
) -> Any:
    """What `function(block, arguments)`, (b, width), makes of all rows.

    Of rows in memory an array (n, width); of others `DerivedRows`, as n x width numbers may not
    fit where n x d did not.
    """
    if rows.in_memory:
        return join(map_blocks(rows, function, arguments), rows.n)
    return DerivedRows(rows, function, arguments, width, dtype)


class DerivedRows(StoredRows):
    """Rows (n, d) that a function makes of blocks of other rows, anew whenever they are read.

    A source like any other: read it by stretches, or fit another estimator to it. Blocks are made
    whole, so a row has the same bits whichever stretch it is read with.

    Parameters
    ----------
    rows : Rows
        What they are made of.
    function : callable
        function(block, arguments) -> (b, width); of a module, so that another process can run it.
    arguments : anything small
    width : int
    dtype : float32 or float64
    """

    def __init__(
        self,
        rows: Rows,
        function: Callable[[Block, Any], Array],
        arguments: Any,
        width: int,
        dtype: Any,
    ) -> None:
        self.rows, self.function, self.arguments = rows, function, arguments
        self.n, self.d, self.dtype = rows.n, width, np.dtype(dtype)
        self.edges = np.array([0, *(stop for _, stop in edges_of(rows))])
        self.in_turn = bool(getattr(rows.source, "in_turn", False))

    @property
    def passed_over(self) -> int:  # type: ignore[override]
        """Of the rows that they are made of."""
        return int(getattr(self.rows.source, "passed_over", 0))

    @property
    def client(self) -> Any | None:
        """The cluster that holds what they are made of, if one does."""
        return getattr(self.rows.source, "client", None)

    @property
    def parts(self) -> list[Any]:
        """Chunks of a Dask collection that they are made of."""
        return list(self.rows.source.parts)  # type: ignore[attr-defined]

    @property
    def with_parts(self) -> Callable[[list[Any]], DerivedRows]:
        """The same rows made of other chunks; only where they are made of a Dask collection."""
        inner: Callable[[list[Any]], Any] = self.rows.source.with_parts  # type: ignore[attr-defined]
        return lambda parts: self._made_of(inner(parts))

    def place(self, row: int) -> str:
        """Where the row that it is made of is."""
        return self.rows.source.place(self._first + row - int(self.edges[0]))

    def cut(self, start: int, stop: int) -> DerivedRows:
        """Rows start..stop, with the blocks that they are in and no others."""
        first, last = self._first + start, self._first + stop
        lo = int(np.searchsorted(self.edges, first, side="right")) - 1
        hi = int(np.searchsorted(self.edges, max(last, first + 1), side="left"))
        lo = min(lo, len(self.edges) - 2)
        begin = int(self.edges[0])
        source = self.rows.source.cut(int(self.edges[lo]) - begin, int(self.edges[hi]) - begin)
        part = self._made_of(source)
        part.edges = self.edges[lo : hi + 1]
        part._first, part.n = first, stop - start
        return part

    def _made_of(self, source: Any) -> DerivedRows:
        other = copy.copy(self)
        other.rows = Rows(source, self.rows.shift if self.rows.shift.size else None)
        return other

    def _read(self, start: int, stop: int) -> NDArray[Any]:
        out = np.empty((stop - start, self.d), dtype=self.dtype)
        for lo, hi in zip(self.edges[:-1].tolist(), self.edges[1:].tolist(), strict=True):
            first, last = max(lo, start), min(hi, stop)
            if first < last:
                out[first - start : last - start] = self._block(lo, hi)[first - lo : last - lo]
        return out

    def _take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        at = np.searchsorted(self.edges, rows, side="right") - 1
        pieces = [np.empty((0, self.d), dtype=self.dtype)]
        for number in np.unique(at).tolist():  # rows rise, so that the pieces come in their order
            lo, hi = int(self.edges[number]), int(self.edges[number + 1])
            pieces.append(self._block(lo, hi)[rows[at == number] - lo])
        return np.concatenate(pieces)

    def _block(self, lo: int, hi: int) -> NDArray[Any]:
        begin = int(self.edges[0])
        read = self.rows.source.read(lo - begin, hi - begin)
        with one_blas_thread():
            made = self.function(Block(lo, hi, read, self.rows.shift), self.arguments)
        return np.asarray(made, dtype=self.dtype)
