"""Questions are planned in another thread; who answers neither learns nor plans."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from coterie.active import ActiveSession, BackgroundRefits, RecordQuestions, Turns
from coterie.active.ahead import Plan
from coterie.active.information.belief import Belief
from coterie.active.information.features import Features
from coterie.active.information.field import Field
from coterie.active.information.information_gain import InformationPlanner
from coterie.active.query import Answer, ordered
from coterie.active.strategies.record_questions import RecordPlanner
from coterie.active.strategies.space import Space
from coterie.distortions import SquaredEuclidean

TRUTH = np.repeat(range(4), 30)
X = np.random.default_rng(3).normal(size=(120, 3)) + 6 * np.eye(4, 3)[TRUTH]
NAMES = [f"{('oak', 'elm', 'ash', 'yew')[t]} house {i % 7}" for i, t in enumerate(TRUTH)]
PATIENCE = 120  # seconds after which something hangs


def truth(query):
    i, j = query.rows
    return "same" if TRUTH[i] == TRUTH[j] else "different"


@pytest.fixture
def at_work():
    session = ActiveSession(X, random_state=0)
    session.ask()
    lock = threading.RLock()
    refits = BackgroundRefits(session, lock)
    yield session, refits, lock
    refits.close()


def answer(session, refits, lock, count):
    """As one person who waits for questions that know all answers."""
    for _ in range(count):
        with lock:
            query = session.ask()
            session.tell(query, truth(query))
        refits.request()
        assert refits.wait(PATIENCE)


def fail_here(monkeypatch, owner, name):
    """From now on this must not run in the thread of the test."""
    method, here = getattr(owner, name), threading.current_thread()

    def checked(self, *given):
        assert threading.current_thread() is not here, f"{name} in the thread of who answers"
        return method(self, *given)

    monkeypatch.setattr(owner, name, checked)


def test_who_answers_neither_learns_nor_plans(at_work, monkeypatch):
    """Twenty people, more than four hundred answers and undos: the lock is held for neither."""
    session, refits, lock = at_work
    for owner, name in (
        (Belief, "learn"),
        (Belief, "think_over"),
        (Belief, "survey"),
        (InformationPlanner, "questions"),
        (InformationPlanner, "belief"),
    ):
        fail_here(monkeypatch, owner, name)
    turns = Turns(session, at_once=True)
    refits.request()
    assert refits.wait(PATIENCE)
    told = 0
    for visit in range(3000):
        person = f"p{visit % 20}"
        with lock:
            turn = turns.take(person)
            if turn is not None:
                session.tell(turn.question, truth(turn.question), despite_clash=True)
                turns.give_back(turn.id)
                told += 1
                if told % 25 == 0:
                    session.undo(3)
            elif session.is_planned:
                assert session.done is not None or turns.people
                break
            assert session.n_found is None or session.n_found > 0
        refits.request()
        if turn is None:
            time.sleep(0.001)
    assert told > 60


def test_a_question_is_at_hand_while_the_thread_is_busy(at_work, monkeypatch):
    """A plan holds spare questions for those who come before the next one is there."""
    session, refits, lock = at_work
    refits.request()
    assert refits.wait(PATIENCE)
    busy, gate, plan = threading.Event(), threading.Event(), Plan.of

    def slow(*given):
        busy.set()
        gate.wait(PATIENCE)
        return plan(*given)

    monkeypatch.setattr(Plan, "of", slow)
    asked = set()
    for _ in range(12):
        with lock:
            question = session.ask(at_once=True)
            assert question.rows not in asked
            asked.add(question.rows)
            session.tell(question, truth(question))
        refits.request_plan()
    assert busy.wait(PATIENCE)
    with lock:
        while (question := session.ask(at_once=True)) is not None:
            session.tell(question, truth(question))
        assert not session.is_planned  # so it is no end, and the page asks again
    refits.request_plan()
    gate.set()
    assert refits.wait(PATIENCE)
    assert session.is_planned
    assert (session.ask(at_once=True) is None) == (session.done is not None)


def test_who_waits_gets_a_question_that_knows_the_answer(at_work):
    session, refits, lock = at_work
    alone = ActiveSession(X, random_state=0)
    for _ in range(20):
        with lock:
            question = session.ask(at_once=True)
            assert question.rows == alone.ask().rows
            session.tell(question, truth(question))
        alone.tell(question, truth(question))
        refits.request()
        refits.await_plan(session.version, PATIENCE)


def test_nobody_waits_for_a_plan_that_takes_longer(at_work):
    session, refits, _ = at_work
    refits.request()
    assert refits.wait(PATIENCE)
    refits._plans._took = [3.0, 2.0]
    begun = time.monotonic()
    refits.await_plan(session.version + 1, 1.9)
    assert time.monotonic() - begun < 1.0


def test_in_the_end_the_questions_are_those_of_a_session_that_waited(at_work):
    session, refits, lock = at_work
    answer(session, refits, lock, 27)
    alone = ActiveSession(X, random_state=0)
    for told in session.history:
        alone.tell(told.rows, told.answer)
    assert session.ask().rows == alone.ask().rows
    assert np.array_equal(session.labels(), alone.labels())
    assert session.expected_gain == alone.expected_gain
    assert session.n_found == alone.n_found


def test_after_the_end_the_session_plans_itself(at_work):
    session, refits, lock = at_work
    answer(session, refits, lock, 21)
    refits.close()
    alone = ActiveSession(X, random_state=0)
    for told in session.history:
        alone.tell(told.rows, told.answer)
    assert session.ask().rows == alone.ask().rows
    assert np.array_equal(session.labels(), alone.labels())
    assert session.expected_gain == alone.expected_gain


def counted(monkeypatch):
    learned = []
    learn = Belief.learn
    monkeypatch.setattr(Belief, "learn", lambda self, a: (learned.append(a), learn(self, a)))
    return learned


def test_an_undo_learns_only_the_last_answers_again(monkeypatch):
    session = ActiveSession(X, random_state=0)
    for _ in range(25):
        question = session.ask()
        session.tell(question, truth(question))
    session.ask()
    learned = counted(monkeypatch)
    session.undo()
    assert session.ask().rows == question.rows
    assert len(learned) <= 8  # not 24


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


def test_twenty_people_get_questions_of_their_own(at_work):
    session, refits, lock = at_work
    turns = Turns(session, at_once=True)
    refits.request()
    assert refits.wait(PATIENCE)
    with lock:
        for person in range(20):
            turns.take(f"p{person}")
        assert not session.is_planned  # for so many
    refits.request_plan()
    assert refits.wait(PATIENCE)
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


def test_spare_questions_are_open_and_each_about_a_row_of_its_own(at_work):
    session, refits, lock = at_work
    answer(session, refits, lock, 12)
    planner, told = session._planner.twin(), session._told_to_planner
    best = planner.questions(told, 5)
    found = planner.questions_ahead(told, 5, 40)
    assert found[:5] == best
    assert len(found) > 20
    assert all(ordered(*query.rows) not in told.of_pair for query in found)
    assert len({query.rows[0] for query in found}) == len(found)


def test_a_plan_that_fails_is_told_and_tried_again(at_work, monkeypatch, caplog):
    session, refits, lock = at_work
    refits.request()
    assert refits.wait(PATIENCE)
    with monkeypatch.context() as broken:
        broken.setattr(Plan, "of", lambda *_: 1 / 0)
        with lock:
            question = session.ask()
            session.tell(question, truth(question))
        refits.request_plan()
        assert refits.wait(PATIENCE)
        assert session.ask(at_once=True) is None
        assert "could not be planned (ZeroDivisionError" in session.done
        assert "could not be planned ahead" in caplog.text
    with lock:
        session.tell((0, 1), "same")
    refits.request_plan()
    assert refits.wait(PATIENCE)
    assert session.ask(at_once=True) is not None


def test_who_asks_in_vain_does_not_make_plans_longer(at_work):
    """A page that asked again and again for a set made the next plan hold a set for each time."""
    session, refits, lock = at_work
    refits.request()
    assert refits.wait(PATIENCE)
    with lock:
        before = session._ahead.wish
        for _ in range(50):
            assert session.ask(kind="set", size=4, at_once=True) is None
        session._ahead.take_in(session._ahead.plan)
        assert session._ahead.wish == before._replace(sets=2, size=4)


def test_plans_do_not_take_ever_longer(at_work):
    """Care for twice as many as were asked meanwhile took longer each time, and people waited."""
    session, refits, lock = at_work
    refits.request()
    assert refits.wait(PATIENCE)
    with lock:
        few = session._ahead.wish
        for _ in range(5000):
            session._ahead.note_taken()
        session._ahead.take_in(session._ahead.plan)
        many = session._ahead.wish
    assert few.best < many.best <= few.best + 100
    assert many.spare > 5000  # nobody goes without one


def test_of_many_answers_the_error_rate_follows_each_half_percent(monkeypatch):
    """To estimate it anew for each took nine tenths of the time that learning takes."""
    session, estimates = ActiveSession(X, random_state=0), []
    estimate = Belief._estimate_rate
    monkeypatch.setattr(
        Belief, "_estimate_rate", lambda self: estimates.append(1) or estimate(self)
    )
    rng = np.random.default_rng(5)
    pairs = np.unique(np.sort(rng.integers(120, size=(1200, 2)), axis=1), axis=0)
    pairs = rng.permutation(pairs[pairs[:, 0] != pairs[:, 1]])[:800]
    for i, j in pairs.tolist():
        wrong = rng.random() < 0.1
        same = (TRUTH[i] == TRUTH[j]) ^ wrong
        session.tell((i, j), "same" if same else "different", despite_clash=True)
    belief = session._planner.belief(session._told_to_planner)
    assert 200 < len(estimates) < 500
    assert belief.error_rate == pytest.approx(estimate(belief), rel=0.1)
    assert 0.05 < belief.error_rate < 0.15


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


def test_sets_of_records_are_planned_too(monkeypatch):
    """To find records for a set the model was fitted again, with the lock held."""
    session = ActiveSession(X, strategy=RecordQuestions({"name": NAMES}), random_state=0)
    session.ask()
    lock = threading.RLock()
    refits = BackgroundRefits(session, lock)
    fail_here(monkeypatch, RecordPlanner, "solution")
    how = {"kind": "set", "size": 4, "at_once": True}
    try:
        with lock:
            assert session.ask(**how) is None  # nobody has wanted one before
            assert not session.is_planned
        refits.request_plan()
        assert refits.wait(PATIENCE)
        with lock:
            first = session.ask(**how)
            other = session.ask(**how, held=[first])
            assert set(first.rows).isdisjoint(other.rows)
            session.tell(first, [[row] for row in first.rows])
            assert session.ask(**how).rows == other.rows
        refits.request()
        assert refits.wait(PATIENCE)
        assert session.certainty() is not None
    finally:
        refits.close()


def test_a_twin_does_not_learn_what_another_has(at_work, monkeypatch):
    """The clustering's planner learned every answer a second time."""
    session, _refits, lock = at_work
    with lock:
        for _ in range(30):
            question = session.ask()
            session.tell(question, truth(question))
        told = session._told_to_planner
        thinker = session._planner.twin()
        thinker.questions(told, 1)
        expected = session._planner.twin().labels(told)
        twin = session._planner.twin()
        twin.follow(thinker, told)
        learned = counted(monkeypatch)
        assert (twin.labels(told) == expected).all()
        assert len(learned) < 8
        session.undo(5)  # some of what was learned is about answers that are no more
        told = session._told_to_planner
        other = session._planner.twin()
        other.follow(thinker, told)
        own = session._planner.twin().labels(told)
        assert (other.labels(told) == own).all()
