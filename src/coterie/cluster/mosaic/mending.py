"""Clusters that the pairs would rather have as one are joined, and one is parted instead.

Rounds of beliefs move rows between clusters, never whole clusters: a class that a start has cut in
two stays so, though must-links say that the halves are one, and another holds what they would part.
`cluster/kmeans/relocation.py` is the same move for centres.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from coterie._typing import Array
from coterie.cluster.mosaic.beliefs import MosaicState, merit, start_from
from coterie.cluster.mosaic.evidence import pair_costs
from coterie.cluster.mosaic.problem import MosaicProblem
from coterie.cluster.mosaic.starts import Joins, cluster_prototypes

__all__ = ["mend"]

_HARD = 20.0  # nats that a hard pair counts where others are added up, as among beliefs


def mend(
    problem: MosaicProblem, state: MosaicState, go_on: Callable[[MosaicState], MosaicState]
) -> MosaicState:
    """`state`, or what comes of it if clusters are joined while pairs between them ask for it.

    Of two clusters between which must-links outweigh cannot-links by the odds of a pair, all pairs
    are better kept by one cluster. Whether beliefs agree shows when they have gone on from there:
    a state of higher merit is taken, and the first that is not ends it.
    """
    count = state.rows.shape[1]
    for _ in range(count):
        labels = _moved(problem, state)
        if labels is None:
            break
        tried = go_on(start_from(problem, labels, count))
        if merit(problem, tried) <= merit(problem, state):
            break
        state = tried
    return state


def _moved(problem: MosaicProblem, state: MosaicState) -> NDArray[np.int64] | None:
    """Clusters (n,) with two joined and one parted; None if the pairs do not ask for it."""
    labels, count = state.rows.argmax(axis=1), state.rows.shape[1]
    known = problem.evidence.constraints
    strength = np.minimum(pair_costs(known, state.noise.rate), _HARD)
    signed = np.where(known.kind > 0, strength, -strength)
    i, j = labels[known.pairs].T
    between = np.bincount(i * count + j, weights=signed, minlength=count * count)
    table = between.reshape(count, count) + between.reshape(count, count).T
    np.fill_diagonal(table, -np.inf)
    one, other = np.unravel_index(int(table.argmax()), table.shape)
    if not table[one, other] > 0:
        return None
    labels[labels == other] = one
    part = _worst_part(problem, labels, signed)
    labels[part] = other
    return labels


def _worst_part(problem: MosaicProblem, labels: Array, signed: Array) -> NDArray[np.int64]:
    """Rows (·,) of the cluster in which most is broken, that the pairs would part from the rest.

    None if no cannot-link is broken. The field along which these pairs agree best parts it.
    """
    evidence, field = problem.evidence, problem.ridge.field
    i, j = labels[evidence.constraints.pairs].T
    inside = (i == j) & (signed < 0)
    if not inside.any():
        return np.empty(0, dtype=np.int64)
    worst = int(np.bincount(i[inside], weights=-signed[inside]).argmax())
    votes = np.where((i == worst) & (j == worst), evidence.votes(), 0.0)
    joins = Joins(problem, problem.tuning.reaches[0])
    points = joins.leading(1, votes)[1]
    rows = np.flatnonzero(labels == worst)
    held = np.bincount(field.near[rows], problem.weights[rows], minlength=field.n_prototypes)
    starts = problem.tuning.kmeans_starts
    half = cluster_prototypes(points, held, 2, starts, 0)[field.near[rows]]
    return np.asarray(rows[half == np.bincount(half, minlength=2).argmin()])
