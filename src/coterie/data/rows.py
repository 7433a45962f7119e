"""Where rows live, the point that they are measured from, and the stretches a pass sees of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from coterie._typing import Array

__all__ = ["Block", "MemoryRows", "RowSource", "Rows", "Stretch"]

_CHUNK_BYTES = 1 << 20  # rows handled at once: a chunk and its distances stay in the cache
_SPARSE_CHUNK = 4096
_NOTHING = np.empty(0, dtype=np.int64)


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
        return _part(self.X, start, stop)

    def take(self, rows: NDArray[np.int64]) -> Any:
        """The listed rows as a new array or CSR matrix."""
        return self.X[rows]

    def cut(self, start: int, stop: int) -> MemoryRows:
        """A view of rows start..stop."""
        return MemoryRows(self.read(start, stop))

    def place(self, row: int) -> str:
        """Its number."""
        return f"row {row}"


def _part(X: Any, start: int, stop: int) -> Any:
    """Rows start..stop of an array or a CSR matrix, as a view."""
    if start == 0 and stop == X.shape[0]:
        return X
    if not sp.issparse(X):
        return X[start:stop]
    first, last = X.indptr[start], X.indptr[stop]
    # Attribute by attribute: the constructor would copy what is a small part of its base.
    part = sp.csr_matrix((stop - start, X.shape[1]), dtype=X.dtype)
    part.data, part.indices = X.data[first:last], X.indices[first:last]
    part.indptr = X.indptr[start : stop + 1] - first
    return part


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


class Stretch(NamedTuple):
    """A block that is still to be read: what travels to whoever runs a pass on it.

    `source` holds the stretch's rows alone, or says where they are; the rest is as in `Block`.
    """

    start: int
    stop: int
    source: Any
    shift: Array
    state: Any
    listed: Array
    listed_state: Any
    room: dict[str, Array] | None = None

    def read(self) -> Block:
        """The block with its rows."""
        rows = self.source.read(0, self.stop - self.start)
        return Block(self.start, self.stop, rows, *self[3:])


class Block(NamedTuple):
    """A stretch of the rows with what belongs to them.

    Attributes
    ----------
    start, stop : int
        Its place among all rows.
    rows : ndarray or CSR matrix of shape (b, d)
        As the source has them: see `chunks` for rows measured from the origin.
    shift : ndarray of shape (d,), or (0,) where the rows are not shifted
    state : NamedTuple of arrays, or None
        This block's part of the arrays (n, ...) given to `map_blocks`; arrays of size 0, which
        stand for "the same for every row", come as they are.
    listed : (r,) int64
        Positions in the block of those of its rows that were listed, sorted.
    listed_state : NamedTuple of arrays, or None
        The part for these rows of the arrays given with the list.
    room : dict of arrays, or None
        Where results that belong to rows may be put: see `empty`.
    """

    start: int
    stop: int
    rows: Any
    shift: Array
    state: Any = None
    listed: Array = _NOTHING
    listed_state: Any = None
    room: dict[str, Array] | None = None

    def empty(self, name: str, shape: tuple[int, ...], dtype: Any = np.float64) -> Array:
        """An array to be filled and returned as the result's field of this name."""
        here = None if self.room is None else self.room.get(name)
        if here is not None and here.shape == shape and here.dtype == dtype:
            return here
        return np.empty(shape, dtype)

    def chunks(self, extra: int = 0, size: int = _CHUNK_BYTES) -> Iterator[tuple[int, int, Any]]:
        """Yield (lo, hi, rows lo..hi of the block) in pieces of `size` bytes with `extra` columns
        beside, measured from the origin. By default they fit the cache.

        A dense piece may be overwritten by the next one: use it before going on.
        """
        b, d = self.rows.shape
        step = _SPARSE_CHUNK
        if isinstance(self.rows, np.ndarray):
            step = max(64, size // ((d + extra) * self.rows.itemsize))
        buffer = np.empty((min(step, b), d), self.rows.dtype) if self.shift.size else None
        for lo in range(0, b, step):
            hi = min(lo + step, b)
            piece = _part(self.rows, lo, hi)
            if buffer is not None:
                piece = np.subtract(piece, self.shift, out=buffer[: hi - lo])
            yield lo, hi, piece

    def take(self, at: Array) -> Any:
        """Rows at positions `at` of the block, measured from the origin, as new ones."""
        picked = self.rows[at]
        return np.subtract(picked, self.shift, out=picked) if self.shift.size else picked
