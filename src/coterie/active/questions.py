"""What a session asks next: planned here, or by another thread."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import overload

import numpy as np

from coterie.active.piles import set_question
from coterie.active.query import Query, SetQuery, free_of
from coterie.active.results import Results
from coterie.exceptions import InvalidParameter
from coterie.parameters import check_arguments

__all__ = ["Questions"]


class Questions(Results):
    """A session's questions; everything is a function of the answers in force.

    Attributes
    ----------
    budget : int or None
    """

    budget: int | None
    _planned: tuple[int, int, list[Query]] | None = None  # at which version, how many

    @overload
    def ask(self) -> Query | None: ...
    @overload
    def ask(
        self, batch: int, *, held: Sequence[Query | SetQuery] = (), at_once: bool = False
    ) -> list[Query]: ...
    @overload
    def ask(
        self,
        *,
        kind: str,
        size: int = 6,
        held: Sequence[Query | SetQuery] = (),
        at_once: bool = False,
    ) -> Query | SetQuery | None: ...
    def ask(
        self,
        batch: int | None = None,
        *,
        kind: str = "pair",
        size: int = 6,
        held: Sequence[Query | SetQuery] = (),
        at_once: bool = False,
    ) -> Query | SetQuery | list[Query] | None:
        """The next question, or up to `batch` questions that can be answered independently.

        None (or an empty list) when the session is `done`.

        Parameters
        ----------
        batch : int, optional
        kind : {"pair", "set"}, default="pair"
            "set": one `SetQuery` about up to `size` rows: which of them belong together? It tells
            about as much as all its pairs and costs a person little more than one.
        size : int, default=6
        held : sequence of Query or SetQuery
            Questions that others are at work on (`Leases` keeps them). They count as asked, and
            what is asked besides is about other pairs, and about other rows to be placed.
        at_once : bool, default=False
            Where `BackgroundRefits` plan: only what they have planned, however long planning here
            would take. None is then no end while they are at it (`is_planned`).
        """
        check_arguments(Questions.ask, locals())
        left = np.inf if self.budget is None else self.budget - self.n_asked - len(held)
        if kind == "set":
            if batch is not None:
                raise InvalidParameter("ask(batch=..., kind='set'): sets are asked one by one.")
            return self._ask_set(size, held, at_once) if left > 0 else None
        count = int(min(1 if batch is None else batch, max(left, 0)))
        found = self._beside(held, count, at_once) if count else []
        return (found[0] if found else None) if batch is None else found

    def _ask_set(
        self, size: int, held: Sequence[Query | SetQuery], at_once: bool
    ) -> SetQuery | None:
        taken = {row for question in held for row in question.rows}
        found: list[Query] = []
        if self.refits_elsewhere:
            found = self._ahead.set_of(size, taken, self._knowledge)
            if at_once and not found and self._ahead.may_have_sets(self._version):
                return None
        if not found and not at_once:
            found = self._planner.set_questions(self._told_to_planner, size, taken)
        found = list(free_of(found, held))
        return set_question(found or self._beside(held, size, at_once), size)

    def _beside(
        self, held: Sequence[Query | SetQuery], count: int, at_once: bool = False
    ) -> list[Query]:
        """Up to `count` questions that are about nothing that is asked already."""
        wanted = count + sum(len(question.rows) - 1 for question in held)
        if self.refits_elsewhere:
            ahead = self._ahead.questions(wanted, self._knowledge)
            found = list(islice(free_of(ahead, held), count))
            if found:
                self._ahead.note_taken()
            if found or at_once:
                return found or list(islice(free_of(self._put_off, held), count))
            self._planner.follow(self._thinker or self._planner, self._told_to_planner)
        return list(islice(free_of(self._questions(wanted), held), count))

    def _questions(self, count: int) -> list[Query]:
        if self._planned is None or self._planned[:2] != (self._version, count):
            found = self._planner.questions(self._told_to_planner, count)
            self._planned = self._version, count, found or self._put_off[:count]
        return self._planned[2]

    @property
    def _put_off(self) -> list[Query]:
        """What was put off, which comes back when nothing new is left to ask."""
        if self.refits_elsewhere and not self.is_planned:
            return []
        why = "You put this pair off; nothing else is left to ask."
        return [Query(rows, "again", why) for rows in self._told_to_planner.put_off]

    @property
    def done(self) -> str | None:
        """Why there is nothing more to ask, or None while there is."""
        if self._is_spent:
            return f"the budget of {self.budget} questions is spent"
        plan = self._plan_of_now
        if self._beside((), 1, at_once=plan is not None):
            return None
        return plan.finished if plan else self._planner.why_finished(self._told_to_planner)

    @property
    def ends_early(self) -> bool:
        """Whether it is `done` though questions are left: more would hardly change anything."""
        if self._is_spent or self.done is None:
            return False
        plan = self._plan_of_now
        return plan.early if plan else self._planner.ends_early(self._told_to_planner)

    def go_on(self) -> None:
        """Ask until nothing is left, though a strategy holds what it knows to be enough.

        Of `RecordQuestions` as with ``recall=1``. It is not in the log: who opens the session
        another day says it again.
        """
        self._go_on()

    @property
    def is_planned(self) -> bool:
        """Whether all that is wanted is planned by the answers of now; else None is no end.

        False only while `BackgroundRefits` have something to plan.
        """
        if self._is_spent or not self.refits_elsewhere:
            return True
        return self._ahead.is_enough(self._version)

    @property
    def _is_spent(self) -> bool:
        return self.budget is not None and self.n_asked >= self.budget

    @property
    def n_asked(self) -> int:
        """Questions answered and in force; "later" and what was known before do not count.

        Answers of one step (a set, a merge) count as one.
        """
        return len(self._knowledge.asked)
