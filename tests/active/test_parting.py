"""Groups that are two after all, and answers read again."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from problems_active import answered, blobs

from coterie.active import ActiveSession, InformationGain, LabelOracle
from coterie.active.information.parting import best_parting
from coterie.active.milestones import is_milestone, milestones
from coterie.metrics import adjusted_rand_score


def best_of_all(evidence, alike):
    """By trying every parting around every two members that were called different."""
    g = len(evidence)
    pairs = [(u, v) for u in range(g) for v in range(u + 1, g) if evidence[u, v] < 0]
    best = -np.inf
    for u, v in pairs:
        proposed = alike[:, v] > alike[:, u]
        proposed[[u, v]] = False, True
        for rest in product((False, True), repeat=g):
            side = np.array(rest)
            if 0 < side.sum() < g:
                odds = -evidence[np.ix_(~side, side)].sum()
                best = max(best, odds - np.log(g) * (side != proposed).sum() - np.log(len(pairs)))
    return best


@pytest.mark.parametrize("seed", range(20))
def test_partings_are_about_the_best_there_are(seed):
    rng = np.random.default_rng(seed)
    place = np.sort(rng.random(7)) + np.repeat([0, 0.5], [3, 4])  # two lumps, not quite apart
    alike = -np.abs(place[:, None] - place)
    truth = np.where((np.arange(7) < 3)[:, None] == (np.arange(7) < 3), 1.0, -1.0)
    flips = np.where(rng.random((7, 7)) < 0.1, -1, 1)
    known = rng.random((7, 7)) < 0.6
    evidence = np.triu(2.2 * truth * flips * known, 1)
    evidence += evidence.T
    assert (evidence < 0).any()
    away, odds = best_parting(evidence, alike)
    best = best_of_all(evidence, alike)
    assert 0 < away.sum() <= 3
    assert best - 2.2 <= odds <= best + 1e-9  # within one answer of it


def test_geometry_decides_where_answers_are_silent():
    evidence = np.zeros((4, 4))
    evidence[0, 1] = evidence[1, 0] = -3.0
    alike = np.array([[1, 0, 0.9, 0], [0, 1, 0.1, 0.8], [0.9, 0.1, 1, 0], [0, 0.8, 0, 1]])
    away, odds = best_parting(evidence, alike)
    assert odds == 3.0
    assert {tuple(np.flatnonzero(away)), tuple(np.flatnonzero(~away))} == {(0, 2), (1, 3)}


def classes(session, y, count):
    """Rows of the class of the row that founds the first group, that row first; and others."""
    founder = session.ask().rows[1]
    own = [founder, *np.flatnonzero((y == y[founder]) & (np.arange(y.size) != founder))]
    return own[:count], np.flatnonzero(y != y[founder])[:count]


def test_groups_joined_by_a_wrong_answer_are_parted_by_later_ones():
    X, y = blobs(2, 30, seed=1)
    session = ActiveSession(X, strategy=InformationGain(), random_state=0)
    a, b = classes(session, y, 8)
    session.tell((a[0], b[0]), "same")  # the wrong one
    for rows in (a, b):
        for row in rows[1:]:
            session.tell((row, rows[0]), "same", despite_clash=True)
    assert session.n_found == 1
    for k in range(1, 5):
        assert session.n_found == 1
        session.tell((a[k], b[k]), "different", despite_clash=True)
        if session.n_found == 2:
            break
    assert session.n_found == 2
    assert k > 1  # one answer against one is not enough
    assert adjusted_rand_score(y, session.labels()) == 1.0


def test_one_contradiction_parts_nothing():
    X, y = blobs(2, 30, seed=1)
    session = ActiveSession(X, strategy=InformationGain(), random_state=0)
    a, _ = classes(session, y, 8)
    for row in a[1:]:
        session.tell((row, a[0]), "same")
    session.tell((a[2], a[1]), "same").tell((a[2], a[3]), "same")
    session.tell((a[2], a[4]), "different", despite_clash=True)
    assert session.n_found == 1


def test_rows_are_thought_over_the_same_way_whether_answers_come_one_by_one_or_at_once():
    X, y = blobs(3, 25, spread=2.0, gap=8.0)
    oracle = LabelOracle(y, error_rate=0.2, random_state=1)
    session = answered(X, y, InformationGain(), 40, oracle=oracle)
    planner, knowledge = session._planner, session._knowledge
    belief = planner.belief(knowledge)
    at_once = InformationGain().prepare(planner.context)
    again = at_once.belief(knowledge)
    assert again.home == belief.home
    assert again.error_rate == belief.error_rate
    assert np.array_equal(again.pool.of_anchors, belief.pool.of_anchors)


def test_a_row_that_a_wrong_answer_placed_finds_its_place_when_all_is_thought_over():
    """Its answer says one group, where it lies another, and answers are often wrong."""
    X, y = blobs(2, 30, seed=1)
    session = ActiveSession(X, strategy=InformationGain(0), random_state=0)
    a, b = classes(session, y, 8)
    session.tell((b[0], a[0]), "different")
    for rows in (a, b):
        for row in rows[1:7]:
            session.tell((row, rows[0]), "same", despite_clash=True)
    session.tell((b[7], a[0]), "same", despite_clash=True)  # the wrong one
    belief = session._planner.belief(session._knowledge)
    assert belief.home[b[7]] == belief.home[a[0]]
    belief.error_rate = belief._given_rate = 0.2
    belief.think_over()
    assert belief.home[b[7]] == belief.home[b[0]]


def test_milestones_are_reached():
    reached = [count for count in range(1, 200) if is_milestone(count)]
    assert reached == milestones(199) == [16, 20, 25, 31, 39, 48, 61, 76, 95, 119, 149, 186]
