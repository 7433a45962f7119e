"""Asking, telling, undoing; contradictions; what comes out."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from problems_active import answered, blobs, pairs_of

from coterie import PCKMeans
from coterie.active import (
    ActiveSession,
    CallableOracle,
    Explore,
    ExploreConsolidate,
    InformationGain,
    LabelOracle,
    RandomPairs,
    answer_all,
    answer_all_async,
)
from coterie.exceptions import ContradictoryAnswer, InvalidParameter
from coterie.metrics import adjusted_rand_score
from coterie.stability import renumber

STRATEGIES = [ExploreConsolidate(3), RandomPairs(), InformationGain()]


def session_on(X, strategy, **options):
    return ActiveSession(X, strategy=strategy, random_state=0, **options)


@pytest.mark.parametrize("strategy", STRATEGIES, ids=repr)
@settings(deadline=None, max_examples=15)
@given(moves=st.lists(st.sampled_from(["answer", "undo", "redo", "retract"]), max_size=25))
def test_the_state_is_that_of_the_answers_in_force_however_it_was_reached(strategy, moves):
    X, y = blobs(3, 8, spread=3.0)
    session, oracle = session_on(X, strategy), LabelOracle(y)
    done, undone = [], []  # the expected stacks
    for move in moves:
        if move == "answer" and (query := session.ask()) is not None:
            session.tell(query, oracle(query).answer)
            done.append(("answer", session.history[-1]))
            undone.clear()
        elif move == "undo" and done:
            session.undo()
            undone.append(done.pop())
        elif move == "redo" and undone:
            session.redo()
            done.append(undone.pop())
        elif move == "retract" and session.history:
            number = session.history[len(session.history) // 2].number
            session.retract(number)
            done.append(("retract", number))
            undone.clear()
    gone = {what for kind, what in done if kind == "retract"}
    expected = [what for kind, what in done if kind == "answer" and what.number not in gone]
    assert list(session.history) == expected
    fresh = session_on(X, strategy)
    for answer in expected:
        fresh.tell(answer.rows, answer.answer)
    assert fresh.constraints == session.constraints
    assert (fresh.ask() is None) == (session.ask() is None)
    if fresh.ask() is not None:
        assert fresh.ask().rows == session.ask().rows


def test_asking_twice_gives_the_same_question():
    X, _ = blobs()
    session = session_on(X, ExploreConsolidate(3))
    assert session.ask() == session.ask() == session.ask(batch=3)[0]


def test_undo_to_any_depth_and_back():
    X, y = blobs(3, 10)
    session = answered(X, y, ExploreConsolidate(3), 12)
    before, question = pairs_of(session), session.ask()
    session.undo(12)
    assert session.history == ()
    assert session.ask().rows == session_on(X, ExploreConsolidate(3)).ask().rows
    session.redo(12)
    assert (pairs_of(session), session.ask()) == (before, question)
    with pytest.raises(InvalidParameter, match="nothing was undone"):
        session.redo()
    with pytest.raises(InvalidParameter, match="there are 12 to undo, so nothing was done"):
        session.undo(13)
    assert pairs_of(session) == before


def test_a_contradiction_is_reported_with_the_answers_that_clash_and_not_recorded():
    session = session_on(np.arange(6.0)[:, None], RandomPairs())
    session.tell((0, 1), "same").tell((1, 2), "same").tell((4, 5), "same")
    with pytest.raises(ContradictoryAnswer, match=r"answer 1: rows 0 and 1 same") as error:
        session.tell((0, 2), "different")
    assert [a.number for a in error.value.clash] == [1, 2]
    assert session.n_asked == 3
    # the three ways out
    session.retract(2).tell((0, 2), "different")
    assert session.constraints.n_pairs == 3
    session.undo(2)
    session.tell((0, 2), "different", despite_clash=True)
    assert len(session.constraints.conflicts()) == 1
    session.undo()
    session.tell((2, 3), "different")
    with pytest.raises(ContradictoryAnswer) as error:
        session.tell((0, 3), "same")
    assert sorted(a.number for a in error.value.clash) == [1, 2, session.history[-1].number]


def test_a_second_answer_about_the_same_pair_replaces_the_first():
    session = session_on(np.arange(6.0)[:, None], RandomPairs())
    session.tell((0, 1), "same").tell((1, 0), "different")
    assert session.constraints.cannot_link.tolist() == [[0, 1]]
    assert session.constraints.n_pairs == 1
    session.undo()
    assert session.constraints.must_link.tolist() == [[0, 1]]


def test_later_comes_back_when_nothing_else_is_left_and_costs_nothing():
    X, y = blobs(2, 4)
    session = session_on(X, ExploreConsolidate(2), budget=30)
    put_off = session.ask()
    session.tell(put_off, "later")
    assert session.n_asked == 0
    assert session.ask().rows != put_off.rows
    answer_all(session, LabelOracle(y))
    again = [a for a in session.history if a.pair == tuple(sorted(put_off.rows))]
    implied = session.constraints.closure(hard_only=False).relation(*put_off.rows)
    assert len(again) == 2 or implied is not None
    never = session_on(X, ExploreConsolidate(2))
    answer_all(never, lambda query: "later")  # ends, although everything is put off
    assert never.n_asked == 0


def test_the_budget_is_a_normal_end():
    X, y = blobs()
    session = answered(X, y, InformationGain(), None, budget=5)
    assert session.done == "the budget of 5 questions is spent"
    assert session.ask() is None
    assert session.n_asked == 5
    session.undo(2)
    assert session.done is None
    assert len(session.ask(batch=10)) <= 2


def test_certainty_and_annotator_are_kept():
    session = session_on(np.arange(5.0)[:, None], RandomPairs())
    session.tell((0, 1), "same", certainty=0.8, annotator="ann")
    session.tell((1, 2), "different", certainty=1.0)
    session.tell((3, 4), "same", certainty=0.5)
    c = session.constraints
    assert c.pairs.tolist() == [[0, 1], [1, 2]]  # a guess says nothing
    assert c.certainty[0] == 0.8
    assert c.is_hard.tolist() == [False, True]
    assert session.history[0].annotator == "ann"
    for bad in (0.2, 1.5, float("nan")):
        with pytest.raises(InvalidParameter, match="certainty"):
            session.tell((0, 4), "same", certainty=bad)


@pytest.mark.parametrize(
    ("question", "answer", "message"),
    [
        ((0, 0), "same", "with itself"),
        ((0, 9), "same", "row 9 is not one of the rows 0 to 4"),
        ("ab", "same", "two row numbers"),
        ((0, 1), "sam", "Did you mean 'same'"),
    ],
)
def test_bad_answers_are_refused_and_leave_no_trace(question, answer, message):
    session = session_on(np.arange(5.0)[:, None], RandomPairs())
    with pytest.raises(InvalidParameter, match=message):
        session.tell(question, answer)
    assert session.history == ()


def test_labels_follow_the_answers_and_keep_their_numbers():
    X, y = blobs(3, 15)
    session = answered(X, y, ExploreConsolidate(3), 10, estimator=PCKMeans(3, random_state=0))
    first = session.labels()
    assert session.stability is None
    assert session.labels() is first  # no new answer, no new fit
    answer_all(session, LabelOracle(y), max_questions=5)
    assert np.array_equal(session.labels(), first)
    assert session.stability == 1.0


def test_a_strategy_without_a_model_needs_an_estimator():
    session = session_on(np.eye(4), RandomPairs())
    with pytest.raises(InvalidParameter, match="give the session an estimator"):
        session.labels()


@pytest.mark.parametrize("strategy", [*STRATEGIES, Explore()], ids=repr)
def test_sparse_rows_and_frames_ask_the_same_as_arrays(strategy):
    pandas = pytest.importorskip("pandas")
    X, y = blobs(3, 10)
    expected = pairs_of(answered(X, y, strategy, 12))
    assert pairs_of(answered(sp.csr_array(X), y, strategy, 12)) == expected
    assert pairs_of(answered(pandas.DataFrame(X), y, strategy, 12)) == expected


@pytest.mark.parametrize("batch", [False, True])
@pytest.mark.parametrize("is_async", [False, True])
def test_any_function_can_answer(batch, is_async):
    X, y = blobs(3, 10)
    truth = LabelOracle(y)

    def one(query):
        return truth(query).answer == "same", 0.9

    def many(queries):
        return [one(query) for query in queries]

    async def one_async(query):
        await asyncio.sleep(0)
        return one(query)

    async def many_async(queries):
        await asyncio.sleep(0)
        return many(queries)

    function = {(False, False): one, (True, False): many, (False, True): one_async}.get(
        (batch, is_async), many_async
    )
    session = session_on(X, ExploreConsolidate(3))
    answer_all(session, CallableOracle(function, batch=batch), max_questions=9, batch=3)
    assert session.n_asked == 9
    assert {a.certainty for a in session.history} == {0.9}
    again = session_on(X, ExploreConsolidate(3))
    asyncio.run(
        answer_all_async(again, CallableOracle(function, batch=batch), max_questions=9, batch=3)
    )
    assert pairs_of(again) == pairs_of(session)


def test_answer_all_works_where_a_loop_runs_already_as_in_a_notebook():
    X, y = blobs(3, 10)
    expected = pairs_of(answered(X, y, ExploreConsolidate(3), 8))

    async def cell():
        return answered(X, y, ExploreConsolidate(3), 8)

    assert pairs_of(asyncio.run(cell())) == expected


def test_an_oracle_that_returns_nonsense_is_told():
    X, _ = blobs()
    with pytest.raises(InvalidParameter, match="returned 7"):
        answer_all(session_on(X, Explore()), lambda query: 7)
    oracle = CallableOracle(lambda queries: ["same"], batch=True)
    with pytest.raises(InvalidParameter, match="1 answers to 2 questions"):
        answer_all(session_on(X, Explore()), oracle, batch=2)


def test_label_oracle_errs_as_often_as_asked_and_never_changes_its_mind():
    y = np.random.default_rng(0).integers(3, size=60)
    oracle = LabelOracle(y, error_rate=0.2, unknown_rate=0.1, random_state=4)
    session = session_on(np.arange(60.0)[:, None], RandomPairs())
    queries = session.ask(batch=30)
    for seed in range(1, 40):
        other = ActiveSession(np.arange(60.0)[:, None], strategy=RandomPairs(), random_state=seed)
        queries += other.ask(batch=30)
    words = [oracle(query).answer for query in queries]
    assert words == [oracle(query).answer for query in queries]
    truth = ["same" if y[q.rows[0]] == y[q.rows[1]] else "different" for q in queries]
    unknown = np.mean([word == "unknown" for word in words])
    wrong = np.mean([w != t for w, t in zip(words, truth, strict=True) if w != "unknown"])
    assert abs(unknown - 0.1) < 0.04
    assert abs(wrong - 0.2) < 0.05


@pytest.mark.parametrize("strategy", [Explore(), ExploreConsolidate(), InformationGain()])
def test_an_estimator_gets_the_number_of_clusters_that_was_found(strategy):
    X, y = blobs(4, 15)
    chosen = PCKMeans(random_state=0)  # says 8, which nobody chose
    session = ActiveSession(X, strategy=strategy, estimator=chosen, random_state=0)
    before = None
    for _ in range(30):
        if session.done:
            break
        query = session.ask()
        session.tell(query, "same" if y[query.rows[0]] == y[query.rows[1]] else "different")
        labels = session.labels()
        assert len(set(labels.tolist())) == session.n_found
        if before is not None:  # numbers stay: a number means mostly the rows it meant before
            for c in set(before.tolist()) & set(labels.tolist()):
                kept = np.bincount(labels[before == c])
                assert kept[c] == kept.max()
        before = labels
    assert session.n_found == 4
    assert adjusted_rand_score(y, session.labels()) == 1.0
    assert chosen.n_clusters == 8


def test_the_estimator_keeps_its_number_where_the_strategy_was_told_or_does_not_look():
    X, _ = blobs(4, 15)
    for strategy in (RandomPairs(), ExploreConsolidate(4)):
        session = ActiveSession(X, strategy=strategy, estimator=PCKMeans(3, random_state=0))
        session.tell((0, 1), "different")
        assert session.n_found is None
        assert len(set(session.labels().tolist())) == 3


def test_clusters_are_renumbered_like_the_earlier_ones():
    like = np.array([0, 0, 0, 1, 1, 2, -1])
    labels = np.array([2, 2, 0, 1, 1, 3, -1])
    assert renumber(labels, like).tolist() == [0, 0, 3, 1, 1, 2, -1]
    assert renumber(np.array([1, 1, 1, 0]), np.array([0, 1, 2, 2])).tolist()[3] == 2
