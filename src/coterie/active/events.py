"""Everything that happens to a session, as a list of events; the state is what they add up to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from coterie.active.query import KNOWN, Answer
from coterie.exceptions import InvalidParameter

__all__ = ["Event", "Timeline", "Undone"]


@dataclass(frozen=True)
class Event:
    """One entry of the log.

    Attributes
    ----------
    operation : {"answer", "retract", "undo", "redo", "name"}
    answer : Answer, optional
        The answer given.
    target : int, optional
        Number of the answer that is retracted, or the row that is named.
    text : str, optional
        The name.
    step : int, optional
        Events of one step are undone together. See `Answer.step`.
    details : dict
        The question's words and expected gain, for the record.
    annotator : str, optional
        Who retracted, named, undid or redid; who answered stands in the answer. An undo or redo
        of somebody is about their own actions only.
    """

    operation: str
    answer: Answer | None = None
    target: int | None = None
    details: dict[str, Any] | None = None
    text: str | None = None
    step: int | None = None
    annotator: str | None = None

    @property
    def who(self) -> str | None:
        """Who did it."""
        return self.annotator if self.answer is None else self.answer.annotator


class Undone(NamedTuple):
    """An action that was taken back, and who did that; None: somebody on behalf of all."""

    action: list[Event]
    by: str | None


class Timeline:
    """Events in order, with the actions in force and those undone.

    An action is an answer, a retraction, a name, or all of these that are of one step. Undo takes
    the last action back, to any depth; redo brings it back; a new action forgets what was undone.
    Where several people work, each may undo and redo their own actions, whatever others did in
    between.
    """

    def __init__(self) -> None:
        self.actions: list[list[Event]] = []
        self.undone: list[Undone] = []
        self.n_answers = 0  # ever given: numbers are not used twice
        self.n_named = 0  # names ever given to rows
        self.known: set[tuple[tuple[int, int], str]] = set()  # pairs ever taken in at a start

    def check(self, event: Event) -> None:
        """Refuse what cannot happen now, before it is written anywhere."""
        if event.operation == "undo":
            at = self.undoable(event.annotator)
            if at is None:
                raise InvalidParameter(
                    f"undo(): there is no answer{_of(event.annotator)} left to take back."
                )
            if _is_known(self.actions[at][0]):
                raise InvalidParameter(
                    "undo(): there is no answer left to take back but what was known at the start; "
                    "retract(number) takes back any of it, see `history`."
                )
        if event.operation == "redo" and self.redoable(event.annotator) is None:
            raise InvalidParameter(
                f"redo(): nothing{_of(event.annotator)} was undone since the last answer."
            )
        if event.operation == "retract" and event.target not in [a.number for a in self.answers()]:
            raise InvalidParameter(
                f"retract({event.target}): no answer in force has that number; see `history`."
            )

    def append(self, event: Event) -> None:
        """Take an event in.

        Raises
        ------
        LookupError
            It takes back, or brings back, what is not there: no session has written it.
        """
        if event.operation == "undo":
            at = _there(self.undoable(event.annotator), "an undo without an answer before it")
            self.undone.append(Undone(self.actions.pop(at), event.annotator))
        elif event.operation == "redo":
            at = _there(self.redoable(event.annotator), "a redo without an undo before it")
            self.actions.append(self.undone.pop(at).action)
        else:
            if event.step is not None and self.actions and self.actions[-1][0].step == event.step:
                self.actions[-1].append(event)
            else:
                self.actions.append([event])
            self.undone = [u for u in self.undone if u.by is not None and u.by != event.who]
            self.n_answers += event.operation == "answer"
            self.n_named += event.operation == "name"
            if event.answer is not None and _is_known(event):
                self.known.add((event.answer.pair, event.answer.answer))

    def undoable(self, annotator: str | None) -> int | None:
        """Which action `undo` takes back, of all or of this annotator; None if there is none."""
        whose = (t for t in reversed(range(len(self.actions))))
        return next((t for t in whose if annotator in (None, self.actions[t][0].who)), None)

    def n_undoable(self, annotator: str | None) -> int:
        """How many actions can be taken back one after the other: none of what was known."""
        count = 0
        for action in reversed(self.actions):
            if annotator in (None, action[0].who):
                if _is_known(action[0]):
                    break
                count += 1
        return count

    def n_redoable(self, annotator: str | None) -> int:
        """How many undone actions can be brought back."""
        return sum(annotator in (None, undone.by) for undone in self.undone)

    def redoable(self, annotator: str | None) -> int | None:
        """Which of the undone actions `redo` brings back; None if there is none."""
        whose = (t for t in reversed(range(len(self.undone))))
        return next((t for t in whose if annotator in (None, self.undone[t].by)), None)

    def told(self) -> list[tuple[Answer, str]]:
        """Every answer that can still be seen, with "in force", "retracted" or "undone"."""
        retracted = {event.target for event in self._events() if event.operation == "retract"}
        found = [
            (event.answer, "retracted" if event.answer.number in retracted else "in force")
            for event in self._events()
            if event.answer is not None
        ]
        undone = (event.answer for entry in self.undone for event in entry.action)
        found += [(answer, "undone") for answer in undone if answer is not None]
        return sorted(found, key=lambda entry: entry[0].number)

    def answers(self, gone: bool = False) -> list[Answer]:
        """Answers in force, in the order they were given: about rows that are there, or `gone`."""
        retracted = {event.target for event in self._events() if event.operation == "retract"}
        return [
            event.answer
            for event in self._events()
            if event.answer is not None
            and event.answer.number not in retracted
            and (min(event.answer.rows) < 0) == gone
        ]

    def names(self) -> dict[str, list[int]]:
        """Names in force and the rows they were given to; a row has the last name it was given."""
        of_row: dict[int, str] = {}
        for event in self._events():
            if event.operation == "name" and event.target is not None:
                of_row[event.target] = event.text or ""
        of_row = {row: name for row, name in of_row.items() if row >= 0}
        found: dict[str, list[int]] = {}
        for row, name in of_row.items():
            if name:
                found.setdefault(name, []).append(row)
        return found

    def _events(self) -> list[Event]:
        return [event for action in self.actions for event in action]


def _there(at: int | None, why: str) -> int:
    if at is None:
        raise LookupError(why)
    return at


def _of(annotator: str | None) -> str:
    return "" if annotator is None else f" of {annotator}"


def _is_known(event: Event) -> bool:
    return event.answer is not None and event.answer.phase == KNOWN
