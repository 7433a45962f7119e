"""Questions that another thread has planned, handed out until they are answered."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from coterie.active.knowledge import Knowledge
from coterie.active.query import Query, ordered
from coterie.active.strategies.strategy import Planner

__all__ = ["Ahead", "Plan", "Wish"]

_SPARE = 20  # further questions for each that is asked for, should the next plan take long
_MOST_CARE = 100  # further ones with care: the longer a plan takes, the more are taken meanwhile
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
    checks : set of (int, int)
        Pairs among them that other answers imply: asked to see whether those are right.
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
    checks: set[tuple[int, int]]
    n_found: int | None
    finished: str | None
    early: bool
    wish: Wish

    @classmethod
    def of(cls, planner: Planner, answers: Knowledge, version: int, wish: Wish) -> Plan:
        """Plan: takes as long as it takes, and touches nothing but the planner."""
        questions = planner.questions_ahead(answers, wish.best, wish.spare)
        sets = _sets(planner, answers, wish)
        return cls(
            version,
            questions,
            sets,
            implied(answers, [*questions, *chain.from_iterable(sets)]),
            planner.n_found(answers),
            None if questions else planner.why_finished(answers),
            not questions and planner.ends_early(answers),
            wish,
        )

    @classmethod
    def failed(cls, version: int, wish: Wish, error: Exception) -> Plan:
        """None came of it; whoever asks is told why, and the next answer leads to another try."""
        why = f"the next questions could not be planned ({type(error).__name__}: {error})"
        return cls(version, [], [], set(), None, why, False, wish)


def implied(answers: Knowledge, questions: Iterable[Query]) -> set[tuple[int, int]]:
    """Rows of those that are not open by these answers."""
    return {query.rows for query in questions if not answers.is_open(*query.rows)}


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
        self._checks: set[tuple[int, int]] = set()
        self._wanted, self._size = 1, 0  # questions and rows of a set that were asked for last
        # Handed out since the plan came, and before it came: questions, and sets.
        self._taken, self._needed = [0, 0], [0, 0]

    def drop(self) -> None:
        """What was planned will not do any more."""
        self.plan, self._left = None, []

    def take_in(self, plan: Plan) -> None:
        """A newer plan takes the place of the old one."""
        self.plan, self._left, self._checks = plan, list(plan.questions), plan.checks
        self._taken, self._needed = [0, 0], self._taken

    def seed(self, questions: list[Query], answers: Knowledge) -> None:
        """Questions by these answers, for those who come before the first plan is there."""
        self._left, self._checks = list(questions), implied(answers, questions)

    @property
    def wish(self) -> Wish:
        """For as many as asked last, and twice as many as were taken while the last was made.

        No more than that with care, or plans would take ever longer, as care is what takes time.
        """
        needed, sets = self._needed
        return Wish(
            self._wanted + min(2 * needed, _MOST_CARE),
            _SPARE * (self._wanted + needed),
            _SETS + sets if self._size else 0,
            self._size,
        )

    def is_enough(self, version: int) -> bool:
        """Whether the plan is by the answers of now and for as many people as there are."""
        if self.plan is None or self.plan.version != version:
            return False
        made_for = self.plan.wish
        return made_for.best >= self._wanted and made_for.size >= self._size

    def questions(self, wanted: int, answers: Knowledge) -> Iterator[Query]:
        """Those that are still open, the best first; `wanted` is how many are needed."""
        self._wanted = wanted
        left = (t for t, query in enumerate(self._left) if self._is_open(query, answers))
        del self._left[: next(left, len(self._left))]  # the first are taken and answered first
        return (query for query in self._left if self._is_open(query, answers))

    def _is_open(self, query: Query, answers: Knowledge) -> bool:
        """Whether no answer has told it since it was planned."""
        if query.rows in self._checks:
            return ordered(*query.rows) not in answers.of_pair
        return answers.is_open(*query.rows)

    def set_of(self, size: int, held: Collection[int], answers: Knowledge) -> list[Query]:
        """Pairs of the best set that is still open and has none of the `held` rows."""
        self._size = max(size, self._size)
        for pairs in [] if self.plan is None else self.plan.sets:
            taken = any(row in held for pair in pairs for row in pair.rows)
            if not taken and all(self._is_open(pair, answers) for pair in pairs):
                self._taken[1] += 1
                return pairs
        return []

    def note_taken(self) -> None:
        """A question was handed out; who asks in vain and comes again is not counted."""
        self._taken[0] += 1

    def may_have_sets(self, version: int) -> bool:
        """Whether a newer plan may hold sets, where this one has none left."""
        if self.plan is None or not self.plan.wish.size:
            return True
        return bool(self.plan.sets) and self.plan.version != version
