"""What an answer about two records is worth: how likely it overturns the clusters, and how many."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.records import Solution

__all__ = ["Worth", "own_odds", "weigh"]

Float = NDArray[np.float64]
Int = NDArray[np.int64]


class Worth(NamedTuple):
    """Pairs that may be asked about, (m, 2), and what their answers are worth.

    Attributes
    ----------
    flip : (m,)
        Probability that the answer overturns the clusters.
    change : (m,)
        Pairs of records that are then joined or parted.
    log_odds : (m,)
        Of "same".
    """

    pairs: Int
    flip: Float
    change: Float
    log_odds: Float


def weigh(solution: Solution) -> Worth:
    """How likely answers overturn the clusters, and how many pairs then change.

    Two clusters join if the sum of log-odds between them is above 0; a record leaves its cluster
    if its sum with the others is below. Log-odds of pairs of the same records are not independent,
    so m of them count as √m.
    """
    pairs, labels = solution.pairs, solution.labels
    odds = np.clip(solution.log_odds, -20.0, 20.0)
    a, b = labels[pairs[:, 0]], labels[pairs[:, 1]]
    joined = a == b
    n_labels = int(labels.max()) + 1
    sizes = np.bincount(labels, minlength=n_labels)
    # Apart: all pairs between the two clusters.
    _, back = np.unique(np.minimum(a, b) * n_labels + np.maximum(a, b), return_inverse=True)
    between = np.bincount(back, odds) / np.sqrt(np.bincount(back))
    # Together: the pairs of either record with its cluster; the weaker one would leave.
    ends = pairs[joined]
    own = np.zeros(labels.size)
    np.add.at(own, ends.ravel(), np.repeat(odds[joined], 2))
    own /= np.sqrt(np.maximum(sizes[labels] - 1, 1))
    margin = np.where(joined, -np.minimum(own[pairs[:, 0]], own[pairs[:, 1]]), between[back])
    flip = 1.0 / (1.0 + np.exp(-margin))
    change = np.where(joined, sizes[a] - 1, sizes[a] * sizes[b]).astype(np.float64)
    return Worth(pairs, flip, change, odds)


def own_odds(solution: Solution) -> Float:
    """How well each record fits its cluster, (n,); see `RecordPlanner.certainty`."""
    pairs, labels = solution.pairs, solution.labels
    odds = np.clip(solution.log_odds, -20.0, 20.0)
    joined = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    sizes = np.bincount(labels)[labels]
    own = np.zeros(labels.size)
    np.add.at(own, pairs[joined].ravel(), np.repeat(odds[joined], 2))
    own /= np.sqrt(np.maximum(sizes - 1, 1))
    best = np.full(labels.size, -20.0)
    np.maximum.at(best, pairs[~joined].ravel(), np.repeat(odds[~joined], 2))
    return np.where(sizes > 1, own, -best)
