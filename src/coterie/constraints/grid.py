"""Pairs from continuity: neighbours in an image, a volume or a series probably belong together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from coterie._typing import IntArray
from coterie.constraints.constraints import Constraints
from coterie.exceptions import InvalidParameter

__all__ = ["estimate_flip_rate", "grid_neighbors"]


def grid_neighbors(
    shape: int | Sequence[int],
    connectivity: int = 1,
    *,
    certainty: float | None = None,
    q: float | None = None,
) -> Constraints:
    """Soft must-links between neighbouring cells of a grid (Lu and Leen 2007, §5.2).

    Parameters
    ----------
    shape : int or tuple of int
        Size of the grid: (height, width) of an image, one number for a series. Row i of the data
        is cell i in C order.
    connectivity : int, default 1
        Along how many axes at once neighbours may differ: for an image, 1 gives the four nearest
        neighbours and 2 the eight.
    certainty : float in (0.5, 1], optional
        Probability that two neighbours belong together.
    q : float in [0, 0.5), optional
        The opposite, 1 − `certainty`: give one of the two, or neither to leave it to the
        estimator's `default_certainty`.

    Returns
    -------
    Constraints

    Examples
    --------
    >>> from coterie.constraints import grid_neighbors
    >>> grid_neighbors((2, 3), q=0.1).must_link.tolist()
    [[0, 1], [0, 3], [1, 2], [1, 4], [2, 5], [3, 4], [4, 5]]
    """
    pairs, n = _neighbor_pairs(shape, connectivity)
    if certainty is not None and q is not None:
        raise InvalidParameter("give certainty or q = 1 - certainty, not both.")
    if q is not None:
        if not 0 <= q < 0.5:
            raise InvalidParameter(
                f"q={q!r} must lie in [0, 0.5): the share of neighbours that do not belong "
                "together. At 0.5 neighbours say nothing."
            )
        certainty = 1.0 - q
    if certainty is not None and not 0.5 < certainty <= 1:
        raise InvalidParameter(f"certainty={certainty!r} must lie in (0.5, 1].")
    return Constraints(n, must_link=pairs, must_certainty=certainty)


def estimate_flip_rate(labels: ArrayLike, connectivity: int = 1) -> float:
    """Share of neighbouring cells with different labels (Lu and Leen 2007, §2.4.2).

    Parameters
    ----------
    labels : array-like of shape `shape`
        A segmented image, volume or series like the one to be segmented; −1 marks cells that are
        not labelled, whose neighbours do not count.
    connectivity : int, default 1
        As in `grid_neighbors`.

    Returns
    -------
    float
        At 0.5 or more neighbours do not attract, and `grid_neighbors` refuses it.

    Examples
    --------
    >>> from coterie.constraints import estimate_flip_rate
    >>> estimate_flip_rate([[0, 0, 1], [0, 0, 1]])
    0.2857142857142857
    """
    grid = np.asarray(labels)
    pairs, _ = _neighbor_pairs(grid.shape, connectivity)
    a, b = grid.reshape(-1)[pairs].T
    known = (a != -1) & (b != -1)
    if not known.any():
        raise InvalidParameter("labels has no two neighbouring cells that are both labelled.")
    return float(np.mean(a[known] != b[known]))


def _neighbor_pairs(shape: int | Sequence[int], connectivity: int) -> tuple[IntArray, int]:
    """Neighbouring cells (m, 2), each pair once, and the number of cells."""
    size = tuple(np.atleast_1d(np.asarray(shape)).tolist())
    if not size or not all(isinstance(s, int) and s >= 1 for s in size):
        raise InvalidParameter(f"shape={shape!r} must be one or more positive integers.")
    if not isinstance(connectivity, int | np.integer) or not 1 <= connectivity <= len(size):
        raise InvalidParameter(
            f"connectivity={connectivity!r} must be an integer from 1 to {len(size)}, the number "
            "of axes."
        )
    cells = np.arange(int(np.prod(size)), dtype=np.int64).reshape(size)
    found = [np.empty((0, 2), dtype=np.int64)]
    for step in np.ndindex(*(3,) * len(size)):
        offset = np.array(step) - 1
        moved = np.flatnonzero(offset)
        # One of the two directions: the one whose first step is forward.
        if not 0 < moved.size <= connectivity or offset[moved[0]] < 0:
            continue
        here = tuple(slice(max(0, -o), s - max(0, o)) for o, s in zip(offset, size, strict=True))
        there = tuple(slice(max(0, o), s - max(0, -o)) for o, s in zip(offset, size, strict=True))
        found.append(np.column_stack([cells[here].ravel(), cells[there].ravel()]))
    return np.concatenate(found), cells.size
