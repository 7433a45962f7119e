"""Compiled loops over pairs. Arrays in, arrays filled; see the callers for the meaning."""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def cost_of_breaking(distance, bound, kind, weight, hard):
    """Turn distances into what breaking each pair costs, in place.

    weight * distance for a must-link, weight * (bound - distance) and at least 0 for a
    cannot-link, inf for a hard pair.
    """
    # IN: bound (G,); kind (m,) +1 or -1; weight (m,); hard (m,)
    # IN/OUT: distance (m, G)
    for p in range(distance.shape[0]):
        for g in range(distance.shape[1]):
            if hard[p]:
                distance[p, g] = np.inf
            elif kind[p] > 0:
                distance[p, g] *= weight[p]
            else:
                distance[p, g] = weight[p] * max(bound[g] - distance[p, g], 0.0)
