"""The one problem that PCKMeans, HMRF-KMeans and MPCK-Means solve, and its steps.

    J = c sum_i w_i [d_A(x_i, mu_{y_i}) - log det A] + sum_ML cost 1[y_i != y_j]
        + sum_CL cost 1[y_i = y_j] - log P(A)

(2.1), (3.14) and (2.4)-(2.6) are settings of it: see `Settings`. Rows in no constraint are
labelled in blocks by their nearest centre; only the core, the rows in constraints with hard
must-links contracted, goes to an inference engine. No step raises J.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from coterie.cluster.kmeans._kernels import cost_of_breaking
from coterie.cluster.kmeans.core_graph import CoreCosts, CoreGraph, PairCosts
from coterie.cluster.kmeans.distances import distances_to
from coterie.cluster.kmeans.statistics import NONE, Statistics
from coterie.constraints import Constraints
from coterie.data import Rows
from coterie.data._kernels import nearest
from coterie.distortions import Cosine, Distortion, SeparableBregman, SquaredEuclidean
from coterie.distortions.base import gather_pairs
from coterie.distortions.learning import rayleigh
from coterie.exceptions import InvalidData
from coterie.inference import pair_energy

Array = NDArray[Any]

_SAMPLE = 5000
_KEPT_BYTES = 1 << 27  # of memory for the pairs' distances by column, which each new metric needs


class Settings(NamedTuple):
    """Which member of the family a problem is."""

    n_clusters: int
    factor: float = 1.0  # c: 1/2 for PCKMeans (2.1), 1 for HMRF-KMeans and MPCK-Means
    penalty: str = "distance"  # a broken pair costs its weight: "constant", or times a "distance"
    form: str | None = None  # the metric that is learned: "diagonal", "full" or None
    per_cluster: bool = False  # one metric for each cluster
    prior_width: float | None = None  # of the Rayleigh prior on the metric
    phi_max: str = "tight"
    inference: str = "icm"
    time_limit: float = 10.0  # seconds of exact search


class Geometry(NamedTuple):
    """Everything that depends on the metric A and not on the centres."""

    A: Array | None
    row_term: Array  # (n,)
    row_scale: Array  # (n,) or (0,) for ones
    log_det: Array  # (1,) or (K,)
    pairs: PairCosts


@dataclass(frozen=True)
class Assignment:
    """The outcome of an E-step: labels (n,), labels of the core's nodes (s,), sums, and J.

    `saved` is the share of the core's energy that a search from scratch saved; `proven`, whether
    no labels of the core cost less.
    """

    labels: Array
    nodes: Array
    statistics: Statistics
    objective: float
    saved: float = 0.0
    proven: bool = False


class Problem:
    """Rows, pairs and settings, fixed for one fit."""

    def __init__(
        self,
        X: Any,
        constraints: Constraints,
        weights: Array | None,
        distortion: Distortion,
        settings: Settings,
    ) -> None:
        distortion.check_rows(X)
        self.X = X
        self.rows = Rows.centered(X) if distortion.translation_invariant else Rows(X)
        self.constraints = constraints
        self.weights = NONE if weights is None else weights
        self.total_weight = float(X.shape[0] if weights is None else weights.sum())
        self.distortion = distortion
        self.settings = settings
        self.graph = CoreGraph(
            constraints,
            settings.n_clusters,
            settings.inference,
            settings.time_limit,
        )
        self.core = self.graph.core
        self.can_refresh = self.graph.crowd_size > 0
        self._last: tuple[float, Geometry] | None = None
        # Filled anew by every pass: fresh memory each time would cost a tenth of the pass.
        size = self.core.rows.size
        self._costs = CoreCosts(np.empty((size, settings.n_clusters)), np.empty(size))
        self.slot = NONE.astype(np.int64)
        if self.core.rows.size:
            self.slot = np.full(self.rows.n, -1, dtype=np.int64)
            self.slot[self.core.rows] = np.arange(self.core.rows.size)
        self.pair_weight = constraints.cost()
        if settings.penalty == "distance":
            i, j = constraints.cannot_link.T
            tight = settings.phi_max == "tight"
            self.bound = distortion.bound(X) if tight else distortion.paper_bound(X, i, j)

    # -- the metric ------------------------------------------------------------------------
    def initial_metric(self) -> Array | None:
        """A to start from, in the shape that is learned: (d,), (K, d), (1, d, d) or (K, d, d)."""
        s, d = self.settings, self.rows.d
        given = self.distortion.initial(d)
        if s.form is None:
            return given
        if s.form == "diagonal":
            start = np.ones(d) if given is None else given
            return np.tile(start, (s.n_clusters, 1)) if s.per_cluster else start
        matrix = np.eye(d) if given is None else given[0]
        return np.tile(matrix, (s.n_clusters if s.per_cluster else 1, 1, 1))

    def geometry(self, A: Array | None, w: float) -> Geometry:
        """What depends on A alone; `w` is the weight of a plain pair. The last one is kept."""
        if self._last is None or self._last[0] != w or self._last[1].A is not A:
            self._last = (w, self._measure(A, w))
        return self._last[1]

    def _measure(self, A: Array | None, w: float) -> Geometry:
        row_term = self._row_terms(A)
        if not np.isfinite(row_term).all():
            bad = int(np.flatnonzero(~np.isfinite(row_term))[0])
            raise InvalidData(
                f"row {bad}: its distance to the centres overflows. Rescale the data."
            )
        scale = NONE
        if self.distortion.row_scale(self.rows.take(np.zeros(1, np.int64)), A) is not None:
            scale = self.rows.row_values(lambda chunk: self.distortion.row_scale(chunk, A))
        log_det = np.zeros(1)
        if self.settings.form is not None and isinstance(self.distortion, SquaredEuclidean):
            log_det = self.distortion.log_det(A)
        # Which pairs cost anything, and infinitely much, is the same under every metric.
        plan = None if self._last is None or self._last[0] != w else self._last[1].pairs.plan
        pairs = self.graph.pair_costs(self.pair_costs(A, w, scale), plan)
        return Geometry(A, row_term, scale, log_det, pairs)

    def _row_terms(self, A: Array | None) -> Array:
        """The distortion's row term, (n,); it is 0, and no row is read, if A differs by cluster."""
        if A is not None and (A.ndim == 2 or (A.ndim == 3 and len(A) > 1)):
            return np.zeros(self.rows.n)
        return self.rows.row_values(lambda chunk: self.distortion.row_term(chunk, A))

    def pair_costs(self, A: Array | None, w: float, scale: Array) -> Array:
        """What breaking each pair costs, (m,), or (m, K) by cluster; inf for hard pairs (3.13)."""
        c = self.constraints
        weight = w * np.where(c.is_hard, 0.0, self.pair_weight)
        if self.settings.penalty == "constant":
            return np.where(c.is_hard, np.inf, weight)
        gap = self._pair_distances(A, scale)
        bound = np.atleast_1d(np.asarray(self.bound.value(A), dtype=np.float64))
        columns = gap if gap.ndim == 2 else gap[:, None]
        bound = np.broadcast_to(bound, columns.shape[1:]).copy()
        cost_of_breaking(columns, bound, c.kind, weight, c.is_hard)
        return gap

    def _pair_distances(self, A: Array | None, scale: Array) -> Array:
        """Distances of the rows of each pair, (m,) or (m, K); from kept columns if A is learned."""
        i, j = self.constraints.pairs.T
        if self.pair_columns is None or A is None:
            return self.distortion.between(self.X, i, j, A)
        assert isinstance(self.distortion, SeparableBregman | Cosine)
        scales = scale[i] * scale[j] if scale.size else scale
        return self.distortion.from_columns(self.pair_columns, A, scales)

    @cached_property
    def pair_columns(self) -> Any:
        """What each column says of the distance of the rows of each pair, (m, d), CSR for CSR rows:
        what it is under any diagonal metric is one product. None if of no use or too large.
        """
        i, j = self.constraints.pairs.T
        distortion = self.distortion
        if self.settings.form != "diagonal":
            return None
        if not isinstance(distortion, SeparableBregman | Cosine):
            return None
        parts, kept = [], 0
        for _, _, xi, xj in gather_pairs(self.X, i, j):
            parts.append(distortion.between_columns(xi, xj))
            kept += 8 * (parts[-1].nnz if self.rows.is_sparse else parts[-1].size)
            if kept > _KEPT_BYTES:
                return None
        if not parts:
            return None
        return sp.vstack(parts, format="csr") if self.rows.is_sparse else np.vstack(parts)

    # -- E-step ----------------------------------------------------------------------------
    def assign(
        self,
        centers: Array,
        geometry: Geometry,
        nodes: Array | None,
        seed: int,
        refresh: bool = False,
        prove: bool = False,
    ) -> Assignment:
        """Label every row; `nodes` are the core's labels so far, which the result never worsens.

        With `refresh`, crowded parts of the core are also searched from scratch; with `prove`,
        the core by an exact engine.
        """
        labels, costs, cost, statistics = self._label_rows(centers, geometry, nodes)
        objective = cost + self.prior_cost(geometry.A)
        core = self.core
        if not core.rows.size:
            none = np.empty(0, dtype=np.int64)
            return Assignment(labels, none, statistics, objective, proven=True)
        model, lead = self.graph.model(costs, geometry.pairs)
        found = self.graph.label(model, lead, geometry.pairs.plan, nodes, seed, refresh, prove)
        new = core.expand(found.nodes).astype(labels.dtype)
        objective += self._relabel(statistics, labels, new, costs.unary, geometry)
        objective += pair_energy(model, found.nodes)
        objective += self.graph.inside_cost(found.nodes, geometry.pairs)
        return Assignment(labels, found.nodes, statistics, objective, found.saved, found.proven)

    def prior_cost(self, A: Array | None) -> float:
        """-log P(A), 0 where no metric is learned."""
        if A is None or self.settings.form is None:
            return 0.0
        return rayleigh(A, self.settings.prior_width)[0]

    def _label_rows(
        self, centers: Array, geometry: Geometry, nodes: Array | None
    ) -> tuple[Array, CoreCosts, float, Statistics]:
        """One pass over the rows: labels (n,), costs of the core's rows, and the cost and sums of
        all rows, in which those of the core count with their labels so far.
        """
        s, rows, distortion = self.settings, self.rows, self.distortion
        labels = np.empty(rows.n, dtype=np.int32)
        costs = self._costs
        keep = nodes is not None
        if nodes is not None:
            labels[self.core.rows] = self.core.expand(nodes)
        terms = distortion.center_terms(centers, geometry.A)
        offset = terms.offset - geometry.log_det.astype(terms.offset.dtype)
        # In this order slope.T, which every product takes, is contiguous.
        terms = terms._replace(offset=offset, slope=np.asfortranarray(terms.slope))
        curve = (
            np.empty((s.n_clusters, 0), terms.slope.dtype)
            if terms.square is None
            else np.asfortranarray(terms.square)
        )
        no_squares = np.empty((0, rows.d))

        # Where a pass needs no more of the rows than x and x^2, it is one compiled loop.
        squared = s.form == "diagonal" and isinstance(distortion, SquaredEuclidean)
        fused = curve.ndim == 2 and (s.form is None or squared)
        no_offset = np.zeros_like(terms.offset)  # for `cross`, which has added it

        def work(start: int, stop: int) -> tuple[float, Statistics]:
            part = self.no_statistics()
            if fused:
                block = slice(start, stop)
                total = rows.label(
                    block,
                    terms.slope.T,
                    curve.T,
                    terms.offset,
                    geometry.row_scale[block],
                    geometry.row_term[block],
                    self.weights[block],
                    s.factor,
                    np.inf,
                    False,
                    self.slot[block],
                    keep,
                    labels[block],
                    *costs,
                    part.sums,
                    part.counts,
                    part.evidence if squared else no_squares,
                )
                return total, part
            total = 0.0
            for lo, hi, chunk in rows.chunks(start, stop, extra=s.n_clusters):
                scale = geometry.row_scale[lo:hi]
                distances = distortion.cross(chunk, terms, scale if scale.size else None)
                here, weights = labels[lo:hi], self.weights[lo:hi]
                total += nearest(
                    distances,
                    no_offset,
                    geometry.row_term[lo:hi],
                    weights,
                    s.factor,
                    np.inf,
                    False,
                    self.slot[lo:hi],
                    keep,
                    here,
                    *costs,
                )
                part.add(chunk, here, weights, scale, distortion)
            return total, part

        total, statistics = rows.map_reduce(work, lambda a, b: (a[0] + b[0], a[1] + b[1]))
        return labels, costs, total, statistics

    def mean_distortion(self, centers: Array) -> float:
        """Distortion of a row from the centroid of its cluster, were there no pairs: the mean
        over a sample of the rows, each with the nearest of `centers`.
        """
        step = max(1, self.rows.n // _SAMPLE)
        weights = self.weights[::step] if self.weights.size else None
        X, centers = self.X[::step].copy(), centers + self.rows.origin
        free = Problem(X, Constraints(X.shape[0]), weights, self.distortion, self.settings)
        geometry = free.geometry(self.distortion.initial(self.rows.d), 0.0)
        plain = free.assign(centers - free.rows.origin, geometry, None, 0).statistics
        counts = np.where(plain.counts > 0, plain.counts, 1.0)
        means = self.distortion.centroid(plain.sums, counts, geometry.A)
        slope, offset, _ = self.distortion.center_terms(means, geometry.A)
        rows = geometry.row_term @ (free.weights if free.weights.size else np.ones(free.rows.n))
        total = rows + plain.counts @ offset + (plain.sums * slope).sum()
        return float(max(total, 0.0) / free.total_weight)

    def no_statistics(self) -> Statistics:
        """Statistics of no rows."""
        s = self.settings
        return Statistics.zeros(s.n_clusters, self.rows.d, s.form, s.per_cluster)

    def _relabel(
        self, statistics: Statistics, labels: Array, new: Array, unary: Array, geometry: Geometry
    ) -> float:
        """Give the core's rows their new labels; return by how much their own costs change.

        Only the rows whose label changes are read and moved in the sums.
        """
        old = labels[self.core.rows]
        changed = np.flatnonzero(new != old)
        labels[self.core.rows] = new
        step = 65_536  # keeps the copy of the rows small beside X
        for lo in range(0, changed.size, step):
            part = changed[lo : lo + step]
            which = self.core.rows[part]
            chunk = self.rows.take(which)
            weights = self.weights[which] if self.weights.size else np.ones(len(which))
            scale = geometry.row_scale[which] if geometry.row_scale.size else NONE
            statistics.add(chunk, old[part], -weights, scale, self.distortion)
            statistics.add(chunk, new[part], weights, scale, self.distortion)
        return float((unary[changed, new[changed]] - unary[changed, old[changed]]).sum())

    # -- M-step (A) ------------------------------------------------------------------------
    def centers_of(self, assignment: Assignment, old: Array, geometry: Geometry) -> Array:
        """The centroids of the clusters; an empty cluster moves to the worst-placed row."""
        statistics = assignment.statistics
        empty = np.flatnonzero(statistics.counts <= 0)
        counts = np.where(statistics.counts > 0, statistics.counts, 1.0)
        centers = self.distortion.centroid(statistics.sums, counts, geometry.A)
        if empty.size:
            centers[empty] = self._farthest_rows(assignment.labels, old, geometry, empty.size)
        return centers.astype(self.rows.dtype)

    def _farthest_rows(
        self, labels: Array, centers: Array, geometry: Geometry, count: int
    ) -> Array:
        """The rows farthest from their own centre, as centres (count, d)."""
        gaps = self.own_distances(labels, centers, geometry)
        if self.weights.size:
            gaps = np.where(self.weights > 0, gaps, -np.inf)
        worst = np.sort(np.argpartition(gaps, -count)[-count:])
        return self.as_centers(worst, geometry)

    def as_centers(self, rows: Array, geometry: Geometry) -> Array:
        """Each listed row as the centre of a cluster of its own."""
        single = Statistics.zeros(len(rows), self.rows.d, None, False)
        scale = geometry.row_scale[rows] if geometry.row_scale.size else NONE
        own = np.arange(len(rows), dtype=np.int32)
        single.add(self.rows.take(np.asarray(rows)), own, NONE, scale, self.distortion)
        return self.distortion.centroid(single.sums, single.counts, geometry.A)

    def own_distances(self, labels: Array, centers: Array, geometry: Geometry) -> Array:
        """d_A of every row to the centre of its cluster, (n,)."""
        gaps = distances_to(self.rows, centers, self.distortion, geometry.A)
        return np.take_along_axis(gaps, labels[:, None].astype(np.int64), axis=1)[:, 0]
