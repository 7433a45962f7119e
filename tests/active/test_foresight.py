"""Clusterings are judged by answers that they foretold; what is said twice is learned once."""

from __future__ import annotations

import numpy as np
import pytest
from problems_active import answered, blobs
from sklearn.metrics import adjusted_rand_score

from coterie.active import ActiveSession, InformationGain, LabelOracle, answer_all
from coterie.active.information import belief as belief_module
from coterie.active.information.cells import out_of_cells
from coterie.active.information.foresight import Heard, called_same, foreseen_by_partitions
from coterie.active.information.partitions import Partitions
from coterie.active.information.tree_kernels import grow, vote


def test_a_partition_foretells_by_the_rule_of_succession():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(40, 2))
    partitions = Partitions(points, np.ones(40), 0)
    heard = [Heard(*map(int, rng.choice(40, 2, replace=False)), bool(s), 0.0)
             for s in rng.integers(2, size=25)]  # fmt: skip
    found = foreseen_by_partitions(partitions, points, heard)
    for t in range(len(found)):
        cells = partitions.clusters_of(t, points)
        said = {True: [2.0, 1.0], False: [1.0, 4.0]}  # same, different
        for number, answer in enumerate(heard):
            counts = said[bool(cells[answer.first] == cells[answer.second])]
            which = 0 if answer.same else 1
            assert np.isclose(found[t, number], np.log(counts[which] / sum(counts)))
            counts[which] += 1


def test_what_was_believed_of_an_answer_is_what_was_believed_before_it():
    X, y = blobs(3, 20, spread=1.0, gap=4.0)
    session = ActiveSession(X, strategy=InformationGain(error_rate=0.1), random_state=0)
    for _ in range(12):
        query = session.ask()
        belief = session._planner.belief(session._knowledge)
        row, other = query.rows
        chance = None
        if row not in belief.home and other in belief.home:
            chance = belief.posterior(row)[belief.home[other]]
        same = y[row] == y[other]
        session.tell(query, "same" if same else "different")
        heard = session._planner.belief(session._knowledge).heard[-1]
        assert heard.same == same
        if chance is not None:
            expected = 0.9 * chance + 0.1 * (1 - chance)
            assert np.isclose(np.exp(heard.log_chance), expected if same else 1 - expected)
    session.tell(session.ask(), "unknown")
    assert len(session._planner.belief(session._knowledge).heard) == 12


@pytest.mark.parametrize("draw", range(3))
def test_wrong_answers_do_not_undo_many_plain_clusters(draw):
    """Fifteen clusters apart, one answer in ten wrong: what nobody asked about stays plain."""
    X, y = blobs(15, 20, spread=1.0, gap=7.0)
    plain = ActiveSession(X, strategy=InformationGain(), random_state=0).labels()
    session = ActiveSession(X, strategy=InformationGain(), random_state=0)
    oracle = LabelOracle(y, error_rate=0.1, random_state=draw)
    for asked in (40, 80):
        answer_all(session, oracle, max_questions=asked - session.n_asked)
        # Rows that were asked about are where answers put them, wrong ones too.
        least = adjusted_rand_score(y, plain) - 0.1
        assert adjusted_rand_score(y, session.labels()) > least


def test_sets_that_repeat_pairs_are_learned_once(monkeypatch):
    X, y = blobs(3, 20, spread=1.0, gap=4.0)
    made = []
    first = belief_module.Belief.__init__
    monkeypatch.setattr(
        belief_module.Belief, "__init__", lambda self, *a: made.append(0) or first(self, *a)
    )
    session = ActiveSession(X, strategy=InformationGain(), random_state=0)
    for _ in range(8):
        question = session.ask(kind="set", size=6)
        session.tell(question, [[r for r in question.rows if y[r] == k] for k in range(3)])
    assert session.ask() is not None
    repeated = len(session.history) - len(session._knowledge.of_pair)
    assert repeated > 0
    assert len(made) == 1


def test_a_session_that_is_folded_anew_asks_the_same():
    """What was said twice is learned once, now and when a log is read again."""
    X, y = blobs(3, 20, spread=1.0, gap=4.0)
    session = ActiveSession(X, strategy=InformationGain(), random_state=0)
    for _ in range(6):
        question = session.ask(kind="set", size=6)
        session.tell(question, [[r for r in question.rows if y[r] == k] for k in range(3)])
    again = session.ask()
    session._planner._belief = None
    assert session.ask() == again


def test_trees_cut_until_leaves_are_pure():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4)).astype(np.float32)
    target = rng.integers(3, size=50)
    told = np.ones((5, 50), dtype=np.int64)
    told[:, :10] = 0  # these are shown to nobody

    def forest(seed):
        made = (
            np.full((5, 100), -1, dtype=np.int64),
            np.zeros((5, 100)),
            np.zeros((5, 100), dtype=np.int64),
            np.zeros((5, 100, 3)),
        )
        grow(X, target, told, 3, 2, seed, *made)
        return made

    found, votes = np.zeros((50, 3)), np.zeros(50)
    vote(X, *forest(1), np.zeros((5, 0), dtype=np.int64), found, votes)
    assert (votes == 5).all()
    assert np.allclose(found[10:], 5 * np.eye(3)[target[10:]])
    assert np.allclose(found.sum(axis=1), 5)
    asked, votes = np.zeros((50, 3)), np.zeros(50)
    vote(X, *forest(1), told, asked, votes)
    assert votes.tolist() == [5] * 10 + [0] * 40
    assert np.allclose(asked[:10], found[:10])
    other, votes = np.zeros((50, 3)), np.zeros(50)
    vote(X, *forest(2), np.zeros((5, 0), dtype=np.int64), other, votes)
    assert not np.allclose(other[:10], found[:10])


def test_columns_that_do_not_vary_are_not_cut():
    X = np.zeros((6, 3), dtype=np.float32)
    shape = (1, 12)
    forest = (
        np.full(shape, -1, dtype=np.int64),
        np.zeros(shape),
        np.zeros(shape, dtype=np.int64),
        np.zeros((*shape, 2)),
    )
    grow(X, np.array([0, 0, 0, 0, 1, 1]), np.ones((1, 6), dtype=np.int64), 2, 1, 0, *forest)
    found, votes = np.zeros((6, 2)), np.zeros(6)
    vote(X, *forest, np.zeros((1, 0), dtype=np.int64), found, votes)
    assert np.allclose(found, [[4 / 6, 2 / 6]] * 6)


def test_nothing_is_left_to_prepare_after_the_first_question():
    X, y = blobs(3, 30)
    session = ActiveSession(X, strategy=InformationGain(), random_state=0)
    session.ask()
    assert session._planner._prepared is not None
    assert adjusted_rand_score(y, answered(X, y, InformationGain(), 20).labels()) > 0.9


def test_one_wrong_answer_takes_no_row_out_of_a_cluster_that_is_right_as_a_rule():
    """Five clusters apart are shown; a row is called the same as one of another cluster."""
    X, y = blobs(5, 20, spread=1.0, gap=12.0)
    session = answered(X, y, InformationGain(error_rate=0.1), 40)
    partitions = session._planner.partitions
    which = partitions.sizes.index(5)

    def leaving():
        return out_of_cells(session._planner.belief(session._knowledge), partitions, which)

    assert leaving() == {}
    home = session._planner.belief(session._knowledge).home
    row = next(row for row in np.flatnonzero(y == 0).tolist() if row not in home)
    others = [other for other in home if y[other] == 2]
    session.tell((row, others[0]), "same")
    assert leaving() == {}
    assert len(others) >= 3
    for other in others[1:]:  # three who agree know better
        session.tell((row, other), "same", despite_clash=True)
    home = session._planner.belief(session._knowledge).home
    assert leaving() == {row: home[others[0]]}


def test_how_often_pairs_of_a_clustering_are_called_the_same():
    points = np.array([[0.0], [0.1], [9.0], [9.1]])
    partitions = Partitions(np.repeat(points, 5, axis=0), np.ones(20), 0)  # two clusters
    heard = [Heard(0, 1, True, 0.0), Heard(2, 3, False, 0.0), Heard(0, 3, False, 0.0)]
    apart, together = called_same(partitions, 0, points, heard)
    assert np.isclose(apart, 1 / 6)  # 0 of 1, beside 1 of 5
    assert np.isclose(together, 3 / 5)  # 1 of 2, beside 2 of 3


def test_one_answer_does_not_change_which_unconstrained_clustering_is_shown():
    """Two clusters of two halves each: four are shown when enough is said about halves."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), 25)
    X = 0.3 * rng.normal(size=(100, 2)) + np.array([[0, 0], [0, 3], [20, 0], [20, 3]])[y]
    session = ActiveSession(X, random_state=0)
    before = session.labels()
    assert adjusted_rand_score(y > 1, before) == 1
    session.tell((0, 25), "different")
    assert adjusted_rand_score(y > 1, session.labels()) > 0.9
    for t in range(1, 8):
        session.tell((t, 25 + t), "different").tell((50 + t, 75 + t), "different")
    assert adjusted_rand_score(y, session.labels()) > 0.9
