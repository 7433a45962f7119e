"""What a fit does to rows before its passes: the point that they are measured from, and some of
those in files, samples and the rows that pairs speak of, in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from coterie.data.engines import one_blas_thread
from coterie.data.passes import edges_of, fold, map_blocks
from coterie.data.rows import Block, Rows, RowSource

__all__ = ["centered", "gather", "keeping", "map_listed"]

Result = TypeVar("Result")

_FAR_OUT = 4.0  # squared distance of the mean from the origin, in units of the rows' variance
_PLACES, _AT_EACH = 40, 256  # of the sample that this is judged by


def centered(X: Any) -> Rows:
    """Dense rows measured from their mean where distances from the origin would lose digits.

    That is where the mean is far out beside the spread of the rows; other rows, and sparse ones,
    are read as they are.
    """
    rows = Rows(X)
    if rows.is_sparse:
        return rows
    sample = _sample(rows)
    mean = sample.mean(axis=0)
    with np.errstate(over="ignore"):  # infinite on both sides: nothing a shift could mend
        spread = ((sample - mean) ** 2).sum()
        far = len(sample) * (mean @ mean) > _FAR_OUT * spread
    return Rows(X, shift=fold(map_blocks(rows, _sums, None)) / rows.n) if far else rows


def _sample(rows: Rows) -> NDArray[np.float64]:
    """Stretches of rows from all over; whole ones, as rows on disk are read by stretches."""
    step = max(1, rows.n // _PLACES)
    if step <= _AT_EACH:  # of few rows all
        return np.asarray(rows.source.read(0, rows.n), dtype=np.float64)
    numbers = (np.arange(0, rows.n, step)[:, None] + np.arange(_AT_EACH)).ravel()
    return np.asarray(rows.source.take(numbers[numbers < rows.n]), dtype=np.float64)


def _sums(block: Block, _: None) -> NDArray[np.float64]:
    return np.asarray(block.rows.sum(axis=0, dtype=np.float64))


def keeping(rows: Rows, listed: NDArray[np.int64]) -> Rows:
    """The same rows with those `listed` (r,), which rise, in memory where `take` is concerned.

    One pass over rows in files; rows in memory come back as they are.
    """
    if rows.in_memory or not listed.size:
        return rows
    kept = KeptRows(rows.source, listed, gather(rows, listed))
    return Rows(kept, rows.shift if rows.shift.size else None)


def gather(rows: Rows, listed: NDArray[np.int64]) -> Any:
    """The listed rows (r, d), whose numbers rise, as their source has them: by one pass where they
    are not in memory, so that whoever reads the blocks finds them.
    """
    if rows.in_memory:
        return rows.source.take(listed)
    parts = list(map_blocks(rows, _picked, None, listed=listed))
    return sp.vstack(parts, format="csr") if rows.is_sparse else np.concatenate(parts)


def map_listed(
    rows: Rows,
    function: Callable[[Block, Any], Result],
    arguments: Any,
    listed: NDArray[np.int64],
    listed_state: Any,
) -> Iterator[Result]:
    """`map_blocks` of a function that looks at nothing but the listed rows of a block.

    Where these are the ones that `keeping` holds, no file is read. The results are the same.
    """
    source = rows.source
    if not isinstance(source, KeptRows) or source.listed is not listed:
        yield from map_blocks(rows, function, arguments, listed=listed, listed_state=listed_state)
        return
    with one_blas_thread():
        for start, stop in edges_of(rows):
            first, last = np.searchsorted(listed, (start, stop))
            inside = np.arange(last - first)
            own = type(listed_state)(*(value[first:last] for value in listed_state))
            kept = source.kept[first:last]
            yield function(Block(0, inside.size, kept, rows.shift, None, inside, own), arguments)


def _picked(block: Block, _: None) -> Any:
    return block.rows[block.listed]


class KeptRows:
    """A source of which some rows (r, d) are in memory."""

    def __init__(self, source: RowSource, listed: NDArray[np.int64], kept: Any) -> None:
        self.source, self.listed, self.kept = source, listed, kept
        self.n, self.d = source.n, source.d
        self.dtype, self.is_sparse = source.dtype, source.is_sparse
        self.client = getattr(source, "client", None)

    def read(self, start: int, stop: int) -> Any:
        """Rows start..stop from the files."""
        return self.source.read(start, stop)

    def cut(self, start: int, stop: int) -> RowSource:
        """A stretch of the files, without the rows in memory."""
        return self.source.cut(start, stop)

    def place(self, row: int) -> str:
        """Where the files have it."""
        return self.source.place(row)

    def take(self, rows: NDArray[np.int64]) -> Any:
        """The listed rows; from the files only if one of them is not in memory."""
        at = np.searchsorted(self.listed, rows)
        found = self.listed[np.minimum(at, self.listed.size - 1)] == rows
        return self.kept[at] if found.all() else self.source.take(rows)
