"""What every kind of move of the local search needs to know.

``lead[i]`` is how much more the best other label of node i costs than its own, by unary costs alone
(negative if it would rather be elsewhere). Pair costs are ≥ 0, which bounds what leaving can save
on the edges: if that is not above the lead, no move helps and the K costs are not even read. This
makes warm starts cheap. A move is taken only if it lowers the energy by more than rounding.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numba.extending import register_jitable

from coterie.inference._kernels import pair_cost

_ROUNDING = 1e-14


class Desk(NamedTuple):
    """What a local search writes on while it works.

    Attributes
    ----------
    state : (1,) uint64
        Of the random bits.
    queue : (s,) int64
    costs : (K,) float64
    lead : (s,) float64
    active, dirty : (s,) bool
        Nodes to be looked at again, by themselves and as part of their component.
    """

    state: np.ndarray
    queue: np.ndarray
    costs: np.ndarray
    lead: np.ndarray
    active: np.ndarray
    dirty: np.ndarray


@njit(inline="always")
def is_lower(new, old):
    """Whether `new` is below `old` by more than rounding; anything finite is below infinity."""
    if old == np.inf:
        return new < np.inf
    return new < old - _ROUNDING * (abs(new) + abs(old))


@register_jitable
def set_lead(i, unary, labels, lead):  # IN; OUT lead (s,)
    """Cost of the cheapest other label above that of the present one."""
    y = labels[i]
    other = np.inf
    for k in range(y):
        other = unary[i, k] if unary[i, k] < other else other  # no branch to be guessed wrong
    for k in range(y + 1, unary.shape[1]):
        other = unary[i, k] if unary[i, k] < other else other
    lead[i] = other - unary[i, y]


@register_jitable
def saving(i, indptr, indices, same, differ, labels):  # IN
    """The most node `i` can save on its edges by leaving its label.

    That is what they cost now, less what those to neighbours of the same label will cost then.
    """
    y = labels[i]
    total = 0.0
    for e in range(indptr[i], indptr[i + 1]):
        other = labels[indices[e]]
        if other != y:
            total += pair_cost(same, differ, e, y, other)
        elif differ.shape[1] == 1:
            total += same[e, y if same.shape[1] > 1 else 0] - differ[e, 0]
        else:
            total += same[e, y if same.shape[1] > 1 else 0] - 0.5 * differ[e, y]
    return total


@njit(inline="always")
def relabel(i, y, unary, indptr, indices, lead, active, dirty, labels):
    """Give node `i` label `y`, and mark it and its neighbours for another look."""
    # IN; OUT lead, active, dirty, labels (s,)
    labels[i] = y
    set_lead(i, unary, labels, lead)
    active[i] = True
    dirty[i] = True
    for e in range(indptr[i], indptr[i + 1]):
        active[indices[e]] = True
        dirty[indices[e]] = True
