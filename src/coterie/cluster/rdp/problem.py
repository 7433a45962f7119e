"""What DP-means and RDP-means minimise, as arrays fixed for one fit.

    J = sum_i w_i D(x_i, mu_{z_i}) - xi1 sum_ML c_ij [z_i = z_j] + xi2 sum_CL c_ij [z_i = z_j]
        + lambda K                                                                     (20)

with every unordered pair counted once: that is what the row-by-row rule of Algorithm 1 descends.
Rows joined by hard must-links are one node. A node pays sum_i w_i D(x_i, mu) less what it would
pay in a cluster of its own, so that "join or pay lambda" means the same for nodes and rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from coterie.cluster.rdp import _kernels as kernels
from coterie.constraints import Constraints
from coterie.data import Rows
from coterie.data.sums import add_by_label
from coterie.distortions import Distortion, KLDivergence, SquaredEuclidean, get_distortion
from coterie.distortions.base import CenterTerms

__all__ = ["Divergence", "Problem", "Xi", "get_divergence"]

Array = NDArray[Any]
NONE = np.empty(0)
NO_SLOT = np.empty(0, dtype=np.int64)
_NODES_AT_ONCE = 64  # node centres are dense: few at a time, whatever the number of columns
_ROWS_AT_ONCE = 65_536
_LAPLACE = 0.3  # smoothing of counts, section 5.3


class Divergence(NamedTuple):
    """A distortion, and whether its square root is meant (plain Euclidean distance)."""

    distortion: Distortion
    root: bool = False


class Xi(NamedTuple):
    """Confidence in a must-link (xi1) and in a cannot-link (xi2)."""

    must: float
    cannot: float


def get_divergence(value: Any) -> Divergence:
    """From a name or a `Distortion`; "euclidean" is the plain distance, "kl" smooths by 0.3."""
    if isinstance(value, str) and value == "euclidean":
        return Divergence(SquaredEuclidean(), root=True)
    if isinstance(value, str) and value == "kl":
        return Divergence(KLDivergence(smoothing=_LAPLACE))
    return Divergence(get_distortion(value, "divergence"))


class Problem:
    """Rows, pairs and divergence of one fit."""

    def __init__(
        self, X: Any, constraints: Constraints, weights: Array | None, divergence: Divergence
    ) -> None:
        divergence.distortion.check_rows(X)
        self.distortion = divergence.distortion.bind(X)
        self.root = divergence.root
        self.A = self.distortion.initial(X.shape[1])
        self.rows = Rows.centered(X) if self.distortion.translation_invariant else Rows(X)
        self.n = self.rows.n
        self.weights = NONE if weights is None else weights
        self.row_term = self.rows.row_values(lambda x: self.distortion.row_term(x, self.A))
        self.row_scale = self._row_scale()
        self.constraints = constraints
        self.core = constraints.core()
        self._buffer = np.empty((0, 0))
        self._index_core()
        self.alone = self._cost_alone()
        self._index_pairs()

    # -- rows ------------------------------------------------------------------------------
    def _row_scale(self) -> Array:
        if self.distortion.row_scale(self.rows.X[:1], self.A) is None:
            return NONE
        return self.rows.row_values(lambda x: self.distortion.row_scale(x, self.A))

    def terms(self, centers: Array) -> CenterTerms:
        """What the divergence needs of the centres (K, d)."""
        return self.distortion.center_terms(centers.astype(self.rows.dtype), self.A)

    def cross(self, chunk: Any, lo: int, hi: int, terms: CenterTerms) -> Array:
        """D without the row term of rows lo..hi, (b, K)."""
        scale = self.row_scale[lo:hi] if self.row_scale.size else None
        return self.distortion.cross(chunk, terms, scale)

    def costs(self, listed: Array, terms: CenterTerms) -> Array:
        """w D of the listed rows, (r, K)."""
        scale = self.row_scale[listed] if self.row_scale.size else None
        values = self.distortion.cross(self.rows.take(listed), terms, scale).astype(np.float64)
        values += self.row_term[listed, None]
        np.maximum(values, 0.0, out=values)
        if self.root:
            np.sqrt(values, out=values)
        if self.weights.size:
            values *= self.weights[listed, None]
        return values

    def add_rows(
        self, listed: Array, labels: Array, sums: Array, counts: Array, sign: float = 1.0
    ) -> None:
        """Add w s x of the listed rows to their clusters' sums (K, d), and w to the counts (K,).

        With sign -1 they are taken out again.
        """
        weights, scale = self.part(self.weights, listed), self.part(self.row_scale, listed)
        if sign != 1.0:
            weights = sign * (weights if weights.size else np.ones(len(listed)))
        if not self.rows.is_sparse:
            kernels.add_listed(
                self.rows.X, self.rows.shift, listed, labels, weights, scale, sums, counts
            )
            return
        for at in range(0, len(listed), _ROWS_AT_ONCE):
            cut = slice(at, at + _ROWS_AT_ONCE)
            rows = self.rows.take(listed[cut])
            add_by_label(rows, labels[cut], weights[cut], scale[cut], sums, counts)

    def core_buffer(self, n_clusters: int) -> Array:
        """Memory (r, K) for the costs of the core's rows, the same as long as K stays the same:
        fresh memory for every round would cost a tenth of it.
        """
        if self._buffer.shape[1] != n_clusters:
            self._buffer = np.empty((self.core.rows.size, n_clusters))
        return self._buffer

    @staticmethod
    def part(values: Array, rows: Any) -> Array:
        """values[rows], or (0,) where `values` is (0,), which stands for ones."""
        return values[rows] if values.size else NONE

    def centers(self, sums: Array, counts: Array, kept: Array) -> Array:
        """Centres (K, d) of the clusters; `kept` (K, d) stands where no row has any weight."""
        some = counts > 0
        if some.all():
            return self.distortion.centroid(sums, counts, self.A)
        centers = kept.copy()
        centers[some] = self.distortion.centroid(sums[some], counts[some], self.A)
        return centers

    # -- nodes -----------------------------------------------------------------------------
    def _index_core(self) -> None:
        """Members of each node as ranges of `members`, and each row's place in the core."""
        core = self.core
        order = np.argsort(core.node, kind="stable")
        self.members = core.rows[order]
        self.member_ptr = np.zeros(core.n_nodes + 1, dtype=np.int64)
        np.cumsum(np.bincount(core.node, minlength=core.n_nodes), out=self.member_ptr[1:])
        self.first_row = self.members[self.member_ptr[:-1]] if core.n_nodes else self.members
        self.slot = NO_SLOT
        if core.rows.size:
            self.slot = np.full(self.n, -1, dtype=np.int64)
            self.slot[core.rows] = np.arange(core.rows.size)

    def members_of(self, nodes: Array) -> tuple[Array, Array]:
        """Rows of the listed nodes, and for each row the position of its node in the list."""
        sizes = self.member_ptr[nodes + 1] - self.member_ptr[nodes]
        owner = np.repeat(np.arange(len(nodes)), sizes)
        start = np.repeat(self.member_ptr[nodes] - np.cumsum(sizes) + sizes, sizes)
        return self.members[start + np.arange(owner.size)], owner

    def center_of(self, listed: Array) -> Array:
        """The centre (1, d) of a cluster that holds only the listed rows."""
        sums, counts = np.zeros((1, self.rows.d)), np.zeros(1)
        self.add_rows(listed, np.zeros(len(listed), dtype=np.int64), sums, counts)
        if counts[0] > 0:
            return self.distortion.centroid(sums, counts, self.A)
        # Rows without weight open a cluster only where a hard cannot-link leaves them no other.
        scale = self.row_scale[listed] if self.row_scale.size else np.ones(len(listed))
        total: Any = sp.csr_array(scale[None]) @ self.rows.take(listed).astype(np.float64)
        sums = total.toarray() if sp.issparse(total) else total
        return self.distortion.centroid(sums, np.array([float(len(listed))]), self.A)

    def _cost_alone(self) -> Array:
        """sum_i w_i D(x_i, centre of the node) of each node, (s,); 0 for a single row."""
        alone = np.zeros(self.core.n_nodes)
        many = np.flatnonzero(np.diff(self.member_ptr) > 1)
        for lo in range(0, len(many), _NODES_AT_ONCE):
            nodes = many[lo : lo + _NODES_AT_ONCE]
            listed, owner = self.members_of(nodes)
            sums, counts = np.zeros((len(nodes), self.rows.d)), np.zeros(len(nodes))
            self.add_rows(listed, owner, sums, counts)
            centers = self.distortion.centroid(sums, np.where(counts > 0, counts, 1.0), self.A)
            terms = self.terms(centers)
            costs = np.empty(listed.size)
            for at in range(0, listed.size, _ROWS_AT_ONCE):
                part = slice(at, at + _ROWS_AT_ONCE)
                own = self.costs(listed[part], terms)
                costs[part] = own[np.arange(len(own)), owner[part]]
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

    def distortion_of(self, labels: Array, centers: Array) -> float:
        """sum_i w_i D(x_i, mu_{z_i}) for given labels (n,) and centres (K, d)."""
        terms = self.terms(centers)

        def work(start: int, stop: int) -> float:
            total = 0.0
            for lo, hi, chunk in self.rows.chunks(start, stop):
                cross = self.cross(chunk, lo, hi, terms)
                value = cross[np.arange(hi - lo), labels[lo:hi]].astype(np.float64)
                value = np.maximum(value + self.row_term[lo:hi], 0.0)
                value = np.sqrt(value) if self.root else value
                total += float(value @ self.weights[lo:hi] if self.weights.size else value.sum())
            return total

        return self.rows.map_reduce(work, lambda a, b: a + b)

    def objective(self, labels: Array, centers: Array, xi: Xi, lambda_: float) -> float:
        """J of (20) for given labels (n,) and centres (K, d)."""
        distortion = self.distortion_of(labels, centers)
        return distortion + self.pair_energy(labels, xi) + lambda_ * len(centers)
