"""Which node of the core a row belongs to, and the other way round."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coterie.constraints import Core

__all__ = ["first_rows", "node_of_row"]

IntArray = NDArray[np.int64]


def node_of_row(core: Core, n: int) -> IntArray:
    """Node (n,) of every row, -1 for rows in no pair."""
    node = np.full(n, -1, dtype=np.int64)
    node[core.rows] = core.node
    return node


def first_rows(core: Core) -> IntArray:
    """The first row (s,) of every node."""
    first = np.empty(core.n_nodes, dtype=np.int64)
    first[core.node[::-1]] = core.rows[::-1]
    return first
