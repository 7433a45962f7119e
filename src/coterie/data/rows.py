"""Where rows live: a dense array or a CSR matrix in memory, read in blocks by several threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from coterie.data import _kernels
from coterie.data.threads import num_threads, one_blas_thread

__all__ = ["Rows", "add_by_label"]

Stats = TypeVar("Stats")

_BLOCK_ROWS = 4096  # rows a block holds at least: below that, threads cost more than they bring
_MOST_BLOCKS = 64  # so that partial sums stay small beside the rows
_CHUNK_BYTES = 1 << 20  # rows handled at once: a chunk and its distances stay in the cache
_SPARSE_CHUNK = 4096
_SAMPLE = 10_000
_FAR_OUT = 4.0  # squared distance of the mean from the origin, in units of the rows' variance


class Rows:
    """Rows of a data matrix with the one thing estimators need: map over blocks, reduce in order.

    The number of blocks depends on the number of rows alone and partial results are added in
    block order, so every result is bitwise the same for any number of threads.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d), float32 or float64
    shift : ndarray of shape (d,), optional
        Subtracted from each dense row as it is read (never copied as a whole): distances between
        points far from the origin keep their digits.
    """

    def __init__(self, X: Any, shift: NDArray[Any] | None = None) -> None:
        if shift is not None and sp.issparse(X):
            raise ValueError("a sparse matrix cannot be shifted without filling it")
        self.X = X
        self.shift = None if shift is None else np.asarray(shift, dtype=X.dtype)
        self.n, self.d = X.shape
        self.dtype = X.dtype
        self.is_sparse = sp.issparse(X)

    @classmethod
    def centered(cls, X: Any) -> Rows:
        """Dense rows measured from their mean where distances from the origin would lose digits.

        That is where the mean is far out beside the spread of the rows; other rows, and sparse
        ones, are read as they are.
        """
        if sp.issparse(X):
            return cls(X)
        sample = X[:: max(1, X.shape[0] // _SAMPLE)].astype(np.float64)
        mean = sample.mean(axis=0)
        with np.errstate(over="ignore"):  # infinite on both sides: nothing a shift could mend
            spread = ((sample - mean) ** 2).sum()
            far = len(sample) * (mean @ mean) > _FAR_OUT * spread
        if not far:
            return cls(X)
        return cls(X, shift=X.mean(axis=0, dtype=np.float64))

    @property
    def origin(self) -> NDArray[Any]:
        """The point (d,) that rows are measured from."""
        return np.zeros(self.d, dtype=self.dtype) if self.shift is None else self.shift

    def blocks(self) -> list[tuple[int, int]]:
        """Start and stop of each block; their number depends on the number of rows only."""
        count = max(1, min(_MOST_BLOCKS, self.n // _BLOCK_ROWS))
        edges = np.linspace(0, self.n, count + 1).astype(np.int64)
        return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))

    def chunks(
        self, start: int = 0, stop: int | None = None, extra: int = 0
    ) -> Iterator[tuple[int, int, Any]]:
        """Yield (lo, hi, rows lo..hi) in pieces that fit the cache with `extra` columns beside.

        A dense piece may be overwritten by the next one: use it before going on.
        """
        stop = self.n if stop is None else stop
        if self.is_sparse:
            step = _SPARSE_CHUNK
        else:
            step = max(64, _CHUNK_BYTES // ((self.d + extra) * self.dtype.itemsize))
        buffer = (
            None if self.shift is None else np.empty((min(step, stop - start), self.d), self.dtype)
        )
        for lo in range(start, stop, step):
            hi = min(lo + step, stop)
            if buffer is None:
                yield lo, hi, self.X[lo:hi]
            else:
                yield lo, hi, np.subtract(self.X[lo:hi], self.origin, out=buffer[: hi - lo])

    def take(self, rows: NDArray[np.int64]) -> Any:
        """The listed rows as a new array or CSR matrix."""
        picked = self.X[rows]
        return picked if self.shift is None else np.subtract(picked, self.shift, out=picked)

    def label(self, block: slice, *arrays: Any) -> float:
        """Label a block of rows with their nearest centres and sum them up, in one compiled pass.

        `arrays` are those of the kernels `label_dense` and `label_sparse` after the rows.
        """
        if self.is_sparse:
            indptr = self.X.indptr[block.start : block.stop + 1]
            return float(_kernels.label_sparse(self.X.data, self.X.indices, indptr, *arrays))
        shift = np.empty(0, self.dtype) if self.shift is None else self.shift
        return float(_kernels.label_dense(self.X[block], shift, *arrays))

    def map_reduce(
        self,
        work: Callable[[int, int], Stats],
        combine: Callable[[Stats, Stats], Stats],
    ) -> Stats:
        """Run `work(start, stop)` for every block and fold the results in block order."""
        blocks = self.blocks()
        with one_blas_thread():
            threads = min(num_threads(), len(blocks))
            if threads == 1:
                results: Iterator[Stats] = (work(*block) for block in blocks)
                return _fold(results, combine)
            with ThreadPoolExecutor(threads) as pool:
                return _fold(pool.map(lambda block: work(*block), blocks), combine)

    def for_each(self, work: Callable[[int, int], None]) -> None:
        """Run `work(start, stop)` for every block, for work that fills arrays of its own rows."""
        self.map_reduce(work, lambda a, b: None)

    def row_values(self, function: Callable[[Any], Any]) -> NDArray[np.float64]:
        """One number a row, (n,): `function` maps a chunk (b, d) to (b,)."""
        values = np.empty(self.n)

        def fill(start: int, stop: int) -> None:
            for lo, hi, chunk in self.chunks(start, stop):
                values[lo:hi] = function(chunk)

        self.for_each(fill)
        return values


def add_by_label(
    rows: Any,
    labels: NDArray[Any],
    weights: NDArray[np.float64],
    scale: NDArray[np.float64],
    sums: NDArray[np.float64],
    counts: NDArray[np.float64],
) -> None:
    """Add w s x of dense or CSR rows to `sums` (K, d) and w to `counts` (K,), by label.

    Rows with label -1 are passed over; `weights` and `scale` of size 0 stand for ones; a negative
    weight takes a row out again.
    """
    if sp.issparse(rows):
        _kernels.add_sparse(
            rows.data, rows.indices, rows.indptr, labels, weights, scale, sums, counts
        )
    else:
        _kernels.add_dense(rows, labels, weights, scale, sums, counts)


def _fold(results: Iterator[Stats], combine: Callable[[Stats, Stats], Stats]) -> Stats:
    total = next(results)
    for part in results:
        total = combine(total, part)
    return total
