"""Questions about records: what is worth asking, when to stop, how far answers reach."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from coterie import Constraints, Dossier
from coterie.active import (
    ActiveSession,
    BackgroundRefits,
    LabelOracle,
    RecordQuestions,
    answer_all,
)
from coterie.active.strategies.record_checks import SURE, follow_ups, sure_pairs
from coterie.active.strategies.record_worth import weigh
from coterie.exceptions import InvalidParameter
from coterie.records import pose_records, solve
from coterie.records.comparison import SCORES
from reference.records import pairwise, people


@pytest.fixture(scope="module")
def households():
    columns, truth = people(450, seed=1, households=0.8)
    del columns["phone"]
    return columns, truth


def session_of(columns, truth, **how):
    rows = np.arange(truth.size, dtype=float)[:, None]
    return ActiveSession(rows, strategy=RecordQuestions(columns, **how), random_state=0)


def answer(session, truth, count, wrong=0.0, batch=5):
    rng = np.random.default_rng(0)
    while session.n_asked < count:
        for query in session.ask(min(batch, count - session.n_asked)):
            i, j = query.rows
            same = (truth[i] == truth[j]) != (rng.random() < wrong)
            session.tell(query, "same" if same else "different", despite_clash=True)


def test_checks_of_what_seems_different_begin_with_what_another_view_has_for_the_same(households):
    problem = pose_records(households[0])
    solution = solve(problem, Constraints(problem.n))
    apart_turn = 6  # every fourth check
    order = sure_pairs(problem, solution, apart_turn, np.random.default_rng(0))
    asked = solution.pairs[order]
    assert (solution.log_odds[order] < -SURE).all()
    assert np.unique(order).size == order.size == (solution.log_odds < -SURE).sum()
    twins = {tuple(pair) for pair in problem.twins.tolist()}
    is_twin = np.array([tuple(pair) in twins for pair in asked.tolist()])
    assert is_twin.any()
    assert is_twin[: is_twin.sum()].all()
    joined_turn = sure_pairs(problem, solution, 0, np.random.default_rng(0))
    assert (solution.log_odds[joined_turn] > SURE).all()


def test_own_questions_help_more_than_random_ones(households):
    columns, truth = households
    session = session_of(columns, truth, recall=1.0)
    before = pairwise(session.labels(), truth)[2]
    answer(session, truth, 60)
    after = pairwise(session.labels(), truth)[2]
    pairs = Dossier().fit(columns).pairs_
    drawn = pairs[np.random.default_rng(0).choice(len(pairs), 60, replace=False)]
    kind = np.where(truth[drawn[:, 0]] == truth[drawn[:, 1]], 1, -1)
    given = Constraints.from_arrays(truth.size, drawn, kind)
    by_chance = pairwise(Dossier().fit(columns, constraints=given).labels_, truth)[2]
    assert after > before + 0.01
    assert after > by_chance


def test_wrong_answers_do_little_harm(households):
    columns, truth = households
    found = []
    for wrong in (0.0, 0.1):
        session = session_of(columns, truth, recall=1.0)
        answer(session, truth, 100, wrong)
        found.append(pairwise(session.labels(), truth)[2])
    assert found[1] > found[0] - 0.03


def test_labels_are_those_of_the_estimator(households):
    columns, truth = households
    session = session_of(columns, truth)
    answer(session, truth, 15)
    model = Dossier().fit(columns, constraints=session.constraints)
    np.testing.assert_array_equal(session.labels(), model.labels_)
    assert session.n_found == model.n_clusters_


def test_questions_are_of_candidates_and_one_in_ten_is_a_check(households):
    columns, truth = households
    session = session_of(columns, truth, recall=1.0)
    answer(session, truth, 40)
    phases = [told.phase for told in session.history]
    assert phases.count("check") == 4
    assert len({told.pair for told in session.history}) == 40


def test_where_nothing_is_in_doubt_two_questions_in_three_check_joined_pairs_mostly():
    columns, truth = people(120)
    session = session_of(columns, truth, recall=1.0)
    answer(session, truth, 40, batch=20)
    late = session.ask(12)
    assert [query.phase for query in late] == (["check", "check", "records"] * 4)
    labels = session.labels()
    checks = [query.rows for query in late if query.phase == "check"]
    joined = [bool(labels[i] == labels[j]) for i, j in checks]
    assert any(joined)
    assert not all(joined)


def test_an_answer_against_a_sure_pair_is_followed_by_pairs_of_its_kind():
    columns, truth = people(120)
    problem = pose_records(columns)
    none = Constraints(truth.size)
    pairs = solve(problem, none).pairs[solve(problem, none).log_odds.argmax()][None]
    against = Constraints.from_arrays(truth.size, pairs, [-1])
    solution = solve(problem, against)
    followed = follow_ups(problem, solution, against, weigh(solution))
    asked = solution.levels[(solution.pairs == pairs).all(axis=1)][0]
    fields = problem.classes.identifying
    assert (np.abs(SCORES[solution.levels[followed[0]]] - SCORES[asked])[fields] <= 0.25).all()
    agreeing = Constraints.from_arrays(
        truth.size, np.concatenate([pairs, solution.pairs[followed[1:8]]]), [-1] + [1] * 7
    )
    solution = solve(problem, agreeing)
    assert not follow_ups(problem, solution, agreeing, weigh(solution)).size


def test_a_question_says_what_each_field_adds(households):
    columns, truth = households
    why = session_of(columns, truth).ask().why
    assert "the same with probability" in why
    assert all(f"{name} " in why for name in columns)
    assert "times likelier" in why
    assert "nats" not in why


def test_a_batch_asks_about_different_clusters(households):
    columns, truth = households
    session = session_of(columns, truth)
    labels = session.labels()
    rows = [row for query in session.ask(8) for row in query.rows]
    touched = [{labels[i], labels[j]} for i, j in zip(rows[::2], rows[1::2], strict=True)]
    assert sum(map(len, touched)) == len(set.union(*touched))


def test_questions_end_when_the_estimated_recall_is_reached():
    columns, truth = people(200)
    session = session_of(columns, truth, recall=0.98)
    done = answer_all(session, LabelOracle(truth)).done
    assert "of the records that belong together are together" in done
    assert 20 <= session.n_asked < 100
    assert pairwise(session.labels(), truth)[1] > 0.97


def test_questions_go_on_while_answers_contradict_what_seems_sure():
    columns, truth = people(100)
    others = 1000 + np.arange(truth.size)
    left = []
    for apart in (truth, np.where(truth % 5 < 3, others, truth)):  # in three of five clusters
        session = session_of(columns, apart, recall=0.98)
        answer(session, apart, 24, batch=12)
        left.append(bool(session.ask()))
    assert left == [False, True]


def test_who_is_told_that_it_is_enough_can_go_on():
    columns, truth = people(200)
    session = session_of(columns, truth, recall=0.98)
    assert not session.ends_early
    answer_all(session, LabelOracle(truth))
    assert session.ends_early
    session.go_on()
    assert not session.ends_early
    question = session.ask()
    assert session.done is None
    beside = session_of(columns, truth, recall=1.0)
    for told in session.history:
        beside.tell(told.rows, told.answer)
    assert question == beside.ask()


def test_in_the_background_too_who_is_told_that_it_is_enough_can_go_on():
    columns, truth = people(200)
    session = session_of(columns, truth, recall=0.98)
    answer_all(session, LabelOracle(truth))
    done = session.done
    refits = BackgroundRefits(session, threading.RLock())
    refits.request()
    assert refits.wait(120)
    assert (session.ask(at_once=True), session.done, session.ends_early) == (None, done, True)
    session.go_on()
    assert not session.is_planned
    refits.request_plan()
    assert refits.wait(120)
    assert session.ask(at_once=True) is not None
    assert (session.done, session.ends_early) == (None, False)
    refits.close()


def test_a_session_that_is_undone_asks_the_same(households):
    columns, truth = households
    session = session_of(columns, truth)
    answer(session, truth, 3, batch=1)
    asked = session.ask()
    session.tell(asked, "same").undo()
    assert session.ask() == asked


def test_rows_and_records_must_be_as_many():
    with pytest.raises(InvalidParameter, match="2 records for the 3 rows"):
        ActiveSession(np.zeros((3, 1)), strategy=RecordQuestions({"name": ["a", "b"]}))
    with pytest.raises(InvalidParameter, match="recall=0"):
        ActiveSession(np.zeros((3, 1)), strategy=RecordQuestions(recall=0.0))


def test_a_set_is_made_of_near_duplicates(households):
    columns, truth = households
    session = session_of(columns, truth, recall=1.0)
    first = session.ask()
    asked = session.ask(kind="set", size=5)
    assert set(first.rows) <= set(asked.rows)
    assert 3 <= len(asked.rows) <= 5
    model = Dossier().fit(columns)
    # Each row of the set may be the same as another one of it.
    for row in asked.rows:
        others = [(row, other) for other in asked.rows if other != row]
        assert model.pair_proba(others).max() > 0.04
    piles = [[r for r in asked.rows if truth[r] == t] for t in {truth[r] for r in asked.rows}]
    session.tell(asked, piles)
    assert session.n_asked == 1


def test_questions_go_on_where_nothing_is_sure_enough_to_be_checked():
    # Values repeat: no pair is beyond doubt, and every tenth question would be a check.
    rng = np.random.default_rng(0)
    columns = {
        "a": np.array([f"{w}a" for w in rng.integers(0, 12, 60)], dtype=object),
        "b": np.array([f"{w}b" for w in rng.integers(0, 12, 60)], dtype=object),
    }
    truth = rng.integers(0, 30, 60)
    session = session_of(columns, truth, recall=1.0)
    for _ in range(25):
        query = session.ask()
        assert query is not None
        i, j = query.rows
        session.tell(query, "same" if truth[i] == truth[j] else "different", despite_clash=True)


def test_sets_show_like_rows_together_whoever_else_is_asked():
    columns, truth = people(30, seed=5)
    session = session_of(columns, truth, recall=1.0)
    held = []
    for _ in range(12):  # more than ten: a check would be among them
        asked = session.ask(kind="set", size=4, held=held)
        solution = session._planner.solution(session._told_to_planner)
        odds = dict(zip(map(tuple, solution.pairs.tolist()), solution.log_odds, strict=True))
        rows = sorted(asked.rows)
        for row in rows:
            near = max(odds.get((min(row, o), max(row, o)), -99.0) for o in rows if o != row)
            assert near > -3
        assert not {row for other in held for row in other.rows} & set(rows)
        held = [*held, asked][-3:]
        piles = {}
        for row in asked.rows:
            piles.setdefault(truth[row], []).append(row)
        session.tell(asked, list(piles.values()), despite_clash=True)
