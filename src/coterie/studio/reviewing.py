"""Doubts, history, and how often everybody is wrong."""

from __future__ import annotations

from collections import Counter
from typing import Any

from coterie.active import Answer, broken_answers, suspect_answers
from coterie.active.annotators.rates import estimate_annotators
from coterie.active.query import ANSWERS
from coterie.studio.answering import write
from coterie.studio.body import Body, wrong
from coterie.studio.desk import Desk
from coterie.words import counted

__all__ = ["annotators", "doubts", "edit", "history", "keep", "retract"]

_CLUSTERING = "(clustering)"  # as `AnnotatorTable` calls it
_MOST_SUSPECTS = 50
_MOST_SETS = 50
_MOST_BROKEN = 100


# -- doubts ------------------------------------------------------------------------------------
def doubts(desk: Desk, person: str, body: Body) -> dict[str, Any]:
    """Answers that may be wrong: suspects, contradictions, and those the clusters do not keep."""
    shown = desk.clusters()
    with desk.lock:
        answers = list(desk.session.history)
        sets = desk.session.contradictions
        kept = set(desk.notebook.kept)
    suspects = [
        suspect
        for suspect in suspect_answers(answers, shown.labels)
        if (suspect.answer.number,) not in kept
    ]
    sets = [found for found in sets if tuple(sorted(a.number for a in found)) not in kept]
    broken = broken_answers(answers, shown.labels)
    return {
        "version": shown.version,
        "suspects": [
            {
                "answer": desk.answer(answer),
                "p_wrong": p_wrong,
                "words": _why(desk, answer, shown.labels),
                "records": _both(desk, answer),
            }
            for answer, p_wrong in suspects[:_MOST_SUSPECTS]
        ],
        "contradictions": [
            {
                "answers": [desk.answer(answer) for answer in found],
                "words": _chain(desk, found),
                "records": [desk.record(row) for row in _rows(found)],
            }
            for found in sets[:_MOST_SETS]
        ],
        "broken": [
            {"answer": desk.answer(answer), "records": _both(desk, answer)}
            for answer in broken[:_MOST_BROKEN]
        ],
        "n_answers": sum(answer.sign != 0 for answer in answers),
        "n_broken": len(broken),
        "n_contradictions": len(sets),
    }


def _both(desk: Desk, answer: Answer) -> list[dict[str, Any]]:
    return [desk.record(row) for row in answer.rows]


def _rows(found: tuple[Answer, ...]) -> list[int]:
    return list(dict.fromkeys(row for answer in found for row in answer.rows))


def _why(desk: Desk, answer: Answer, labels: Any) -> str:
    i, j = answer.rows
    together = labels[i] == labels[j]
    said = "the same" if answer.sign > 0 else answer.answer
    if bool(together) != (answer.sign > 0):
        where = "are in one cluster" if together else "are in two clusters"
        return f"Said to be {said}, but the two {where}."
    return f"Said to be {said}, and others said the opposite."


def _chain(desk: Desk, found: tuple[Answer, ...]) -> str:
    *same, different = found
    ids = [desk.asking.ids[row] for row in different.rows]
    return (
        f"{ids[0]} and {ids[1]} are said to be different, but "
        f"{counted(len(same), 'answer')} together make them the same. At least one is wrong."
    )


def retract(desk: Desk, person: str, body: Body) -> dict[str, Any]:
    """Take an answer back, whoever gave it."""
    number = body.integer("number", least=1)
    act = desk.session.retract
    told = write(desk, person, body, "retract", lambda: act(number, annotator=person))
    return {**told, "what": f"taken back: answer {number}", "rows": []}


def keep(desk: Desk, person: str, body: Body) -> dict[str, Any]:
    """These answers were looked at and stay."""
    numbers = body.rows("numbers", 2**53, most=1000)
    if not numbers:
        raise wrong("numbers", "must list at least one answer")
    with desk.lock:
        desk.notebook.keep(numbers)
    return {}


# -- history -----------------------------------------------------------------------------------
def history(desk: Desk, person: str, body: Body) -> dict[str, Any]:
    """Every answer, newest first, by who gave it, its state, or an id."""
    who = body.text("annotator", None)
    state = body.choice("state", ("in force", "retracted", "undone"), None)
    word = body.choice("answer", ANSWERS, None)
    part = body.text("q", "").strip().lower()
    offset, limit = body.integer("offset", 0), body.integer("limit", 100, 1, 500)
    with desk.lock:
        told = desk.session.told
    found = [
        (answer, what)
        for answer, what in reversed(told)
        if (who is None or (answer.annotator or "") == who)
        and (state is None or what == state)
        and (word is None or answer.answer == word)
        and (not part or any(part in _id(desk, row).lower() for row in answer.rows))
    ]
    listed = [desk.answer(answer, what) for answer, what in found[offset : offset + limit]]
    return {"total": len(found), "answers": listed}


def _id(desk: Desk, row: int) -> str:
    return str(desk.asking.ids[row]) if row >= 0 else ""


def edit(desk: Desk, person: str, body: Body) -> dict[str, Any]:
    """Another answer in the place of an earlier one."""
    number = body.integer("number", least=1)
    word = body.choice("answer", ANSWERS)
    certainty = body.number("certainty", None)
    clash = body.flag("despite_clash")
    act = desk.session.edit
    return write(
        desk,
        person,
        body,
        "edit",
        lambda: act(number, word, certainty=certainty, annotator=person, despite_clash=clash),
    )


def annotators(desk: Desk, person: str, body: Body) -> dict[str, Any]:
    """Everybody who answered: how much, how often in agreement, and their estimated errors."""
    with desk.lock:
        desk.check_open()
        answers = list(desk.session.history)
        programs = {_CLUSTERING, *(call.annotator for call in desk.session.calls)}
    shown = desk.shown
    table = estimate_annotators(answers, None if shown is None else shown.labels)
    unsure = Counter(a.annotator or "" for a in answers if a.answer == "unknown")
    listed = [
        {
            "name": str(table.annotator[at]),
            "n_same": int(table.n_same[at]),
            "n_different": int(table.n_different[at]),
            "n_unknown": unsure[str(table.annotator[at])],
            "agreement": float(table.agreement[at]),
            "wrong_same": _rate(table, "wrong_same", at),
            "wrong_different": _rate(table, "wrong_different", at),
            "program": str(table.annotator[at]) in programs,
        }
        for at in range(len(table.annotator))
    ]
    return {"annotators": listed}


def _rate(table: Any, name: str, at: int) -> list[float]:
    return [float(getattr(table, name + end)[at]) for end in ("", "_low", "_high")]
