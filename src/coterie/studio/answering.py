"""Questions out, answers in; undo and redo; the guidelines; searching for another record."""

from __future__ import annotations

from typing import Any

from coterie.active import Turn
from coterie.active.query import ANSWERS, SetQuery
from coterie.exceptions import ContradictoryAnswer
from coterie.studio.body import Body, wrong
from coterie.studio.desk import Desk
from coterie.studio.errors import Refused

__all__ = [
    "answer",
    "go_on",
    "guidelines",
    "question",
    "records",
    "redo",
    "release",
    "search",
    "set_guidelines",
    "undo",
    "write",
]

_LARGEST_SET = 12
_PATIENCE = 0.05  # seconds that a question may take to be planned by the answers of now


# -- asking ------------------------------------------------------------------------------------
def question(desk: Desk, person: str, body: Body) -> dict[str, Any]:
    """The question of this person."""
    kind = body.choice("kind", ("pair", "set"), "pair")
    return _next(desk, person, kind, body.integer("size", 6, 2, _LARGEST_SET))


def release(desk: Desk, person: str, body: Body) -> dict[str, Any]:
    """The page is closed: somebody else may have the question."""
    with desk.lock:
        name = body.text("question")
        turn = desk.turns.get(name)
        if turn is not None and turn.person == person:
            desk.turns.give_back(name)
    return {}


def _next(desk: Desk, person: str, kind: str, size: int) -> dict[str, Any]:
    """The next question of this person, out of those that are planned.

    Where it can be had soon it is one that knows all answers; nobody waits for more than that.
    """
    desk.refits.await_plan(desk.session.version, _PATIENCE)
    with desk.lock:
        if desk.closed:
            return {"question": None, "done": "the table was closed"}
        turn = desk.turns.take(person, kind, size)
        if not desk.session.is_planned:
            desk.refits.request_plan()
            if turn is None:  # it is on its way: the page asks again
                return {"question": None, "done": None}
        if turn is None:
            done = desk.session.done or "there is nothing to ask about"
            return {"question": None, "done": done, "early": desk.session.ends_early}
    return {"question": _as_json(desk, turn), "done": None}


def go_on(desk: Desk, person: str, body: Body) -> dict[str, Any]:
    """Ask everybody further questions, although what is known seems enough."""
    with desk.lock:
        desk.check_open()
        desk.session.go_on()
        desk.refits.request_plan()
    return {}


def _as_json(desk: Desk, turn: Turn) -> dict[str, Any]:
    asked = turn.question
    return {
        "id": turn.id,
        "kind": turn.kind,
        "rows": list(asked.rows),
        "records": [desk.record(row) for row in asked.rows],
        "phase": asked.phase,
        "why": asked.why,
        "gain": asked.expected_gain,
        "expires": desk.turns.seconds,
    }


# -- answering ---------------------------------------------------------------------------------
def write(desk: Desk, person: str, body: Body, what: str, action: Any) -> dict[str, Any]:
    """Carry out a write once, whatever happens to the connection; say how things stand now."""
    key = body.key()
    session = body.text("session", None)
    if session is not None and session != desk.id:
        raise Refused(
            "OtherSession", "Another table is open now than this page is about; reload it.", 409
        )
    with desk.lock:
        desk.check_open()
        try:
            outcome = desk.session.once(key, action)
        except ContradictoryAnswer as error:
            clash = [desk.answer(earlier) for earlier in error.clash]
            raise Refused("ContradictoryAnswer", _words(desk, error), 409, clash=clash) from error
        if not outcome.repeated:
            desk.changed(person, what)
        standing = desk.standing(person)
    return {"repeated": outcome.repeated, "numbers": outcome.numbers, **standing}


def _words(desk: Desk, error: ContradictoryAnswer) -> str:
    """The clash in the ids that people know."""
    told = "; ".join(
        f"{desk.asking.ids[a.rows[0]]} and {desk.asking.ids[a.rows[1]]}: {a.answer}"
        for a in error.clash[:5]
    )
    more = ", …" if len(error.clash) > 5 else ""
    return f"Earlier answers say the opposite ({told}{more}). Nothing was recorded."


def answer(desk: Desk, person: str, body: Body) -> dict[str, Any]:
    """Take an answer to a question, or about two rows that nobody asked about."""
    name = body.text("question", None)
    rows = body.rows("rows", desk.n, most=_LARGEST_SET)
    kind = body.choice("next", ("pair", "set"), None)
    size = body.integer("size", 6, 2, _LARGEST_SET)
    key = body.key()
    with desk.lock:
        desk.check_open()
        before = desk.session.numbers_of(key)
        if before is None:
            _refuse_stale(desk, person, name, rows)
        told = write(desk, person, body, "answer", lambda: _tell(desk, person, name, rows, body))
        if before is None:
            desk.remember(name, told["numbers"])
    following: dict[str, Any] = {"question": None, "done": None}
    if kind is not None:
        following = _next(desk, person, kind, size)
    rest = {"done": following["done"], "early": following.get("early", False)}
    return {**told, "next": following["question"], **rest}


def _tell(desk: Desk, person: str, name: str | None, rows: list[int], body: Body) -> None:
    turn = desk.turns.get(name)
    if turn is not None and sorted(turn.question.rows) != sorted(rows):
        raise wrong("rows", "are not those of the question")
    how = {
        "certainty": body.number("certainty", None),
        "annotator": person,
        "despite_clash": body.flag("despite_clash"),
    }
    if "piles" in body.values:
        if len(rows) < 2:
            raise wrong("rows", "must be those of the set")
        asked = turn.question if turn is not None else None
        if not isinstance(asked, SetQuery):
            asked = SetQuery(tuple(rows), "set", "")
        desk.session.tell(asked, body.piles("piles", desk.n), **how)
        return
    if len(rows) != 2:
        raise wrong("rows", "must be two; a set is answered by piles")
    word = body.choice("answer", ANSWERS)
    pair: Any = (rows[0], rows[1]) if turn is None else turn.question
    desk.session.tell(pair, word, **how)
    if desk.shown is not None and word in ("same", "different"):
        together = desk.shown.position[rows[0]] == desk.shown.position[rows[1]]
        desk.foreseen.append(bool(together) == (word == "same"))


def _refuse_stale(desk: Desk, person: str, name: str | None, rows: list[int]) -> None:
    """A question is answered once by everybody who has it, whatever their tabs still show."""
    if name is None:
        return
    numbers = desk.answered.get(name)
    if numbers is not None:
        said = [desk.answer(a, s) for a, s in desk.session.told if a.number in numbers[:1]]
        raise _stale(said)
    if desk.turns.get(name) is None and len(rows) == 2:
        last = desk.session.last_answer(*rows)
        if last is not None and last.annotator == person:
            raise _stale([desk.answer(last)])


def _stale(said: list[dict[str, Any]]) -> Refused:
    return Refused(
        "StaleQuestion",
        "This question was answered already, perhaps in another tab; nothing was changed.",
        409,
        answer=said[0] if said else None,
    )


def undo(desk: Desk, person: str, body: Body) -> dict[str, Any]:
    """Take back the last thing that this person did."""
    return _step(desk, person, body, "undo")


def redo(desk: Desk, person: str, body: Body) -> dict[str, Any]:
    """Bring back the last thing that this person undid."""
    return _step(desk, person, body, "redo")


def _step(desk: Desk, person: str, body: Body, what: str) -> dict[str, Any]:
    with desk.lock:
        before = {a.number: s for a, s in desk.session.told}
        act = desk.session.undo if what == "undo" else desk.session.redo
        told = write(desk, person, body, what, lambda: act(annotator=person))
        moved = [a for a, s in desk.session.told if before.get(a.number) != s]
    rows = list(dict.fromkeys(row for a in moved for row in a.rows if row >= 0))
    return {**told, "what": _what(moved, what), "rows": rows[:_LARGEST_SET]}


def _what(moved: list[Any], what: str) -> str:
    done = "taken back" if what == "undo" else "restored"
    if not moved:
        return f"{done}: a name or a retraction"
    if len(moved) == 1:
        return f"{done}: {moved[0].answer}"
    return f"{done}: {moved[0].phase}, {len(moved)} answers"


# -- looking -----------------------------------------------------------------------------------
def records(desk: Desk, person: str, body: Body) -> dict[str, Any]:
    """Records of some rows; `whole`: with all of their columns."""
    rows, whole = body.rows("rows", desk.n, most=200), body.flag("whole")
    return {"records": [desk.record(row, whole) for row in rows]}


def search(desk: Desk, person: str, body: Body) -> dict[str, Any]:
    """Records that hold all of the words."""
    among = None
    cluster = body.integer("cluster", None, -(2**53))
    if cluster is not None:
        among = desk.clusters().labels == cluster
    found = desk.view.search(
        body.text("q", ""),
        body.integer("limit", 20, 1, 200),
        among=among,
        without=body.rows("not", desk.n, [], most=200),
    )
    return {
        "records": [desk.record(row) for row in found.rows],
        "more": found.more,
        "scanned": found.scanned,
    }


def guidelines(desk: Desk, person: str, body: Body) -> dict[str, Any]:
    """What those who answer should know."""
    return {"text": desk.notebook.guidelines}


def set_guidelines(desk: Desk, person: str, body: Body) -> dict[str, Any]:
    """Other guidelines, for everybody."""
    text = body.text("text", most=20_000)
    with desk.lock:
        desk.notebook.write(text)
    desk.announce("guidelines", lambda: {"text": desk.notebook.guidelines, "by": person})
    return {"text": text}
