"""Every cluster cut in two, to see where a second centre would save most.

Rows drawn as centres do not show it: in many columns a row is a poor centre even of rows that
are two clusters. Two means of the rows of each cluster do, and cost no more than a few passes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coterie._typing import Array
from coterie.cluster.distances import own_leads
from coterie.cluster.kmeans.problem import KMeansProblem
from coterie.cluster.kmeans.starts import shared_metric
from coterie.cluster.kmeans.values import Measure
from coterie.cluster.labelling import sums_by_label
from coterie.cluster.statistics import Shape

__all__ = ["Halves", "cut_in_two"]

_STEPS = 10  # of two means: where to go on from, not where it ends


class Halves(NamedTuple):
    """Centres of two halves (p, d) of each cluster, and what having both would save, (p,)."""

    one: Array
    other: Array
    saved: Array


def cut_in_two(
    problem: KMeansProblem,
    measure: Measure,
    labels: Array,
    centers: Array,
    rng: np.random.Generator,
) -> Halves:
    """K-Means with K = 2 within each cluster, all at once, from random halves.

    From there it turns to the direction in which a cluster is widest, as repeated products with
    its covariance would. What pairs cost is not looked at.

    Parameters
    ----------
    labels : (n,)
        Clusters 0..p-1 of all rows.
    centers : (p, d)
        Their centres.
    """
    rows, distortion, A = problem.rows, problem.distortion, shared_metric(measure.A)
    count = len(centers)
    shape = Shape(2 * count, rows.d)
    parents = np.repeat(centers, 2, axis=0)
    second = rng.random(rows.n) < 0.5
    for _ in range(_STEPS):
        sides = 2 * labels + second
        counts, sums, _ = sums_by_label(rows, sides, measure.terms, distortion, A, shape)
        filled = counts > 0
        halves = np.array(parents, dtype=np.float64)
        halves[filled] = distortion.centroid(sums[filled], counts[filled], A)
        before = second
        second = own_leads(rows, labels, halves[0::2], halves[1::2], distortion, A) > 0
        if (second == before).all():
            break
    sides = 2 * labels + second
    gain = own_leads(rows, sides, parents, halves, distortion, A)
    weights = problem.weights if problem.weights.size else None
    saved = np.bincount(labels, gain if weights is None else weights * gain, minlength=count)
    return Halves(halves[0::2], halves[1::2], saved)
