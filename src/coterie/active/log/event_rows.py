"""An event as a line of the log's table, and back."""

from __future__ import annotations

from typing import Any

from coterie.active.events import Event
from coterie.active.query import ANSWERS, Answer

__all__ = ["COLUMNS", "event_of", "row_of"]

COLUMNS = (
    "operation",
    "number",
    "i",
    "j",
    "answer",
    "certainty",
    "annotator",
    "time",
    "phase",
    "why",
    "gain",
    "target",
    "text",
    "step",
)


def row_of(event: Event) -> tuple[Any, ...]:
    """The values of `COLUMNS`."""
    answer = event.answer
    values: tuple[Any, ...] = (None,) * 8
    if answer is not None:
        values = (answer.number, *answer.rows, answer.answer, answer.certainty)
        values += (answer.annotator, answer.time, answer.phase)
    else:
        values = (*values[:5], event.annotator, *values[6:])
    details = event.details or {}
    asked = details.get("why"), details.get("gain")
    return (event.operation, *values, *asked, event.target, event.text, event.step)


def event_of(row: tuple[Any, ...]) -> Event:
    """The event that the values of `COLUMNS` say; LookupError if its answer is no such word."""
    operation, number, i, j, word, sure, who, time, phase, why, gain, target, text, step = row
    asked = {"why": why, "gain": gain}
    if operation != "answer":
        return Event(operation, None, target, asked, text, step, who)
    if word not in ANSWERS:
        raise LookupError(f"answer {number} is {word!r}")
    answer = Answer(number, (i, j), word, sure, who, time, phase, step)
    return Event(operation, answer, target, asked, text, step)
