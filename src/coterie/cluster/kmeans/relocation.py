"""Centres that are taken from where two share a cluster to where one is missed.

Lloyd's iterations move centres between neighbours, never across the rows: where classes are of
unequal size, or clusters are many, most starts end with a large cluster cut in two and two small
ones joined, and more starts hardly help. One move mends it: the two clusters that cost least to
join become one, and the centre that is free goes where it saves most (`halving.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from coterie._typing import Array
from coterie.cluster.kmeans.halving import cut_in_two
from coterie.cluster.kmeans.problem import KMeansProblem
from coterie.cluster.kmeans.run import EQUAL, Result, Start, go_on, is_lower, run
from coterie.cluster.kmeans.starts import plus_plus, shared_metric
from coterie.cluster.kmeans.values import Geometry

__all__ = ["relocate"]

_TRIES = 4  # single moves in a row that may fail: one by halves, the others drawn
_AT_ONCE = 8  # of so many clusters one is moved at a time; fewer when that fails
_CANDIDATES = 24  # rows that are tried as the place of a centre
_ITERATIONS = 8  # after which a move has paid or not; where a metric is learned, at the end
_MOST_PAIRS = 100_000  # of clusters, that are put in order


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
        if failed:
            start = _drawn(problem, best, failed - 1, rng)
        else:
            start, pays = _halved(problem, best, count, rng)
            if count == 1 and not pays:  # a run would begin higher than it has to end
                failed += 1
                continue
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


class _Joined(NamedTuple):
    """Clusters after the cheapest of them were joined in pairs.

    Attributes
    ----------
    centers : (K - p, d)
    into : (K,)
        Which of these each cluster is now, or is part of.
    lost : (p,)
        What each pair costs more as one.
    """

    centers: Array
    into: Array
    lost: Array


def _joined(problem: KMeansProblem, found: Result, count: int, skipped: int) -> _Joined | None:
    """`count` pairs of clusters joined, the cheapest after the `skipped` first, none twice.

    Fewer if there are no more; None if there are none.
    """
    A = shared_metric(found.geometry.measure.A)
    counts, sums = found.assignment.statistics[:2]
    pairs: list[tuple[int, int]] = []
    taken = np.zeros(len(counts), dtype=bool)
    for pair in _by_cost(problem, found.centers, counts, A):
        if not taken[list(pair)].any():
            taken[list(pair)] = True
            pairs.append(pair)
            if len(pairs) == count + skipped:
                break
    if len(pairs) <= skipped:
        return None
    one, other = np.array(pairs[skipped:]).T
    both = counts[one] + counts[other]
    centers = np.array(found.centers)
    filled = both > 0
    sums = (sums[one] + sums[other])[filled]
    centers[one[filled]] = problem.distortion.centroid(sums, both[filled], A)
    lost = np.zeros(one.size)
    for part in (one, other):
        gap = problem.distortion.to_centers(found.centers[part], centers[one], A)
        lost += counts[part] * np.diagonal(gap)
    kept = np.delete(np.arange(len(counts)), other)
    into = np.arange(len(counts))
    into[other] = one
    return _Joined(centers[kept], np.searchsorted(kept, into), lost)


def _halved(
    problem: KMeansProblem, found: Result, count: int, rng: np.random.Generator
) -> tuple[Start | None, bool]:
    """Centres (K, d) of which `count` have moved to where halves of clusters save most.

    And whether that saves more than it costs, by the rows' distances to these centres alone.
    """
    joined = _joined(problem, found, count, 0)
    if joined is None:
        return None, True
    measure = found.geometry.measure
    labels = problem.with_labels(found.assignment, found.centers, measure).labels
    labels = joined.into[labels].astype(np.int32)
    halves = cut_in_two(problem, measure, labels, joined.centers, rng)
    wide = np.argsort(-halves.saved, kind="stable")[: joined.lost.size]
    centers = np.array(joined.centers)
    centers[wide] = halves.one[wide]
    centers = np.concatenate([centers, halves.other[wide]])
    pays = bool(halves.saved[wide].sum() > (1 + EQUAL) * joined.lost.sum())
    return Start(centers.astype(problem.rows.dtype)), pays


def _drawn(
    problem: KMeansProblem, found: Result, skipped: int, rng: np.random.Generator
) -> Start | None:
    """Centres (K, d) of which one has moved to a row, drawn by k-means++ among many."""
    joined = _joined(problem, found, 1, skipped)
    if joined is None:
        return None
    measure = found.geometry.measure
    grown = plus_plus(problem, measure, joined.centers, rng, trials=_CANDIDATES)
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
