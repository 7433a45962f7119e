"""What DP-means and RDP-means minimise, as arrays fixed for one fit.

    J = sum_i w_i D(x_i, mu_{z_i}) - xi1 sum_ML c_ij [z_i = z_j] + xi2 sum_CL c_ij [z_i = z_j]
        + lambda K                                                                     (20)

with every unordered pair counted once: that is what the row-by-row rule of Algorithm 1 descends.
Rows joined by hard must-links are one node. A node pays sum_i w_i D(x_i, mu) less what it would
pay in a cluster of its own, so that "join or pay lambda" means the same for nodes and rows.
"""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from coterie._typing import Array
from coterie.cluster.distances import own_sum
from coterie.cluster.labelling import (
    Labelled,
    Price,
    label_rows,
    largest_term,
    measure_rows,
    sums_by_label,
)
from coterie.cluster.rdp.counts import CountKL
from coterie.cluster.statistics import NONE, Shape, Statistics, add, sum_rows
from coterie.constraints import Constraints
from coterie.data import Rows, Scratch, centered, check_blocks, keeping
from coterie.distortions import (
    CenterTerms,
    Distortion,
    SquaredEuclidean,
    get_distortion,
)

__all__ = ["Divergence", "RdpProblem", "Xi", "get_divergence"]

_NODES_AT_ONCE = 64  # node centres are dense: few at a time, whatever the number of columns
_ROWS_AT_ONCE = 65_536
_KEPT_BYTES = 1 << 28  # of rows that are visited one by one: more are read again and again
_LAPLACE = 0.3  # added to every count, section 5.3


class Divergence(NamedTuple):
    """A distortion, and whether its square root is meant (plain Euclidean distance)."""

    distortion: Distortion
    root: bool = False


class Xi(NamedTuple):
    """Confidence in a must-link (xi1) and in a cannot-link (xi2)."""

    must: float
    cannot: float


def get_divergence(value: Any) -> Divergence:
    """From a name or a `Distortion`; "euclidean" is the plain distance, "kl" adds 0.3 to counts."""
    if isinstance(value, str) and value == "euclidean":
        return Divergence(SquaredEuclidean(), root=True)
    if isinstance(value, str) and value == "kl":
        return Divergence(CountKL(_LAPLACE))
    return Divergence(get_distortion(value, "divergence"))


class RdpProblem:
    """Rows, pairs and divergence of one fit. Nothing here changes: steps return values."""

    def __init__(
        self, X: Any, constraints: Constraints, weights: Array | None, divergence: Divergence
    ) -> None:
        check_blocks(Rows(X), divergence.distortion)
        self.distortion = divergence.distortion.bind(X)
        self.root = divergence.root
        self.A = self.distortion.initial(X.shape[1])
        rows = centered(X) if self.distortion.translation_invariant else Rows(X)
        self.n, self.d = rows.n, rows.d
        self.weights = NONE if weights is None else weights
        self.constraints = constraints
        self.core = constraints.core()
        self.rows = keeping(rows, self.core.rows)
        self.row_terms = measure_rows(self.rows, self.weights, self.distortion, self.A)
        self.scratch = Scratch()  # for what every pass finds for rows and the core
        self.alone = self._cost_alone()
        self._index_pairs()

    def without_pairs(self, X: Any, weights: Array | None = None) -> RdpProblem:
        """Other rows under the same divergence, which nothing is known of."""
        divergence = Divergence(self.distortion, self.root)
        return RdpProblem(X, Constraints(X.shape[0]), weights, divergence)

    def with_rows(self, listed: Array) -> RdpProblem:
        """The same problem with the listed rows, which rise, in memory as well as those in pairs.

        As long as they are few: others are read from where they are, some thousand at a time.
        """
        if self.rows.in_memory or listed.size * self.d * self.rows.dtype.itemsize > _KEPT_BYTES:
            return self
        other = copy(self)
        other.rows = keeping(self.rows, np.union1d(self.core.rows, listed))
        return other

    @cached_property
    def resolution(self) -> float:
        """The smallest divergence that rounding errors between equal rows cannot reach."""
        scale = largest_term(self.rows, self.row_terms, self.distortion, self.A)
        least = 64 * float(np.finfo(self.rows.dtype).eps) * float(scale)
        if self.root:
            least = np.sqrt(least)
        return max(least, float(np.finfo(np.float64).tiny))

    # -- rows ------------------------------------------------------------------------------
    def terms(self, centers: Array) -> CenterTerms:
        """What the divergence needs of the centres (K, d)."""
        return self.distortion.center_terms(centers.astype(self.rows.dtype), self.A)

    def label_rows(self, centers: Array, lambda_: float) -> Labelled:
        """Every row with its nearest centre; free rows at lambda or farther are `BEYOND`."""
        price, shape = Price(1.0, lambda_, self.root), Shape(len(centers), self.d)
        return label_rows(
            self.rows, self.row_terms, self.distortion, self.A, self.terms(centers), price, shape,
            self.core.rows, scratch=self.scratch,
        )  # fmt: skip

    def divergences(self, listed: Array, terms: CenterTerms, rows: Any = None) -> Array:
        """D of the listed rows, (r, K); `rows` (r, d), if these have been read already."""
        rows = self.rows.take(listed) if rows is None else rows
        _, term, scale = self.row_terms.of_rows(listed, rows, self.distortion, self.A)
        values = self.distortion.cross(rows, terms, scale if scale.size else None)
        values = values.astype(np.float64)
        values += term[:, None]
        np.maximum(values, 0.0, out=values)
        return np.sqrt(values, out=values) if self.root else values

    def costs(self, listed: Array, terms: CenterTerms, rows: Any = None) -> Array:
        """w D of the listed rows, (r, K); `rows` as in `divergences`."""
        values = self.divergences(listed, terms, rows)
        if self.weights.size:
            values *= self.weights[listed, None]
        return values

    def nearest(self, listed: Array, centers: Array) -> Array:
        """The centre of least D of the listed rows, (r,)."""
        terms = self.terms(centers)
        parts = [
            self.divergences(listed[at : at + _ROWS_AT_ONCE], terms).argmin(axis=1)
            for at in range(0, max(len(listed), 1), _ROWS_AT_ONCE)
        ]
        return np.concatenate(parts)

    def sum_listed(
        self, listed: Array, labels: Array, n_clusters: int, sign: float = 1.0
    ) -> Statistics:
        """Counts and sums of the listed rows by label; with sign -1 to be taken out again."""
        shape = Shape(n_clusters, self.d)
        total = Statistics(np.zeros(n_clusters), np.zeros((n_clusters, self.d)))
        for at in range(0, len(listed), _ROWS_AT_ONCE):
            which = listed[at : at + _ROWS_AT_ONCE]
            rows = self.rows.take(which)
            scale = self.row_terms.scale_of_rows(which, rows, self.distortion, self.A)
            weights = part(self.weights, which)
            if sign != 1.0:
                weights = sign * (weights if weights.size else np.ones(which.size))
            pieces = [(0, which.size, rows)]
            own = labels[at : at + _ROWS_AT_ONCE].astype(np.int32)
            total = add(total, sum_rows(pieces, own, weights, scale, self.distortion, shape))
        return total

    def sum_all(self, labels: Array, n_clusters: int) -> Statistics:
        """Counts and sums of all rows by label (n,)."""
        shape = Shape(n_clusters, self.d)
        return sums_by_label(self.rows, labels, self.row_terms, self.distortion, self.A, shape)

    def centers(self, statistics: Statistics, kept: Array) -> Array:
        """Centres (K, d) of the clusters; `kept` (K, d) stands where no row has any weight."""
        counts, sums, _ = statistics
        some = counts > 0
        if some.all():
            return self.distortion.centroid(sums, counts, self.A)
        centers = kept.copy()
        centers[some] = self.distortion.centroid(sums[some], counts[some], self.A)
        return centers

    def mean(self) -> Array:
        """The centre (1, d) of one cluster of all rows."""
        counts, sums, _ = self.sum_all(np.zeros(self.n, dtype=np.int32), 1)
        return self.distortion.centroid(sums, counts, self.A)

    def singles(self, listed: Array) -> Array:
        """Centres (r, d) of clusters that hold one of the listed rows each."""
        counts, sums, _ = self.sum_listed(listed, np.arange(len(listed)), len(listed))
        return self.distortion.centroid(sums, counts, self.A)

    # -- nodes -----------------------------------------------------------------------------
    def center_of(self, listed: Array) -> Array:
        """The centre (1, d) of a cluster that holds only the listed rows."""
        together = np.zeros(len(listed), dtype=np.int32)
        counts, sums, _ = self.sum_listed(listed, together, 1)
        if counts[0] > 0:
            return self.distortion.centroid(sums, counts, self.A)
        # Rows without weight open a cluster only where a hard cannot-link leaves them no other.
        rows = self.rows.take(listed)
        scale = self.row_terms.scale_of_rows(listed, rows, self.distortion, self.A)
        pieces = [(0, len(listed), rows)]
        shape = Shape(1, self.d)
        counts, sums, _ = sum_rows(pieces, together, NONE, scale, self.distortion, shape)
        return self.distortion.centroid(sums, counts, self.A)

    def _cost_alone(self) -> Array:
        """sum_i w_i D(x_i, centre of the node) of each node, (s,); 0 for a single row."""
        alone = np.zeros(self.core.n_nodes)
        many = np.flatnonzero(self.core.sizes > 1)
        for lo in range(0, len(many), _NODES_AT_ONCE):
            nodes = many[lo : lo + _NODES_AT_ONCE]
            listed, owner = self.core.members_of(nodes)
            counts, sums, _ = self.sum_listed(listed, owner, len(nodes))
            centers = self.distortion.centroid(sums, np.where(counts > 0, counts, 1.0), self.A)
            terms = self.terms(centers)
            costs = np.empty(listed.size)
            for at in range(0, listed.size, _ROWS_AT_ONCE):
                cut = slice(at, at + _ROWS_AT_ONCE)
                own = self.costs(listed[cut], terms)
                costs[cut] = own[np.arange(len(own)), owner[cut]]
            alone[nodes] = np.bincount(owner, costs, minlength=len(nodes))
        return alone

    # -- pairs -----------------------------------------------------------------------------
    def _index_pairs(self) -> None:
        c = self.constraints
        self.pair_cost = c.cost()
        self.same, self.differ = (side[:, 0] for side in self.core.costs(self.pair_cost))
        soft = ~c.is_hard & (c.weight > 0)
        self.soft_pairs = c.pairs[soft]
        self.soft_cost = self.pair_cost[soft] * c.kind[soft]

    def net(self, xi: Xi) -> Array:
        """What sharing a cluster with each neighbour adds to a node's cost, (2E,)."""
        with np.errstate(invalid="ignore"):  # xi2 = 0 leaves hard cannot-links as they are
            apart = np.where(np.isinf(self.same), np.inf, xi.cannot * self.same)
        return apart - xi.must * self.differ

    def pair_energy(self, labels: Array, xi: Xi) -> float:
        """The pair terms of J, each unordered pair once; hard pairs are kept and cost nothing."""
        together = labels[self.soft_pairs[:, 0]] == labels[self.soft_pairs[:, 1]]
        cost = self.soft_cost[together]
        return float(-xi.must * cost[cost > 0].sum() - xi.cannot * cost[cost < 0].sum())

    def objective(self, labels: Array, centers: Array, xi: Xi, lambda_: float) -> float:
        """J of (20) for given labels (n,) and centres (K, d)."""
        distortion = own_sum(
            self.rows, labels, self.weights, centers, self.distortion, self.A, self.root
        )
        return distortion + self.pair_energy(labels, xi) + lambda_ * len(centers)


def part(values: Array, rows: Array) -> Array:
    """values[rows], or (0,) where `values` is (0,), which stands for ones."""
    return values[rows] if values.size else NONE
