"""One question for everybody at a time, for pages that may ask twice, come late or start anew."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

from coterie.active.annotators.leases import Lease, Leases
from coterie.active.query import Query, SetQuery
from coterie.active.session import ActiveSession

__all__ = ["Turn", "Turns"]


@dataclass(frozen=True)
class Turn:
    """A question that somebody is answering.

    Attributes
    ----------
    id : str
        Never used twice, also not by another run of the program.
    person : str
    question : Query or SetQuery
    lease : Lease or None
        None: somebody else has the question too, as there are fewer questions than people.
    after : int
        Answers that there were when it was given.
    size : int
        Rows that were wanted in a set.
    """

    id: str
    person: str
    question: Query | SetQuery
    lease: Lease | None
    after: int
    size: int = 6

    @property
    def kind(self) -> str:
        """What is asked about: a "pair" or a "set"."""
        return "set" if isinstance(self.question, SetQuery) else "pair"

    def fits(self, kind: str, size: int) -> bool:
        """Whether it is what is wanted; the size matters for sets only."""
        return self.kind == kind and (kind == "pair" or self.size == size)


class Turns:
    """Who is answering what: `Leases`, of which everybody has one.

    `take` gives everybody the best question that nobody else has. Who asks again gets the same
    one, until it is answered, its time is over or a set of another size is wanted. If there are
    fewer questions than people, some get the same, which tells how often they agree.

    Parameters
    ----------
    session : ActiveSession
    seconds : float, default=120
        How long a question is kept for somebody who does not answer.
    overlap : float, default=0
        As for `Leases`.
    clock : callable, optional
        Seconds that never go back; `time.monotonic` if not given.
    at_once : bool, default=False
        As in `ActiveSession.ask`.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import ActiveSession
    >>> from coterie.active import Turns
    >>> rows = np.random.default_rng(0).normal(size=(40, 2))
    >>> turns = Turns(ActiveSession(rows, random_state=0))
    >>> ann, bob = turns.take("Ann"), turns.take("Bob")
    >>> turns.take("Ann").id == ann.id, set(ann.question.rows) == set(bob.question.rows)
    (True, False)
    """

    def __init__(
        self,
        session: ActiveSession,
        *,
        seconds: float = 120.0,
        overlap: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
        at_once: bool = False,
    ) -> None:
        self._session = session
        self._at_once = at_once
        self._leases = Leases(session, seconds=seconds, overlap=overlap, clock=clock)
        self._turns: dict[str, Turn] = {}  # by person
        self._name = uuid4().hex[:8]
        self._n_given = 0

    @property
    def seconds(self) -> float:
        """How long a question is kept."""
        return self._leases.seconds

    def take(self, person: str, kind: str = "pair", size: int = 6) -> Turn | None:
        """The question of this person; None when there is nothing to ask.

        Parameters
        ----------
        person : str
        kind, size
            As in `ActiveSession.ask`.
        """
        turn = self.of(person)
        if turn is not None and turn.fits(kind, size) and not self._answered_since(turn):
            if turn.lease is not None:
                turn = replace(turn, lease=self._leases.renew(turn.lease.number))
                self._turns[person] = turn
            return turn
        self._end(person)
        how: Any = {"kind": kind, "size": size, "at_once": self._at_once}
        lease = self._leases.take(person, **how)
        question = self._session.ask(**how) if lease is None else lease.question
        if question is None:
            return None
        self._n_given += 1
        after = self._session.n_told
        turn = Turn(f"{self._name}-{self._n_given}", person, question, lease, after, size)
        self._turns[person] = turn
        return turn

    def of(self, person: str) -> Turn | None:
        """What this person has at the moment."""
        turn = self._turns.get(person)
        if turn is None or turn.lease is None:
            return turn
        held = {lease.number for lease in self._leases.held}
        if turn.lease.number not in held:
            self._end(person)
            return None
        return turn

    def get(self, name: str | None) -> Turn | None:
        """The turn of this id, while it lasts."""
        person = next((p for p, turn in self._turns.items() if turn.id == name), None)
        return None if person is None else self.of(person)

    def give_back(self, name: str) -> None:
        """Somebody else may have it; of an id that is not there nothing happens."""
        turn = self.get(name)
        if turn is not None:
            self._end(turn.person)

    @property
    def people(self) -> set[str]:
        """Who has a question."""
        return {person for person in list(self._turns) if self.of(person) is not None}

    def _end(self, person: str) -> None:
        turn = self._turns.pop(person, None)
        if turn is not None and turn.lease is not None:
            self._leases.give_back(turn.lease.number)

    def _answered_since(self, turn: Turn) -> bool:
        """Whether its pair was answered by anybody after it was given; a set is never all told."""
        if isinstance(turn.question, SetQuery):
            return False
        told = self._session.last_answer(*turn.question.rows)
        return told is not None and told.number > turn.after
