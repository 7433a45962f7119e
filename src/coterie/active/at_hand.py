"""Questions about rows that are not in memory: a strategy at work on some of them.

At hand are a sample, the rows that answers are about, and, after 16, 32, 64, ... answers, the rows
nearest to those that `InformationGain` would ask about then: what is uncertain. So the strategy
sees few rows whatever their number is, and where it matters it sees more of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from coterie.active.forecast import Forecast
from coterie.active.information.information_gain import InformationGain
from coterie.active.knowledge import Knowledge
from coterie.active.query import Answer, Query
from coterie.active.strategies.space import Space
from coterie.active.strategies.strategy import Context, Planner, Strategy
from coterie.data import Block, Rows, gather, map_blocks
from coterie.distortions import Distortion

__all__ = ["SomeRows", "doublings"]

_SAMPLE = 10_000
_FIRST_LOOK = 16  # answers
_ASKED = 16  # questions whose rows are looked around
_NEAREST = 8  # rows around each
_SALT = 3  # of the sample's random numbers

Numbers = NDArray[np.int64]


def doublings(count: int) -> list[int]:
    """Numbers of answers, up to `count`, after which rows are looked for: a pass each.

    >>> doublings(70)
    [16, 32, 64]
    """
    found = []
    size = _FIRST_LOOK
    while size <= count:
        found.append(size)
        size *= 2
    return found


class SomeRows(Planner):
    """A strategy on a part of rows that stay where they are; its questions name them by number.

    Which rows are at hand depends on the seed and the answers alone.

    Parameters
    ----------
    rows : StoredRows
    strategy : Strategy
    distortion : Distortion
    candidates : (c,) int, or None for all
    seed : int
    labels : callable
        The clustering of all rows by the answers so far, (n,).
    doubting : Strategy, optional
        Whose questions say what is uncertain; it must not ask for `labels`, which may depend on
        what is at hand. By default `InformationGain`.
    """

    def __init__(
        self,
        rows: Any,
        strategy: Strategy,
        distortion: Distortion,
        candidates: Numbers | None,
        seed: int,
        labels: Callable[[], NDArray[Any]],
        doubting: Strategy | None = None,
    ) -> None:
        self._given = rows, strategy, distortion, candidates, seed, labels, doubting
        self._doubting = InformationGain() if doubting is None else doubting
        self._rows, self._seed, self._labels = Rows(rows), seed, labels
        self._strategy, self._distortion, self._candidates = strategy, distortion, candidates
        self._kept: tuple[Numbers, Any] | None = None  # rows that were read, and their numbers
        self._around: list[tuple[list[Answer], Numbers]] = []  # found after 16, 32, ... answers
        self._work: tuple[Numbers, Planner] | None = None

    # -- what a planner does, of rows by their numbers among all -----------------------------------
    def questions(self, knowledge: Knowledge, count: int) -> list[Query]:
        """Those of the strategy."""
        hand, planner = self._at_work(knowledge)
        return [_named(hand, q) for q in planner.questions(_known(hand, knowledge), count)]

    def questions_ahead(self, knowledge: Knowledge, best: int, spare: int) -> list[Query]:
        """Those of the strategy."""
        hand, planner = self._at_work(knowledge)
        found = planner.questions_ahead(_known(hand, knowledge), best, spare)
        return [_named(hand, query) for query in found]

    def set_questions(
        self, knowledge: Knowledge, size: int, held: Collection[int] = ()
    ) -> list[Query]:
        """Those of the strategy."""
        hand, planner = self._at_work(knowledge)
        taken = np.flatnonzero(np.isin(hand, list(held))).tolist()
        found = planner.set_questions(_known(hand, knowledge), size, taken)
        return [_named(hand, query) for query in found]

    def why_finished(self, knowledge: Knowledge) -> str:
        """As the strategy says, of the rows at hand."""
        hand, planner = self._at_work(knowledge)
        why = planner.why_finished(_known(hand, knowledge))
        return f"{why} (of the {hand.size} rows at hand)"

    def inferred(self, knowledge: Knowledge) -> list[tuple[int, int]]:
        """Those of the strategy."""
        hand, planner = self._at_work(knowledge)
        found = planner.inferred(_known(hand, knowledge))
        return [(int(hand[i]), int(hand[j])) for i, j in found]

    def forecast(self, knowledge: Knowledge, more: int) -> Forecast | None:
        """For the rows at hand."""
        hand, planner = self._at_work(knowledge)
        return planner.forecast(_known(hand, knowledge), more)

    def twin(self) -> SomeRows:
        """Another one, which keeps the rows that were read."""
        other = SomeRows(*self._given)
        other._kept, other._around = self._kept, list(self._around)
        return other

    # -- rows at hand ------------------------------------------------------------------------------
    def at_hand(self, knowledge: Knowledge) -> Numbers:
        """Numbers of the rows at hand, rising."""
        hand = np.union1d(self._sample(), _spoken_of(knowledge.answers))
        for level, size in enumerate(doublings(len(knowledge.answers))):
            first = knowledge.answers[:size]
            if level == len(self._around) or self._around[level][0] != first:
                del self._around[level:]
                before = self._before(first)
                self._around.append((first, self._look_around(before, Knowledge(first))))
            hand = np.union1d(hand, self._around[level][1])
        return hand

    def _before(self, answers: list[Answer]) -> Numbers:
        """What was at hand when the last of these answers had come, and nothing was looked for."""
        parts = [self._sample(), _spoken_of(answers), *(found for _, found in self._around)]
        return np.unique(np.concatenate(parts))

    def _sample(self) -> Numbers:
        rng = np.random.default_rng([self._seed, _SALT])
        among = self._rows.n if self._candidates is None else self._candidates
        count = self._rows.n if self._candidates is None else self._candidates.size
        return np.sort(rng.choice(among, min(_SAMPLE, count), replace=False)).astype(np.int64)

    def _look_around(self, hand: Numbers, knowledge: Knowledge) -> Numbers:
        """Rows nearest to those of the next questions, by one pass."""
        planner = self._prepared(hand, self._doubting)
        asked = planner.questions(_known(hand, knowledge), _ASKED)
        uncertain = hand[sorted({row for query in asked for row in query.rows})]
        if not uncertain.size or hand.size == self._rows.n:
            return uncertain
        around = self._values(uncertain)
        points = around.toarray() if sp.issparse(around) else around
        distortion = self._distortion.bind(self._values(hand))
        found = None
        for part in map_blocks(self._rows, _nearest, _Points(points, distortion)):
            found = part if found is None else _nearer(found, part)
        assert found is not None
        near = np.unique(found.rows[np.isfinite(found.distances)])
        return near if self._candidates is None else np.intersect1d(near, self._candidates)

    def _values(self, rows: Numbers) -> Any:
        """The rows (r, d) by their numbers; those that were read before are not read again."""
        if self._kept is None:
            self._kept = rows, gather(self._rows, rows)
        known, values = self._kept
        new = np.setdiff1d(rows, known)
        if new.size:
            order = np.argsort(np.concatenate([known, new]), kind="stable")
            values = _stacked(values, gather(self._rows, new))[order]
            known = np.union1d(known, new)
            self._kept = known, values
        return values[np.searchsorted(known, rows)]

    def _at_work(self, knowledge: Knowledge) -> tuple[Numbers, Planner]:
        hand = self.at_hand(knowledge)
        if self._work is None or not np.array_equal(self._work[0], hand):
            self._work = hand, self._prepared(hand, self._strategy)
        return self._work

    def _prepared(self, hand: Numbers, strategy: Strategy) -> Planner:
        askable = np.ones(hand.size, dtype=bool)
        if self._candidates is not None:
            askable = np.isin(hand, self._candidates)
        space = Space(self._values(hand), self._distortion, askable, hand)
        return strategy.prepare(Context(space, self._seed, lambda: self._labels()[hand]))


class _Points(NamedTuple):
    at: NDArray[Any]  # (u, d)
    distortion: Distortion


class _Found(NamedTuple):
    """The nearest rows of each point, (c, u), and how far they are."""

    rows: Numbers
    distances: NDArray[np.float64]


def _nearest(block: Block, points: _Points) -> _Found:
    u = len(points.at)
    found = _Found(np.full((1, u), -1), np.full((1, u), np.inf))
    for lo, hi, rows in block.chunks(extra=u):
        far = points.distortion.to_centers(rows, points.at).astype(np.float64)
        number = np.broadcast_to(np.arange(block.start + lo, block.start + hi)[:, None], far.shape)
        found = _nearer(found, _Found(number, np.nan_to_num(far, nan=np.inf)))
    return found


def _nearer(one: _Found, two: _Found) -> _Found:
    """The nearest of both; the first among equals."""
    rows = np.concatenate([one.rows, two.rows])
    far = np.concatenate([one.distances, two.distances])
    if len(far) > 4 * _NEAREST:
        limit = np.partition(far, _NEAREST - 1, axis=0)[_NEAREST - 1]
        kept = np.flatnonzero((far <= limit).any(axis=1))
        rows, far = rows[kept], far[kept]
    order = np.lexsort((rows, far), axis=0)[:_NEAREST]
    return _Found(np.take_along_axis(rows, order, 0), np.take_along_axis(far, order, 0))


def _stacked(one: Any, two: Any) -> Any:
    return sp.vstack([one, two], format="csr") if sp.issparse(one) else np.concatenate([one, two])


def _spoken_of(answers: list[Answer]) -> Numbers:
    return np.unique(np.array([answer.rows for answer in answers], dtype=np.int64))


def _known(hand: Numbers, knowledge: Knowledge) -> Knowledge:
    """The answers by the places of their rows in the hand, which has them all."""
    places = np.searchsorted(hand, np.array([a.rows for a in knowledge.answers]).reshape(-1, 2))
    return Knowledge(
        replace(answer, rows=(int(i), int(j)))
        for answer, (i, j) in zip(knowledge.answers, places.tolist(), strict=True)
    )


def _named(hand: Numbers, query: Query) -> Query:
    i, j = query.rows
    return replace(query, rows=(int(hand[i]), int(hand[j])))
