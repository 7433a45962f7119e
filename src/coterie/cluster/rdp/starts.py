"""Where the rounds begin: the number of clusters, the first labels, lambda and the scale of xi."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.cluster.rdp.fit import start_from_centers, start_from_labels, start_together
from coterie.cluster.rdp.held_out import number_with_pairs
from coterie.cluster.rdp.lambda_search import RULES, lambda_by_rule, n_covering
from coterie.cluster.rdp.means import Means, draw_sample, k_means
from coterie.cluster.rdp.n_clusters import choose_n_clusters
from coterie.cluster.rdp.passes import RdpState
from coterie.cluster.rdp.problem import RdpProblem, Xi
from coterie.cluster.rdp.reach import Reach
from coterie.cluster.rdp.spectral import spectral_labels
from coterie.exceptions import InvalidParameter
from coterie.validation import check_choice, check_first_labels

__all__ = ["StartRule", "Starts"]

_RUNS = 16  # of K-Means: where one in four finds the best labels, 99 times in 100 one does
_NAMES = ("auto", "single", "spectral")


class StartRule(NamedTuple):
    """What the user said of lambda, the number of clusters and the first labels, checked."""

    lambda_: str | float
    hint: int | None
    init: Any

    @classmethod
    def checked(cls, lambda_: Any, hint: Any, init: Any) -> StartRule:
        """Refuses an unknown name."""
        if isinstance(lambda_, str):
            check_choice("lambda_", lambda_, ("auto", *RULES))
        else:
            lambda_ = float(lambda_)
        if isinstance(init, str):
            check_choice("init", init, _NAMES)
        return cls(lambda_, hint, init)

    @property
    def is_named(self) -> bool:
        """Whether the first labels are ours to find."""
        return isinstance(self.init, str)


class Starts:
    """The starts of one fit. The number of clusters and lambda are the same for all of them."""

    def __init__(
        self, problem: RdpProblem, rule: StartRule, X: Any, rng: np.random.Generator
    ) -> None:
        if rule.hint is not None and rule.hint > problem.n:
            raise InvalidParameter(
                f"n_samples={problem.n} should be >= n_clusters_hint={rule.hint}: lower the hint."
            )
        self.problem, self.rule, self.X = problem, rule, X
        self.n_clusters = self._n_clusters(rng)
        self.lambda_: float | None = self._lambda_before()

    def _n_clusters(self, rng: np.random.Generator) -> int | None:
        """The number to start with: as the user said, as lambda says, or as rows and pairs do.

        None where nothing depends on it, or a given lambda means a great many.
        """
        lambda_, hint, init = self.rule
        if hint is not None:
            return hint
        if not isinstance(lambda_, str):
            needed = self.rule.is_named and init != "single"
            return n_covering(self.problem, lambda_) if needed else None
        if lambda_ == "auto" and not self.rule.is_named:
            return None
        return number_with_pairs(self.problem, choose_n_clusters(self.problem, rng), rng)

    def _lambda_before(self) -> float | None:
        """Lambda, unless it is for the start to say."""
        lambda_, _, init = self.rule
        if not isinstance(lambda_, str):
            return lambda_
        if lambda_ == "auto" and (not self.rule.is_named or init == "auto"):
            return None
        assert self.n_clusters is not None, "a rule for lambda needs the number of clusters"
        rule = "farthest_first" if lambda_ == "auto" else lambda_
        return lambda_by_rule(self.problem, rule, self.n_clusters)

    def draw(self, most_xi: float, rng: np.random.Generator) -> list[RdpState]:
        """The states to begin from: one, or two of which the lower J is to be kept.

        From K-Means, except where lambda is given and asks for a great many clusters. Where
        lambda is given, Algorithm 1's own start, all rows in one cluster, has its chance too.
        """
        problem, init = self.problem, self.rule.init
        if not isinstance(init, str):
            return [start_from_labels(problem, self._given_labels())]
        if init == "single":
            return [start_together(problem)]
        if init == "spectral":
            if not problem.rows.in_memory:
                raise InvalidParameter(
                    "init='spectral' holds an eigenvector of n numbers for each cluster, which is "
                    "not for rows in files; use init='auto'."
                )
            assert self.lambda_ is not None, "only init='auto' leaves lambda to the start"
            xi = min(self.lambda_, most_xi)
            exactly = self.rule.hint is not None or isinstance(self.rule.lambda_, str)
            labels = spectral_labels(
                problem, xi, self.lambda_, self.n_clusters, rng, exactly=exactly
            )
            return [start_from_labels(problem, labels)]
        states = []
        if self.n_clusters is not None:
            means = self._best_means(self.n_clusters, rng)
            states.append(start_from_centers(problem, means.centers))
        if self.lambda_ is not None:
            states.append(start_together(problem))
        return states

    def settle(self, state: RdpState) -> tuple[float, Reach]:
        """Lambda, and the distances of the first start, from which "auto" is worked out."""
        reach = Reach.of(self.problem, state.centers)
        if self.lambda_ is None:
            self.lambda_ = reach.roomy
        return self.lambda_, reach

    def _best_means(self, k: int, rng: np.random.Generator) -> Means:
        """Of several runs of K-Means the one of least J, a pair counting as a row's mean D."""
        problem = self.problem
        runs = k_means(draw_sample(problem, rng), k, _RUNS, rng)
        weight = problem.weights.sum() if problem.weights.size else problem.n
        worth = min(means.cost for means in runs) / weight

        def value(means: Means) -> float:
            labels = np.zeros(problem.n, dtype=np.int32)
            labels[problem.core.rows] = problem.nearest(problem.core.rows, means.centers)
            return means.cost + problem.pair_energy(labels, Xi(worth, worth))

        return min(runs, key=value)

    def _given_labels(self) -> NDArray[Any]:
        """The labels the user gave, or those of a fitted model."""
        return check_first_labels(self.rule.init, self.X, _NAMES)
