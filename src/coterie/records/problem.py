"""From records to clusters: candidates, their levels, P(same), and the partition."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.constraints import Constraints
from coterie.records.candidates import find_candidates, pairs_in_groups, places, unique_pairs
from coterie.records.classes import PairClasses, fit_classes
from coterie.records.comparison import Comparison
from coterie.records.fields import Field
from coterie.records.learning import Answers, Belief, anchors_of, learn
from coterie.records.partition import Graph, components, partition
from coterie.records.rivals import Rivals, find_rivals

__all__ = ["PENALTY", "RecordProblem", "Solution", "logistic", "pose", "solve"]

Float = NDArray[np.float64]
Int = NDArray[np.int64]

PENALTY = 3.0  # nats: of two records together that are not worth comparing
_BACKGROUND = 20_000  # random pairs that show what strangers are like
_CLOSE_AT = -3.0  # nats: records that hang together by pairs above this are all compared
_CLOSE_UP_TO = 500  # if they are so few
_CLOSE_PAIRS = 40  # a record, that this may add: the smallest such groups first
_LEAST_THRESHOLD = 0.25
_FEW_ANSWERS = 10  # answers at which a threshold is half way to the best one
_SURE = 0.001  # a hard answer is taken to be wrong so seldom


class RecordProblem(NamedTuple):
    """What does not depend on answers.

    Attributes
    ----------
    n : int
    comparison : Comparison
    pairs : (m, 2) int64
        Candidates, i < j, sorted.
    levels : (m, F) int8
    classes : PairClasses
    exclusive : (n,) int64
    rivals : Rivals
    anchors : Answers
        What is known before any answer.
    twins : (t, 2) int64
        Candidates that another view has for the same, where somebody will ask: see `most_alike`.
    """

    n: int
    comparison: Comparison
    pairs: Int
    levels: NDArray[np.int8]
    classes: PairClasses
    exclusive: Int
    rivals: Rivals
    anchors: Answers
    twins: Int = np.empty((0, 2), dtype=np.int64)


class Solution(NamedTuple):
    """What came of it with some answers.

    Attributes
    ----------
    belief : Belief
    pairs : (m, 2) int64
        All pairs that were compared.
    levels : (m, F) int8
    by_fields : (m,)
        Log-odds by the fields.
    log_odds : (m,)
        With what the answers say of the pair itself, ±inf where that is hard.
    labels : (n,) int64
    threshold : float
        Probability from which two records alone were joined.
    """

    belief: Belief
    pairs: Int
    levels: NDArray[np.int8]
    by_fields: Float
    log_odds: Float
    labels: Int
    threshold: float


def logistic(log_odds: Float) -> Float:
    """Probabilities of log-odds."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(log_odds, -700, 700))))


def pose(fields: list[Field], exclusive: Int, extra: Int) -> RecordProblem:
    """Candidates (with the `extra` pairs (·, 2)), their levels, and the classes they fall into."""
    n = len(fields[0].values)
    comparison = Comparison(fields)
    found = find_candidates(fields, exclusive=exclusive)
    pairs = unique_pairs(np.concatenate([found, extra]), n)
    levels = comparison.levels(pairs)
    background = comparison.levels(_random_pairs(n))
    linked = bool((exclusive >= 0).any())
    classes = fit_classes(levels, background, n, pairs, some_are_same=linked)
    rivals = find_rivals(n, pairs, classes.log_odds(levels))
    anchors = anchors_of(classes, pairs, levels)
    return RecordProblem(n, comparison, pairs, levels, classes, exclusive, rivals, anchors)


def _random_pairs(n: int) -> Int:
    """Pairs that are the same for every fit of so many records; all there are, of few records."""
    if n * (n - 1) // 2 <= _BACKGROUND:
        return np.column_stack(np.triu_indices(n, 1))
    pairs = np.random.default_rng(n).integers(n, size=(_BACKGROUND, 2))
    return pairs[pairs[:, 0] != pairs[:, 1]]


def solve(
    problem: RecordProblem,
    constraints: Constraints,
    *,
    error_rate: float | None = None,
    threshold: float | None = None,
) -> Solution:
    """P(same) by the answers, and the partition that follows.

    Without a `threshold` the one of the best expected F1 is taken, see `best_threshold`.
    """
    constraints = _hard_once(constraints)
    answers = answers_of(problem, constraints)
    belief = learn(problem.classes, answers, error_rate, problem.anchors)
    pairs = _close(problem, belief, constraints.pairs)
    levels = _levels(problem, pairs)
    by_fields = belief.log_odds(levels, pairs, problem.rivals)
    log_odds = by_fields + told(pairs, constraints, belief, problem.n)
    if threshold is None:
        counted = np.where(constraints.is_hard, 1.0, constraints.weight).sum()
        threshold = best_threshold(logistic(log_odds), float(counted))
    hard = constraints.is_hard
    graph = Graph(
        problem.n,
        pairs,
        np.where(np.isfinite(log_odds), log_odds, 0.0) - np.log(threshold / (1 - threshold)),
        PENALTY,
        constraints.pairs[hard & (constraints.kind > 0)],
        constraints.pairs[hard & (constraints.kind < 0)],
        problem.exclusive[:, None],
    )
    return Solution(belief, pairs, levels, by_fields, log_odds, partition(graph), threshold)


def _hard_once(constraints: Constraints) -> Constraints:
    """A hard pair that is given twice says nothing more."""
    c = constraints
    _, first = np.unique(np.column_stack([c.pairs, c.kind, c.is_hard]), axis=0, return_index=True)
    kept = ~c.is_hard
    kept[first] = True
    return c if kept.all() else c.pick(kept)


def best_threshold(chance: Float, n_answers: float) -> float:
    """The probability from which on pairs, P(same) = `chance` (m,), are joined for the best F1.

    With the k likeliest joined, F1 is 2 Σ_{i ≤ k} p_i / (k + Σ p); the best of these is F*, and
    joining a pair then pays from p = F* / 2 on (Lipton, Elkan and Naryanaswamy 2014). Near 1/2
    where nearly everything is clear, lower where all is in doubt, and never below 1/4: where
    hardly any records are the same, F1 would have guesses joined. Probabilities are right only as
    answers come, so it leaves 1/2 with their number.
    """
    ordered = np.sort(chance)[::-1]
    found = 2.0 * np.cumsum(ordered) / (np.arange(1, ordered.size + 1) + ordered.sum())
    best = np.clip(0.5 * found.max(initial=0.0), _LEAST_THRESHOLD, 0.5)
    return float(0.5 + (best - 0.5) * n_answers / (n_answers + _FEW_ANSWERS))


def answers_of(problem: RecordProblem, constraints: Constraints) -> Answers:
    """The pairs that say something, as answers about the same record."""
    used = constraints.weight > 0
    wrong = np.where(constraints.is_hard, _SURE, 1.0 - constraints.certainty)
    levels = problem.comparison.levels(constraints.pairs[used])
    return Answers(
        constraints.pairs[used],
        levels,
        problem.rivals.lead(constraints.pairs[used], problem.classes.log_odds(levels)),
        constraints.kind[used] > 0,
        np.clip(wrong[used], _SURE, 0.5),
        np.where(constraints.is_hard, 1.0, constraints.weight)[used],
    )


def told(pairs: Int, constraints: Constraints, belief: Belief, n: int) -> Float:
    """What the answers add to the log-odds of each pair (m,); every answered pair is among them.

    Less what was learned from them and is in the log-odds by the fields already.
    """
    rate = min(max(belief.error_rate, 1e-6), 0.49)
    strength = constraints.strength(1.0 - rate) * constraints.kind
    found = np.zeros(len(pairs))
    np.add.at(found, places(constraints.pairs, pairs, n), strength)
    np.add.at(found, places(belief.answered, pairs, n), -belief.heard)
    return found


def _levels(problem: RecordProblem, pairs: Int) -> NDArray[np.int8]:
    """Levels (m, F) of pairs; every candidate is among them and was compared already."""
    known = places(problem.pairs, pairs, problem.n)
    levels = np.empty((len(pairs), problem.levels.shape[1]), dtype=np.int8)
    levels[known] = problem.levels
    other = np.ones(len(pairs), dtype=np.bool_)
    other[known] = False
    levels[other] = problem.comparison.levels(pairs[other])
    return levels


def _most_rows(sizes: Int, n: int) -> int:
    """The largest size such that all pairs of groups up to it are not too many."""
    ordered = np.sort(sizes[sizes <= _CLOSE_UP_TO])
    total = np.cumsum(ordered * (ordered - 1) // 2)
    fits = ordered[total <= _CLOSE_PAIRS * n]
    beyond = ordered[total > _CLOSE_PAIRS * n]
    # Groups of the first size that does not fit would be taken in part: none of them is.
    return int(fits[fits < beyond[0]].max(initial=1) if beyond.size else fits.max(initial=1))


def _close(problem: RecordProblem, belief: Belief, answered: Int) -> Int:
    """The candidates and, of records that hang together by them, all pairs; and those answered."""
    likely = belief.log_odds(problem.levels, problem.pairs, problem.rivals) > _CLOSE_AT
    _, group = components(problem.n, problem.pairs[likely])
    more = pairs_in_groups(group, _most_rows(np.bincount(group), problem.n))
    return unique_pairs(np.concatenate([problem.pairs, more, answered]), problem.n)
