"""Questions about sets, and what is said about whole clusters: one step each, in the log too."""

from __future__ import annotations

import sqlite3

import numpy as np
import pytest

from coterie import ActiveSession, PCKMeans
from coterie.active import AnswerStore, LabelOracle, RandomPairs, SetQuery, answer_all
from coterie.active.log import store as store_module
from coterie.exceptions import ContradictoryAnswer, InvalidParameter
from coterie.metrics import adjusted_rand_score

Y = np.repeat([0, 1, 2], 20)
X = np.random.default_rng(0).normal(size=(60, 2)) + 8 * np.array([[0, 0], [1, 0], [0, 1]])[Y]


def piles_of(question, y=Y):
    return [[row for row in question.rows if y[row] == kind] for kind in np.unique(y)]


@pytest.fixture
def session():
    return ActiveSession(X, random_state=0)


def test_a_set_is_of_the_size_asked_for_and_the_same_when_asked_twice(session):
    for size in (2, 5, 8):
        question = session.ask(kind="set", size=size)
        assert isinstance(question, SetQuery)
        assert len(set(question.rows)) == size
        assert session.ask(kind="set", size=size) == question


def test_piles_say_what_all_their_pairs_say(session):
    question = session.ask(kind="set", size=6)
    session.tell(question, piles_of(question), certainty=1.0, annotator="ann")
    closure = session.constraints.closure()
    for a in question.rows:
        for b in question.rows:
            if a != b:
                assert closure.relation(a, b).kind == ("must" if Y[a] == Y[b] else "cannot")
    assert len(session.history) < 15  # stars, not all pairs
    assert {answer.annotator for answer in session.history} == {"ann"}
    assert session.n_asked == 1


def test_a_set_is_one_step_of_undo_and_redo(session):
    session.tell((0, 1), "same")
    question = session.ask(kind="set")
    session.tell(question, piles_of(question))
    many = session.history
    assert len(many) > 3
    assert len(session.undo().history) == 1
    assert session.redo().history == many
    assert session.undo(2).history == ()


def test_rows_in_no_pile_are_those_nobody_can_tell_about(session):
    session.tell(SetQuery((0, 1, 20, 40), "set", ""), [[0, 1], [20]])
    said = {answer.pair: answer.answer for answer in session.history}
    assert said == {
        (0, 1): "same", (0, 20): "different", (0, 40): "unknown", (20, 40): "unknown"
    }  # fmt: skip
    session.undo().tell(SetQuery((0, 1, 20), "set", ""), "unknown")
    assert [answer.answer for answer in session.history] == ["unknown"] * 2


@pytest.mark.parametrize(
    ("piles", "message"),
    [
        ([[0, 1], [1]], "row 1 is in two piles"),
        ([[0, 7]], "row 7 was not in the question"),
        ("perhaps", "give piles"),
        (3, "list of piles"),
    ],
)
def test_piles_that_make_no_sense_are_refused(session, piles, message):
    with pytest.raises(InvalidParameter, match=message):
        session.tell(SetQuery((0, 1, 20), "set", ""), piles)
    assert session.history == ()


def test_piles_that_earlier_answers_rule_out_leave_nothing_behind(session):
    session.tell((1, 30), "same").tell((30, 20), "same")
    with pytest.raises(ContradictoryAnswer, match="Nothing was recorded"):
        session.tell(SetQuery((0, 1, 20), "set", ""), [[0, 1], [20]])
    assert len(session.history) == 2
    session.tell(SetQuery((0, 1, 20), "set", ""), [[0, 1], [20]], despite_clash=True)
    assert len(session.history) == 4


def test_the_budget_counts_questions():
    session = ActiveSession(X, budget=2, random_state=0)
    for _ in range(2):
        question = session.ask(kind="set")
        session.tell(question, piles_of(question))
    assert session.ask(kind="set") is None
    assert session.done == "the budget of 2 questions is spent"


def test_sets_learn_more_than_as_many_pairs():
    rng = np.random.default_rng(1)
    y = np.repeat(np.arange(8), 20)
    X = rng.normal(size=(160, 4)) + 3 * rng.normal(size=(8, 4))[y]
    by_set, by_pair = ActiveSession(X, random_state=0), ActiveSession(X, random_state=0)
    for _ in range(10):
        question = by_set.ask(kind="set", size=6)
        by_set.tell(question, piles_of(question, y))
        query = by_pair.ask()
        by_pair.tell(query, "same" if y[query.rows[0]] == y[query.rows[1]] else "different")
    assert by_set.n_found == 8 > by_pair.n_found + 2
    assert adjusted_rand_score(y, by_set.labels()) == 1.0


def clustered(k=3, **options):
    return ActiveSession(
        X, strategy=RandomPairs(), estimator=PCKMeans(k, random_state=0), random_state=0, **options
    )


def test_merged_clusters_are_joined_by_representatives():
    session = clustered()
    a, b = int(session.labels()[0]), int(session.labels()[20])
    session.merge(a, b)
    assert 1 < len(session.history) <= 6
    for answer in session.history:
        assert answer.answer == "same"
        assert sorted(Y[list(answer.rows)]) == [0, 1]
    assert session.n_asked == 1
    assert session.undo().history == ()


def test_merge_joins_clusters_of_the_sessions_own_model(session):
    for _ in range(4):
        question = session.ask(kind="set")
        session.tell(question, piles_of(question))
    labels = session.labels()
    session.merge(int(labels[0]), int(labels[20]), despite_clash=True)
    assert len(session.history) > 5
    merged = session.labels()
    assert merged[0] == merged[20] != merged[40]
    assert (session.undo().labels() == labels).all()


def changed(session, labels):
    """Clusters of before, as sets of rows, that are not there any more."""

    def sets(found):
        return {frozenset(np.flatnonzero(found == k).tolist()) for k in set(found.tolist())}

    return sets(labels) - sets(session.labels())


def test_statements_about_clusters_change_those_clusters_and_no_others():
    """Also before the first answer, when an unconstrained clustering is shown."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(6), 25)
    rows = (
        rng.normal(size=(150, 2))
        + 9 * np.array([[0, 0], [0, 1], [1, 0], [1, 1], [3, 0], [3, 3]])[y]
    )
    session = ActiveSession(rows, random_state=0)
    labels = session.labels()
    assert (np.bincount(labels) == 25).all()
    of = {kind: int(labels[25 * kind]) for kind in range(6)}
    inside = np.flatnonzero(y == 0).tolist()

    session.merge(of[0], of[1])
    assert set(np.bincount(session.labels()).tolist()) <= {0, 25, 50}
    assert session.labels()[0] == session.labels()[25]
    assert len(changed(session, labels)) == 2
    assert not changed(session.undo(), labels)

    session.split(of[0], [inside[:4], inside[4:8]])
    found = session.labels()
    assert len(set(found[inside[:4]].tolist())) == len(set(found[inside[4:8]].tolist())) == 1
    assert found[inside[0]] != found[inside[4]]
    assert len(changed(session, labels)) == 1
    session.undo()

    session.move(inside[:2], of[5])
    assert (session.labels()[inside[:2]] == session.labels()[149]).all()
    assert len(changed(session, labels)) == 2
    session.pin(inside[2], of[5])
    assert session.labels()[inside[2]] == session.labels()[149]
    session.undo().undo()

    session.reject(of[0])
    assert len(set(session.labels()[inside].tolist())) > 1
    assert len(changed(session, labels)) == 1
    assert not changed(session.undo(), labels)


def partition(labels):
    """Clusters as a set of sets of rows."""
    return {frozenset(np.flatnonzero(labels == k).tolist()) for k in set(labels.tolist())}


@pytest.mark.parametrize("seed", range(4))
def test_statements_hold_exactly_whatever_was_answered_before(seed):
    """Answers before, some wrong, say the opposite: the model alone would move a few rows."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], 40)
    rows = rng.normal(size=(120, 2)) + 5 * np.eye(3, 2)[y]
    session = ActiveSession(rows, random_state=seed)
    answer_all(session, LabelOracle(y, error_rate=0.1, random_state=seed), max_questions=15 + seed)
    labels = session.labels()
    before = partition(labels)
    a, b = np.unique(labels, return_counts=True)[1].argsort()[-2:].tolist()
    a, b = np.unique(labels)[[a, b]].tolist()
    of_a, of_b = (frozenset(np.flatnonzero(labels == k).tolist()) for k in (a, b))

    session.merge(a, b, despite_clash=True)
    assert partition(session.labels()) == before - {of_a, of_b} | {of_a | of_b}
    assert partition(session.undo().labels()) == before

    pile = sorted(of_a)[:8]
    session.split(a, pile, despite_clash=True)
    found = partition(session.labels())
    assert before - {of_a} < found
    assert len(found) == len(before) + 1  # it is two, not more
    assert any(set(pile) <= cluster < of_a for cluster in found)
    session.undo()

    session.move(pile, b, despite_clash=True)
    assert partition(session.labels()) == before - {of_a, of_b} | {
        of_a - set(pile),
        of_b | set(pile),
    }


def test_split_by_piles_and_by_rows():
    session = clustered(2)
    labels = session.labels()
    joined = next(c for c in (0, 1) if len(set(Y[labels == c])) == 2)
    first, second = (
        np.flatnonzero((labels == joined) & (y == Y)) for y in set(Y[labels == joined])
    )
    session.split(joined, [first[:3].tolist(), second[:2].tolist()])
    assert [answer.answer for answer in session.history] == ["same"] * 3 + ["different"]
    session.undo().split(joined, first.tolist())
    apart = [answer.rows for answer in session.history if answer.answer == "different"]
    assert apart
    assert all(Y[i] != Y[j] for i, j in apart)
    with pytest.raises(InvalidParameter, match="all of its rows"):
        session.split(joined, np.flatnonzero(session.labels() == joined).tolist())


def test_moved_and_pinned_rows_go_where_they_were_put():
    session = clustered()
    there = int(session.labels()[20])
    session.move([0, 1], there, certainty=1.0)
    assert (session.labels()[[0, 1]] == session.labels()[20]).all()
    assert session.n_asked == 1
    session.undo().pin(2, there)
    assert session.history[0].certainty == 1.0
    assert session.labels()[2] == session.labels()[20] != session.labels()[3]


def test_a_rejected_cluster_is_taken_apart():
    session = clustered()
    session.reject(int(session.labels()[0]))
    assert [answer.answer for answer in session.history] == ["different"] * 3
    rows = {row for answer in session.history for row in answer.rows}
    assert len(rows) == 3
    assert (Y[list(rows)] == 0).all()


def test_names_are_bound_to_rows_and_outlive_numbers(tmp_path):
    with AnswerStore(tmp_path / "log.db") as store:
        session = clustered(store=store)
        labels = session.labels()
        session.name(int(labels[0]), "north").name(int(labels[20]), "east")
        session.merge(int(labels[0]), int(labels[40]))
        assert session.names[int(session.labels()[20])] == "east"
    with AnswerStore(tmp_path / "log.db") as store:
        other = ActiveSession(
            X, strategy=RandomPairs(), estimator=PCKMeans(3, random_state=5), store=store
        )
        assert other.names[int(other.labels()[20])] == "east"
        assert other.undo().history == ()  # the merge
        assert sorted(other.names.values()) == ["east", "north"]
        assert list(other.undo().names.values()) == ["north"]
        assert other.redo().names[int(other.labels()[20])] == "east"
        other.name(int(other.labels()[20]), "")
        assert list(other.names.values()) == ["north"]


def test_clusters_and_rows_that_are_not_there_are_refused():
    session = clustered()
    with pytest.raises(InvalidParameter, match="no cluster 7; clusters are 0, 1, 2"):
        session.merge(0, 7)
    with pytest.raises(InvalidParameter, match="row 60"):
        session.move(60, 0)
    with pytest.raises(InvalidParameter, match="two different"):
        session.merge(1, 1)


def test_sets_come_back_from_the_log_as_steps(tmp_path):
    with AnswerStore(tmp_path / "log.db") as store:
        session = ActiveSession(X, random_state=0, store=store)
        for _ in range(2):
            question = session.ask(kind="set")
            session.tell(question, piles_of(question))
        history, following = session.history, session.ask(kind="set")
    with AnswerStore(tmp_path / "log.db") as store:
        again = ActiveSession(X, store=store)
        assert again.history == history
        assert again.ask(kind="set") == following
        assert again.undo(2).history == ()


def test_a_log_of_the_first_version_is_brought_up_to_date(tmp_path):
    path = tmp_path / "log.db"
    with sqlite3.connect(path) as db:
        db.executescript(store_module.MIGRATIONS[0])
        db.execute(
            "INSERT INTO events (operation, number, i, j, answer, phase) "
            "VALUES ('answer', 1, 0, 1, 'same', 'explore')"
        )
        db.execute("PRAGMA user_version = 1")
    db.close()
    with AnswerStore(path) as store:
        (event,) = store.events()
        assert (event.answer.rows, event.step) == ((0, 1), None)
        session = ActiveSession(X, store=store, random_state=0)
        assert session.tell(SetQuery((0, 1, 20), "set", ""), [[0, 1], [20]]).n_asked == 2
