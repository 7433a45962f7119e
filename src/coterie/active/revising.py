"""Second thoughts: undo, redo, retract and edit, each by one person or for all; nothing twice."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple, Self

from coterie.active.events import Event
from coterie.active.knowledge import Knowledge
from coterie.active.query import Answer, check_answer, check_certainty
from coterie.active.session_log import SessionLog
from coterie.exceptions import InvalidParameter
from coterie.validation import check_count

__all__ = ["Outcome", "Revising"]


class Outcome(NamedTuple):
    """What became of a request.

    Attributes
    ----------
    repeated : bool
        It was carried out before, and nothing was done now.
    numbers : list of int
        Of the answers that it recorded.
    """

    repeated: bool
    numbers: list[int]


class Revising(ABC):
    """What a session can be told about answers that were given before."""

    _log: SessionLog
    _knowledge: Knowledge
    _clock: Callable[[], str]
    _key: str | None

    @abstractmethod
    def _record(self, *events: Event) -> Self:
        """On the disk first, then in memory."""

    def numbers_of(self, key: str) -> list[int] | None:
        """Numbers of the answers that came with this request (see `once`); None: it never came."""
        return self._log.numbers_of(key)

    def retract(self, number: int, *, annotator: str | None = None) -> Self:
        """Take back the answer with that number, whatever came after it (`undo` restores it).

        `annotator` is who does it, so that their own `undo` finds it.
        """
        return self._record(Event("retract", target=number, annotator=annotator))

    def edit(
        self,
        number: int,
        answer: str,
        *,
        certainty: float | None = None,
        annotator: str | None = None,
        despite_clash: bool = False,
    ) -> Self:
        """Another answer in the place of the one with that number, as one step.

        The old one is retracted, and the new one has a number and a time of its own.
        """
        self._log.timeline.check(Event("retract", target=number))
        old = next(a for a in self._knowledge.answers if a.number == number)
        first = self._log.timeline.n_answers + 1
        new = Answer(
            number=first,
            rows=old.rows,
            answer=check_answer(answer),
            certainty=check_certainty(certainty),
            annotator=annotator,
            time=self._clock(),
            phase="edited",
            step=first,
        )
        if new.sign and not despite_clash:
            Knowledge(a for a in self._knowledge.answers if a.number != number).refuse_clash(new)
        return self._record(
            Event("retract", target=number, step=first, annotator=annotator),
            Event("answer", new, step=first),
        )

    def undo(self, steps: int = 1, *, annotator: str | None = None) -> Self:
        """Take back the last answers or retractions, of all or of one annotator; all or none."""
        self._refuse_more("undo", steps, self._log.timeline.n_undoable(annotator))
        for _ in range(steps):
            self._record(Event("undo", annotator=annotator))
        return self

    def redo(self, steps: int = 1, *, annotator: str | None = None) -> Self:
        """Bring back what `undo` took, of all or what this annotator undid; all or none."""
        self._refuse_more("redo", steps, self._log.timeline.n_redoable(annotator))
        for _ in range(steps):
            self._record(Event("redo", annotator=annotator))
        return self

    @staticmethod
    def _refuse_more(name: str, steps: int, possible: int) -> None:
        """Of several steps not the first ones alone; one too many is told when it is taken."""
        if check_count("steps", steps) > max(possible, 1):
            raise InvalidParameter(
                f"{name}(steps={steps}): there are {possible} to {name}, so nothing was done."
            )

    def can_undo(self, annotator: str | None = None) -> bool:
        """Whether `undo` has something to take back."""
        return self._possible(Event("undo", annotator=annotator))

    def can_redo(self, annotator: str | None = None) -> bool:
        """Whether `redo` has something to bring back."""
        return self._possible(Event("redo", annotator=annotator))

    def _possible(self, event: Event) -> bool:
        try:
            self._log.timeline.check(event)
        except InvalidParameter:
            return False
        return True

    def once(self, key: str, action: Callable[[], Any]) -> Outcome:
        """Carry a request out, unless one with this key was carried out before.

        The key is saved together with what the request records, so that a client which heard
        nothing may send the same again, also to a session that was opened anew.

        Parameters
        ----------
        key : str
            Made by whoever asks, new for every intent.
        action : callable
            Makes one call of `tell`, `undo`, `merge`, ...

        Examples
        --------
        >>> import numpy as np
        >>> from coterie import ActiveSession
        >>> session = ActiveSession(np.arange(6.0)[:, None], random_state=0)
        >>> session.once("k1", lambda: session.tell((0, 1), "same"))
        Outcome(repeated=False, numbers=[1])
        >>> session.once("k1", lambda: session.tell((0, 1), "same"))
        Outcome(repeated=True, numbers=[1])
        >>> len(session.history)
        1
        """
        done = self.numbers_of(key)
        if done is not None:
            return Outcome(True, done)
        before = self._log.timeline.n_answers
        self._key = key
        try:
            action()
        finally:
            self._key = None
        return Outcome(False, list(range(before + 1, self._log.timeline.n_answers + 1)))

    @property
    def told(self) -> list[tuple[Answer, str]]:
        """All answers, oldest first, each with "in force", "retracted" or "undone"."""
        return self._log.timeline.told()

    def last_answer(self, i: int, j: int) -> Answer | None:
        """The answer in force about these two rows themselves, if there is one."""
        return self._knowledge.of_pair.get((min(i, j), max(i, j)))
