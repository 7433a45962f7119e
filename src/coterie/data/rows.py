"""Where rows live, and the point that they are measured from."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["MemoryRows", "RowSource", "Rows"]


class RowSource(Protocol):
    """Rows that can be read in stretches and by number; another place to keep rows is one class.

    Attributes
    ----------
    n, d : int
        Rows and columns.
    dtype : numpy dtype
        float32 or float64.
    is_sparse : bool
        Whether rows come as CSR matrices or as C-ordered arrays.
    """

    n: int
    d: int
    dtype: np.dtype[Any]
    is_sparse: bool

    def read(self, start: int, stop: int) -> Any:
        """Rows start..stop, (stop - start, d); not to be written to."""

    def take(self, rows: NDArray[np.int64]) -> Any:
        """The listed rows as a new array or CSR matrix."""

    def cut(self, start: int, stop: int) -> RowSource:
        """Rows start..stop as a source of their own, which carries no other rows along."""

    def place(self, row: int) -> str:
        """Where a row is, for messages."""


class MemoryRows:
    """Rows of an array or a CSR matrix in memory, read without a copy."""

    def __init__(self, X: Any) -> None:
        self.X = X
        self.n, self.d = X.shape
        self.dtype = X.dtype
        self.is_sparse = sp.issparse(X)

    def read(self, start: int, stop: int) -> Any:
        """Rows start..stop as a view, also of a CSR matrix."""
        if start == 0 and stop == self.n:
            return self.X
        if not self.is_sparse:
            return self.X[start:stop]
        first, last = self.X.indptr[start], self.X.indptr[stop]
        # Attribute by attribute: the constructor would copy what is a small part of its base.
        part = sp.csr_matrix((stop - start, self.d), dtype=self.dtype)
        part.data, part.indices = self.X.data[first:last], self.X.indices[first:last]
        part.indptr = self.X.indptr[start : stop + 1] - first
        return part

    def take(self, rows: NDArray[np.int64]) -> Any:
        """The listed rows as a new array or CSR matrix."""
        return self.X[rows]

    def cut(self, start: int, stop: int) -> MemoryRows:
        """A view of rows start..stop."""
        return MemoryRows(self.read(start, stop))

    def place(self, row: int) -> str:
        """Its number."""
        return f"row {row}"


class Rows:
    """Rows of a data matrix; `map_blocks` runs a function over them.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d), float32 or float64, or RowSource
    shift : ndarray of shape (d,), optional
        Subtracted from each dense row as it is read (never copied as a whole): distances between
        points far from the origin keep their digits.
    """

    def __init__(self, X: Any, shift: NDArray[Any] | None = None) -> None:
        self.source: RowSource = X if hasattr(X, "cut") else MemoryRows(X)
        if shift is not None and self.source.is_sparse:
            raise ValueError("a sparse matrix cannot be shifted without filling it")
        self.n, self.d = self.source.n, self.source.d
        self.dtype, self.is_sparse = self.source.dtype, self.source.is_sparse
        self.shift = np.asarray([] if shift is None else shift, dtype=self.dtype)

    @classmethod
    def of(cls, X: Any) -> Rows:
        """X itself if it is `Rows` already, else its rows as they are."""
        return X if isinstance(X, Rows) else cls(X)

    @property
    def in_memory(self) -> bool:
        """Whether all rows are at hand; else what belongs to each row is made anew when read."""
        return isinstance(self.source, MemoryRows)

    @property
    def origin(self) -> NDArray[Any]:
        """The point (d,) that rows are measured from."""
        return self.shift if self.shift.size else np.zeros(self.d, dtype=self.dtype)

    def take(self, rows: NDArray[np.int64]) -> Any:
        """The listed rows, measured from the origin, as a new array or CSR matrix."""
        return self.shifted(self.source.take(rows))

    def shifted(self, picked: Any) -> Any:
        """Rows (r, d) of the source, in place measured from the origin."""
        return np.subtract(picked, self.shift, out=picked) if self.shift.size else picked
