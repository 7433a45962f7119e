"""The estimator that PCKMeans, HMRFKMeans and MPCKMeans are settings of."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils import check_random_state

from coterie._typing import Array
from coterie.base import broken_pairs
from coterie.cluster.kmeans.joining import TakesNewRows, has_own_metrics
from coterie.cluster.kmeans.problem import KMeansProblem
from coterie.cluster.kmeans.run import Result, Start, run
from coterie.cluster.kmeans.screening import (
    Screened,
    carry_over,
    is_metric,
    most_promising,
    nodes_of,
    screen,
    stage_of,
)
from coterie.cluster.kmeans.sized_problem import SizedProblem
from coterie.cluster.kmeans.starts import complete_groups, initial_centers, many_centers
from coterie.cluster.kmeans.values import Geometry, Measure
from coterie.constraints import Constraints
from coterie.constraints.exclusive import choose, witnesses, written_for
from coterie.constraints.sizes import Sizes
from coterie.data import one_blas_thread
from coterie.exceptions import InvalidData, InvalidParameter
from coterie.inference import engines
from coterie.validation import (
    check_choice,
    check_n_clusters,
)

_FEW_PAIRS = 100_000  # that exclusive groups may be written out as where they are not alone
INITS = (
    "auto",
    "neighborhoods",
    "largest",
    "farthest",
    "figure-1",
    "k-means++",
    "random",
    "perturb",
)


class Attempt(NamedTuple):
    """One of `n_init` tries.

    Attributes
    ----------
    number, seed : int
    w : float or None
        What pairs weigh; None as long as nothing has settled it.
    groups : (n,) or None
        Neighbourhoods that are known already.
    """

    number: int
    seed: int
    w: float | None
    groups: Array | None


class PairwiseKMeans(TakesNewRows):
    """Shared `fit`; a subclass says which problem it solves.

    A subclass has the parameters n_clusters, w, inference, init, n_init, max_iter, tol,
    random_state and warm_start.
    """

    _problem_type: type[KMeansProblem] = KMeansProblem
    _reads_stored_rows = True

    # -- what a subclass says ------------------------------------------------------------------
    def _sizes(self, n_clusters: int, n_rows: int) -> Sizes | None:
        """Bounds on the rows of each cluster, where there are any."""
        return None

    def _auto_weight(self, problem: KMeansProblem, starts: list[Start]) -> float:
        """`w="auto"`: 1 where the penalty is a distance, which carries the scale of the data."""
        return 1.0

    def _read_pairs(self, constraints: Constraints) -> Constraints:
        """The pairs as the estimator understands them; refuses those that it cannot."""
        return constraints.as_hard() if self.w == np.inf else constraints

    def _pairs_of_new_rows(self, pairs: Constraints) -> Constraints:
        return self._read_pairs(pairs)

    # -- fit -----------------------------------------------------------------------------------
    def fit(
        self, X: Any, y: Any = None, *, constraints: Any = None, sample_weight: Any = None
    ) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n_samples, n_features)
        y : ignored
            Present for scikit-learn's conventions. Known labels enter by
            `Constraints.from_labels`.
        constraints : Constraints, optional
            What is known about pairs of rows.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts.
        """
        X, constraints, weights = self._check_fit_input(X, y, constraints, sample_weight)
        k = check_n_clusters(self.n_clusters, X.shape[0])
        self._check_common()
        pairs = self._read_pairs(constraints)
        if pairs.exclusive.rows.size:
            pairs = self._with_groups(pairs)
        self._solve(X, pairs, weights, k)
        return self

    def _with_groups(self, pairs: Constraints) -> Constraints:
        """The pairs with their exclusive groups, written out as pairs where they cannot stay."""
        if _better_as_pairs(pairs):
            return pairs.expanded()
        if self._can_keep(pairs):
            return pairs
        return written_for(pairs, f"{type(self).__name__} with soft groups or sizes")

    def _can_keep(self, pairs: Constraints) -> bool:
        """Whether exclusive groups can stay groups: soft ones where all pairs cost the same."""
        groups = pairs.exclusive
        soft = choose(groups, ~groups.is_hard & (groups.weight > 0))
        if not soft.n_groups:
            return True
        # Two rows of a group that hard must-links join would count once where they cost twice.
        joined = witnesses(soft, pairs.closure().component).pairs.size
        return self._constant_penalty and not joined

    def _solve(
        self,
        X: Any,
        constraints: Constraints,
        weights: Array | None,
        k: int,
        groups: Array | None = None,
    ) -> None:
        """Run every start and publish the best; `groups` (n,) are neighbourhoods known already."""
        # Products split by a BLAS round by its number of threads, and small ones only wait.
        with one_blas_thread():
            distortion = self._distortion()
            settings = self._settings(k, distortion)._replace(sizes=self._sizes(k, X.shape[0]))
            kind = self._problem_type if settings.sizes is None else SizedProblem
            problem = kind(X, constraints, weights, distortion, settings)
            check_groups(problem)
            measure = problem.measure(self._metric_to_start_from(problem))
            rng = check_random_state(self.random_state)
            solve = self._from_screened if self._screens(groups) else self._from_starts
            best: Result | None = None
            for number in range(self._n_starts(groups)):
                seed = int(rng.randint(2**31 - 1))
                w = None if best is None else best.geometry.w
                result = solve(problem, measure, Attempt(number, seed, w, groups))
                if best is None or result.history[-1] < best.history[-1]:
                    best = result
                if result.stopped:
                    break
            assert best is not None
            if not np.isfinite(best.history[-1]):
                raise InvalidData(
                    f"the objective overflows {problem.rows.dtype}: values of X, sample_weight or "
                    "weights of pairs are too large, or too different. Rescale them."
                )
            self._publish(problem, best)

    def _screens(self, groups: Array | None) -> bool:
        """Whether a start is the best of many, rather than the one that was asked for."""
        asked_for = groups is not None or self._model_to_start_from is not None
        # With w = 0 the start is all that pairs decide, and the objective does not know them.
        only_start = not isinstance(self.w, str) and self.w == 0
        return not (asked_for or only_start) and isinstance(self.init, str) and self.init == "auto"

    def _from_starts(self, problem: KMeansProblem, measure: Measure, attempt: Attempt) -> Result:
        """A run from the start asked for: of two, from the one that costs less to begin with."""
        starts, seed = self._starts(problem, measure, attempt), attempt.seed
        geometry = problem.geometry(measure, self._weight(problem, starts, attempt.w))
        start = most_promising(problem, starts, geometry, seed)
        return run(problem, start, geometry, max_iter=self.max_iter, tol=self.tol, seed=seed)

    def _from_screened(self, problem: KMeansProblem, measure: Measure, attempt: Attempt) -> Result:
        """A run from the best of many starts, each of which was tried for a few iterations."""
        found = self._screened(problem, measure, attempt)
        geometry, before = found.geometry, found.history
        if geometry is None:
            geometry = problem.without_costs(problem.geometry(found.measure, found.w))
        most = 1 if found.stopped else self.max_iter - len(before)
        result = run(
            problem,
            found.start,
            geometry,
            max_iter=most,
            tol=self.tol,
            seed=attempt.seed,
            done=len(before),
        )
        return result._replace(
            history=before + result.history, stopped=result.stopped or found.stopped
        )

    def _screened(self, problem: KMeansProblem, measure: Measure, attempt: Attempt) -> Screened:
        """The best of many starts.

        What they were tried on, a copy of all rows in pairs, is gone when this returns.
        """
        number, seed, w, _ = attempt
        stage = stage_of(problem, seed)
        here = stage.problem
        at = measure if here is problem else here.measure(measure.A)
        found = many_centers(here, at, stage.n_candidates, first=number == 0, seed=seed)
        starts = [Start(centers.astype(here.rows.dtype)) for centers in found]
        geometry = here.geometry(at, self._weight(here, starts, w))
        geometry = here.without_costs(geometry)
        best = screen(stage, starts, geometry, max_iter=self.max_iter, tol=self.tol, seed=seed)
        return carry_over(problem, measure, stage, best)

    def _check_common(self) -> None:
        check_choice("inference", self.inference, engines(labels=True))
        if isinstance(self.init, str):
            check_choice("init", self.init, INITS)

    def _n_starts(self, groups: Array | None) -> int:
        given = not isinstance(self.init, str) or (self.warm_start and hasattr(self, "labels_"))
        if given or self.n_init == "auto":
            return 1
        return int(self.n_init)

    @property
    def _model_to_start_from(self) -> Any | None:
        """The fitted model that a fit goes on from, if any."""
        if self.warm_start and hasattr(self, "labels_"):
            return self
        return self.init if hasattr(self.init, "cluster_centers_") else None

    def _metric_to_start_from(self, problem: KMeansProblem) -> Array | None:
        A = problem.initial_metric()
        learned = getattr(self._model_to_start_from, "distortion_params_", None)
        if A is None or not is_metric(learned, A):
            return A
        return np.array(learned, dtype=A.dtype)

    def _starts(self, problem: KMeansProblem, measure: Measure, attempt: Attempt) -> list[Start]:
        """Candidates to begin from; after a warm start, with the core's labels."""
        seed, groups = attempt.seed, attempt.groups
        model = self._model_to_start_from
        if model is not None:
            centers = self._given_centers(problem, model.cluster_centers_)
            return [Start(centers, nodes_of(problem, getattr(model, "labels_", None)))]
        if not isinstance(self.init, str):
            return [Start(self._given_centers(problem, self.init))]
        if groups is not None:
            candidates = [complete_groups(problem, measure, groups, seed)]
        else:
            first = attempt.number == 0
            init = "neighborhoods" if self.init == "auto" else self.init
            candidates = initial_centers(problem, measure, init, first=first, seed=seed)
        return [Start(centers.astype(problem.rows.dtype)) for centers in candidates]

    def _given_centers(self, problem: KMeansProblem, centers: Any) -> Array:
        shape = (problem.settings.n_clusters, problem.rows.d)
        array = np.array(centers, dtype=problem.rows.dtype, order="C")
        if array.shape != shape or not np.isfinite(array).all():
            raise InvalidParameter(
                f"init must hold finite centres of shape {shape} (n_clusters, n_features), "
                f"got shape {array.shape}."
            )
        return array - problem.rows.origin

    def _weight(self, problem: KMeansProblem, starts: list[Start], settled: float | None) -> float:
        """What pairs weigh: as `settled` by an earlier start, since starts are compared by J."""
        if settled is not None:
            return settled
        if self.w == "auto":
            model = self._model_to_start_from
            if type(model) is type(self) and model.w == "auto" and hasattr(model, "w_"):
                return float(model.w_)  # goes on with the same objective
            return self._auto_weight(problem, starts)
        return 1.0 if self.w == np.inf else float(self.w)

    def _publish(self, problem: KMeansProblem, result: Result) -> None:
        labels, geometry = result.assignment.labels, result.geometry
        self.distortion_params_ = geometry.measure.A
        self.cluster_centers_ = result.centers + problem.rows.origin
        counts, sums, _ = result.assignment.statistics
        self.cluster_weights_ = counts
        self.cluster_sums_ = sums + counts[:, None] * np.asarray(problem.rows.origin)
        self.labels_ = labels
        self.objective_ = result.history[-1]
        self.objective_history_ = np.array(result.history)
        self.n_iter_ = len(result.history)
        self.converged_ = result.converged
        self.w_ = geometry.w
        self.violations_ = broken_pairs(
            labels,
            problem.constraints,
            cost_paid(problem.constraints, labels, problem.with_costs(geometry)),
            geometry.w,
        )
        self._n_features_out = problem.settings.n_clusters

    def _by_cluster(self) -> tuple[str, ...]:
        always = ("cluster_centers_", "cluster_weights_", "cluster_sums_")
        return (*always, "distortion_params_") if has_own_metrics(self) else always

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self._distortion().positive_only
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def check_groups(problem: KMeansProblem) -> None:
    """Refuse more clusters than there are groups of rows that hard must-links keep together."""
    core, k = problem.core, problem.settings.n_clusters
    groups = problem.rows.n - core.rows.size + core.n_nodes
    if groups < k:
        raise InvalidParameter(
            f"hard must-links join the rows into {groups} groups, fewer than n_clusters={k}. "
            "Lower n_clusters, or make some must-links soft."
        )


def cost_paid(constraints: Constraints, labels: Array, geometry: Geometry) -> Array:
    """What each pair would cost if broken under `labels`, (m,)."""
    cost = geometry.pairs.cost
    if cost.ndim == 1:
        return cost
    ends = labels[constraints.pairs]
    at = np.arange(len(cost))
    return (cost[at, ends[:, 0]] + cost[at, ends[:, 1]]) / 2


def _better_as_pairs(pairs: Constraints) -> bool:
    """Whether few pairs stand for exclusive groups that share rows with each other or with pairs.

    Groups are labelled one by one, each beside the others, which is exact where nothing ties
    them; where something does, the search over pairs knows more moves.
    """
    groups = pairs.exclusive
    if groups.n_pairs > _FEW_PAIRS:
        return False
    tied = np.bincount(groups.rows, minlength=pairs.n_samples)
    grouped = tied > 0
    tied[np.unique(pairs.pairs)] += 1
    return bool((tied[grouped] > 1).any())
