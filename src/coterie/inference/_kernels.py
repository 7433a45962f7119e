"""Compiled pieces every engine shares: random bits and their seeds, pair costs, energies.

`same` and `differ` each have one column (one cost for all clusters) or K columns.
Every sum here is safe with ``+inf``: infinities are added, never subtracted.

What only other kernels call is compiled with them, without a door from Python of its own, for every
door adds to the first fit on a new machine: `register_jitable`, or put in place by numba
(``inline="always"``) where it takes numbers only or is called from one place. Kernels take records
and unpack them once; what they call takes plain arrays, for numba counts the references to the
arrays of a record, with locked instructions, every time that it is handed on.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit
from numba.extending import register_jitable

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_TWO_53 = 1.0 / 9007199254740992.0
RandomState = int | np.uint64 | np.random.Generator | np.random.RandomState | None


def draw_seed(random_state: RandomState) -> np.uint64:
    """One 63-bit seed; an int gives the same seed always, a generator the next of its stream.

    A seed that was drawn is itself: who searches several times draws once.
    """
    if isinstance(random_state, np.uint64):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.uint64(random_state.randint(0, 2**31 - 1))
    if isinstance(random_state, int):  # what follows would find the same in twice the time
        return np.uint64(np.random.PCG64(random_state).random_raw() >> 1)
    return np.uint64(np.random.default_rng(random_state).integers(0, 2**63))


@njit(inline="always")
def next_bits(state):  # IN OUT state (1,) uint64
    """Next 64 random bits (SplitMix64): a seeded stream that is the same on every machine."""
    state[0] += _GOLDEN
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * _MIX_1
    z = (z ^ (z >> np.uint64(27))) * _MIX_2
    return z ^ (z >> np.uint64(31))


@njit(inline="always")
def next_uniform(state):  # IN OUT
    """Next uniform number in [0, 1)."""
    return np.float64(next_bits(state) >> np.uint64(11)) * _TWO_53


@register_jitable
def shuffle(items, count, state):  # IN OUT items, state
    """Fisher-Yates shuffle of ``items[:count]``."""
    for a in range(count - 1, 0, -1):
        b = np.int64(next_bits(state) % np.uint64(a + 1))
        items[a], items[b] = items[b], items[a]


@register_jitable
def pair_cost(same, differ, e, a, b):  # IN
    """Cost of entry `e` when its ends have labels `a` and `b`."""
    if a == b:
        return same[e, a if same.shape[1] > 1 else 0]
    if differ.shape[1] == 1:
        return differ[e, 0]
    return 0.5 * (differ[e, a] + differ[e, b])


@register_jitable
def add_pair_costs(same, differ, e, b, out):  # IN; OUT out (K,)
    """Add to ``out[k]`` the cost of entry `e` with this end at k and the other at `b`.

    Up to a constant, which is returned: with one finite cost for all clusters only ``out[b]`` has
    to change.
    """
    rest = 0.0
    if same.shape[1] == 1 and differ.shape[1] == 1 and differ[e, 0] < np.inf:
        rest = differ[e, 0]
        out[b] += same[e, 0] - rest
    else:
        for k in range(out.shape[0]):
            out[k] += pair_cost(same, differ, e, k, b)
    return rest


@register_jitable
def node_costs(i, unary, indptr, indices, same, differ, labels, out):  # IN; OUT out (K,)
    """Cost of each label of node `i` given its neighbours, up to a constant.

    Unlabelled (-1) neighbours are free.
    """
    for k in range(out.shape[0]):
        out[k] = unary[i, k]
    for e in range(indptr[i], indptr[i + 1]):
        b = labels[indices[e]]
        if b >= 0:
            add_pair_costs(same, differ, e, b, out)


@njit(cache=True, nogil=True)
def energies(model, labels, own, out):  # IN; own: count the nodes' own labels too; OUT out (s,)
    """What the edges of each node to later nodes cost, every edge once, and its own label."""
    unary, indptr, indices, same, differ = model
    for i in range(labels.shape[0]):
        total = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if i < j:
                total += pair_cost(same, differ, e, labels[i], labels[j])
        out[i] = total + unary[i, labels[i]] if own else total
