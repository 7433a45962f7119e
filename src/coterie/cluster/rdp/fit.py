"""Rounds of Algorithm 1 until nothing moves, with xi growing from round to round."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coterie._typing import Array
from coterie.cluster.rdp.passes import RdpState, run_round
from coterie.cluster.rdp.problem import RdpProblem, Xi
from coterie.data import without_gaps
from coterie.progress import keep_going

__all__ = [
    "Schedule",
    "Solution",
    "solve",
    "start_from_centers",
    "start_from_labels",
    "start_together",
]


class Schedule(NamedTuple):
    """xi of round t is min(xi0 rate^t, most); `ratio` is xi1 / xi2."""

    xi0: float
    rate: float
    most: float
    ratio: float
    patience: int
    max_iter: int

    def xi(self, t: int) -> Xi:
        """The pair (xi1, xi2) of round t."""
        with np.errstate(over="ignore"):
            grown = float(np.float64(self.rate) ** t * self.xi0)
        xi = min(grown, self.most)
        return Xi(xi * self.ratio, xi)

    def at_rest(self, t: int) -> bool:
        """Whether xi of the next round is that of round t."""
        return self.xi(t) == self.xi(t + 1)


class Solution(NamedTuple):
    """Where the rounds of one start ended."""

    state: RdpState
    xi: Xi
    history: Array  # J of each round, at that round's xi
    xi_history: Array  # xi2 of each round
    converged: bool


def start_from_labels(problem: RdpProblem, labels: Array) -> RdpState:
    """The state in which every row has the given label (clusters renumbered without gaps)."""
    labels = without_gaps(labels)
    # Rows that hard must-links join share the label of the first of them.
    labels[problem.core.rows] = problem.core.expand(labels[problem.core.first_rows])
    labels = without_gaps(labels)
    k = int(labels.max()) + 1
    everywhere = np.repeat(problem.mean(), k, axis=0)
    centers = problem.centers(problem.sum_all(labels, k), everywhere)
    return RdpState(labels, centers)


def start_together(problem: RdpProblem) -> RdpState:
    """The state in which all rows are in one cluster."""
    return start_from_labels(problem, np.zeros(problem.n, dtype=np.int32))


def start_from_centers(problem: RdpProblem, centers: Array) -> RdpState:
    """The state in which every row is with the nearest of the centres (K, d)."""
    return start_from_labels(problem, problem.label_rows(centers, np.inf).labels)


def solve(
    problem: RdpProblem,
    state: RdpState,
    lambda_: float,
    schedule: Schedule,
    rng: np.random.Generator | None,
) -> Solution:
    """Rounds from `state`. Ends when labels rest: at once where xi no longer grows (no row would
    ever move again), else after `patience` rounds of rest while xi grew.
    """
    history: list[float] = []
    growth: list[float] = []
    rest = 0
    converged = False
    for t in range(schedule.max_iter):
        xi = schedule.xi(t)
        before = state.labels
        state, objective = run_round(problem, state, xi, lambda_, rng)
        history.append(objective)
        growth.append(xi.cannot)
        rest = rest + 1 if np.array_equal(before, state.labels) else 0
        if rest and (rest >= schedule.patience or schedule.at_rest(t)):
            converged = True
            break
        if not keep_going(t + 1, schedule.max_iter, objective):
            break
    return Solution(state, xi, np.array(history), np.array(growth), converged)
