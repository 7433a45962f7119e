"""Undo of one's own, edits, and requests that are carried out once."""

from __future__ import annotations

import numpy as np
import pytest

from coterie.active import ActiveSession, AnswerStore, Explore
from coterie.exceptions import AnswerNotSaved, ContradictoryAnswer, InvalidParameter

X = np.arange(12.0)[:, None]


def opened(store=None):
    return ActiveSession(X, strategy=Explore(), random_state=0, store=store)


def said(session):
    return [(a.rows, a.answer, a.annotator) for a in session.history]


def test_everybody_undoes_and_redoes_their_own(tmp_path):
    with AnswerStore(tmp_path / "log.db") as store:
        session = opened(store)
        session.tell((0, 1), "same", annotator="Ann")
        session.tell((2, 3), "same", annotator="Bob")
        session.tell((4, 5), "different", annotator="Ann")
        session.undo(annotator="Bob")
        assert [who for _, _, who in said(session)] == ["Ann", "Ann"]
        assert not session.can_undo("Bob")
        assert session.can_redo("Bob")
        assert not session.can_redo("Ann")
        session.tell((6, 7), "same", annotator="Ann")  # what Bob undid is not forgotten
        session.redo(annotator="Bob")
        expected = said(session)
        assert expected[-1] == ((2, 3), "same", "Bob")
        session.undo(2, annotator="Ann")
        assert said(session) == [((0, 1), "same", "Ann"), ((2, 3), "same", "Bob")]
        with pytest.raises(InvalidParameter, match="of Cid"):
            session.undo(annotator="Cid")
        session.redo(2, annotator="Ann")
        last = said(session)
    with AnswerStore(tmp_path / "log.db") as store:  # the log alone gives the same
        assert said(opened(store)) == last


def test_a_new_answer_forgets_what_the_same_person_undid():
    session = opened()
    session.tell((0, 1), "same", annotator="Ann")
    session.undo(annotator="Ann")
    session.tell((0, 2), "same", annotator="Ann")
    assert not session.can_redo("Ann")
    with pytest.raises(InvalidParameter, match="nothing of Ann"):
        session.redo(annotator="Ann")


def test_a_retraction_is_undone_by_who_made_it(tmp_path):
    with AnswerStore(tmp_path / "log.db") as store:
        session = opened(store)
        session.tell((0, 1), "same", annotator="Ann")
        session.retract(1, annotator="Bob")
        assert session.told[0][1] == "retracted"
        assert not session.history
    with AnswerStore(tmp_path / "log.db") as store:
        session = opened(store)
        session.undo(annotator="Bob")
        assert [state for _, state in session.told] == ["in force"]
        session.undo(annotator="Ann")
        assert [state for _, state in session.told] == ["undone"]


def test_an_edit_is_one_step(tmp_path):
    with AnswerStore(tmp_path / "log.db") as store:
        session = opened(store)
        session.tell((0, 1), "same", annotator="Ann")
        session.tell((2, 3), "same", annotator="Ann")
        session.edit(1, "different", certainty=0.9, annotator="Bob")
        assert [(a.number, a.rows, a.answer, a.annotator) for a in session.history] == [
            (2, (2, 3), "same", "Ann"),
            (3, (0, 1), "different", "Bob"),
        ]
        assert [state for _, state in session.told] == ["retracted", "in force", "in force"]
        edited = said(session)
    with AnswerStore(tmp_path / "log.db") as store:
        session = opened(store)
        assert said(session) == edited
        session.undo(annotator="Bob")
        assert [a.number for a in session.history] == [1, 2]


def test_an_edit_is_checked_without_what_it_replaces():
    session = opened()
    session.tell((0, 1), "same")
    session.tell((1, 2), "same")
    session.tell((0, 2), "unknown")
    with pytest.raises(ContradictoryAnswer):
        session.edit(3, "different")
    assert len(session.history) == 3
    session.edit(2, "different")  # its own old answer is no objection
    assert session.constraints.n_pairs == 2
    with pytest.raises(InvalidParameter, match="no answer in force"):
        session.edit(2, "same")


def test_a_request_happens_once_also_after_a_restart(tmp_path):
    path = tmp_path / "log.db"
    with AnswerStore(path) as store:
        session = opened(store)
        assert session.once("k-1", lambda: session.tell((0, 1), "same")) == (False, [1])
        assert session.once("k-1", lambda: session.tell((0, 1), "same")) == (True, [1])
        step = session.once("k-2", lambda: session.undo())
        assert step == (False, [])
        session.tell((0, 3), "same")
    with AnswerStore(path) as store:
        session = opened(store)
        for key, numbers in (("k-1", [1]), ("k-2", [])):
            assert session.once(key, lambda: pytest.fail("again")) == (True, numbers)
        assert session.numbers_of("k-3") is None
        assert len(session.history) == 1


def test_a_request_that_is_refused_may_come_again():
    session = opened()
    session.tell((0, 1), "same")
    session.tell((1, 2), "same")
    with pytest.raises(ContradictoryAnswer):
        session.once("key", lambda: session.tell((0, 2), "different"))
    made = session.once("key", lambda: session.tell((0, 2), "different", despite_clash=True))
    assert made == (False, [3])


def test_a_request_that_was_not_saved_may_come_again(tmp_path, monkeypatch):
    with AnswerStore(tmp_path / "log.db") as store:
        session = opened(store)

        def full(*events, key=None):
            raise AnswerNotSaved("no space left")

        with monkeypatch.context() as patch:
            patch.setattr(store, "append", full)
            with pytest.raises(AnswerNotSaved):
                session.once("key", lambda: session.tell((0, 1), "same"))
        assert not session.history
        assert session.once("key", lambda: session.tell((0, 1), "same")) == (False, [1])
        session.tell((2, 3), "same")  # the key does not stick to the next answer
        assert store.numbers_of("key") == [1]


def test_contradictions_are_minimal_sets():
    session = opened()
    for pair in ((0, 1), (1, 2), (2, 3), (0, 4), (4, 3)):
        session.tell(pair, "same")
    session.tell((5, 6), "different")
    assert session.contradictions == []
    session.tell((0, 3), "different", despite_clash=True)
    (found,) = session.contradictions
    assert [a.number for a in found] == [4, 5, 7]  # the shorter of the two chains
    for left_out in found:  # without any one of the set, the rest of it can be true
        rest = ActiveSession(X, strategy=Explore(), random_state=0)
        for answer in found:
            if answer != left_out:
                rest.tell(answer.rows, answer.answer)
        assert rest.contradictions == []


def test_several_steps_are_undone_and_redone_together_or_not_at_all():
    session = ActiveSession(X, strategy="random", random_state=0)
    session.tell((0, 1), "same")
    with pytest.raises(InvalidParameter, match=r"undo\(steps=2\): there are 1 to undo"):
        session.undo(2)
    assert len(session.history) == 1
    session.undo()
    with pytest.raises(InvalidParameter, match=r"redo\(steps=3\): there are 1 to redo"):
        session.redo(3)
    assert not session.history
    assert len(session.redo().history) == 1
