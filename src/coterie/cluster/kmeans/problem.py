"""The one problem that PCKMeans, HMRF-KMeans and MPCK-Means solve, and its steps.

    J = c sum_i w_i [d_A(x_i, mu_{y_i}) - log det A] + sum_ML cost 1[y_i != y_j]
        + sum_CL cost 1[y_i = y_j] - log P(A) - c log P(mu)

(2.1), (3.14) and (2.4)-(2.6) are settings of it: see `values.KMeansSettings`. Rows in no constraint
are labelled in blocks by their nearest centre; only the core, the rows in constraints with hard
must-links contracted, goes to an inference engine. No step raises J.
"""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import Any

import numpy as np

from coterie._typing import Array
from coterie.cluster.distances import distances_to, own_distances
from coterie.cluster.kmeans._kernels import cost_of_breaking
from coterie.cluster.kmeans.core_graph import CoreGraph, CoreLabels
from coterie.cluster.kmeans.values import Assignment, Geometry, KMeansSettings, Measure
from coterie.cluster.labelling import Labelled, Price, label_rows, measure_rows
from coterie.cluster.statistics import NONE, Counter, Shape, Statistics, sum_rows
from coterie.constraints import Constraints
from coterie.data import Rows, Scratch, centered, check_blocks, keeping
from coterie.distortions import Distortion
from coterie.distortions.base import ConstantBound
from coterie.distortions.bounds import GrowingBound
from coterie.distortions.learning import BrokenPairs, MetricTask, rayleigh
from coterie.exceptions import InvalidData
from coterie.inference import group_energy, pair_energy

NO_CORE = CoreLabels(np.empty(0, dtype=np.int64), proven=True)
_ROWS_AT_ONCE = 65_536  # of the core: keeps their copies small beside X


class KMeansProblem:
    """Rows, pairs and settings, fixed for one fit. Nothing here changes: steps return values."""

    def __init__(
        self,
        X: Any,
        constraints: Constraints,
        weights: Array | None,
        distortion: Distortion,
        settings: KMeansSettings,
    ) -> None:
        check_blocks(Rows(X), distortion)
        distortion = distortion.bind(X, settings.form)
        rows = centered(X) if distortion.translation_invariant else Rows(X)
        self.constraints = constraints
        self.weights = NONE if weights is None else weights
        self.distortion = distortion
        self.settings = settings
        self.price = Price(settings.factor)
        self.shape = Shape(settings.n_clusters, rows.d, settings.form, settings.per_cluster)
        self.graph = CoreGraph(
            constraints, settings.n_clusters, settings.inference, settings.time_limit
        )
        self.core = self.graph.core
        self.rows = keeping(rows, self.core.rows)
        self.pair_weight = constraints.cost()
        # For what every pass finds for rows and the core; learning a metric needs that memory.
        self.scratch = Scratch() if settings.form is None else None

    @property
    def can_refresh(self) -> bool:
        """Whether parts of the core are crowded enough for a fresh search to find better labels."""
        return self.graph.crowd_size > 0

    def simpler(self) -> type[KMeansProblem]:
        """The kind of problem that starts are screened on: this one, if it is cheap enough."""
        return type(self)

    def stages(self) -> list[KMeansProblem]:
        """The problem as it is in the first iterations, and last in all that follow: the same
        rows and pairs under each of the distortions that cool down to this one.
        """
        *warmer, own = self.distortion.cooling()
        assert own is self.distortion
        problems = []
        for distortion in warmer:
            problem = copy(self)
            problem.distortion = distortion
            problems.append(problem)
        return [*problems, self]

    # -- the metric ------------------------------------------------------------------------
    def initial_metric(self) -> Array | None:
        """A to start from, in the shape that is learned: (d,), (K, d), (1, d, d) or (K, d, d)."""
        s, d = self.settings, self.rows.d
        given = self.distortion.initial(d)
        if s.form is None:
            return given
        if given is None:
            # All columns alike, in the unit of the prior's width if that goes by the data.
            width = self.prior_width if s.prior_width == "auto" else None
            unit = 1.0 if width is None else 1 / np.mean(1 / width)
            given = np.full(d, unit) if s.form == "diagonal" else unit * np.eye(d)[None]
        if s.form == "diagonal":
            return np.tile(given, (s.n_clusters, 1)) if s.per_cluster else given
        return np.tile(given[0], (s.n_clusters if s.per_cluster else 1, 1, 1))

    @cached_property
    def prior_width(self) -> float | Array | None:
        """s of the Rayleigh prior (3.10): one number, or (d,) in units of the columns' weights."""
        width = self.settings.prior_width
        if width != "auto":
            return None if width is None else float(width)
        form = self.settings.form or "diagonal"
        scale = self.distortion.weight_scale(self.rows, self.weights, form)
        return 1.0 if scale is None else scale

    @cached_property
    def _least_share(self) -> Array:
        return self.distortion.least_share(self.rows, self.weights)

    def measure(self, A: Array | None) -> Measure:
        """The rows under A; refuses rows whose distances overflow."""
        terms = measure_rows(self.rows, self.weights, self.distortion, A)
        if not np.isfinite(terms.term).all():
            bad = int(np.flatnonzero(~np.isfinite(terms.term))[0])
            raise InvalidData(
                f"row {bad}: its distance to the centres overflows. Rescale the data."
            )
        log_det = np.zeros(1) if self.settings.form is None else self.distortion.log_det(A)
        return Measure(A, terms, log_det)

    def geometry(self, measure: Measure, w: float, last: Geometry | None = None) -> Geometry:
        """The pairs under a measure, a plain one weighing `w`; `last` is one with the same w."""
        # Which pairs cost anything, and infinitely much, is the same under every metric.
        like = None if last is None or last.w != w else last.pairs
        return Geometry(measure, w, self.graph.pair_costs(self._pair_costs(measure, w), w, like))

    def without_costs(self, geometry: Geometry) -> Geometry:
        """The same, to be kept beside others: where a metric is learned each has costs of its own,
        as many as there are pairs times clusters, and `with_costs` makes them again.
        """
        if self.settings.form is None or not self.constraints.n_pairs:
            return geometry
        return geometry._replace(pairs=geometry.pairs._replace(cost=NONE, same=NONE, differ=NONE))

    def with_costs(self, geometry: Geometry) -> Geometry:
        """The inverse of `without_costs`."""
        if not self.constraints.n_pairs or geometry.pairs.cost.size:
            return geometry
        return self.geometry(geometry.measure, geometry.w, geometry)

    def _pair_costs(self, measure: Measure, w: float) -> Array:
        """What breaking each pair costs, (m,), or (m, K) by cluster; inf for hard pairs (3.13)."""
        c = self.constraints
        weight = w * np.where(c.is_hard, 0.0, self.pair_weight)
        if self.settings.penalty == "constant":
            return np.where(c.is_hard, np.inf, weight)
        i, j = c.pairs.T
        gap = self.distortion.between_kept(
            self.kept_pairs, self.rows, i, j, measure.A, self._pair_scales(measure)
        )
        bound = np.atleast_1d(np.asarray(self.bound.value(measure.A), dtype=np.float64))
        columns = gap if gap.ndim == 2 else gap[:, None]
        bound = np.broadcast_to(bound, columns.shape[1:]).copy()
        cost_of_breaking(columns, bound, c.kind, weight, c.is_hard)
        return gap

    def _pair_scales(self, measure: Measure) -> Array:
        """s_i s_j of each pair (m,), or (0,) where rows have no scale."""
        at, scale = self.constraints.pairs.T, measure.terms.scale
        if not self.rows.in_memory and self.kept_pairs is not None:  # made of the core's rows
            made = self.distortion.row_scale(self.rows.take(self.core.rows), measure.A)
            scale = NONE if made is None else np.asarray(made, dtype=np.float64)
            at = np.searchsorted(self.core.rows, at)
        return scale[at[0]] * scale[at[1]] if scale.size else NONE

    @cached_property
    def kept_pairs(self) -> Any | None:
        """What is kept of the pairs' rows for the next metric, where a diagonal is learned."""
        if self.settings.form != "diagonal":
            return None
        return self.distortion.keep_pairs(self.rows, *self.constraints.pairs.T)

    @cached_property
    def bound(self) -> Any:
        """phi_max as a function of the metric."""
        phi_max, (i, j) = self.settings.phi_max, self.constraints.cannot_link.T
        if phi_max == "tight":
            return self.distortion.bound(self.rows)
        if phi_max == "paper":
            return self.distortion.paper_bound(self.rows, i, j)
        return GrowingBound(self.distortion, self.rows, i, j, ConstantBound(float(phi_max)))

    # -- E-step ----------------------------------------------------------------------------
    def assign(
        self,
        centers: Array,
        geometry: Geometry,
        last: CoreLabels | None,
        seed: int,
        refresh: bool = False,
        prove: bool = False,
    ) -> Assignment:
        """Label every row; `last` are the core's labels so far, which the result never worsens.

        With `refresh`, crowded parts of the core are also searched from scratch; with `prove`,
        the core by an exact engine.
        """
        found = self.label_rows(centers, geometry.measure, last)
        objective = found.cost + self.prior_cost(geometry.measure.A)
        objective += self.price.factor * float(
            self.distortion.center_costs(centers, geometry.measure.A).sum()
        )
        if not self.core.rows.size:
            return Assignment(found.labels, NO_CORE, found.statistics, objective, found.digest)
        pairs = geometry.pairs
        model, lead = self.graph.model(found.unary, found.lead, pairs)
        core = self.graph.label(model, lead, pairs, last, seed, refresh, prove)
        labels, statistics, change = self.relabel(found, core.nodes, geometry.measure)
        objective += change
        objective += pair_energy(model, core.nodes)
        if pairs.groups is not None:
            objective += group_energy(pairs.groups, core.nodes)
        objective += self.graph.inside_cost(core.nodes, pairs)
        return Assignment(labels, core, statistics, objective, found.digest)

    def with_labels(self, found: Assignment, centers: Array, measure: Measure) -> Assignment:
        """The same with the labels of all rows, by a pass under the centres it was found with."""
        if found.labels.size:
            return found
        core = found.core if self.core.rows.size else None
        return found._replace(labels=self.label_rows(centers, measure, core, keep=True).labels)

    def prior_cost(self, A: Array | None) -> float:
        """-log P(A), 0 where no metric is learned."""
        if A is None or self.settings.form is None:
            return 0.0
        return rayleigh(A, self.prior_width)[0]

    def label_rows(
        self, centers: Array, measure: Measure, last: CoreLabels | None, keep: bool | None = None
    ) -> Labelled:
        """One pass over the rows; those of the core keep the labels they had `last`, if any.

        The labels of the others come back if `keep`, which by default is as `Assignment` says.
        """
        if keep is None:  # a metric is learned from them
            keep = self.rows.in_memory or self.settings.form is not None
        terms = self.distortion.center_terms(centers, measure.A)
        terms = terms._replace(offset=terms.offset - measure.log_det.astype(terms.offset.dtype))
        before = None if last is None else self.core.expand(last.nodes)
        return label_rows(
            self.rows, measure.terms, self.distortion, measure.A, terms, self.price, self.shape,
            self.core.rows, before, keep, self.scratch,
        )  # fmt: skip

    def relabel(
        self, found: Labelled, nodes: Array, measure: Measure
    ) -> tuple[Array, Statistics, float]:
        """Labels (n,) and sums once the core's nodes have theirs (s,), and what that costs more.

        Only the rows of the core whose label changes are read again. The labels and sums found are
        changed in place: of very many rows, or columns, no second array is held.
        """
        core = self.core
        new, old = core.expand(nodes).astype(np.int32), found.listed_labels
        labels = found.labels
        if labels.size:
            labels[core.rows] = new
        changed = np.flatnonzero(new != old)
        counter = Counter(self.shape, self.distortion, found.statistics)
        for lo in range(0, changed.size, _ROWS_AT_ONCE):
            part = changed[lo : lo + _ROWS_AT_ONCE]
            which = core.rows[part]
            picked = self.rows.take(which)
            scale = measure.terms.scale_of_rows(which, picked, self.distortion, measure.A)
            weights = self.weights[which] if self.weights.size else np.ones(part.size)
            counter.add(picked, old[part], -weights, scale)
            counter.add(picked, new[part], weights, scale)
        unary = found.unary
        return (
            labels,
            counter.statistics,
            float((unary[changed, new[changed]] - unary[changed, old[changed]]).sum()),
        )

    def _sum(
        self, rows: Array, labels: Array, weights: Array, measure: Measure, shape: Shape
    ) -> Statistics:
        """Statistics of the listed rows under the labels given with them."""
        picked = self.rows.take(rows)
        scale = measure.terms.scale_of_rows(rows, picked, self.distortion, measure.A)
        return sum_rows([(0, rows.size, picked)], labels, weights, scale, self.distortion, shape)

    # -- M-step (A) ------------------------------------------------------------------------
    def centers_of(self, assignment: Assignment, old: Array, measure: Measure) -> Array:
        """The centroids of the clusters; an empty cluster moves to the worst-placed row.

        Where centres have a prior, it only does so if that lowers J: see `_worth_a_center`.
        """
        counts, sums, _ = assignment.statistics
        empty = np.flatnonzero(counts <= 0)
        filled = np.where(counts > 0, counts, 1.0)
        centers = self.distortion.centroid(sums, filled, measure.A)
        if empty.size:
            assignment = self.with_labels(assignment, old, measure)
            gaps = own_distances(self.rows, assignment.labels, old, self.distortion, measure.A)
            if self.weights.size:
                gaps = np.where(self.weights > 0, gaps, -np.inf)
            worst = np.sort(np.argpartition(gaps, -empty.size)[-empty.size :])
            centers[empty] = self.as_centers(worst, measure)
            prior = self.distortion.prior_center(self.rows.d)
            if prior is not None:
                own = centers[assignment.labels[worst]]
                kept = self._worth_a_center(worst, own, centers[empty], measure)
                centers[empty[~kept]] = prior
        return centers.astype(self.rows.dtype)

    def _worth_a_center(self, rows: Array, own: Array, fresh: Array, measure: Measure) -> Array:
        """Whether each listed row saves at least what its fresh centre costs, (p,).

        Its distances to the centre of its cluster, `own` (p, d), and to the `fresh` one (p, d)
        are compared. A row in constraints may not be free to move.
        """
        at = np.arange(len(rows))
        far, near = (
            distances_to(Rows(self.rows.take(rows)), side, self.distortion, measure.A)[at, at]
            for side in (own, fresh)
        )
        weights = self.weights[rows] if self.weights.size else 1.0
        worth = weights * (far - near) >= self.distortion.center_costs(fresh, measure.A)
        return worth & ~np.isin(rows, self.core.rows)

    def as_centers(self, rows: Array, measure: Measure) -> Array:
        """Each listed row as the centre of a cluster of its own."""
        own = np.arange(len(rows), dtype=np.int32)
        centers, _ = self.group_centers(np.asarray(rows), own, NONE, measure)
        return centers

    def group_centers(
        self, rows: Array, labels: Array, weights: Array, measure: Measure
    ) -> tuple[Array, Array]:
        """Centroids (p, d) and weights (p,) of groups of rows, numbered by `labels` from 0."""
        shape = Shape(int(labels.max(initial=-1)) + 1, self.rows.d)
        counts, sums, _ = self._sum(rows, labels.astype(np.int32), weights, measure, shape)
        return self.distortion.centroid(sums, counts, measure.A), counts

    # -- M-step (B) ------------------------------------------------------------------------
    def metric_task(self, assignment: Assignment, centers: Array, geometry: Geometry) -> MetricTask:
        """What a better metric is learned from, (3.25), (3.28) and (2.7)."""
        s, (counts, sums, evidence) = self.settings, assignment.statistics
        assert s.form is not None
        assert evidence is not None
        return MetricTask(
            self.rows, assignment.labels, self.weights, centers, counts, sums, evidence,
            self._broken_soft_pairs(assignment.labels, geometry.w), self.bound,
            s.form, s.per_cluster, self.prior_width, self._least_share,
        )  # fmt: skip

    def _broken_soft_pairs(self, labels: Array, w: float) -> BrokenPairs:
        """The soft pairs that `labels` break, with their weights for each metric."""
        c, s = self.constraints, self.settings
        i, j = c.pairs.T
        same = labels[i] == labels[j]
        broken = np.flatnonzero((same != (c.kind > 0)) & ~c.is_hard)
        i, j, is_must = i[broken], j[broken], c.kind[broken] > 0
        weight = w * self.pair_weight[broken]
        must, cannot = np.zeros((2, broken.size, s.n_clusters if s.per_cluster else 1))
        at = np.arange(broken.size)
        for end in (i, j):
            group = labels[end] if s.per_cluster else np.zeros_like(at)
            must[at, group] += np.where(is_must, weight / 2, 0.0)
            cannot[at, group] += np.where(is_must, 0.0, weight / 2)
        kept = None if self.kept_pairs is None else self.kept_pairs[broken]
        return BrokenPairs(i, j, must, cannot, kept)
