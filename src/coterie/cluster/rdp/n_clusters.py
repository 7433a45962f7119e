"""How many clusters K-Means should start with where nobody said: by the pairs, else by the rows.

**Pairs.** Under (8) a pair says "friends" with probability p if its rows share a cluster and 1 - q
if not. What the labels z of K clusters tell of the pairs is

    max_{p, q} sum_ij log P(E_ij | z, p, q) - log P(E_ij | p, q),
    P(E_ij = 1 | p, q) = s p + (1 - s)(1 - q),  p >= 1 - q,

with s the chance that two rows drawn at random share a cluster. Without the second term a set of
must-links alone would be likeliest with one cluster, and one of cannot-links with as many as
there are rows; with it, both want the clusters that the classes are.

**Rows.** Among the numbers that the pairs leave open (all of them, where there are no pairs) the
one of the widest mean silhouette (Rousseeuw 1987).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from coterie._typing import Array
from coterie.cluster.rdp.means import Means, Sample, draw_sample, k_means
from coterie.cluster.rdp.problem import RdpProblem
from coterie.words import warn

__all__ = ["choose_n_clusters", "information", "silhouette", "silhouette_distances"]

_STARTS = 4  # K-Means runs for each number of clusters
_CLOSER = 10  # and for those around the best
_ENOUGH = 10  # numbers tried after the best so far
_OPEN = 2.0  # nats: pairs that are e^2 times likelier decide
_MOST_PAIRS = 20_000
_SILHOUETTE_ROWS = 800
_STANDS_OUT = 0.05  # by so much a silhouette is wider than that of rows without clusters
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
    search = _Search(problem, rng)
    search.run()
    left = search.left_open()
    if len(left) == 1:
        return left[0].k
    widths = [search.view.width(one.means) for one in left]
    at = int(np.argmax(widths))
    least = _STANDS_OUT + search.view.chance_width(left[at].k, rng)
    if left[-1].k >= 2 * left[0].k and widths[at] < least:
        _warn_no_elbow(left[at].k, search.pairs.any)
    return left[at].k


class _Search:
    """K-Means with more and more clusters, and what each number tells of the pairs."""

    def __init__(self, problem: RdpProblem, rng: np.random.Generator) -> None:
        self.problem, self.rng = problem, rng
        self.sample = draw_sample(problem, rng)
        self.pairs = _PairSample.of(problem, rng)
        self.view = _View.of(problem, rng)
        self.tried: list[_Tried] = []

    def run(self) -> None:
        """Numbers in growing steps until the best lies well behind; then those around it."""
        # Rows alone speak for ever smaller clusters; pairs speak against them.
        root = np.sqrt(self.sample.n_whole)
        most = max(1, min(int((2 if self.pairs.any else 1) * root), self.sample.problem.n // 2))
        grid = list(_numbers(most))
        for at, k in enumerate(grid):
            best = self._best()
            if not self._try(k) or (best is not None and at - grid.index(best) > _ENOUGH):
                break
        best = self._best() or 1
        at = grid.index(best)
        around = range(grid[max(at - 1, 0)] + 1, grid[min(at + 1, len(grid) - 1)])
        for k in {best, *around[:: 1 + len(around) // _ENOUGH]}:
            self._try(k, _CLOSER)

    def left_open(self) -> list[_Tried]:
        """The numbers that the pairs do not rule out, in rising order."""
        most = max(one.told for one in self.tried)
        left = [one for one in self.tried if one.told >= most - _OPEN]
        return sorted(left, key=lambda one: one.k)

    def _best(self) -> int | None:
        return max(self.tried, key=lambda one: one.value).k if self.tried else None

    def _try(self, k: int, n_init: int = _STARTS) -> bool:
        """K-Means with k clusters; whether there are so many different rows."""
        means = min(k_means(self.sample, k, n_init, self.rng), key=lambda found: found.cost)
        if len(means.centers) < k and self.tried:
            return False
        told = self.pairs.information(self.problem, means)
        value = told if self.pairs.any else self.view.width(means)
        self.tried = [one for one in self.tried if one.k != k or one.means.cost < means.cost]
        if all(one.k != k for one in self.tried):
            self.tried.append(_Tried(k, means, told, value))
        return True


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
    warn(
        f"how many clusters there are is little more than a guess ({k} to start with): {told}none "
        "stands out in the rows. Say how many you expect (n_clusters_hint), give lambda_ as a "
        "number, or answer more pairs.",
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
    """What labels tell of pairs, in nats: log P(E | z) - log P(E) under (8), at the best p and q.

    Parameters
    ----------
    together, must : (m,) bool
        Whether the labels join the pair, and whether it is a must-link.
    cost : (m,)
        How many times each pair counts.
    chance : float
        s: the chance that two rows drawn at random share a cluster.
    """
    near, far = _CHANCES  # of a must-link, where the labels join a pair and where they do not
    drawn = chance * near + (1 - chance) * far
    total = np.zeros(near.shape)
    for joined, friend in ((True, near), (False, far)):
        yes = cost[(together == joined) & must].sum()
        no = cost[(together == joined) & ~must].sum()
        total += yes * np.log(friend / drawn) + no * np.log((1 - friend) / (1 - drawn))
    return float(total.max())


def _chances() -> tuple[Array, Array]:
    """p and 1 - q over a grid of p >= 1 - q, (g,) each."""
    grid = np.append(np.linspace(0.02, 0.98, 25), 0.99)
    near, far = np.meshgrid(grid, grid)
    return near[near >= far], far[near >= far]


_CHANCES = _chances()


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
            return 0.2  # to .25 is "no substantial structure" (Kaufman and Rousseeuw 1990)
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
