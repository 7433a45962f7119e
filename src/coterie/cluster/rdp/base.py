"""What DPMeans and RDPMeans share: fitting from one or more starts, and new rows."""

from __future__ import annotations

import logging
from abc import abstractmethod
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from coterie.base import broken_pairs
from coterie.cluster.distances import nearest_within, row_distances
from coterie.cluster.rdp.fit import Solution, solve
from coterie.cluster.rdp.problem import Divergence, RdpProblem, get_divergence
from coterie.cluster.rdp.starts import StartRule, Starts
from coterie.cluster.rdp.xi import XiRule
from coterie.cluster.statistics import NONE, Shape, sum_rows
from coterie.constraints import Constraints
from coterie.data import Rows, check_blocks, one_blas_thread
from coterie.extension import ExtensibleClusterer, Placed, Places

__all__ = ["PricedMeans", "RdpSettings"]

logger = logging.getLogger(__name__)


class RdpSettings(NamedTuple):
    """The checked parameters of one fit."""

    start: StartRule
    order: str
    n_init: int
    xi: XiRule


class PricedMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ExtensibleClusterer):
    """Clusters at a price of lambda each: the base of `DPMeans` and `RDPMeans`."""

    divergence: Any
    cluster_centers_: NDArray[Any]
    random_state: Any
    _reads_stored_rows = True

    def _by_cluster(self) -> tuple[str, ...]:
        return ("cluster_centers_",)

    # -- new rows join -------------------------------------------------------------------------
    def _places(self, X: Any) -> Places:
        """Costs are divergences, a new cluster costs lambda, a pair xi (lambda where that is 0)."""
        costs = np.asarray(self.transform(X), dtype=np.float64)

        def found(rows: NDArray[np.int64]) -> NDArray[np.float64]:
            _, _, (distortion, root) = self._new_rows(X)
            gap = row_distances(Rows(X), self._center(X[rows]), distortion, self.metric_, root)
            return np.asarray(gap, dtype=np.float64)[:, 0]

        return Places(costs, float(self.xi_) or self.lambda_value_, self.lambda_value_, found)

    def _center(self, X: Any) -> NDArray[Any]:
        """The centre (1, d) of a cluster of these rows."""
        distortion = get_divergence(self.divergence).distortion
        scale = distortion.row_scale(X, self.metric_)
        sums = sum_rows(
            [(0, X.shape[0], X)],
            np.zeros(X.shape[0], dtype=np.int32),
            NONE,
            NONE if scale is None else np.asarray(scale, np.float64),
            distortion,
            Shape(1, X.shape[1]),
        )
        return distortion.centroid(sums.sums, sums.counts, self.metric_).astype(X.dtype)

    def _admit(self, X: Any, placed: Placed) -> None:
        fresh = [self._center(X[rows]) for rows in placed.founders]
        centers: NDArray[Any] = self.cluster_centers_
        self.cluster_centers_ = np.concatenate([centers, *fresh]).astype(centers.dtype)
        self.n_clusters_ = len(self.cluster_centers_)

    @abstractmethod
    def _settings(self) -> RdpSettings:
        """The parameters, checked."""

    def _fit(self, X: Any, y: Any, constraints: Any, sample_weight: Any) -> Self:
        X, pairs, weights = self._check_fit_input(X, y, constraints, sample_weight)
        settings = self._settings()
        random_state = check_random_state(self.random_state)
        seeds = [random_state.randint(2**31 - 1) for _ in range(settings.n_init)]
        with one_blas_thread():
            problem = RdpProblem(X, pairs, weights, get_divergence(self.divergence))
            self._publish(problem, pairs, *_search(problem, X, settings, seeds))
        return self

    def _publish(
        self, problem: RdpProblem, pairs: Constraints, lambda_: float, found: Solution
    ) -> None:
        state = found.state
        self.lambda_value_ = lambda_
        self.labels_ = state.labels
        self.n_clusters_ = len(state.centers)
        self.metric_ = problem.A
        self.cluster_centers_ = (state.centers + problem.rows.origin).astype(problem.rows.dtype)
        self.objective_ = problem.objective(state.labels, state.centers, found.xi, lambda_)
        self.objective_history_ = found.history
        self.xi_ = found.xi.cannot
        self.xi_history_ = found.xi_history
        self.n_iter_ = len(found.history)
        self.converged_ = found.converged
        cost = np.where(pairs.kind > 0, found.xi.must, found.xi.cannot) * np.where(
            pairs.is_hard, 1.0, problem.pair_cost
        )
        self.violations_ = broken_pairs(state.labels, pairs, cost)
        logger.debug("%d clusters after %d rounds", self.n_clusters_, self.n_iter_)

    def _new_rows(self, X: Any) -> tuple[Rows, NDArray[Any], Divergence]:
        """New rows and the centres, measured from one point, and the divergence."""
        check_is_fitted(self)
        X = self._check_new_rows(X)
        divergence = get_divergence(self.divergence)
        check_blocks(Rows(X), divergence.distortion)
        centers, shift = self.cluster_centers_.astype(X.dtype), None
        if divergence.distortion.translation_invariant and not Rows(X).is_sparse:
            shift = centers.mean(axis=0)
            centers = centers - shift
        return Rows(X, shift), centers, divergence

    def transform(self, X: Any) -> Any:
        """Divergence of each row to each centre, (n, K).

        Of rows not in memory as `coterie.data.DerivedRows`, which are worked out as they are read.
        """
        rows, centers, (distortion, root) = self._new_rows(X)
        return row_distances(rows, centers, distortion, self.metric_, root)

    def predict(self, X: Any, *, reject: bool = False) -> NDArray[np.int32]:
        """The nearest centre of each row, (n,).

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d), or rows in files
        reject : bool, default False
            Answer -1 for a row that would have opened a cluster: D >= lambda to every centre.
        """
        rows, centers, (distortion, root) = self._new_rows(X)
        limit = self.lambda_value_ if reject else np.inf
        return nearest_within(rows, centers, distortion, self.metric_, root, limit)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "labels_")  # `lambda_` is a parameter, whatever its name looks like

    @property
    def _n_features_out(self) -> int:
        return int(self.n_clusters_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _search(
    problem: RdpProblem, X: Any, settings: RdpSettings, seeds: list[int]
) -> tuple[float, Solution]:
    """Lambda, and the best end of all starts."""
    # Generators of their own, so that the orders do not depend on what has to be found out.
    starts = Starts(problem, settings.start, X, np.random.default_rng([seeds[0], 1]))
    lambda_: float | None = None
    solutions = []
    for seed in seeds:
        for state in starts.draw(settings.xi.most_given, np.random.default_rng([seed, 2])):
            order = np.random.default_rng(seed) if settings.order == "random" else None
            if lambda_ is None:
                lambda_, reach = starts.settle(state)
                schedule = settings.xi.schedule(problem, lambda_, reach)
            solutions.append(solve(problem, state, lambda_, schedule, order))
    assert lambda_ is not None, "there is one start at least"
    return lambda_, _best(problem, lambda_, solutions)


def _best(problem: RdpProblem, lambda_: float, solutions: list[Solution]) -> Solution:
    """The least J, measured at one xi: the largest that any start came to."""
    if len(solutions) == 1:
        return solutions[0]
    xi = max(found.xi for found in solutions)
    return min(
        solutions,
        key=lambda found: problem.objective(found.state.labels, found.state.centers, xi, lambda_),
    )
