"""Row sources: where rows live, and how a stretch of them is read."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["MemoryRows", "RowSource"]


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


class MemoryRows:
    """Rows of an array or a CSR matrix in memory, read without a copy."""

    def __init__(self, X: Any) -> None:
        self.X = X
        self.n, self.d = X.shape
        self.dtype = X.dtype
        self.is_sparse = sp.issparse(X)

    def read(self, start: int, stop: int) -> Any:
        """Rows start..stop as a view, also of a CSR matrix."""
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
