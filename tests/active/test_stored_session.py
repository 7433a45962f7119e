"""Sessions about rows that are not in memory: a sample, what is uncertain, any row that is told."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

from coterie import PCKMeans
from coterie.active import (
    STRATEGIES,
    ActiveSession,
    AnswerStore,
    ExploreConsolidate,
    InformationGain,
    LabelOracle,
    RandomPairs,
    answer_all,
)
from coterie.active.at_hand import SomeRows
from coterie.active.knowledge import Knowledge
from coterie.active.log.row_ids import fingerprint
from coterie.active.query import Answer, Query
from coterie.active.strategies.strategy import Planner, Strategy
from coterie.data import Rows, StoredRows, open_rows
from coterie.distortions import SquaredEuclidean
from coterie.exceptions import InvalidParameter

N, K = 3_000, 4
RNG = np.random.default_rng(0)
Y = RNG.integers(K, size=N)
X = (9 * np.eye(K, 3)[Y] + RNG.standard_normal((N, 3))).astype(np.float32)


@pytest.fixture(autouse=True)
def small_sample(monkeypatch):
    monkeypatch.setattr("coterie.active.at_hand._SAMPLE", 200)


@pytest.fixture
def rows(tmp_path):
    np.save(tmp_path / "rows.npy", X)
    return open_rows(tmp_path / "rows.npy")


def session(rows, **how):
    given = {"strategy": ExploreConsolidate(K), "estimator": PCKMeans(K, random_state=0)}
    return ActiveSession(rows, **{**given, "random_state": 0, **how})


def test_a_session_over_files_clusters_all_rows(rows):
    asked = answer_all(session(rows, budget=40), LabelOracle(Y))
    assert asked.n_asked == 40
    assert asked.labels().shape == (N,)
    assert adjusted_rand_score(Y, asked.labels()) > 0.9
    assert asked.constraints.n_samples == N


# Records are compared by their columns; "consolidate" begins where "explore" ends.
ASKING = [name for name in STRATEGIES if name not in ("records", "consolidate")]


@pytest.mark.parametrize("name", ASKING)
def test_every_strategy_asks_about_rows_of_the_files(rows, name):
    asked = session(rows, strategy=name, budget=20)
    for _ in range(20):
        question = asked.ask()
        if question is None:
            break
        assert question.rows[0] != question.rows[1]
        assert all(0 <= row < N for row in question.rows)
        asked.tell(question, "same" if Y[question.rows[0]] == Y[question.rows[1]] else "different")
    assert asked.n_asked > 4


def test_questions_name_the_rows_of_the_files_in_words_too(rows):
    question = session(rows, strategy=InformationGain()).ask()
    again = session(rows).ask()
    assert f"Row {question.rows[0]} " in question.why or "Row" not in question.why
    assert f"Row {again.rows[0]} " in again.why


def test_any_row_can_be_told_about(rows):
    asked = session(rows)
    before = asked._planner.at_hand(Knowledge(asked.history))
    i, j = np.setdiff1d(np.arange(N), before)[[5, -5]].tolist()
    asked.tell((i, j), "same" if Y[i] == Y[j] else "different")
    assert asked.constraints.pairs.tolist() == [[i, j]]
    now = asked._planner.at_hand(Knowledge(asked.history))
    np.testing.assert_array_equal(np.setdiff1d(now, before), [i, j])
    assert asked.ask() is not None


def test_a_session_goes_on_from_its_log_with_the_same_question(rows, tmp_path):
    with AnswerStore(tmp_path / "log.db") as store:
        asked = answer_all(session(rows, budget=35, store=store), LabelOracle(Y))
        asked.budget = None
        following = asked.ask()
    with AnswerStore(tmp_path / "log.db") as store:
        again = session(rows, store=store)
        assert again.n_asked == 35
        assert again.ask() == following
        last = again.history[-1]
        again.undo()
        again.redo()
        assert again.history[-1] == last
        assert again.ask() == following


def test_a_log_of_rows_in_memory_is_one_of_files(rows, tmp_path):
    assert fingerprint(rows) == fingerprint(X)
    with AnswerStore(tmp_path / "log.db") as store:
        ActiveSession(X, store=store, random_state=0).tell((0, 1), "same")
    with AnswerStore(tmp_path / "log.db") as store:
        assert ActiveSession(rows, store=store).n_asked == 1


def some_answers(count):
    """About rows of the first hundred."""
    rng = np.random.default_rng(1)
    pairs = sorted({tuple(sorted(p)) for p in rng.integers(100, size=(400, 2)) if p[0] != p[1]})
    return [
        Answer(at + 1, (int(i), int(j)), "same" if Y[i] == Y[j] else "different")
        for at, (i, j) in enumerate(pairs[:count])
    ]


class FirstTwo(Strategy):
    """Is always uncertain of the first two rows that it sees."""

    def prepare(self, context):
        return AsksFirstTwo()


class AsksFirstTwo(Planner):
    def questions(self, knowledge, count):
        return [Query((0, 1), "test", "")]


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_near_what_is_uncertain_come_to_hand(tmp_path, sparse):
    if sparse:
        sp.save_npz(tmp_path / "rows.npz", sp.csr_matrix(X))
    else:
        np.save(tmp_path / "rows.npy", X)
    rows = open_rows(tmp_path / ("rows.npz" if sparse else "rows.npy"))
    how = RandomPairs(), SquaredEuclidean(), None, 0, lambda: Y, FirstTwo()
    planner = SomeRows(rows, *how)
    few = planner.at_hand(Knowledge(some_answers(15)))
    told = np.unique([answer.rows for answer in some_answers(16)])
    before = np.union1d(few, told)
    after = planner.at_hand(Knowledge(some_answers(16)))
    nearest = [np.argsort(np.square(X - X[row]).sum(axis=1))[:8] for row in before[:2]]
    np.testing.assert_array_equal(after, np.union1d(before, nearest))
    assert after.size > before.size
    # What was found does not depend on who asks, nor on what was asked before.
    other = SomeRows(rows, *how)
    hand = other.at_hand(Knowledge(some_answers(40)))
    np.testing.assert_array_equal(hand, planner.at_hand(Knowledge(some_answers(40))))
    np.testing.assert_array_equal(hand, planner.twin().at_hand(Knowledge(some_answers(40))))


def test_candidates_are_the_rows_asked_about(rows):
    some = np.arange(100, 400)
    asked = answer_all(
        session(rows, strategy=RandomPairs(), candidates=some, budget=40), LabelOracle(Y)
    )
    assert np.isin([answer.rows for answer in asked.history], some).all()


def test_clusters_of_files_can_be_answered_about(rows, monkeypatch):
    monkeypatch.setattr("coterie.active.cluster_answers._READ", 50)
    asked = answer_all(session(rows, budget=20), LabelOracle(Y))
    before = asked.constraints.n_pairs
    asked.reject(0, despite_clash=True)
    assert asked.constraints.n_pairs > before


def test_what_needs_all_rows_in_memory_says_so(rows):
    with pytest.raises(InvalidParameter, match="does not cluster rows that are not in memory"):
        ActiveSession(rows, random_state=0).labels()
    with pytest.raises(InvalidParameter, match=r"ids=.*not in memory"):
        ActiveSession(rows, ids=[str(row) for row in range(N)])
    with pytest.raises(InvalidParameter, match=r"map of all rows.*not in memory"):
        session(rows).widget()


def test_a_stream_is_read_into_memory():
    table = pa.table({f"c{m}": X[:300, m] for m in range(3)})
    asked = ActiveSession(table.to_reader(), random_state=0)
    assert isinstance(asked.rows, np.ndarray)


def test_no_more_than_the_rows_at_hand_are_held(rows):
    asked = answer_all(session(rows, budget=30), LabelOracle(Y))
    assert isinstance(asked.rows, StoredRows)
    assert isinstance(asked._planner, SomeRows)
    known, values = asked._planner._kept
    assert values.shape[0] == known.size < 600
    assert Rows(rows).n == N
