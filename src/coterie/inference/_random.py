"""Seeds for compiled kernels."""

from __future__ import annotations

import numpy as np

RandomState = int | np.uint64 | np.random.Generator | np.random.RandomState | None


def draw_seed(random_state: RandomState) -> np.uint64:
    """One 63-bit seed; an int gives the same seed always, a generator the next of its stream.

    A seed that was drawn is itself: who searches several times draws once.
    """
    if isinstance(random_state, np.uint64):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.uint64(random_state.randint(0, 2**31 - 1))
    return np.uint64(np.random.default_rng(random_state).integers(0, 2**63))
