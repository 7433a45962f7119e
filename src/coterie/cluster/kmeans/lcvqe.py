"""LCVQE: linear-time constrained vector quantization error (Pelleg and Baras 2007)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from coterie._typing import Array
from coterie.base import broken_pairs
from coterie.cluster.kmeans import _lcvqe_kernels as kernels
from coterie.cluster.kmeans.core_graph import CoreLabels
from coterie.cluster.kmeans.family import PairwiseKMeans
from coterie.cluster.kmeans.problem import NO_CORE, KMeansProblem
from coterie.cluster.kmeans.run import Result
from coterie.cluster.kmeans.values import Assignment, Geometry, KMeansSettings
from coterie.cluster.statistics import Statistics
from coterie.constraints import Constraints
from coterie.distortions import Distortion, SquaredEuclidean
from coterie.exceptions import InvalidConstraints

__all__ = ["LCVQE"]


class Pairs(NamedTuple):
    """Distinct pairs of one kind between rows of the core, weights of repeated pairs summed."""

    ends: Array  # (p, 2) numbers within the core
    must: Array  # (p,) bool
    weight: Array  # (p,)


class LcvqeProblem(KMeansProblem):
    """The family's problem with LCVQE's E-step for the core and its centre update."""

    def __init__(
        self,
        X: Any,
        constraints: Constraints,
        weights: Array | None,
        distortion: Distortion,
        settings: KMeansSettings,
    ) -> None:
        super().__init__(X, constraints, weights, distortion, settings)
        self.pairs = self._distinct_pairs()

    @property
    def can_refresh(self) -> bool:
        """No: its E-step starts from scratch each time."""
        return False

    def _distinct_pairs(self) -> Pairs:
        c = self.constraints
        counts = np.flatnonzero(self.pair_weight > 0)
        key = np.column_stack([c.kind[counts], c.pairs[counts]])
        distinct, inverse = np.unique(key, axis=0, return_inverse=True)
        weight = np.bincount(
            inverse.ravel(), weights=self.pair_weight[counts], minlength=len(distinct)
        )
        ends = self.core.slots_of(distinct[:, 1:])
        return Pairs(ends, distinct[:, 0] > 0, weight)

    def assign(
        self,
        centers: Array,
        geometry: Geometry,
        last: CoreLabels | None,
        seed: int,
        refresh: bool = False,
        prove: bool = False,
    ) -> Assignment:
        """Label every row, and add to the sums what broken pairs pull on.

        mu_j = (sum of members + 1/2 sum of GMLV_j + sum of GCLV_j) / (their masses) follows.
        """
        found = self.label_rows(centers, geometry.measure, last)
        rows = self.core.rows
        if not rows.size:
            return Assignment(found.labels, NO_CORE, found.statistics, found.cost, found.digest)
        free = found.cost - found.unary[np.arange(rows.size), found.listed_labels].sum()
        distances = found.unary / self.settings.factor
        core_labels, cost = self._decide(distances, None if last is None else last.nodes)
        labels, statistics, _ = self.relabel(found, core_labels, geometry.measure)
        row, cluster, mass, _ = self._pulls(distances, core_labels)
        if self.weights.size:
            mass = mass * self.weights[rows[row]]
        pulling, row = np.unique(row, return_inverse=True)
        pull = sp.coo_array((mass, (cluster, row)), shape=(len(centers), pulling.size)).tocsr()
        statistics = Statistics(
            statistics.counts + pull.sum(axis=1),
            statistics.sums + pull @ self.rows.take(rows[pulling]),
        )
        core = CoreLabels(core_labels)
        return Assignment(labels, core, statistics, free + cost, found.digest)

    def _decide(self, distances: Array, before: Array | None) -> tuple[Array, float]:
        """Labels (r,) of the core's rows and what they cost; those `before` if they cost less."""
        labels = distances.argmin(axis=1).astype(np.int64)
        kernels.decide(distances, *self.pairs, labels)
        choices = [labels] if before is None else [labels, before]
        costs = [self._core_cost(distances, choice) for choice in choices]
        best = int(np.argmin(costs))
        return choices[best], costs[best]

    def _core_cost(self, distances: Array, labels: Array) -> float:
        own = np.take_along_axis(distances, labels[:, None], axis=1).sum() / 2
        return float(own + self._pulls(distances, labels)[3])

    def _pulls(self, distances: Array, labels: Array) -> tuple[Array, Array, Array, float]:
        """Rows of the core, the clusters they pull on, with what mass; and the cost of it all."""
        most = 2 * len(self.pairs.weight)
        row, cluster = np.empty((2, most), dtype=np.int64)
        mass = np.empty(most)
        count, cost = kernels.broken_terms(distances, *self.pairs, labels, row, cluster, mass)
        return row[:count], cluster[:count], mass[:count], float(cost)

    def pair_costs_under(self, labels: Array, centers: Array) -> Array:
        """What each of the user's pairs costs if broken under `labels` (n,), (m,)."""
        if not self.core.rows.size:
            return np.zeros(self.constraints.n_pairs)
        distances = self.distortion.to_centers(self.rows.take(self.core.rows), centers)
        ends = self.constraints.pairs
        (a, b), (j, other) = (
            self.core.slots_of(ends).T,
            labels[ends].T.astype(np.int64),
        )
        across = (distances[a, other] + distances[b, j]) / 4
        far = np.where(distances[a, j] > distances[b, j], a, b)
        elsewhere = distances[far]
        elsewhere[np.arange(len(ends)), j] = np.inf
        away = elsewhere.min(axis=1) / 2
        away[np.isinf(away)] = 0.0  # one cluster: there is nowhere to go
        return self.pair_weight * np.where(self.constraints.kind > 0, across, away)


class LCVQE(PairwiseKMeans):
    r"""K-Means in which a broken pair pulls on the centres instead of costing a fixed price.

    Rows go to their nearest centre; then each pair that this breaks, must-links first, takes the
    cheapest way out. A must-link with a in cluster j and b in l: leave it broken at
    :math:`\tfrac{1}{2}(d_{aj}+d_{bl})+\tfrac{1}{4}(d_{al}+d_{bj})`, or bring both to j or both to l
    at half their distances. A cannot-link in cluster j, whose farther row r has M as its nearest
    other centre: leave it broken at
    :math:`\tfrac{1}{2}(d_{aj}+d_{bj})+\tfrac{1}{2} d_{rM}`, or move r to M.
    Pairs left broken pull: a must-link each end, by half, to the other's centre, and a cannot-link
    r to M. There is no weight to choose; d is the squared Euclidean distance.

    A pair of weight v multiplies the last term of its broken cost, and its pull, by v, as v copies
    of the pair. Decisions that cost more in sum than the last labels do are not taken, so that
    the fit settles instead of going round in circles.

    Parameters
    ----------
    n_clusters : int, default=8
    init, n_init, max_iter, tol, random_state, warm_start
        As in `PCKMeans`.

    Attributes
    ----------
    labels_, cluster_centers_, objective_, objective_history_, violations_, n_iter_, converged_
        As in `PCKMeans`; a broken pair's cost is its pull, the last term above.

    Notes
    -----
    Any pair may be broken, so hard pairs are refused: see `COPKMeans` and `PCKMeans` for those.
    The objective usually falls, but which row of a cannot-link is the farther one can change with
    the centres, and may raise it.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import LCVQE, Constraints
    >>> X = np.array([[0.0], [1.0], [4.0], [6.0]])
    >>> known = Constraints(4, must_link=[(1, 2)])
    >>> labels = LCVQE(2, random_state=0).fit_predict(X, constraints=known)
    >>> bool(labels[1] == labels[2])
    True
    """

    # What it fixes of the family.
    w = 1.0
    inference = "icm"

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "auto",
        n_init: Any = "auto",
        max_iter: int = 300,
        tol: float = 1e-6,
        random_state: Any = None,
        warm_start: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.warm_start = warm_start

    def _read_pairs(self, constraints: Constraints) -> Constraints:
        hard = np.flatnonzero(constraints.is_hard)
        if hard.size:
            i, j = constraints.pairs[hard[0]]
            raise InvalidConstraints(
                f"LCVQE may break any pair, but {hard.size} are hard (the first: rows {i} and {j})."
                " Use COPKMeans or PCKMeans to keep them, or pass constraints.as_soft()."
            )
        return constraints

    def _distortion(self) -> Distortion:
        return SquaredEuclidean()

    def _settings(self, n_clusters: int, distortion: Distortion) -> KMeansSettings:
        return KMeansSettings(n_clusters, factor=0.5, penalty="constant")

    _problem_type = LcvqeProblem

    def _publish(self, problem: KMeansProblem, result: Result) -> None:
        super()._publish(problem, result)
        assert isinstance(problem, LcvqeProblem)
        cost = problem.pair_costs_under(self.labels_, result.centers)
        self.violations_ = broken_pairs(self.labels_, problem.constraints, cost)
