"""What several papers' protocols share: cached data sets, entailed pairs."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie import Constraints
from coterie.datasets import load


class Data(NamedTuple):
    """Rows, classes, and how many classes there are."""

    X: Any
    y: NDArray[np.int64]
    k: int


@cache
def data(name: str, **options: Any) -> Data:
    """A data set as `coterie.datasets.load` gives it, read once in a process."""
    bunch = load(name, **options)
    return Data(bunch.data, bunch.target, len(np.unique(bunch.target)))


def with_entailed(constraints: Constraints) -> Constraints:
    """The pairs and all that follow from them, written out (Basu et al. 2004 and 2006).

    Rows joined by must-links are linked each with each, and one cannot-link between two such
    groups separates all their rows. Up to r(r − 1)/2 pairs for r rows in pairs: for small sets.
    The pairs must not contradict each other and must all weigh 1.
    """
    group = constraints.closure(hard_only=False).component
    rows = np.unique(constraints.pairs)
    apart = {tuple(sorted(pair)) for pair in group[constraints.cannot_link].tolist()}
    left, right = (rows[side] for side in np.triu_indices(rows.size, 1))
    must = group[left] == group[right]
    codes = np.array([a * constraints.n_samples + b for a, b in apart], dtype=np.int64)
    low, high = np.minimum(group[left], group[right]), np.maximum(group[left], group[right])
    cannot = np.isin(low * constraints.n_samples + high, codes)
    pairs = np.column_stack([left, right])
    return Constraints(constraints.n_samples, pairs[must], pairs[cannot])
