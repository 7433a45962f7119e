"""Rows of Dask arrays and data frames: they stay where Dask keeps them."""

from __future__ import annotations

import copy
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.data.dask_engine import Patient, scheduler_needed
from coterie.data.stored import StoredRows, float_type
from coterie.exceptions import InvalidData

__all__ = ["DaskRows", "current_client", "is_dask"]


def is_dask(X: Any) -> bool:
    """Whether X is an array or a data frame of Dask's."""
    home = type(X).__module__.partition(".")[0]
    return home in ("dask", "dask_expr") and hasattr(X, "dask")


class DaskRows(StoredRows):
    """Rows of a `dask.array` or a `dask.dataframe` of numbers, whose chunks are cut to our blocks.

    With a `distributed.Client` the chunks are computed once and stay on the workers, which run
    the passes; without one they are computed in this process whenever they are read.

    Parameters
    ----------
    X : dask.array.Array of shape (n, d), or dask.dataframe.DataFrame
    """

    def __init__(self, X: Any) -> None:
        if hasattr(X, "to_dask_array"):
            self.names = [str(name) for name in X.columns]
            X = X.to_dask_array(lengths=True)
        if X.ndim != 2 or X.dtype.kind not in "biuf":
            raise InvalidData(
                f"the Dask collection holds {X.dtype} in {X.ndim} dimension(s); expected numbers "
                "in rows and columns (n, d). Select the numeric columns first."
            )
        if any(np.isnan(size) for size in X.chunks[0]):
            raise InvalidData(
                "the Dask array does not know the lengths of its chunks; call "
                "X.compute_chunk_sizes() first."
            )
        self.dtype = float_type([X.dtype])
        array = X.rechunk({1: -1}).astype(self.dtype)
        self.n, self.d = array.shape
        self.edges = np.concatenate(([0], np.cumsum(array.chunks[0]))).astype(np.int64)
        chunks = array.to_delayed().ravel().tolist()
        self.client = current_client()
        self.parts: list[Any] = chunks if self.client is None else self.client.compute(chunks)

    def place(self, row: int) -> str:
        """Row and chunk."""
        row += self._first
        return f"the Dask collection, row {row}"

    def cut(self, start: int, stop: int) -> DaskRows:
        """The chunks that hold rows start..stop, and no others."""
        part = copy.copy(self)
        lo, hi = self._first + start, self._first + stop
        first = int(np.searchsorted(self.edges, lo, side="right")) - 1
        last = int(np.searchsorted(self.edges, max(hi, lo + 1), side="left"))
        part.parts, part.edges = self.parts[first:last], self.edges[first : last + 1]
        part._first, part.n = lo, stop - start
        part.client = None  # a task needs its chunks only
        return part

    def with_parts(self, parts: list[Any]) -> DaskRows:
        """The same rows with other chunks: arrays for futures, or none."""
        other = copy.copy(self)
        other.parts = parts
        return other

    def _read(self, start: int, stop: int) -> Any:
        rows = np.empty((stop - start, self.d), dtype=self.dtype)
        for at, chunk in enumerate(_values(self.parts)):
            begin, end = int(self.edges[at]), int(self.edges[at + 1])
            lo, hi = max(begin, start), min(end, stop)
            if lo < hi:
                rows[lo - start : hi - start] = chunk[lo - begin : hi - begin]
        return rows

    def _take(self, rows: NDArray[np.int64]) -> Any:
        at = np.searchsorted(self.edges, rows, side="right") - 1
        pieces = [np.empty((0, self.d), dtype=self.dtype)]
        wanted = [(int(part), rows[at == part] - self.edges[part]) for part in np.unique(at)]
        if self.client is None:
            pieces += [_values([self.parts[part]])[0][own] for part, own in wanted]  # one at a time
        else:  # picked where the chunks are, which are computed there already
            submit = self.client.submit
            tasks = [submit(_picked, self.parts[part], own, pure=False) for part, own in wanted]
            pieces += _results(self.client, tasks)
        return np.concatenate(pieces)


def _picked(chunk: NDArray[Any], rows: NDArray[np.int64]) -> NDArray[Any]:
    """The listed rows of a chunk."""
    return chunk[rows]


def current_client() -> Any | None:
    """The `distributed.Client` that is open, if any."""
    try:
        return import_module("distributed").default_client()
    except (ImportError, ValueError):
        return None


def _values(parts: list[Any]) -> list[Any]:
    """Chunks as arrays, computed here where they are not yet."""
    if all(isinstance(part, np.ndarray) for part in parts):
        return parts
    dask = import_module("dask")
    if dask.is_dask_collection(parts[0]):
        return list(dask.compute(*parts, scheduler="synchronous"))
    return _results(parts[0].client, parts)


def _results(client: Any, futures: list[Any]) -> list[Any]:
    """What futures of Dask's give; `WorkersLost` where nobody is left to make it."""
    with scheduler_needed(client):
        return [Patient(client, future).result() for future in futures]
