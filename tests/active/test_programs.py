"""Programs as annotators: failures, pace, budgets, the log of calls, and restarts."""

from __future__ import annotations

import asyncio
import threading
import time

import numpy as np
import pytest
from problems_active import blobs, pairs_of
from virtual_time import VirtualTime

from coterie.active import (
    ActiveSession,
    AnswerStore,
    CallableOracle,
    LabelOracle,
    Program,
    Query,
    Reply,
    SetQuery,
    answer_all,
    run_programs,
    run_programs_async,
)
from coterie.active.annotators.pace import Pace
from coterie.exceptions import InvalidParameter, OracleFailed
from coterie.metrics import adjusted_rand_score


def session_on(k=3, **options):
    X, y = blobs(k=k)
    return ActiveSession(X, random_state=0, **options), y


class Flaky:
    """Fails as a script says, then as long as it goes on answers by labels."""

    def __init__(self, y, *script):
        self.right = LabelOracle(y)
        self.script = list(script)
        self.asked = []

    def __call__(self, question):
        self.asked.append(question.rows)
        what = self.script.pop(0) if self.script else None
        if isinstance(what, BaseException):
            raise what
        return self.right(question) if what is None else what


# -- the loop ---------------------------------------------------------------------------------
def test_a_program_that_never_fails_answers_as_answer_all_does():
    session, y = session_on()
    report = run_programs(session, Program("rule", LabelOracle(y)), max_questions=12)
    plain = answer_all(session_on()[0], LabelOracle(y), max_questions=12)
    assert pairs_of(session) == pairs_of(plain)
    assert (report.answers, report.calls, report.failed) == ((12,), (12,), (0,))
    assert report.stopped == "12 questions are answered"
    assert {answer.annotator for answer in session.history} == {"rule"}


def test_a_run_ends_when_the_session_is_done():
    session, y = session_on(budget=7)
    report = run_programs(session, Program("rule", LabelOracle(y)))
    assert report.stopped == "the budget of 7 questions is spent"
    assert session.n_asked == 7


def test_an_exception_is_tried_again_with_growing_waits():
    session, y = session_on()
    time_ = VirtualTime()
    oracle = Flaky(y, RuntimeError("no"), ValueError("not yet"), None)
    report = run_programs(
        session, Program("p", oracle, backoff=2), max_questions=1, **time_.options
    )
    assert time_.slept == [2, 4]
    assert len(set(oracle.asked)) == 1
    assert report.calls == (3,)
    errors = [call.error for call in session.calls]
    assert errors == ["RuntimeError: no", "ValueError: not yet", None]
    assert [call.attempt for call in session.calls] == [1, 2, 3]
    assert len(session.history) == 1


def test_after_the_last_attempt_the_question_is_put_off_and_the_run_goes_on():
    session, y = session_on()
    oracle = Flaky(y, *[RuntimeError("down")] * 3)
    report = run_programs(
        session, Program("p", oracle, attempts=3), max_questions=5, **VirtualTime().options
    )
    assert [answer.answer == "later" for answer in session.history] == [True] + [False] * 5
    assert (report.answers, report.failed, report.calls) == ((5,), (1,), (8,))


def test_what_no_session_can_take_is_a_failure():
    session, y = session_on()
    oracle = Flaky(y, "perhaps", Reply("same", 3.0), [[1]], object(), None)
    run_programs(
        session, Program("p", oracle, attempts=9), max_questions=1, **VirtualTime().options
    )
    assert [call.error is None for call in session.calls] == [False] * 4 + [True]
    assert "perhaps" in next(iter(session.calls)).error


def test_a_program_that_is_down_is_given_up_and_the_others_go_on():
    session, y = session_on(k=6)
    down = Program("down", Flaky(y, *[OSError("gone")] * 1000), attempts=2)
    report = run_programs(
        session,
        [down, Program("up", LabelOracle(y))],
        max_questions=30,
        **VirtualTime().options,
    )
    assert report.answers == (0, 30)
    assert report.calls[0] == 10
    assert report.retired[0] == "5 questions in a row failed, the last by OSError: gone"
    alone, y = session_on()
    report = run_programs(alone, Program("p", Flaky(y, *[OSError()] * 99)), **VirtualTime().options)
    assert report.stopped.startswith("p: 5 questions in a row failed")


def test_a_final_failure_is_not_tried_again():
    session, y = session_on()
    oracle = Flaky(y, None, OracleFailed("401: wrong key", final=True))
    report = run_programs(session, Program("p", oracle), **VirtualTime().options)
    assert report.calls == (2,)
    assert report.stopped == "p: it failed for good: 401: wrong key"
    assert session.n_asked == 1


def test_retry_after_holds_all_calls_of_the_program():
    session, y = session_on(k=6)
    time_ = VirtualTime()
    begun = []

    def oracle(question):
        begun.append(time_.now)
        if len(begun) == 1:
            raise OracleFailed("429", retry_after=17)
        return LabelOracle(y)(question)

    program = Program("p", oracle, concurrency=1)
    run_programs(session, program, max_questions=4, batch=4, **time_.options)
    assert begun[0] == 1000.0
    assert all(moment >= 1017 for moment in begun[1:])


# -- side by side -----------------------------------------------------------------------------
def slow_oracle(y, seconds, together):
    """Answers after a while that differs from call to call; counts who is in at once.

    The first calls wait until so many are in together.
    """
    state = {"now": 0, "most": 0}
    lock, rng, met = threading.Lock(), np.random.default_rng(0), threading.Event()

    def oracle(question):
        with lock:
            state["now"] += 1
            state["most"] = max(state["most"], state["now"])
            wait = seconds * rng.random()
            if state["now"] == together:
                met.set()
        met.wait(60)
        time.sleep(wait)
        with lock:
            state["now"] -= 1
        return LabelOracle(y, error_rate=0.1)(question)

    return oracle, state


@pytest.mark.parametrize("concurrency", [1, 3, 8])
def test_answers_do_not_depend_on_who_is_quickest(concurrency):
    session, y = session_on(k=6)
    oracle, state = slow_oracle(y, 0.01, min(concurrency, 2))
    run_programs(session, Program("p", oracle, concurrency=concurrency), max_questions=24, batch=8)
    expected = session_on(k=6)[0]
    run_programs(expected, Program("p", LabelOracle(y, error_rate=0.1)), max_questions=24, batch=8)
    assert pairs_of(session) == pairs_of(expected)
    assert state["most"] <= concurrency
    assert concurrency == 1 or state["most"] > 1


def test_async_functions_and_running_loops():
    session, y = session_on()

    async def oracle(question):
        await asyncio.sleep(0)
        return bool(y[question.rows[0]] == y[question.rows[1]])

    async def inside():
        report = await run_programs_async(session, Program("a", oracle), max_questions=4, batch=2)
        return report.answers + run_programs(session, Program("a", oracle), max_questions=2).answers

    assert asyncio.run(inside()) == (4, 2)


def test_shares_and_overlap_of_several_programs():
    session, y = session_on(k=8, weigh_annotators=True)
    programs = [Program("often", LabelOracle(y), share=3), Program("seldom", LabelOracle(y))]
    report = run_programs(session, programs, max_questions=60, overlap=0.2)
    assert report.answers == (45, 15)
    said = {}
    for answer in session.history:
        said.setdefault(answer.pair, set()).add(answer.annotator)
    both = sum(len(who) == 2 for who in said.values())
    assert both == pytest.approx(0.2 * 45, abs=1)  # a fifth of what the busier one says


@pytest.mark.parametrize("batch", [1, 3])
def test_sets_are_answered_by_piles(batch):
    session, y = session_on(k=4)
    program = Program("p", LabelOracle(y), kind="set", size=6)
    run_programs(session, program, max_questions=9, batch=batch)
    assert session.n_asked == 9
    assert adjusted_rand_score(y, session.labels()) == 1


def test_a_set_that_fails_is_put_off():
    session, y = session_on(k=4)
    oracle = Flaky(y, RuntimeError(), RuntimeError())
    program = Program("p", oracle, kind="set", size=4, attempts=2)
    run_programs(session, program, max_questions=3, **VirtualTime().options)
    later = [answer for answer in session.history if answer.answer == "later"]
    assert len(later) == 3
    assert session.n_asked == 3


# -- pace and budget --------------------------------------------------------------------------
def test_no_minute_has_more_calls_than_allowed():
    time_ = VirtualTime()
    begun = []

    async def main():
        pace = Pace(5, time_.clock, time_.sleep)

        async def one(n):
            for _ in range(n):
                await pace.wait()
                begun.append(time_.now)
                await time_.sleep(7)

        await asyncio.gather(*(one(6) for _ in range(4)))

    asyncio.run(main())
    begun.sort()
    assert len(begun) == 24
    assert all(b - a >= 60 for a, b in zip(begun, begun[5:], strict=False))
    assert begun[-1] - begun[0] < 60 * 24 / 5  # and no slower than it must be


def test_programs_keep_their_pace():
    session, y = session_on(k=6)
    time_ = VirtualTime()
    program = Program("p", LabelOracle(y), per_minute=4)
    run_programs(session, program, max_questions=10, batch=5, **time_.options)
    assert time_.now == 1120  # four at once, four after a minute, two after another


@pytest.mark.parametrize("batch", [1, 4])
def test_budgets_of_calls_and_cost_are_kept(batch):
    session, y = session_on(k=6)
    report = run_programs(session, Program("p", LabelOracle(y), max_calls=10), batch=batch)
    assert (report.calls, report.stopped) == ((10,), "p: the budget of 10 calls is spent")
    session, y = session_on(k=6)
    program = Program("p", LabelOracle(y), cost=0.1, max_cost=1.0)
    report = run_programs(session, program, batch=batch)
    assert report.cost == (pytest.approx(1.0),)
    assert report.calls == (10,)
    assert report.stopped == "p: the budget of 1.0 is spent"


def test_failed_calls_count_against_the_budget():
    session, y = session_on()
    oracle = Flaky(y, *[RuntimeError()] * 7)
    report = run_programs(session, Program("p", oracle, max_calls=9), **VirtualTime().options)
    assert report.calls == (9,)
    assert session.n_asked == 2  # 4 failed; 3 failed and one answer; one answer


def test_a_cost_that_the_reply_tells_counts():
    session, y = session_on(k=6)

    def oracle(question):
        return LabelOracle(y)(question)._replace(cost=0.3)

    report = run_programs(session, Program("p", oracle, max_cost=1.0))
    assert report.calls == (4,)  # the fourth is begun while 0.1 is left
    assert report.cost == (pytest.approx(1.2),)


# -- the log ----------------------------------------------------------------------------------
class Killed(BaseException):
    """Ends a run as a killed process would."""


def killed_after(y, calls):
    oracle = Flaky(y)

    def answer(question):
        if len(oracle.asked) == calls:
            raise Killed
        return oracle(question)

    return answer, oracle


@pytest.mark.parametrize("calls", [0, 1, 5, 6, 7])
@pytest.mark.parametrize("kind", ["pair", "set"])
def test_a_restart_asks_nothing_twice(tmp_path, calls, kind):
    X, y = blobs(k=4)
    oracle, first = killed_after(y, calls)

    def run(answer):
        with AnswerStore(tmp_path / "a.db") as store:
            session = ActiveSession(X, store=store, random_state=0)
            program = Program("p", answer, kind=kind, concurrency=1)
            report = run_programs(session, program, max_questions=9 - session.n_asked, batch=3)
            return session, report

    with pytest.raises(Killed):
        run(oracle)
    second = Flaky(y)
    session, report = run(second)
    asked = [tuple(sorted(rows)) for rows in first.asked + second.asked]
    assert len(set(asked)) == len(asked) == 9
    assert report.cached == (calls % 3,)
    whole = ActiveSession(X, random_state=0)
    run_programs(whole, Program("p", LabelOracle(y), kind=kind), max_questions=9, batch=3)
    assert pairs_of(session) == pairs_of(whole)


def test_answers_that_were_paid_for_are_used_though_the_budget_is_spent(tmp_path):
    X, y = blobs(k=4)
    oracle, _ = killed_after(y, 2)

    def run(answer):
        with AnswerStore(tmp_path / "a.db") as store:
            session = ActiveSession(X, store=store, random_state=0)
            program = Program("p", answer, concurrency=1, max_calls=2)
            return session, run_programs(session, program, batch=3)

    def two_and_out(question):
        return oracle(question)

    session, report = run(two_and_out)  # a round of three, of which two may be called
    assert report.calls == (2,)
    with AnswerStore(tmp_path / "a.db") as store:
        assert store.calls.spent("p") == (2, 0.0)
        session = ActiveSession(X, store=store, random_state=0)
        session.undo(2)  # as if they had not been told
        report = run_programs(session, Program("p", oracle, max_calls=2), batch=3)
    assert (report.calls, report.cached) == ((0,), (2,))


def test_other_words_are_another_question():
    session, y = session_on()

    class Worded(LabelOracle):
        words = "a"

        def key(self, question):
            return self.words

    oracle = Worded(y)
    for words, calls, cached in (("a", 3, 0), ("a", 0, 3), ("b", 3, 0)):
        oracle.words = words
        report = run_programs(session, Program("p", oracle), max_questions=3)
        assert (report.calls, report.cached) == ((calls,), (cached,))
        session.undo(3)


def test_calls_are_known_by_ids_when_rows_move(tmp_path):
    X, y = blobs(k=4)
    names = np.array([f"n{t}" for t in range(len(X))])
    with AnswerStore(tmp_path / "a.db") as store:
        session = ActiveSession(X, store=store, ids=names, random_state=0)
        run_programs(session, Program("p", LabelOracle(y), kind="set", size=4), max_questions=1)
        said = {(a.pair, a.answer) for a in session.history}
        rows = {row for a in session.history for row in a.rows}
        session.undo()
    order = np.random.default_rng(0).permutation(len(X))
    with AnswerStore(tmp_path / "a.db") as store:
        session = ActiveSession(X[order], store=store, ids=names[order])
        place = np.argsort(order)
        question = SetQuery(tuple(place[sorted(rows)].tolist()), "set", "")
        caller_sees = []
        program = Program("p", caller_sees.append, kind="set", size=4)
        # The same rows under other numbers: the answer comes from the log.
        session.ask = lambda **_: question if session.n_asked == 0 else None
        report = run_programs(session, program, max_questions=1)
    assert (report.cached, caller_sees) == ((1,), [])
    again = {(tuple(sorted(order[list(a.rows)].tolist())), a.answer) for a in session.history}
    same = {pair for pair, word in said if word == "same"}
    assert {pair for pair, word in again if word == "same"} == same


def test_every_call_is_in_the_table(tmp_path):
    X, y = blobs()
    with AnswerStore(tmp_path / "a.db") as store:
        session = ActiveSession(X, store=store, random_state=0, clock=lambda: "noon")
        oracle = Flaky(y, RuntimeError("no"), Reply("same", 0.9, 0.25, "prompt", "text"))
        run_programs(session, Program("p", oracle), max_questions=2, **VirtualTime().options)
        frame = store.calls.to_frame()
    assert frame["error"].tolist() == ["RuntimeError: no", "", ""]
    assert frame.loc[1, ["prompt", "text", "answer", "certainty", "cost"]].tolist() == [
        "prompt", "text", "same", 0.9, 0.25,
    ]  # fmt: skip
    assert set(frame["time"]) == {"noon"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"share": 0},
        {"cost": -1},
        {"kind": "triple"},
        {"concurrency": 0},
        {"per_minute": 0},
        {"attempts": 0},
        {"max_cost": float("nan")},
    ],
)
def test_programs_say_what_is_wrong_with_them(wrong):
    with pytest.raises(InvalidParameter, match=next(iter(wrong))):
        Program("p", lambda _: None, **wrong)


def test_names_must_differ():
    session, y = session_on()
    with pytest.raises(InvalidParameter, match="own name"):
        run_programs(session, [Program("p", LabelOracle(y))] * 2)


def test_label_oracle_makes_piles_with_mistakes_and_gaps():
    y = np.arange(2000) % 3
    rows = tuple(range(2000))
    piles = LabelOracle(y)(SetQuery(rows, "set", "")).answer
    assert sorted(map(len, piles)) == [666, 667, 667]
    piles = LabelOracle(y, error_rate=0.3, unknown_rate=0.1)(SetQuery(rows, "set", "")).answer
    placed = np.concatenate(piles)
    right = sum(max(np.bincount(y[pile])) for pile in piles)
    assert placed.size == pytest.approx(1800, abs=60)
    assert right / placed.size == pytest.approx(0.8, abs=0.05)  # a third of the slips hit home


def test_answer_all_still_stops_at_an_exception():
    session, y = session_on()
    with pytest.raises(RuntimeError):
        answer_all(session, CallableOracle(Flaky(y, RuntimeError())))
    assert isinstance(session.ask(), Query)


@pytest.mark.parametrize("batch", [False, True])
@pytest.mark.parametrize("waits", [False, True])
def test_a_callable_oracle_is_a_programs_oracle_too(batch, waits):
    session, y = session_on()
    right = LabelOracle(y)

    def function(given):
        return [right(query) for query in given] if batch else right(given)

    async def slow(given):
        return function(given)

    oracle = CallableOracle(slow if waits else function, batch=batch)
    report = run_programs(session, Program("rule", oracle), max_questions=6)
    assert report.answers == (6,)
    other, _ = session_on()
    answer_all(other, oracle, max_questions=6)
    assert [(a.rows, a.answer) for a in session.history] == [
        (a.rows, a.answer) for a in other.history
    ]
