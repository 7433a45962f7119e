"""What every kind of move of the local search needs to know.

``lead[i]`` is how much more the best other label of node i costs than its own, by unary costs alone
(negative if it would rather be elsewhere). Pair costs are ≥ 0, which bounds what leaving can save
on the edges: if that is not above the lead, no move helps and the K costs are not even read. This
makes warm starts cheap. A move is taken only if it lowers the energy by more than rounding.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

from coterie.inference._kernels import pair_cost

_ROUNDING = 1e-14


@njit(cache=True, nogil=True)
def is_lower(new, old):
    """Whether `new` is below `old` by more than rounding; anything finite is below infinity."""
    if old == np.inf:
        return new < np.inf
    return new < old - _ROUNDING * (abs(new) + abs(old))


@njit(cache=True, nogil=True)
def set_lead(i, unary, labels, lead):  # IN; OUT lead (s,)
    """Cost of the cheapest other label above that of the present one."""
    y = labels[i]
    other = np.inf
    for k in range(y):
        other = min(other, unary[i, k])
    for k in range(y + 1, unary.shape[1]):
        other = min(other, unary[i, k])
    lead[i] = other - unary[i, y]


@njit(cache=True, nogil=True)
def saving(i, indptr, indices, same, differ, labels):  # IN
    """The most node `i` can save on its edges by leaving its label.

    That is what they cost now, less what those to neighbours of the same label will cost then.
    """
    y = labels[i]
    total = 0.0
    for e in range(indptr[i], indptr[i + 1]):
        if labels[indices[e]] != y:
            total += pair_cost(same, differ, e, y, labels[indices[e]])
        elif differ.shape[1] == 1:
            total += same[e, y if same.shape[1] > 1 else 0] - differ[e, 0]
        else:
            total += same[e, y if same.shape[1] > 1 else 0] - 0.5 * differ[e, y]
    return total


@njit(cache=True, nogil=True)
def touch(i, indptr, indices, active, dirty):  # IN; OUT active (s,), dirty (s,)
    """Mark node `i` and its neighbours for another look."""
    active[i] = True
    dirty[i] = True
    for e in range(indptr[i], indptr[i + 1]):
        active[indices[e]] = True
        dirty[indices[e]] = True
