"""Centres that are taken from where two share a cluster to where one is missed.

Lloyd's iterations move centres between neighbours, never across the rows: where classes are of
unequal size, or clusters are many, most starts end with a large cluster cut in two and two small
ones joined, and more starts hardly help. One move mends it: the two clusters that cost least to
join become one, and the centre that is free goes where it saves most.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from coterie._typing import Array
from coterie.cluster.kmeans.problem import KMeansProblem
from coterie.cluster.kmeans.run import Result, Start, go_on, is_lower, run
from coterie.cluster.kmeans.starts import plus_plus, shared_metric
from coterie.cluster.kmeans.values import Geometry

__all__ = ["relocate"]

_TRIES = 3  # single moves in a row that may fail, each from another pair of clusters
_AT_ONCE = 8  # of so many clusters one is moved at a time; fewer when that fails
_ITERATIONS = 8  # after which a move has paid or not; where a metric is learned, at the end
_MOST_PAIRS = 100_000  # of clusters, that are put in order
_CANDIDATES = 24  # rows that are tried as the place of a centre


def relocate(
    problem: KMeansProblem,
    found: Result,
    geometry: Geometry,
    *,
    max_iter: int,
    tol: float,
    seed: int,
) -> Result:
    """What `found` becomes by moving centres, as long as the objective falls.

    `geometry` is the one to begin with where a metric is learned: metrics of clusters do not
    move with their centres. There, when no centre is left to move, the last try is the same
    centres under that geometry.
    """
    learning = problem.settings.form is not None
    rng = np.random.default_rng(seed)
    best = go_on(problem, found, max_iter, tol, seed)
    count, failed = max(1, problem.settings.n_clusters // _AT_ONCE), 0
    while failed < _TRIES and not best.stopped and len(best.centers) > 1:
        start = _moved(problem, best, count, failed, rng)
        if start is None and not learning:
            break
        if start is None:
            start, failed = Start(best.centers.astype(problem.rows.dtype)), _TRIES
        under = geometry if learning else best.geometry
        most = max_iter if learning else min(_ITERATIONS, max_iter)
        tried = run(problem, start, under, max_iter=most, tol=tol, seed=seed)
        if is_lower(tried, best):
            best, failed = go_on(problem, tried, max_iter, tol, seed), 0
        elif count > 1:
            count //= 2
        else:
            failed += 1
        if tried.stopped:
            return best._replace(stopped=True)
    return best


def _moved(
    problem: KMeansProblem, found: Result, count: int, skipped: int, rng: np.random.Generator
) -> Start | None:
    """Centres (K, d) of which `count` have moved, those whose clusters cost least to join.

    Pairs of clusters are taken as they rise in cost, none twice, after the `skipped` first; None
    if there are no more.
    """
    A = shared_metric(found.geometry.measure.A)
    counts, sums = (np.array(part) for part in found.assignment.statistics[:2])
    joined, free = [], []
    taken = np.zeros(len(counts), dtype=bool)
    for one, other in _by_cost(problem, found.centers, counts, A):
        if taken[[one, other]].any():
            continue
        taken[[one, other]] = True
        joined.append(one)
        free.append(other)
        if len(free) == count + skipped:
            break
    joined, free = joined[skipped:], free[skipped:]
    if not free:
        return None
    counts[joined] += counts[free]
    sums[joined] += sums[free]
    centers = np.array(found.centers)
    filled = np.array([one for one in joined if counts[one] > 0], dtype=np.int64)
    if filled.size:
        centers[filled] = problem.distortion.centroid(sums[filled], counts[filled], A)
    kept = np.delete(centers, free, axis=0)
    grown = plus_plus(problem, found.geometry.measure, kept, rng, trials=_CANDIDATES)
    return Start(grown.astype(problem.rows.dtype))


def _by_cost(
    problem: KMeansProblem, centers: Array, counts: Array, A: Array | None
) -> Iterator[tuple[int, int]]:
    """Pairs of clusters by what joining them costs: n m / (n + m) d(a, b), as Ward's (1963) has it.

    Exact for squared Euclidean distances; for others it orders them.
    """
    apart = np.asarray(problem.distortion.to_centers(centers, centers, A), dtype=np.float64)
    one, other = np.triu_indices(len(centers), 1)
    both = np.maximum(counts[one] + counts[other], np.finfo(float).tiny)
    cost = counts[one] * counts[other] / both * np.minimum(apart[one, other], apart[other, one])
    cheap = np.arange(cost.size)
    if cost.size > _MOST_PAIRS:  # of thousands of clusters: few of their pairs are ever looked at
        cheap = np.sort(np.argpartition(cost, _MOST_PAIRS)[:_MOST_PAIRS])
    order = cheap[np.argsort(cost[cheap], kind="stable")]
    return zip(one[order].tolist(), other[order].tolist(), strict=True)
