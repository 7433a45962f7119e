"""Questions handed to several annotators at once, each to one of them until it is answered."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from coterie.active.query import Query, SetQuery
from coterie.active.session import ActiveSession
from coterie.exceptions import InvalidParameter
from coterie.parameters import check_arguments

__all__ = ["Lease", "Leases"]


@dataclass(frozen=True)
class Lease:
    """A question that one annotator has until a moment.

    Attributes
    ----------
    number : int
        By which it is answered or given back.
    annotator : str
    question : Query or SetQuery
        Of the phase "overlap" where another annotator has answered it before.
    until : float
        Seconds of the clock; from then on somebody else may be given the question.
    """

    number: int
    annotator: str
    question: Query | SetQuery
    until: float


class Leases:
    """Hands out the questions of a session, to as many annotators as there are.

    Nobody is given what somebody else is at work on. A lease that is not answered in time lapses:
    the question goes to the next who asks. An answer that comes later than that still counts.

    Parameters
    ----------
    session : ActiveSession
    seconds : float, default=600
        How long a question is kept for an annotator.
    overlap : float, default=0
        Share of everybody's answers that is to be about pairs that another answers too, 0 to 1;
        from those it is seen how often each is wrong (`session.annotators`). It needs a session
        with `weigh_annotators=True`: in others the last answer about a pair replaces the first.
    clock : callable, optional
        Gives the time in seconds.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie.active import ActiveSession, Leases
    >>> session = ActiveSession(np.arange(20.0).reshape(-1, 1), random_state=0)
    >>> leases = Leases(session)
    >>> ann, bob = leases.take("ann"), leases.take("bob")
    >>> ann.question.rows == bob.question.rows
    False
    >>> leases.tell(ann.number, "same").n_asked
    1
    """

    def __init__(
        self,
        session: ActiveSession,
        *,
        seconds: float = 600.0,
        overlap: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        check_arguments(Leases, locals())
        if overlap and not session.weigh_annotators:
            raise InvalidParameter(
                f"overlap={overlap!r}: in this session the last answer about a pair replaces the "
                "one before. Make it with ActiveSession(weigh_annotators=True), which adds them up."
            )
        self.session = session
        self.seconds = seconds
        self.overlap = overlap
        self._clock = clock
        self._open: dict[int, Lease] = {}
        self._n_given = 0

    @property
    def held(self) -> list[Lease]:
        """Leases that are neither answered nor given back nor lapsed, oldest first."""
        now = self._clock()
        return [lease for lease in self._open.values() if lease.until > now]

    def held_by(self, annotator: str) -> list[Lease]:
        """Those of one annotator, oldest first."""
        return [lease for lease in self.held if lease.annotator == annotator]

    # -- handing out -----------------------------------------------------------------------
    def take(
        self, annotator: str, *, kind: str = "pair", size: int = 6, at_once: bool = False
    ) -> Lease | None:
        """Another question for the annotator, or None if there is none that nobody is at work on.

        Parameters
        ----------
        annotator : str
        kind, size, at_once
            As in `ActiveSession.ask`.
        """
        question: Query | SetQuery | None = self._to_repeat(annotator) if kind == "pair" else None
        if question is None:
            others = [lease.question for lease in self.held]
            question = self.session.ask(kind=kind, size=size, held=others, at_once=at_once)
        if question is None:
            return None
        self._n_given += 1
        lease = Lease(self._n_given, annotator, question, self._clock() + self.seconds)
        self._open[lease.number] = lease
        return lease

    def _to_repeat(self, annotator: str) -> Query | None:
        """A pair that others answered and this annotator did not, while the share wants one.

        Of those the one with the fewest answers, of these the one answered first.
        """
        held = self.held
        budget = self.session.budget
        if not self.overlap or (budget is not None and self.session.n_asked + len(held) >= budget):
            return None
        said: dict[tuple[int, int], set[str]] = {}
        for answer in self.session.history:
            if answer.sign:
                said.setdefault(answer.pair, set()).add(answer.annotator or "")
        mine = [who for who in said.values() if annotator in who]
        own = [lease for lease in held if lease.annotator == annotator]
        shared = sum(len(who) > 1 for who in mine)
        shared += sum(lease.question.phase == "overlap" for lease in own)
        if shared >= self.overlap * (len(mine) + len(own) + 1):
            return None
        taken = {tuple(sorted(lease.question.rows)) for lease in own}
        open_pairs = [p for p, who in said.items() if annotator not in who and p not in taken]
        if not open_pairs:
            return None
        pair = min(open_pairs, key=lambda pair: len(said[pair]))
        why = "Somebody else has answered this; a second answer shows how often answers are wrong."
        return Query(pair, "overlap", why)

    # -- taking back -----------------------------------------------------------------------
    def tell(self, number: int, answer: Any, **how: Any) -> ActiveSession:
        """Answer the question of a lease, as its annotator; also of one that has lapsed.

        `how` is `certainty` and `despite_clash`, as in `ActiveSession.tell`. If the session
        refuses the answer the lease stays.
        """
        lease = self._find(number)
        self.session.tell(lease.question, answer, annotator=lease.annotator, **how)
        del self._open[number]
        return self.session

    def renew(self, number: int) -> Lease:
        """The lease, from now on for as long as a new one."""
        self._open[number] = replace(self._find(number), until=self._clock() + self.seconds)
        return self._open[number]

    def give_back(self, number: int) -> None:
        """Let somebody else have the question."""
        self._find(number)
        del self._open[number]

    def _find(self, number: int) -> Lease:
        if number not in self._open:
            raise InvalidParameter(
                f"lease {number!r} is not open: it was answered or given back, or never made."
            )
        return self._open[number]
