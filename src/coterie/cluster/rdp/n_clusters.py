"""How many clusters K-Means should start with where nobody said: by the pairs, else by the rows.

**Pairs.** Under (8) with one reliability p = q, a pair says "friends" with probability p if its
rows share a cluster and 1 - p if not. What the labels z of K clusters tell of the pairs is

    sum_ij log P(E_ij | z, p) - log P(E_ij | p),  P(E_ij = 1 | p) = s p + (1 - s)(1 - p),

with s the chance that two rows drawn at random share a cluster. Without the second term a set of
must-links alone would be likeliest with one cluster, and one of cannot-links with as many as
there are rows; with it, both want the clusters that the classes are.

**Rows.** Among the numbers that the pairs leave open (all of them, where there are no pairs) the
one of the widest mean silhouette (Rousseeuw 1987).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from coterie._typing import Array
from coterie.cluster.rdp.means import Means, Sample, draw_sample, k_means
from coterie.cluster.rdp.problem import RdpProblem
from coterie.exceptions import CoterieWarning

__all__ = ["choose_n_clusters", "information", "silhouette", "silhouette_distances"]

_STARTS = 3  # K-Means runs for each number of clusters
_ENOUGH = 8  # numbers tried after the best so far
_OPEN = 2.0  # nats: pairs that are e^2 times likelier decide
_MOST_PAIRS = 20_000
_SILHOUETTE_ROWS = 800
_PRIOR = (10.0, 1.0)  # Beta prior of p, as in TVClust
_MOST_COST = 10.0  # a hard pair counts as ten plain ones
_CENTERS_AT_ONCE = 64


def choose_n_clusters(problem: RdpProblem, rng: np.random.Generator) -> int:
    """The number of clusters that the pairs, or else the silhouettes, speak for.

    Warns
    -----
    CoterieWarning
        Where the pairs leave it open and the rows have no more structure than rows strewn evenly
        over the same room.
    """
    sample = draw_sample(problem, rng)
    pairs = _PairSample.of(problem, rng)
    view = _View.of(problem, rng)
    tried: list[_Tried] = []
    for k in _numbers(sample.problem.n // 2):
        means = min(k_means(sample, k, _STARTS, rng), key=lambda found: found.cost)
        if len(means.centers) < k and tried:
            break  # there are not that many different rows
        told = pairs.information(problem, means)
        tried.append(_Tried(k, means, told, told if pairs.any else view.width(means)))
        best = max(range(len(tried)), key=lambda at: tried[at].value)
        if len(tried) - best > _ENOUGH:
            break
    most = max(one.told for one in tried)
    left = [one for one in tried if one.told >= most - _OPEN]
    if len(left) == 1:
        return left[0].k
    widths = [view.width(one.means) for one in left]
    at = int(np.argmax(widths))
    if left[-1].k >= 2 * left[0].k and widths[at] <= view.chance_width(left[at].k, rng):
        _warn_no_elbow(left[at].k, pairs.any)
    return left[at].k


class _Tried(NamedTuple):
    k: int
    means: Means
    told: float  # what the clusters tell of the pairs, in nats
    value: float  # by which the search goes on


def _numbers(most: int) -> Iterator[int]:
    """1, 2, ..., 12, then steps of a fifth, up to `most` (and 1 at least)."""
    k = 1
    while k <= max(most, 1):
        yield k
        k = max(k + 1, k * 6 // 5)


def _warn_no_elbow(k: int, some_pairs: bool) -> None:
    told = "the pairs leave it open and " if some_pairs else ""
    warnings.warn(
        f"how many clusters there are is little more than a guess ({k} to start with): {told}none "
        "stands out in the rows. Say how many you expect (n_clusters_hint), give lambda_ as a "
        "number, or answer more pairs.",
        CoterieWarning,
        stacklevel=5,
    )


# -- pairs -------------------------------------------------------------------------------------


class _PairSample(NamedTuple):
    """At most some thousand of the pairs."""

    rows: Array  # (r,) rows that occur in them
    i: Array  # (m,) positions in `rows`
    j: Array
    must: Array  # (m,) bool
    cost: Array  # (m,)

    @classmethod
    def of(cls, problem: RdpProblem, rng: np.random.Generator) -> _PairSample:
        c = problem.constraints
        listed = np.flatnonzero(problem.pair_cost > 0)
        if listed.size > _MOST_PAIRS:
            listed = rng.choice(listed, _MOST_PAIRS, replace=False)
        rows, at = np.unique(c.pairs[listed], return_inverse=True)
        at = at.reshape(-1, 2)
        cost = np.minimum(problem.pair_cost[listed], _MOST_COST)
        return cls(rows, at[:, 0], at[:, 1], c.kind[listed] > 0, cost)

    @property
    def any(self) -> bool:
        return self.i.size > 0

    def information(self, problem: RdpProblem, means: Means) -> float:
        if not self.any:
            return 0.0
        labels = problem.nearest(self.rows, means.centers)
        together = labels[self.i] == labels[self.j]
        chance = float(((means.sizes / means.sizes.sum()) ** 2).sum())
        return information(together, self.must, self.cost, chance)


def information(together: Array, must: Array, cost: Array, chance: float) -> float:
    """What labels tell of pairs, in nats: log P(E | z, p) - log P(E | p) at the p they suggest.

    Parameters
    ----------
    together, must : (m,) bool
        Whether the labels join the pair, and whether it is a must-link.
    cost : (m,)
        How many times each pair counts.
    chance : float
        s: the chance that two rows drawn at random share a cluster.
    """
    right = together == must
    p = (cost[right].sum() + _PRIOR[0]) / (cost.sum() + sum(_PRIOR))
    friends = chance * p + (1 - chance) * (1 - p)
    given = np.where(right, np.log(p), np.log1p(-p))
    drawn = np.where(must, np.log(friends), np.log1p(-friends))
    return float(cost @ (given - drawn))


# -- rows --------------------------------------------------------------------------------------


class _View(NamedTuple):
    """Some rows and how far they are from each other."""

    sample: Sample
    distances: Array  # (v, v)

    @classmethod
    def of(cls, problem: RdpProblem, rng: np.random.Generator) -> _View:
        sample = draw_sample(problem, rng, _SILHOUETTE_ROWS)
        return cls(sample, silhouette_distances(sample.problem))

    def width(self, means: Means) -> float:
        """The mean silhouette of these rows."""
        part = self.sample.problem
        centers = (means.centers - self.sample.origin).astype(means.centers.dtype)
        return silhouette(self.distances, part.nearest(np.arange(part.n), centers))

    def chance_width(self, k: int, rng: np.random.Generator) -> float:
        """The mean silhouette of as many rows strewn evenly over the same room."""
        part = self.sample.problem
        if part.rows.is_sparse:
            return 0.25  # "no substantial structure" (Kaufman and Rousseeuw 1990)
        strewn = _strewn(part, rng)
        means = min(k_means(strewn, k, _STARTS, rng), key=lambda found: found.cost)
        return _View(strewn, silhouette_distances(strewn.problem)).width(means)


def silhouette_distances(problem: RdpProblem) -> Array:
    """Square roots of the divergences between all rows, made symmetric, (n, n)."""
    everyone = np.arange(problem.n)
    values = np.empty((problem.n, problem.n))
    for lo in range(0, problem.n, _CENTERS_AT_ONCE):
        terms = problem.terms(problem.singles(everyone[lo : lo + _CENTERS_AT_ONCE]))
        values[:, lo : lo + _CENTERS_AT_ONCE] = problem.divergences(everyone, terms)
    if not problem.root:
        np.sqrt(values, out=values)
    return (values + values.T) / 2


def silhouette(distances: Array, labels: Array) -> float:
    """Mean of (b - a) / max(a, b) over the rows; 0 for a row that is alone, or for one cluster."""
    _, labels = np.unique(labels, return_inverse=True)
    counts = np.bincount(labels)
    if len(counts) < 2:
        return 0.0
    rows = np.arange(len(labels))
    sums = distances @ np.eye(len(counts))[labels]
    own = counts[labels]
    a = sums[rows, labels] / np.maximum(own - 1, 1)
    means = sums / counts
    means[rows, labels] = np.inf
    b = means.min(axis=1)
    largest = np.maximum(a, b)
    width = np.where((own > 1) & (largest > 0), (b - a) / np.where(largest > 0, largest, 1), 0.0)
    return float(width.mean())


def _strewn(problem: RdpProblem, rng: np.random.Generator) -> Sample:
    """Rows drawn evenly from the box around the rows: along their principal axes where the
    divergence does not see a shift, else along the columns.
    """
    X = np.asarray(problem.rows.take(np.arange(problem.n)), dtype=np.float64)
    axes, middle = np.eye(problem.d), np.zeros(problem.d)
    if problem.distortion.translation_invariant:
        middle = X.mean(axis=0)
        axes = np.linalg.svd(X - middle, full_matrices=False)[2]
    turned = (X - middle) @ axes.T
    drawn = rng.uniform(turned.min(axis=0), turned.max(axis=0), size=turned.shape)
    part = problem.without_pairs((drawn @ axes + middle).astype(problem.rows.dtype))
    return Sample(part, np.zeros(problem.d), part.n)
