"""Clusterings in a thread of their own."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from coterie.active import ActiveSession, BackgroundRefits, RecordQuestions
from coterie.active.information.information_gain import InformationPlanner
from coterie.active.strategies.record_worth import own_odds
from coterie.progress import keep_going
from coterie.stability import renumber

RNG = np.random.default_rng(1)
TRUTH = np.repeat(range(3), 15)
X = RNG.normal(size=(45, 2)) + 7 * np.eye(3, 2)[TRUTH]
PATIENCE = 120  # seconds after which something hangs


class Slow(BaseEstimator):
    """Takes its time and says so; remembers how many pairs it was given."""

    gate = threading.Event()
    loops: list[int] = []  # noqa: RUF012
    pairs: list[int] = []  # noqa: RUF012

    def __init__(self, steps=5):
        self.steps = steps

    def fit(self, X, constraints=None):
        done = 0
        for step in range(self.steps):
            self.gate.wait(PATIENCE)
            done = step + 1
            if not keep_going(step + 1, self.steps, 1.0):
                break
        self.loops.append(done)
        self.pairs.append(constraints.n_pairs)
        self.labels_ = np.zeros(len(X), dtype=int)
        return self


@pytest.fixture
def slow():
    Slow.gate = threading.Event()
    Slow.loops, Slow.pairs = [], []
    session = ActiveSession(X, strategy="random", estimator=Slow(), random_state=0)
    states = []
    refits = BackgroundRefits(session, threading.RLock(), states.append)
    yield session, refits, states
    Slow.gate.set()
    refits.close()


def wait_for(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_answers_do_not_wait_and_the_newest_wins(slow):
    session, refits, states = slow
    refits.request()
    wait_for(lambda: refits.state.running)
    for j in range(1, 6):
        session.tell((0, j), "same")  # while the fit stands still
        refits.request()
    assert refits.state.n_done == 0
    Slow.gate.set()
    assert refits.wait(PATIENCE)
    assert refits.state.n_done == 2  # the one that ran, and one for all answers together
    assert Slow.pairs == [0, 5]
    assert session.n_behind == 0
    assert states[-1] == refits.state


def test_a_fit_can_be_stopped(slow):
    _, refits, _ = slow
    refits.request()
    wait_for(lambda: refits.state.running)
    refits.stop()
    assert refits.state.stopping
    Slow.gate.set()
    assert refits.wait(PATIENCE)
    assert Slow.loops == [1]
    assert refits.state.n_done == 1
    assert not refits.state.stopping


def test_a_clustering_with_nothing_to_show_leaves_the_one_before(monkeypatch):
    monkeypatch.setattr("coterie.active.information.features._ANCHORS", 20)
    monkeypatch.setattr("coterie.active.information.features._CHUNK", 5)
    session = ActiveSession(X, random_state=0)
    refits = BackgroundRefits(session, threading.RLock())
    refits.request()
    assert refits.wait(PATIENCE)
    shown = session.labels()
    seen = []

    def stop_at_once(state):
        seen.append((state.step, state.total))
        refits.stop()

    refits._on_change = stop_at_once
    session.tell((0, 20), "different")
    refits.request()
    assert refits.wait(PATIENCE)
    assert "stopped" in refits.state.error
    assert session.labels() is shown
    assert refits.state.n_done == 1
    assert any(total == 9 for _, total in seen)
    refits.close()


def test_a_fit_that_fails_is_told_and_ends_nothing(slow, monkeypatch):
    _, refits, _ = slow
    Slow.gate.set()
    with monkeypatch.context() as patch:
        patch.setattr(Slow, "fit", lambda self, X, constraints=None: 1 / 0)
        refits.request()
        assert refits.wait(PATIENCE)
        assert "ZeroDivisionError" in refits.state.error
    refits.request()
    assert refits.wait(PATIENCE)
    assert refits.state.error is None
    assert refits.state.n_done == 1


@pytest.mark.parametrize("strategy", ["information", "records"])
def test_the_clustering_is_the_one_the_session_would_make(strategy):
    how = RecordQuestions({"n": [f"{t} name {i % 3}" for i, t in enumerate(TRUTH)]})
    how = how if strategy == "records" else strategy

    def told():
        session = ActiveSession(X, strategy=how, random_state=0)
        for i, j in ((0, 1), (0, 20), (20, 40), (0, 40), (21, 22)):
            session.tell((i, j), "same" if TRUTH[i] == TRUTH[j] else "different")
        return session

    session = told()
    before = session.ask()
    refits = BackgroundRefits(session, threading.RLock())
    refits.request()
    assert refits.wait(PATIENCE)
    expected = told().labels()
    assert (renumber(session.labels(), expected) == expected).all()
    assert session.ask() == before  # nothing of what asks was touched
    refits.close()


def test_slow_questions_do_not_wait_for_the_clustering(monkeypatch):
    session = ActiveSession(X, random_state=0)
    first = session.ask()
    gate, labels = threading.Event(), InformationPlanner.labels

    def slow_labels(self, knowledge):
        gate.wait(60)
        return labels(self, knowledge)

    monkeypatch.setattr(InformationPlanner, "labels", slow_labels)
    refits = BackgroundRefits(session, threading.RLock())
    refits.request()
    wait_for(lambda: session.is_planned)
    assert refits.state.running
    monkeypatch.setattr(session._planner, "questions", lambda *_: pytest.fail("planned here"))
    assert session.ask() == first
    gate.set()
    assert refits.wait(60)
    refits.close()


def test_labels_are_the_last_ones_until_there_are_newer():
    session = ActiveSession(X, random_state=0)
    refits = BackgroundRefits(session, threading.RLock())
    refits.request()
    assert refits.wait(PATIENCE)
    shown = session.labels()
    session.tell((0, 20), "different")
    assert session.labels() is shown
    assert session.n_behind == 1
    refits.close()


def test_who_is_done_with_them_clusters_again(slow):
    """`labels()` gave the last clustering of the background for ever."""
    session, refits, _ = slow
    Slow.gate.set()
    refits.request()
    assert refits.wait(PATIENCE)
    refits.close()
    session.tell((0, 1), "same")
    session.labels()
    assert Slow.pairs == [0, 1]
    assert session.n_behind == 0


def test_a_fit_that_ends_while_it_is_stopped_is_not_shown_as_running(slow):
    """Who stops a fit read the state, the fit ended, and the old state was written back."""
    _, refits, _ = slow
    Slow.gate.set()

    class Late:
        """The lock of the state: the fit ends before the one who stops it gets it."""

        def __init__(self, lock):
            self.lock = lock

        def __enter__(self):
            if threading.current_thread() is threading.main_thread():
                assert refits.wait(PATIENCE)
            return self.lock.__enter__()

        def __exit__(self, *why):
            return self.lock.__exit__(*why)

    refits._changing = Late(refits._changing)
    refits.request()
    refits.stop()
    assert not refits.state.running
    assert not refits.state.stopping


def test_records_are_certain_by_their_odds():
    names = ["Ann Lee", "Ann Lee", "Anne Lea", "Bob Ray", "Zoe Quist", "Zoe Quist"]
    session = ActiveSession(
        np.arange(6.0)[:, None], strategy=RecordQuestions({"name": names}), random_state=0
    )
    sure = session.certainty()
    solution = session._planner.solution(session._knowledge)
    assert np.array_equal(sure, own_odds(solution))
    for row in range(6):  # a naive twin
        inside, outside = [], [-20.0]
        for (i, j), odds in zip(solution.pairs.tolist(), solution.log_odds.tolist(), strict=True):
            if row in (i, j):
                same = solution.labels[i] == solution.labels[j]
                (inside if same else outside).append(float(np.clip(odds, -20, 20)))
        size = int((solution.labels == solution.labels[row]).sum())
        expected = sum(inside) / np.sqrt(size - 1) if size > 1 else -max(outside)
        assert sure[row] == pytest.approx(expected)
