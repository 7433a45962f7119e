"""Pairs that a mixture came to doubt."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coterie.constraints import Constraints, PairTable

__all__ = ["suspects"]


def suspects(constraints: Constraints, together: NDArray[np.float64], k: int | None) -> PairTable:
    """The `k` soft pairs most likely wrong (None: all), each with that probability.

    A must-link is wrong if its rows are apart, a cannot-link if they are together; `together` (m,)
    is the posterior probability that they are. Hard pairs are right by decree.
    """
    soft = np.flatnonzero(~constraints.is_hard)
    kind, same = constraints.kind[soft], together[soft]
    i, j = constraints.pairs[soft].T
    return PairTable(i, j, kind, np.where(kind > 0, 1.0 - same, same), name="p_wrong")[:k]
