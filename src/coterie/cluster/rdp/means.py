"""K-Means under any divergence, on a sample of the rows: where DP-means and RDP-means start.

From one cluster the order of the rows decides what Algorithm 1 finds; from K-Means it begins at a
place of low J.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coterie._typing import Array
from coterie.cluster.rdp.problem import RdpProblem
from coterie.cluster.statistics import Statistics
from coterie.data import gather

__all__ = ["Means", "Sample", "draw_sample", "k_means"]

_MOST_ROWS = 5_000
_ROUNDS = 100


class Means(NamedTuple):
    """What one run of K-Means ends with.

    Attributes
    ----------
    centers : (K, d)
        Measured from the origin of the rows of the whole problem.
    cost : float
        Mean of w D over the sample, times the number of all rows that have a weight.
    sizes : (K,)
        Weight of the sample's rows in each cluster.
    """

    centers: Array
    cost: float
    sizes: Array


class Sample(NamedTuple):
    """Rows of a problem as a problem of their own, without pairs."""

    problem: RdpProblem
    origin: Array  # (d,): what its centres lack beside those of the whole problem
    n_whole: int


def draw_sample(problem: RdpProblem, rng: np.random.Generator, most: int = _MOST_ROWS) -> Sample:
    """At most `most` of the rows that have a weight, all of them where there are so few."""
    weighty = np.flatnonzero(problem.weights > 0) if problem.weights.size else None
    n_whole = problem.n if weighty is None else weighty.size
    listed = np.arange(min(n_whole, most))
    if n_whole > most:
        listed = np.sort(rng.choice(n_whole, most, replace=False))
    listed = listed if weighty is None else weighty[listed]
    weights = problem.weights[listed] if problem.weights.size else None
    part = problem.without_pairs(gather(problem.rows, listed), weights)
    return Sample(part, part.rows.origin - problem.rows.origin, n_whole)


def k_means(sample: Sample, k: int, n_init: int, rng: np.random.Generator) -> list[Means]:
    """The ends of `n_init` runs with k centres or fewer (as many as there are different rows)."""
    return [_one_run(sample, k, rng) for _ in range(n_init)]


def _one_run(sample: Sample, k: int, rng: np.random.Generator) -> Means:
    problem = sample.problem
    centers = _seeds(problem, k, rng)
    labels: Array | None = None
    for _ in range(_ROUNDS):
        found = problem.label_rows(centers, np.inf)
        if labels is not None and np.array_equal(labels, found.labels):
            break
        labels = found.labels
        counts, sums, _ = found.statistics
        kept = counts > 0
        centers = problem.centers(Statistics(counts[kept], sums[kept]), centers[kept])
    cost = found.cost * sample.n_whole / problem.n
    return Means((centers + sample.origin).astype(centers.dtype), cost, counts[kept])


def _seeds(problem: RdpProblem, k: int, rng: np.random.Generator) -> Array:
    """Greedy k-means++: of some rows drawn with probability ~ w D the one that lowers the cost
    most. Fewer than k, (<= k, d), where every row has a centre of its own.
    """
    everyone = np.arange(problem.n)
    trials = 2 + int(np.log(k))
    weights = problem.weights if problem.weights.size else np.ones(problem.n)
    least = problem.resolution * weights
    centers = problem.singles(_draw(weights, 1, rng))
    chosen, nearest = [centers], problem.costs(everyone, problem.terms(centers))[:, 0]
    while len(chosen) < k and (nearest > least).any():
        centers = problem.singles(_draw(nearest, trials, rng))
        costs = problem.costs(everyone, problem.terms(centers))
        np.minimum(costs, nearest[:, None], out=costs)
        best = int(costs.sum(axis=0).argmin())
        chosen.append(centers[best : best + 1])
        nearest = costs[:, best].copy()
    return np.concatenate(chosen)


def _draw(chances: Array, size: int, rng: np.random.Generator) -> Array:
    """`size` numbers drawn with the given chances, (size,)."""
    total = np.cumsum(chances)
    found = np.searchsorted(total, rng.random(size) * total[-1], side="right")
    return np.minimum(found, len(chances) - 1)
