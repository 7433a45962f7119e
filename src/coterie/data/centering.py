"""The point that rows are measured from, so that distances keep their digits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.data.passes import fold, map_blocks
from coterie.data.rows import Block, Rows

__all__ = ["centered"]

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
    inside = np.arange(min(step, _AT_EACH))
    numbers = (np.arange(0, rows.n, step)[:, None] + inside).ravel()
    return np.asarray(rows.source.take(numbers[numbers < rows.n]), dtype=np.float64)


def _sums(block: Block, _: None) -> NDArray[np.float64]:
    return np.asarray(block.rows.sum(axis=0, dtype=np.float64))
