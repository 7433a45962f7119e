"""The loop every member of the family runs: E-step, centres, metric, until nothing improves."""

from __future__ import annotations

import logging
from typing import NamedTuple

import numpy as np

from coterie._typing import Array
from coterie.cluster.kmeans.core_graph import CoreLabels
from coterie.cluster.kmeans.problem import KMeansProblem
from coterie.cluster.kmeans.values import Assignment, Geometry
from coterie.distortions.learning import descend
from coterie.progress import keep_going

logger = logging.getLogger(__name__)

_WORTHWHILE = 1e-2  # share of the core's energy that a fresh search must save to be tried again
_ROUNDING = 1e-13  # share of the objective that is no fall: it differs between dense and CSR rows
_SMALL_CROWD = 15_000  # up to this size it is searched afresh in every iteration
EQUAL = 1e-6  # relative: runs often end in the same place, by other sums


class Start(NamedTuple):
    """Where a run begins: centres (K, d), and labels of the core's nodes (s,) if known."""

    centers: Array
    nodes: Array | None = None


class Result(NamedTuple):
    """Where a run ended; the labels are those of the E-step under these centres and metric."""

    assignment: Assignment
    centers: Array
    geometry: Geometry
    history: list[float]
    converged: bool
    stopped: bool


def run(
    problem: KMeansProblem,
    start: Start,
    geometry: Geometry,
    *,
    max_iter: int,
    tol: float,
    seed: int,
    done: int = 0,
) -> Result:
    """Lower the objective from `start` until labels repeat or it falls by less than tol |J|.

    The geometry may come, and goes back, without the costs of pairs: see `without_costs`.
    Where the distortion cools down, the first iterations are under warmer ones; `done` of them
    were made before this run goes on.
    """
    stages = problem.stages()
    learning = problem.settings.form is not None
    rng = np.random.default_rng(seed)
    core = None if start.nodes is None else CoreLabels(start.nodes)
    geometry = problem.with_costs(geometry)
    previous: Assignment | None = None
    first = stages[min(done, len(stages) - 1)]
    centers = first.distortion.allowed(start.centers, geometry.measure.A)
    history: list[float] = []
    converged = stopped = False
    refresh = False
    prove = problem.graph.can_prove and max_iter == 1
    for iteration in range(1, max_iter + 1):
        problem = stages[min(done + iteration, len(stages)) - 1]
        now = problem.assign(centers, geometry, core, int(rng.integers(2**31)), refresh, prove)
        history.append(now.objective)
        logger.debug("iteration %d: objective %.6g", iteration, now.objective)
        stopped = not keep_going(iteration, max_iter, now.objective)
        settled = False
        if previous is not None and done + iteration > len(stages):
            fixed = not learning and now.same_labels(previous)
            gain = previous.objective - now.objective
            settled = fixed or gain <= max(tol, _ROUNDING) * abs(previous.objective)
        searched = settled and (refresh or not problem.can_refresh)
        converged = searched and (prove or not problem.graph.can_prove)
        if converged or stopped or iteration == max_iter:
            break
        # Nothing is final before a fresh search of the core agrees, and then the exact engine where
        # there is one: what local search alone arrives at is a bound for what comes after it. The
        # fresh search is also made where it costs little or has just paid.
        prove = problem.graph.can_prove and (searched or iteration + 1 == max_iter)
        cheap = problem.graph.crowd_size <= _SMALL_CROWD
        refresh = problem.can_refresh and (settled or cheap or now.core.saved > _WORTHWHILE)
        centers = problem.centers_of(now, centers, geometry.measure)
        A = _better_metric(problem, now, centers, geometry) if learning else geometry.measure.A
        changed = A is not geometry.measure.A
        if changed:  # the old costs are gone before there are new ones
            now, geometry = _without_savings(now), problem.without_costs(geometry)
        core, previous = now.core, now
        if changed:
            geometry = problem.geometry(problem.measure(A), geometry.w, geometry)
    now = problem.with_labels(now, centers, geometry.measure)
    if learning:
        now = _without_savings(now)
    return Result(now, centers, problem.without_costs(geometry), history, converged, stopped)


def go_on(problem: KMeansProblem, found: Result, max_iter: int, tol: float, seed: int) -> Result:
    """The run that ended in `found`, up to `max_iter` iterations; the last is made once more."""
    before = found.history[:-1]
    if found.converged or max_iter <= len(found.history):
        return found
    start = Start(found.centers, found.assignment.core.nodes)
    most = max_iter - len(before)
    result = run(
        problem, start, found.geometry, max_iter=most, tol=tol, seed=seed, done=len(before)
    )
    return result._replace(history=before + result.history)


def is_lower(one: Result, other: Result) -> bool:
    """Whether a run ended lower than another, by more than rounding may make of it."""
    end, bar = one.history[-1], other.history[-1]
    return end < bar - EQUAL * abs(bar)


def _without_savings(now: Assignment) -> Assignment:
    """What a search saved was under costs of pairs that are gone, and would keep them."""
    return now._replace(core=now.core._replace(savings=None))


def _better_metric(
    problem: KMeansProblem, now: Assignment, centers: Array, geometry: Geometry
) -> Array:
    """The metric after a step that does not raise the objective; the same, if there is none."""
    before = geometry.measure.A
    assert before is not None
    task = problem.distortion.metric_problem(problem.metric_task(now, centers, geometry))
    return descend(task, before, problem.settings.eta)[0]
