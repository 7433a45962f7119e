"""Questions that another thread has planned, handed out until they are answered."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from coterie.active.knowledge import Knowledge
from coterie.active.query import Query
from coterie.active.strategies.strategy import Planner

__all__ = ["Ahead", "Plan", "Wish"]

_SPARE = 20  # further questions for each that is asked for, should the next plan take long
_SETS = 2  # about a set, and one more for each that was taken while the last plan was made


class Wish(NamedTuple):
    """How much is to be planned.

    Attributes
    ----------
    best : int
        Questions that are chosen with care: each takes those before it as answered.
    spare : int
        Further ones, for those who come before the next plan is there.
    sets, size : int
        Questions about sets, and rows in each; size 0: nobody wants sets.
    """

    best: int = 1
    spare: int = _SPARE
    sets: int = 0
    size: int = 0


class Plan(NamedTuple):
    """What was planned by the answers of one version of the session.

    Attributes
    ----------
    version : int
    questions : list of Query
        The best first.
    sets : list of list of Query
        Of each set the pairs whose rows it is made of.
    n_found : int or None
        Clusters found so far, by a strategy that looks for them.
    finished : str or None
        Why there are no questions, if there are none.
    early : bool
        Whether it ends although questions are left: more would hardly change anything.
    wish : Wish
        What it was made for.
    """

    version: int
    questions: list[Query]
    sets: list[list[Query]]
    n_found: int | None
    finished: str | None
    early: bool
    wish: Wish

    @classmethod
    def of(cls, planner: Planner, answers: Knowledge, version: int, wish: Wish) -> Plan:
        """Plan: takes as long as it takes, and touches nothing but the planner."""
        questions = planner.questions_ahead(answers, wish.best, wish.spare)
        return cls(
            version,
            questions,
            _sets(planner, answers, wish),
            planner.n_found(answers),
            None if questions else planner.why_finished(answers),
            not questions and planner.ends_early(answers),
            wish,
        )


def _sets(planner: Planner, answers: Knowledge, wish: Wish) -> list[list[Query]]:
    """Questions about sets that share no row."""
    found: list[list[Query]] = []
    taken: set[int] = set()
    for _ in range(wish.sets if wish.size else 0):
        pairs = planner.set_questions(answers, wish.size, taken)
        if not pairs:
            break
        found.append(pairs)
        taken.update(row for pair in pairs for row in pair.rows)
    return found


class Ahead:
    """The last plan, less what was answered since, and how much the next one should hold."""

    def __init__(self) -> None:
        self.plan: Plan | None = None
        self._left: list[Query] = []
        self._wanted, self._size = 1, 0  # questions and rows of a set that were asked for last
        self._n_taken = self._n_needed = 0  # since the plan came; before it came

    def drop(self) -> None:
        """What was planned will not do any more."""
        self.plan, self._left = None, []

    def take_in(self, plan: Plan) -> None:
        """A newer plan takes the place of the old one."""
        self.plan, self._left = plan, list(plan.questions)
        self._n_taken, self._n_needed = 0, self._n_taken

    def seed(self, questions: list[Query]) -> None:
        """Questions for those who come before the first plan is there."""
        self._left = list(questions)

    @property
    def wish(self) -> Wish:
        """For as many as asked last, and twice as many as were taken while the last was made."""
        people = self._wanted + self._n_needed
        return Wish(
            self._wanted + 2 * self._n_needed,
            _SPARE * people,
            _SETS + self._n_needed if self._size else 0,
            self._size,
        )

    def is_enough(self, version: int) -> bool:
        """Whether the plan is by the answers of now and for as many people as there are."""
        if self.plan is None or self.plan.version != version:
            return False
        made_for = self.plan.wish
        return made_for.best >= self._wanted and made_for.size >= self._size

    def questions(self, wanted: int, is_open: Callable[[int, int], bool]) -> Iterator[Query]:
        """Those that are still open, the best first; `wanted` is how many are needed."""
        self._wanted = wanted
        self._n_taken += 1
        closed = next((t for t, q in enumerate(self._left) if is_open(*q.rows)), len(self._left))
        del self._left[:closed]  # the first are taken first, so most of those answered stand there
        return (query for query in self._left if is_open(*query.rows))

    def set_of(
        self, size: int, held: Collection[int], is_open: Callable[[int, int], bool]
    ) -> list[Query]:
        """Pairs of the best set that is still open and has none of the `held` rows."""
        self._size = max(size, self._size)
        self._n_taken += 1
        for pairs in [] if self.plan is None else self.plan.sets:
            taken = any(row in held for pair in pairs for row in pair.rows)
            if not taken and all(is_open(*pair.rows) for pair in pairs):
                return pairs
        return []

    def may_have_sets(self, version: int) -> bool:
        """Whether a newer plan may hold sets, where this one has none left."""
        if self.plan is None or not self.plan.wish.size:
            return True
        return bool(self.plan.sets) and self.plan.version != version
