"""Some rows of files in memory: samples, and those that pairs speak of."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from coterie.data.block import Block
from coterie.data.passes import map_blocks
from coterie.data.rows import Rows, RowSource

__all__ = ["gather", "keeping"]


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
