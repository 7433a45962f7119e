"""Pairs for tests of quality."""

from __future__ import annotations

import numpy as np

from coterie import Constraints


def true_pairs(y, m, seed=0, kind=None):
    """m random pairs of distinct rows as the classes have it; of one kind only if that is said."""
    rng = np.random.default_rng(seed)
    n = len(y)
    i = rng.integers(n, size=20 * m)
    j = (i + rng.integers(1, n, size=20 * m)) % n
    key = np.unique(np.minimum(i, j) * n + np.maximum(i, j))
    i, j = np.divmod(rng.permutation(key), n)
    same = y[i] == y[j]
    if kind is not None:
        i, j, same = i[same == kind], j[same == kind], same[same == kind]
    pairs, same = np.column_stack([i, j])[:m], same[:m]
    return Constraints(n, must_link=pairs[same], cannot_link=pairs[~same])
