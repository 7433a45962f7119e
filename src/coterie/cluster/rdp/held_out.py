"""More clusters, or fewer? What K-Means alone does not find it may find with the pairs.

Where K-Means merges two classes whatever its number of clusters, the pairs between them can only
push rows to where they do not belong; where it cuts a class into many pieces, pairs could have
kept it whole. So RDP-means is run with some clusters more and less, on half of the pairs, and the
pairs of the other half say whether that was better.
"""

from __future__ import annotations

import numpy as np

from coterie._typing import Array
from coterie.cluster.rdp.fit import solve, start_from_centers
from coterie.cluster.rdp.means import draw_sample, k_means
from coterie.cluster.rdp.n_clusters import information
from coterie.cluster.rdp.problem import Divergence, RdpProblem
from coterie.cluster.rdp.reach import Reach
from coterie.cluster.rdp.xi import XiRule
from coterie.constraints import Constraints

__all__ = ["number_with_pairs"]

_MOST_ROWS = 2_000
_LEAST_PAIRS = 100
_MORE, _LESS = 3, 6  # clusters that may be added and left out
_BETTER = 3.0  # nats: so much more must be told of the pairs that were held out
_RUNS = 5


def number_with_pairs(problem: RdpProblem, k: int, rng: np.random.Generator) -> int:
    """k, or some clusters more or less if pairs that were held out speak for them."""
    rows = np.unique(problem.constraints.pairs[problem.pair_cost > 0])
    if rows.size > _MOST_ROWS:
        rows = np.sort(rng.choice(rows, _MOST_ROWS, replace=False))
    known = problem.constraints.subset(rows)
    if known.n_pairs < _LEAST_PAIRS:
        return k
    X = problem.rows.source.take(rows)
    divergence = Divergence(problem.distortion, problem.root)
    half = rng.random(known.n_pairs) < 0.5
    parts = [RdpProblem(X, _soft(known, side), None, divergence) for side in (half, ~half)]
    told: dict[int, float] = {}
    for number in range(max(k - _LESS, min(k, 2)), min(k + _MORE, len(rows) // 2) + 1):
        runs = k_means(draw_sample(parts[0], rng), number, _RUNS, rng)
        centers = min(runs, key=lambda means: means.cost).centers
        first, second = (_labels(part, centers, rng) for part in parts)
        told[number] = _told(first, parts[1].constraints) + _told(second, parts[0].constraints)
    best = max(told, key=told.__getitem__, default=k)
    return best if k in told and told[best] > told[k] + _BETTER else k


def _soft(known: Constraints, listed: Array) -> Constraints:
    """The listed pairs (m,) bool, all of weight 1."""
    must = known.kind > 0
    return Constraints(
        known.n_samples,
        must_link=known.pairs[listed & must],
        cannot_link=known.pairs[listed & ~must],
    )


def _labels(problem: RdpProblem, centers: Array, rng: np.random.Generator) -> Array:
    """Where RDP-means with its defaults comes to from these centres, (n,)."""
    reach = Reach.of(problem, centers)
    schedule = XiRule.default().schedule(problem, reach.roomy, reach)
    state = start_from_centers(problem, centers)
    return solve(problem, state, reach.roomy, schedule, rng).state.labels


def _told(labels: Array, pairs: Constraints) -> float:
    """What the labels tell of pairs that they were found without."""
    i, j = pairs.pairs.T
    chance = float(((np.bincount(labels) / len(labels)) ** 2).sum())
    return information(labels[i] == labels[j], pairs.kind > 0, np.ones(len(i)), chance)
