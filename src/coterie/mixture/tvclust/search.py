"""Which partition to ascend from: starts of several sizes and families, then splits and merges.

Starts are K-Means at several numbers of clusters and, where there are pairs, the same drawn towards
them. Of the runs, those that foretell the answers clearly less well than the best are out; among
the others the bound decides. The chosen run is then improved by splitting components in two and
merging two into one, as long as that raises the bound (and the answers are foretold as well as
before).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from coterie._typing import IntArray
from coterie.data import Rows, gather, join, map_blocks, without_gaps
from coterie.exceptions import InfeasibleConstraints
from coterie.mixture.tvclust.families import Family
from coterie.mixture.tvclust.foretelling import foretold
from coterie.mixture.tvclust.pairs import Known, PairEvidence
from coterie.mixture.tvclust.passes import Comparison, Components, likeliest
from coterie.mixture.tvclust.start import (
    kmeans_labels,
    neighbourhood_labels,
    search_rows,
    start_sizes,
)
from coterie.mixture.tvclust.variational import (
    Factors,
    Priors,
    TwoViews,
    Variational,
    go_on,
    likely_labels,
    run_variational,
)

__all__ = ["Ascent", "Candidate", "Problem", "carry_over", "climb", "improve", "search"]

_FIRST_LOOK = 3  # iterations after which all starts are compared
_SECOND_LOOK = 6  # more, after which the promising ones are
_TRIAL = 12  # iterations a split or merge has to show that it is better
_TRIED = 3  # splits and merges tried, the most promising first, before giving up
_FEWEST = 4  # rows of a component that can be split
_LOCAL_ROWS = 500  # of a component, on which a split is worked out
_MANY = 1 << 22  # rows of a component, of which these are drawn first
_CLEARLY = 3.0  # nats by which answers are foretold worse: they are 20 times less likely
_TRUST = (0.9, 0.99, 0.999)  # p and q while a start is drawn towards the pairs


class Ascent(NamedTuple):
    """How an ascent is run."""

    truncation: int
    priors: Priors
    max_iter: int
    tol: float


@dataclass(frozen=True)
class Candidate:
    """A run under `priors`, and the data with its family.

    How well it foretells the answers is worked out when somebody asks, and kept: a run that is the
    only one is not judged.
    """

    data: TwoViews
    run: Variational
    priors: Priors

    @property
    def bound(self) -> float:
        """The bound at the end."""
        return float(self.run.bounds[-1])

    @cached_property
    def answers(self) -> float:
        """How well the components as they are foretell the answers, in nats."""
        return self._foretold(seen=True)

    @cached_property
    def unseen(self) -> float:
        """How well components without the rows in question do."""
        return self._foretold(seen=False)

    def _foretold(self, *, seen: bool) -> float:
        return float(foretold(self.data, self.run.factors, self.priors, seen=seen).sum())


class Problem(NamedTuple):
    """The rows with each of the families that are to be compared."""

    views: list[TwoViews]
    comparable: Comparison
    rounder: Family  # for starts drawn towards the pairs


def ranked(candidates: list[Candidate]) -> list[Candidate]:
    """Highest bound first; those that foretell answers clearly worse than the best come last.

    Answers to what they have not seen come first: of full covariances of many columns the best by
    answers alone are those that remember most.
    """
    unseen = max(candidate.unseen for candidate in candidates) - _CLEARLY
    answers = max(c.answers for c in candidates if c.unseen >= unseen) - _CLEARLY
    return sorted(candidates, key=lambda c: (c.unseen < unseen, c.answers < answers, -c.bound))


def search(
    problem: Problem, ascent: Ascent, n_kept: int, rng: np.random.Generator
) -> list[Candidate]:
    """Runs from starts of several sizes, best first; the first `n_kept` have converged.

    With many rows the search sees some of them, and the runs are those of these.
    """
    views = problem.views
    chosen = search_rows(views[0].evidence.constraints, rng)
    if chosen.size < views[0].rows.n or not views[0].rows.in_memory:
        views = [_part(view, chosen) for view in views]
    starts = _starts(views[0], problem, ascent, rng)
    looks = [
        _feasible(view, labels, ascent, rng, _FIRST_LOOK, listen=listen)
        for view in views
        for labels, listen in starts
    ]
    runs = [run for run in looks if run is not None]
    if not runs:  # hard cannot-links need more components than any start has: all there are
        most = np.arange(views[0].rows.n) % ascent.truncation
        runs = [climb(view, most, ascent, rng, _FIRST_LOOK) for view in views]
    runs = [_further(run, ascent, rng, _SECOND_LOOK) for run in _promising(runs, n_kept)]
    return ranked([_further(run, ascent, rng) for run in ranked(runs)[:n_kept]])


def _promising(runs: list[Candidate], n_kept: int) -> list[Candidate]:
    """The best few by the bound, and by the answers foretold, seen and unseen."""
    few = max(n_kept, len(runs) // 6)  # of sizes and families that tell little yet
    judges = (
        [run.bound for run in runs],
        [run.answers for run in runs],
        [run.unseen for run in runs],
    )
    chosen: set[int] = set()
    for values in judges:
        chosen |= set(sorted(range(len(runs)), key=lambda r: (-values[r], -runs[r].bound))[:few])
    return [runs[r] for r in sorted(chosen)]


def _part(view: TwoViews, rows: IntArray) -> TwoViews:
    """Some rows with the pairs among them."""
    weights = view.weights[rows] if view.weights.size else view.weights
    pairs = view.evidence.constraints.subset(rows)
    taken = view.rows.shifted(gather(view.rows, rows))
    return TwoViews(Rows(taken), weights, PairEvidence(pairs), view.family)


def _starts(
    view: TwoViews, problem: Problem, ascent: Ascent, rng: np.random.Generator
) -> list[tuple[IntArray, bool]]:
    """Labels to start from, and whether they were drawn towards the pairs."""
    comparable = problem.comparable(view.rows.take(np.arange(view.rows.n)))
    sizes = start_sizes(min(ascent.truncation, view.rows.n))
    starts = [(kmeans_labels(comparable, size, rng), False) for size in sizes]
    if not (view.evidence.between | view.evidence.hard).any():
        return starts
    seeds = [labels for labels, _ in starts[1:]]
    seeds += neighbourhood_labels(comparable, view.evidence.constraints, sizes)
    round_view = view._replace(family=problem.rounder)
    for labels in seeds:
        drawn = _drawn(round_view, labels, ascent, rng)
        if drawn is not None and not _same_partition(labels, drawn):
            starts.append((drawn, True))
    return starts


def _drawn(
    view: TwoViews, labels: IntArray, ascent: Ascent, rng: np.random.Generator
) -> IntArray | None:
    """Labels (n,) drawn towards the pairs, which are trusted more and more; None: infeasible."""
    for trust in _TRUST:
        priors = Priors(Known(trust), Known(trust), ascent.priors.alpha)
        run = _feasible(view, labels, ascent._replace(priors=priors), rng, _FIRST_LOOK)
        if run is None:
            return None
        labels = _labels(run)
    return labels


def _same_partition(one: IntArray, other: IntArray) -> bool:
    cells = np.unique(np.column_stack([one, other]), axis=0)
    return len(cells) == len(np.unique(one)) == len(np.unique(other))


def climb(
    view: TwoViews,
    labels: IntArray,
    ascent: Ascent,
    rng: np.random.Generator,
    max_iter: int | None = None,
    *,
    listen: bool = False,
) -> Candidate:
    """Ascend from labels (n,), with one component more than they use."""
    labels = without_gaps(labels)
    run = run_variational(
        view,
        labels,
        min(int(labels.max()) + 2, ascent.truncation),
        ascent.priors,
        max_iter=ascent.max_iter if max_iter is None else max_iter,
        tol=ascent.tol,
        rng=rng,
        listen=listen,
    )
    return Candidate(view, run, ascent.priors)


def _feasible(
    view: TwoViews,
    labels: IntArray,
    ascent: Ascent,
    rng: np.random.Generator,
    max_iter: int,
    *,
    listen: bool = False,
) -> Candidate | None:
    """`climb`, or None where the hard cannot-links need more components."""
    try:
        return climb(view, labels, ascent, rng, max_iter, listen=listen)
    except InfeasibleConstraints:
        return None


def _further(
    candidate: Candidate, ascent: Ascent, rng: np.random.Generator, max_iter: int | None = None
) -> Candidate:
    """The same run, some iterations further or to its end."""
    view, run = candidate.data, candidate.run
    left = ascent.max_iter - len(run.bounds)
    left = left if max_iter is None else min(left, max_iter)
    if run.converged or left <= 0:
        return candidate
    more = go_on(view, run.factors, ascent.priors, max_iter=left, tol=ascent.tol, rng=rng)
    bounds = np.concatenate([run.bounds, more.bounds])
    whole = Variational(more.factors, bounds, more.converged)
    return Candidate(view, whole, ascent.priors)


def _labels(candidate: Candidate) -> IntArray:
    """The likeliest component of each row, (n,)."""
    return likely_labels(candidate.data, candidate.run.factors)


# -- splits and merges ---------------------------------------------------------------------------


def improve(
    candidate: Candidate, comparable: Comparison, ascent: Ascent, rng: np.random.Generator
) -> Candidate:
    """Split and merge components while that raises the bound and keeps the answers foretold."""
    told, unseen = candidate.answers, candidate.unseen  # the most so far: many small losses add up
    while True:
        labels = _labels(candidate)
        for move in _proposals(candidate, labels, comparable, ascent, rng):
            moved = move.labels(candidate.data, labels)
            trial = _feasible(candidate.data, moved, ascent, rng, _TRIAL, listen=True)
            if trial is None or trial.bound <= candidate.bound + ascent.tol * len(labels):
                continue
            trial = _further(trial, ascent, rng)
            if trial.answers >= told - _CLEARLY and trial.unseen >= unseen - _CLEARLY:
                candidate = _joined(candidate, trial)
                told, unseen = max(told, trial.answers), max(unseen, trial.unseen)
                break
        else:
            return candidate


def _joined(old: Candidate, new: Candidate) -> Candidate:
    """The new run as what the old one came to: bounds below the old end are left out."""
    above = new.run.bounds[new.run.bounds >= old.bound]
    bounds = np.concatenate([old.run.bounds, above])
    return replace(new, run=new.run._replace(bounds=bounds))


class Merge(NamedTuple):
    """Components a and b as one."""

    gain: float
    a: int
    b: int

    def labels(self, view: TwoViews, labels: IntArray) -> IntArray:
        """Labels (n,) after it."""
        return np.where(labels == self.b, self.a, labels)


class Split(NamedTuple):
    """Component a as the two components `halves`."""

    gain: float
    a: int
    halves: Components

    def labels(self, view: TwoViews, labels: IntArray) -> IntArray:
        """Labels (n,) after it."""
        upper = (labels == self.a) & (assigned(view, self.halves) == 1)
        return np.where(upper, labels.max() + 1, labels)


def _proposals(
    candidate: Candidate,
    labels: IntArray,
    comparable: Comparison,
    ascent: Ascent,
    rng: np.random.Generator,
) -> list[Merge | Split]:
    """Two components made one or one made two, the most promising first."""
    used = np.unique(labels)
    gains = candidate.data.family.merge_gains(candidate.run.factors.statistics[used])
    merges = [
        Merge(float(gains[a, b]), int(used[a]), int(used[b]))
        for a, b in zip(*np.triu_indices(len(used), 1), strict=True)
    ]
    splits: list[Split] = []
    if len(used) < ascent.truncation:
        tried = (_split(candidate.data, labels, int(k), comparable, ascent, rng) for k in used)
        splits = [split for split in tried if split is not None and split.gain > 0]
    few = [*_largest(merges), *_largest(splits)]
    return sorted(few, key=lambda move: -move.gain)


def _largest(moves: Sequence[Merge | Split]) -> list[Merge | Split]:
    return sorted(moves, key=lambda move: -move.gain)[:_TRIED]


def _split(
    view: TwoViews,
    labels: IntArray,
    k: int,
    comparable: Comparison,
    ascent: Ascent,
    rng: np.random.Generator,
) -> Split | None:
    """Component k as two, worked out on some of its rows; None where there is no way."""
    own = np.flatnonzero(labels == k)
    n_own = own.size
    if n_own < _FEWEST:
        return None
    if own.size > _MANY:  # a permutation of all would be large
        own = own[rng.choice(own.size, _MANY, replace=False)]
    some = np.sort(rng.permutation(own)[:_LOCAL_ROWS])
    part = _part(view, some)
    rows = comparable(part.rows.take(np.arange(some.size)))
    whole = _feasible(part, np.zeros(some.size, dtype=np.int64), ascent, rng, 2)
    halves = _feasible(part, kmeans_labels(rows, 2, rng), ascent, rng, _SECOND_LOOK)
    if whole is None or halves is None:
        return None
    statistics = halves.run.factors.statistics[:2]
    score = view.family.expected_scores(statistics)
    log_weights = np.log(np.maximum(statistics[:, 0], np.finfo(np.float64).tiny))
    gain = (halves.bound - whole.bound) * n_own / some.size
    return Split(gain, k, Components(view.family, score, log_weights))


def assigned(view: TwoViews, components: Components) -> IntArray:
    """The likeliest of some components for every row, (n,)."""
    return join(map_blocks(view.rows, likeliest, components), view.rows.n)


def carry_over(view: TwoViews, factors: Factors) -> IntArray:
    """Labels (n,) of all rows by components that were found on some of them."""
    return assigned(view, factors.components(view.family))
