"""Many starts for little: each is run for a few iterations, and only the best goes on.

One start is a gamble, on text above all; ten whole runs cost ten times as much. After a few
iterations the objectives of the starts are already in the order that they end in, nearly. Before
the first, where centres are single rows or small groups, they are not. Where a metric is learned
it takes longer, and some are run to their end. Centres of the best are then moved as far as that
pays (`relocate`).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from coterie._typing import Array
from coterie.cluster.kmeans.problem import KMeansProblem
from coterie.cluster.kmeans.relocation import relocate
from coterie.cluster.kmeans.run import EQUAL, Result, Start, go_on, run
from coterie.cluster.kmeans.values import Geometry, Measure
from coterie.data import gather

__all__ = [
    "Screened",
    "Stage",
    "carry_over",
    "is_metric",
    "most_promising",
    "nodes_of",
    "screen",
    "stage_of",
]


class Round(NamedTuple):
    """So many iterations in all, after which the `keep` lowest go on."""

    iterations: int
    keep: int


_CANDIDATES = 16
_FEWEST = 3  # of a core too large to be looked at so often: two of the pairs, one of the rows
_ROUNDS = (Round(2, 5), Round(5, 1))
# While a metric is learned, what is low after a few iterations need not be so at the end.
_TO_THE_END = 1_000_000
_LEARNING_ROUNDS = (Round(5, 5), Round(_TO_THE_END, 1))
_ROWS = 10_000  # that are enough to tell good starts from bad ones
_ROWS_A_CLUSTER = 50  # or so many for each cluster, if that is more


class Stage(NamedTuple):
    """The problem that starts are screened on: the one to be solved, or a smaller likeness of it.

    Attributes
    ----------
    problem : KMeansProblem
        All rows in pairs and a sample of the others, each weighing what it stands for, so that
        its objective estimates that of all rows; labelled by local search.
    rows : (r,) int64
        Those rows in the problem to be solved.
    n_candidates : int
        How many starts to screen: fewer where the rows in pairs alone are very many.
    """

    problem: KMeansProblem
    rows: Array
    n_candidates: int


def stage_of(problem: KMeansProblem, seed: int) -> Stage:
    """Where to screen the starts of `problem`; that itself if it is small."""
    n, core = problem.rows.n, problem.core.rows
    enough = max(_ROWS, _ROWS_A_CLUSTER * problem.settings.n_clusters)
    if n <= enough:
        every = np.arange(n)
        if problem.settings.inference == "icm" and problem.simpler() is type(problem):
            return Stage(problem, every, _CANDIDATES)
        weights = problem.weights if problem.weights.size else None
        return Stage(_like(problem, every, weights), every, _CANDIDATES)
    n_free = n - core.size
    taken = min(n_free, max(enough - core.size, enough // 4))
    drawn = _free_rows(core, np.random.default_rng(seed).choice(n_free, taken, replace=False))
    rows = np.sort(np.concatenate([core, drawn]))
    weights = problem.weights[rows] if problem.weights.size else np.ones(rows.size)
    if taken:
        weights = np.where(np.isin(rows, drawn), weights * (n_free / taken), weights)
    count = int(np.clip(_CANDIDATES * 2 * enough // rows.size, _FEWEST, _CANDIDATES))
    return Stage(_like(problem, rows, weights), rows, count)


def _free_rows(core: Array, numbers: Array) -> Array:
    """The free rows of these numbers, counted among the free rows alone; `core` (r,) rises."""
    before = core - np.arange(core.size)  # free rows before each row of the core
    return numbers + np.searchsorted(before, numbers, side="right")


def _like(problem: KMeansProblem, rows: Array, weights: Array | None) -> KMeansProblem:
    """The same problem on some of its rows, labelled by local search."""
    return problem.simpler()(
        problem.rows.shifted(gather(problem.rows, rows)),
        problem.constraints.subset(rows),
        weights,
        problem.distortion,
        problem.settings._replace(inference="icm"),
    )


def screen(
    stage: Stage, starts: list[Start], geometry: Geometry, *, max_iter: int, tol: float, seed: int
) -> Result:
    """The lowest of short runs from `starts`, then moved on, under the problem of the stage."""
    runs: list[Result] = []
    rounds = _ROUNDS if stage.problem.settings.form is None else _LEARNING_ROUNDS
    for start in starts:
        few = min(rounds[0].iterations, max_iter)
        runs.append(run(stage.problem, start, geometry, max_iter=few, tol=tol, seed=seed))
        if runs[-1].stopped:
            return _lowest(runs, 1)[0]._replace(stopped=True)
    for last, coming in pairwise(rounds):
        runs = _lowest(runs, last.keep)
        few = min(coming.iterations, max_iter)
        for number, found in enumerate(runs):
            runs[number] = go_on(stage.problem, found, few, tol, seed)
            if runs[number].stopped:
                return _lowest(runs, 1)[0]._replace(stopped=True)
    best = _lowest(runs, 1)[0]
    return relocate(stage.problem, best, geometry, max_iter=max_iter, tol=tol, seed=seed)


def _lowest(runs: list[Result], count: int) -> list[Result]:
    """The lowest runs, rising; of equal ones the first, so that rounding never chooses."""
    ends = np.array([found.history[-1] for found in runs])
    rising = np.sort(ends)
    steps = np.diff(rising, prepend=rising[0]) > EQUAL * np.abs(rising)
    levels = np.cumsum(steps)[np.searchsorted(rising, ends)]
    return [runs[at] for at in np.argsort(levels, kind="stable")[:count]]


class Screened(NamedTuple):
    """Where a run goes on from the best of many starts.

    `history` and `geometry` are those of the runs so far, if they were on the problem itself.
    """

    start: Start
    measure: Measure
    w: float
    geometry: Geometry | None
    history: list[float]
    stopped: bool


def carry_over(problem: KMeansProblem, measure: Measure, stage: Stage, found: Result) -> Screened:
    """Where a run on `problem` goes on from what was found on the stage.

    `measure` is the one that it began with: where no metric is learned it is still right.
    """
    w, stopped = found.geometry.w, found.stopped
    if stage.problem is problem:
        start = Start(found.centers, found.assignment.core.nodes)
        return Screened(start, measure, w, found.geometry, found.history[:-1], stopped)
    if found.geometry.measure.A is not measure.A:
        measure = problem.measure(found.geometry.measure.A)
    centers = (found.centers + stage.problem.rows.origin).astype(problem.rows.dtype)
    nodes = None
    if problem.core.n_nodes:
        at = np.searchsorted(stage.rows, problem.core.rows)
        nodes = np.empty(problem.core.n_nodes, dtype=np.int64)
        nodes[problem.core.node] = found.assignment.labels[at]
    # The objective of a sample is another one: only that of all rows is part of the history.
    return Screened(Start(centers, nodes), measure, w, None, [], stopped)


def most_promising(
    problem: KMeansProblem, starts: list[Start], geometry: Geometry, seed: int
) -> Start:
    """The start under whose centres the rows and pairs cost least, with the labels found."""
    if len(starts) == 1:
        return starts[0]
    tried = [problem.assign(start.centers, geometry, None, seed) for start in starts]
    best = int(np.argmin([assignment.objective for assignment in tried]))
    return starts[best]._replace(nodes=tried[best].core.nodes if problem.core.n_nodes else None)


def is_metric(found: Any, like: Array) -> bool:
    """Whether what a model to start from learned is a metric of the shape of `like`."""
    if not isinstance(found, np.ndarray) or found.shape != like.shape or found.dtype.kind != "f":
        return False
    if not np.isfinite(found).all():
        return False
    return like.ndim == 3 or bool((found >= 0).all())


def nodes_of(problem: KMeansProblem, labels: Array | None) -> Array | None:
    """Labels (s,) of the core's nodes from labels (n,) of the same rows, if they are that.

    Those of a model to start from may be anything: they are of these clusters and break nothing
    that is hard, or they are not used. Local search goes on from labels of finite energy only.
    """
    if labels is None or np.shape(labels) != (problem.rows.n,) or not problem.core.n_nodes:
        return None
    labels = np.asarray(labels)
    if labels.dtype.kind not in "iu" or labels.min() < 0:
        return None
    if labels.max() >= problem.settings.n_clusters:
        return None
    nodes = np.empty(problem.core.n_nodes, dtype=np.int64)
    nodes[problem.core.node] = labels[problem.core.rows]
    known = problem.constraints
    apart = problem.core.node_of_row[known.pairs[known.is_hard & (known.kind < 0)]]
    return None if (nodes[apart[:, 0]] == nodes[apart[:, 1]]).any() else nodes
