"""What takes long is thought over and planned in another thread; who answers does not wait."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from coterie.active import ActiveSession, BackgroundRefits, Turns
from coterie.active.information.belief import Belief
from coterie.active.information.features import Features
from coterie.active.information.field import Field
from coterie.active.query import Answer
from coterie.active.strategies.space import Space
from coterie.distortions import SquaredEuclidean

TRUTH = np.repeat(range(4), 30)
X = np.random.default_rng(3).normal(size=(120, 3)) + 6 * np.eye(4, 3)[TRUTH]
PATIENCE = 120  # seconds after which something hangs


def truth(query):
    i, j = query.rows
    return "same" if TRUTH[i] == TRUTH[j] else "different"


@pytest.fixture
def at_work(monkeypatch):
    """However loaded the machine is, planning is not taken to be slow."""
    monkeypatch.setattr("coterie.active.labelled_elsewhere._PATIENCE", np.inf)
    session = ActiveSession(X, random_state=0)
    session.ask()
    lock = threading.RLock()
    refits = BackgroundRefits(session, lock)
    yield session, refits, lock
    refits.close()


def answer(session, count, lock=None):
    for _ in range(count):
        with lock or threading.RLock():
            query = session.ask()
            session.tell(query, truth(query))


def test_who_answers_does_not_think_over(at_work, monkeypatch):
    session, refits, lock = at_work
    threads = []
    think_over = Belief.think_over

    def noted(self):
        threads.append(threading.current_thread())
        think_over(self)

    monkeypatch.setattr(Belief, "think_over", noted)
    answer(session, 21, lock)
    session.ask()
    assert threads == []  # nobody was asked to
    refits.request()
    assert refits.wait(PATIENCE)
    assert threads
    assert threading.current_thread() not in threads


def test_in_the_end_the_questions_are_those_of_a_session_that_waited(at_work):
    session, refits, lock = at_work
    for _ in range(3):
        answer(session, 9, lock)
        refits.request()
        assert refits.wait(PATIENCE)
    alone = ActiveSession(X, random_state=0)
    for told in session.history:
        alone.tell(told.rows, told.answer)
    assert session.ask().rows == alone.ask().rows
    assert np.array_equal(session.labels(), alone.labels())
    assert session.expected_gain == alone.expected_gain


def test_after_the_end_the_session_thinks_over_itself(at_work):
    session, refits, lock = at_work
    answer(session, 21, lock)
    refits.close()  # before anybody thought over the first sixteen
    alone = ActiveSession(X, random_state=0)
    for told in session.history:
        alone.tell(told.rows, told.answer)
    assert session.ask().rows == alone.ask().rows
    assert np.array_equal(session.labels(), alone.labels())
    assert session.expected_gain == alone.expected_gain


def test_an_undo_begins_where_it_was_thought_over(at_work, monkeypatch):
    session, refits, lock = at_work
    answer(session, 22, lock)
    session.ask()
    refits.request()
    assert refits.wait(PATIENCE)
    answer(session, 3, lock)
    question = session.ask()
    session.tell(question, truth(question))
    session.ask()
    learned = []
    learn = Belief.learn
    monkeypatch.setattr(Belief, "learn", lambda self, a: (learned.append(a), learn(self, a)))
    session.undo()
    assert session.ask().rows == question.rows
    assert len(learned) == 3  # not 25


def test_a_copy_of_a_belief_learns_for_itself():
    space = Space(X, SquaredEuclidean(), np.ones(len(X), dtype=bool))
    belief = Belief(Features(space, 0), None, 0, 0)
    for number, rows in enumerate([(0, 1), (0, 40), (40, 41)], 1):
        belief.learn(
            Answer(number, rows, "same" if rows[0] // 30 == rows[1] // 30 else "different")
        )
    before = len(belief.heard), dict(belief.home), len(belief.groups), list(belief.rows)
    other = belief.copy()
    other.learn(Answer(4, (0, 80), "different"))
    assert len(other.heard) == 4
    assert before == (len(belief.heard), belief.home, len(belief.groups), belief.rows)


def test_twenty_people_get_questions_that_are_planned_ahead(at_work, monkeypatch):
    """Without patience the questions of many are planned elsewhere, those of one are not."""
    monkeypatch.setattr("coterie.active.labelled_elsewhere._PATIENCE", -1.0)
    session, refits, lock = at_work
    turns = Turns(session)
    with lock:
        for person in range(20):
            turns.take(f"p{person}")
    refits.request()
    assert refits.wait(PATIENCE)
    monkeypatch.setattr(session._planner, "questions", lambda *_: pytest.fail("planned here"))
    asked = set()
    for person in range(20):
        with lock:
            turn = turns.take(f"p{person}")
            session.tell(turn.question, truth(turn.question))
            turns.give_back(turn.id)
            following = turns.take(f"p{person}")
        assert following.lease is not None  # a question that nobody else has
        asked.add(following.question.rows)
    assert len(asked) == 20


def test_influence_is_kept_up_to_date():
    phi = np.random.default_rng(4).normal(size=(15, 6))
    field = Field(phi)
    field.add_group()
    influence = field.influence()
    for row in (2, 9, 2, 14):
        influence.take(row)
        field.place(row, 0)
        assert np.allclose(influence.each(), field.influence().each())
        placed = np.array([2])
        assert np.allclose(influence.each(placed), field.influence().each(placed))


def test_who_finds_no_question_left_plans_for_those_who_come_next(at_work, monkeypatch):
    """Each of twenty planned for themselves: while one did, nineteen waited."""
    monkeypatch.setattr("coterie.active.labelled_elsewhere._PATIENCE", -1.0)
    session, refits, lock = at_work
    assert refits.wait(PATIENCE)
    with lock:
        session._ahead = []  # all are answered, and the other thread is not there yet
        planned = []
        plan = session._planner.questions
        monkeypatch.setattr(
            session._planner, "questions", lambda *given: (planned.append(1), plan(*given))[1]
        )
        asked = set()
        for _ in range(10):
            question = session.ask()
            asked.add(question.rows)
            session.tell(question, truth(question))
    assert len(asked) == 10
    assert len(planned) == 1


def test_a_twin_does_not_learn_what_another_has(at_work, monkeypatch):
    """The clustering's planner learned every answer a second time."""
    session, refits, lock = at_work
    assert refits.wait(PATIENCE)
    with lock:
        for _ in range(30):
            question = session.ask()
            session.tell(question, truth(question))
        thinker = session._planner.twin()
        thinker.questions(session._told_to_planner, 1)
        session._planner.catch_up(thinker)
        fresh = session._planner.twin()
        expected = fresh.labels(session._told_to_planner)
        twin = session._planner.twin()
        twin.follow(session._planner, session._told_to_planner)
        learned = []
        learn = Belief.learn
        monkeypatch.setattr(Belief, "learn", lambda self, a: (learned.append(a), learn(self, a)))
        assert (twin.labels(session._told_to_planner) == expected).all()
        assert learned == []
        session.undo(5)  # what was thought is about answers that are no more
        other = session._planner.twin()
        other.follow(session._planner, session._told_to_planner)
        own = session._planner.twin().labels(session._told_to_planner)
        assert (other.labels(session._told_to_planner) == own).all()
