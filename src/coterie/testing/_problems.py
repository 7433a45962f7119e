"""The small problems the checks are posed on.

Rows are positive and groups lie along different axes, so that they are as clear to a cosine or a
Kullback-Leibler divergence as to a Euclidean distance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.constraints import Constraints


class Problem(NamedTuple):
    """Rows (n, d), the groups they came from (n,), and pairs about them."""

    X: NDArray[np.float64]
    groups: NDArray[np.int64]
    constraints: Constraints


def _positive(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.maximum(rows, 0.05)


def blobs(k: int = 2, per_group: int = 12, seed: int = 0) -> Problem:
    """`k` groups far apart (distance 14, spread 0.3), a few true pairs."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(k), per_group)
    X = _positive(1.0 + 10.0 * np.eye(k, 4)[groups] + 0.3 * rng.standard_normal((groups.size, 4)))
    return Problem(X, groups, true_pairs(groups, 12, rng))


def crossed(seed: int = 0) -> Problem:
    """The data say one thing, the pairs another.

    Two far groups, each of two near halves: two clusters of the data are the far groups, while
    every pair says that the *halves* belong together across the gap.
    """
    rng = np.random.default_rng(seed)
    far, half = np.divmod(np.arange(24) % 4, 2)
    X = 1.0 + 10.0 * np.eye(2, 4)[far] + 4.0 * np.eye(2, 4, k=2)[half]
    X = _positive(X + 0.2 * rng.standard_normal(X.shape))
    return Problem(X, half, true_pairs(half, 80, rng, weight=1000.0))


def noisy(seed: int = 0, k: int = 3, n: int = 45) -> Problem:
    """Overlapping groups and pairs of which a fifth are wrong: no clean answer exists."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, k, n)
    X = _positive(2.0 + 2.0 * np.eye(k, 4)[groups] + rng.standard_normal((n, 4)))
    said = np.where(rng.uniform(size=n) < 0.8, groups, rng.integers(0, k, n))
    pairs = _distinct_pairs(n, 40, rng)
    same = said[pairs[:, 0]] == said[pairs[:, 1]]
    return Problem(
        X,
        groups,
        Constraints(
            n,
            must_link=pairs[same],
            cannot_link=pairs[~same],
            must_weight=rng.uniform(0.1, 3.0, int(same.sum())),
            cannot_weight=rng.uniform(0.1, 3.0, int((~same).sum())),
        ),
    )


def pulled_row(weight: float = 1000.0) -> Problem:
    """Two far groups, and one row of the first tied to three of the second.

    The one good answer moves that row, whatever its number is.
    """
    X, groups, _ = blobs()
    ties = [(3, 14), (3, 17), (3, 20)]
    answer = groups.copy()
    answer[3] = 1
    return Problem(X, answer, Constraints(groups.size, must_link=ties, must_weight=weight))


def true_pairs(
    groups: NDArray[np.int64], n_pairs: int, rng: np.random.Generator, weight: float = 1.0
) -> Constraints:
    """Random distinct pairs, each of the kind the groups say."""
    pairs = _distinct_pairs(groups.size, n_pairs, rng)
    same = groups[pairs[:, 0]] == groups[pairs[:, 1]]
    return Constraints.from_arrays(groups.size, pairs, same, weight=weight)


def _distinct_pairs(n: int, n_pairs: int, rng: np.random.Generator) -> NDArray[np.int64]:
    every = np.column_stack(np.triu_indices(n, k=1))
    return every[rng.permutation(len(every))[:n_pairs]]
