"""A stretch of the rows, as the functions of a pass see it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from coterie._typing import Array

__all__ = ["Block", "Stretch"]

_CHUNK_BYTES = 1 << 20  # rows handled at once: a chunk and its distances stay in the cache
_SPARSE_CHUNK = 4096
_NOTHING = np.empty(0, dtype=np.int64)


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
    """

    start: int
    stop: int
    rows: Any
    shift: Array
    state: Any = None
    listed: Array = _NOTHING
    listed_state: Any = None

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
            piece = self.rows[lo:hi]
            if buffer is not None:
                piece = np.subtract(piece, self.shift, out=buffer[: hi - lo])
            yield lo, hi, piece

    def take(self, at: Array) -> Any:
        """Rows at positions `at` of the block, measured from the origin, as new ones."""
        picked = self.rows[at]
        return np.subtract(picked, self.shift, out=picked) if self.shift.size else picked
