"""Questions about pairs of records that seem sure: whole kinds of pairs may be taken wrongly.

The model cannot see that by itself: where nothing is in doubt, only answers about what seems sure
show that, say, rooms of a hotel are taken for one place. An answer against a sure pair is either
wrong or the first of its kind, so pairs of the same kind are asked about next, until they turn the
model or three of them agree with it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coterie.active.strategies.record_worth import Worth
from coterie.constraints import Constraints
from coterie.records import RecordProblem, Solution
from coterie.records.candidates import places
from coterie.records.comparison import SCORES

__all__ = ["SURE", "UNLIKELY", "follow_ups", "is_borne_out", "sure_pairs"]

Int = NDArray[np.int64]

SURE = 3.0  # nats
UNLIKELY = 0.05  # that an answer overturns the clusters: the same in probability
_NEAREST, _FEWEST_NEAR = 20, 10  # one sure pair in so many is near doubt, and at least so many
_CERTAIN = 10.0  # nats: beyond that nothing is surer
_APART_EVERY = 4  # one check in so many is about a pair that is apart
_FEWEST_SURE = 10  # answers about surely the same pairs before the end: a tenth wrong would show
_ENOUGH = 3  # answers of its kind that agree with the model after one against it
_ONE_KIND = 0.25  # difference of agreement in every field, up to which pairs are of one kind
_ABSENT = 0.5  # distance of a missing value from any other


def sure_pairs(
    problem: RecordProblem, solution: Solution, n_told: int, rng: np.random.Generator
) -> Int:
    """Places of pairs the model is sure of, first those nearest to doubt at random.

    Joined ones mostly, which are few: apart are a quarter, by the number of answers. Of joined
    ones that are all nearly certain those most like look-alikes are the nearest. Of those apart
    the `twins` of the problem come first: where the fields mislead, they are what is missed.
    """
    apart = n_told // 2 % _APART_EVERY == _APART_EVERY - 1
    apart |= not (solution.log_odds > SURE).any()
    sure = np.flatnonzero((solution.log_odds < -SURE) if apart else (solution.log_odds > SURE))
    sureness = np.abs(np.clip(solution.log_odds[sure], -_CERTAIN, _CERTAIN))
    if not apart:
        levels, classes = solution.levels[sure], problem.classes
        sureness += _CERTAIN * classes.clearness(levels, classes.shares(levels))
    near = sure[np.argsort(sureness, kind="stable")]
    nearest = max(len(near) // _NEAREST, _FEWEST_NEAR)
    order = np.concatenate([rng.permutation(near[:nearest]), near[nearest:]])
    if not apart:
        return order
    twins = np.isin(order, places(problem.twins, solution.pairs, problem.n))
    return np.concatenate([rng.permutation(order[twins]), order[~twins]])


def follow_ups(problem: RecordProblem, solution: Solution, given: Constraints, worth: Worth) -> Int:
    """Places of pairs of a kind that seems sure and that an answer contradicts, most alike first.

    Empty where there is no such answer, or enough others of the kind agree with the model.
    """
    at = places(given.pairs, solution.pairs, problem.n)
    odds = solution.by_fields[at]
    against = np.flatnonzero(odds * given.kind < -SURE)
    agreeing = np.flatnonzero(odds * given.kind > 0)
    sure = np.flatnonzero(np.abs(worth.log_odds) > SURE)
    fields = problem.classes.identifying
    fields = fields if fields.size > 1 else np.arange(solution.levels.shape[1])
    levels = solution.levels[:, fields]
    for surprise in against.tolist():
        kind = levels[at[surprise]]
        side = sure[np.sign(worth.log_odds[sure]) == np.sign(odds[surprise])]
        alike = agreeing[np.sign(odds[agreeing]) == np.sign(odds[surprise])]
        if (_distance(levels[at[alike]], kind) <= _ONE_KIND).sum() >= _ENOUGH:
            continue
        distance = _distance(levels[side], kind)
        order = np.argsort(distance, kind="stable")
        found = side[order[distance[order] <= _ONE_KIND]]
        if found.size:
            return found
    return np.empty(0, dtype=np.int64)


def _distance(levels: NDArray[np.int8], other: NDArray[np.int8]) -> NDArray[np.float64]:
    """Largest difference of agreement in a field of pairs (m, F) from another (F,), (m,)."""
    apart = np.abs(SCORES[levels] - SCORES[other])
    absent = np.where(levels == other, 0.0, _ABSENT)
    return np.asarray(np.where(np.isnan(apart), absent, apart).max(axis=1))


def is_borne_out(problem: RecordProblem, solution: Solution, given: Constraints) -> bool:
    """Whether answers agree with what the model takes for surely the same.

    By its own estimate all is found where whole kinds of pairs are joined wrongly; only answers
    about them show it. So there must be some, and no more against than slips explain.
    """
    sure = solution.by_fields > SURE
    asked = sure[places(given.pairs, solution.pairs, problem.n)]
    n_asked, n_against = int(asked.sum()), int((asked & (given.kind < 0)).sum())
    slips = 2.0 * max(solution.belief.error_rate, UNLIKELY) * n_asked
    return n_asked >= min(_FEWEST_SURE, int(sure.sum())) and n_against <= slips
