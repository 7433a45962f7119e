"""InformationGain: its regression against the plain formula, and what it is for."""

from __future__ import annotations

import numpy as np
import pytest
from problems_active import answered, blobs

from coterie.active import ActiveSession, InformationGain, LabelOracle, answer_all
from coterie.active import _belief as belief_module
from coterie.active import _features as features_module
from coterie.active._belief import Belief, Field
from coterie.active._features import Features
from coterie.active.query import Answer
from coterie.active.space import Space
from coterie.distortions import SquaredEuclidean
from coterie.exceptions import InvalidData, InvalidParameter
from coterie.metrics import adjusted_rand_score


def test_the_field_is_ridge_regression_on_the_placed_rows():
    rng = np.random.default_rng(0)
    phi = rng.normal(size=(12, 5))
    field = Field(phi)
    field.add_group()
    field.add_group()
    placed = [(3, 0), (7, 1), (8, 1), (0, 0)]
    for row, group in placed:
        field.place(row, group)
    A = phi[[row for row, _ in placed]]
    Y = np.eye(2)[[group for _, group in placed]]
    s = belief_module._NOISE
    assert np.allclose(field.weights, np.linalg.solve(A.T @ A + s * np.eye(5), A.T @ Y))
    covariance = np.linalg.inv(np.eye(5) + A.T @ A / s)
    assert np.allclose(field.covariance, covariance)
    # influence = what placing a row takes from the mean variance of all rows
    now = np.einsum("ij,jk,ik->i", phi, covariance, phi).mean()
    for row in range(12):
        then = np.einsum("ij,jk,ik->i", phi, field.covariance_with(row), phi).mean()
        assert np.isclose(field.influence(field.covariance)[row], now - then)


def test_posterior_is_bayes_rule_over_prior_and_answers():
    rng = np.random.default_rng(1)
    phi = rng.normal(size=(10, 4))
    belief = Belief(phi, {row: row for row in range(10)}, error_rate=0.1, first=0)
    belief.learn(Answer(1, (1, 0), "different"))
    while 1 not in belief.home:  # a second group, however often it has to be asked
        belief._found(1)
    prior = belief.prior((phi @ belief.field.weights)[5:6])[0]
    belief.learn(Answer(2, (5, 0), "different"))
    likelihood = np.array([0.1, 0.9, 0.9])  # P("different" | group 0, group 1, a new one)
    expected = prior * likelihood / (prior * likelihood).sum()
    assert np.allclose(belief.posterior(5), expected)
    assert np.isclose(prior.sum(), 1)


def test_a_certainty_counts_as_the_error_rate_of_that_answer():
    phi = np.random.default_rng(1).normal(size=(6, 3))
    at = {row: row for row in range(6)}
    stated = Belief(phi, at, error_rate=0.3, first=0)
    told = Belief(phi, at, error_rate=0.0, first=0)
    sure = told._strength(Answer(1, (1, 0), "same", certainty=0.7))
    assert np.isclose(stated._strength(Answer(1, (1, 0), "same")), sure)


def test_volunteered_answers_join_groups():
    X, y = blobs(3, 10)
    session = answered(X, y, InformationGain(), 6)
    a, b = np.flatnonzero(y == 0)[-2:].tolist()
    session.tell((a, b), "same")
    labels = session.labels()
    assert labels[a] == labels[b]
    answer_all(session, LabelOracle(y), max_questions=20)
    assert adjusted_rand_score(y, session.labels()) == 1.0


def test_clusters_are_found_without_being_told_how_many():
    for k in (1, 2, 5):
        X, y = blobs(k, 12, seed=k)
        session = answered(X, y, InformationGain(), 30)
        assert len(set(session.labels().tolist())) == k
        assert adjusted_rand_score(y, session.labels()) == 1.0


def test_wrong_answers_are_outvoted_where_they_are_expected():
    X, y = blobs(3, 25, spread=2.0, gap=8.0)
    scores = {}
    for rate in (0.0, 0.15):
        scores[rate] = np.mean(
            [
                adjusted_rand_score(
                    y,
                    answer_all(
                        ActiveSession(X, strategy=InformationGain(rate), random_state=0),
                        LabelOracle(y, error_rate=0.15, random_state=seed),
                        max_questions=60,
                    ).labels(),
                )
                for seed in range(4)
            ]
        )
    assert scores[0.15] > scores[0.0] + 0.1
    assert scores[0.15] > 0.85


def test_rows_beyond_the_anchors_get_the_clusters_of_their_surroundings(monkeypatch):
    monkeypatch.setattr(features_module, "_ANCHORS", 60)
    X, y = blobs(3, 100, spread=1.5)
    session = answered(X, y, InformationGain(), 15)
    assert adjusted_rand_score(y, session.labels()) > 0.98
    asked = {row for a in session.history for row in a.rows}
    assert asked <= set(session._planner.features.anchors.tolist())


def test_the_extension_reproduces_the_anchors(monkeypatch):
    """Nyström at an anchor gives the anchor's own kernel coordinates."""
    X, _ = blobs(3, 30)
    space = Space(X, SquaredEuclidean(), np.ones(90, dtype=bool))
    features = Features(space, 0)
    placed = features._place(features._distances(features.anchors))
    m = features._kernel.shape[1]
    assert np.allclose(placed[:, -m:], features._kernel, atol=1e-6)
    assert np.isclose((features.of_anchors**2).sum(axis=1).mean(), 1)


@pytest.mark.parametrize(
    "X",
    [
        np.zeros((6, 2)),  # all rows alike
        np.repeat(np.eye(3), 4, axis=0),  # duplicates
        np.array([[0.0], [1.0]]),
        np.array([[0.0], [1e200], [-1e200], [5.0]]) * 1e-60,
    ],
    ids=["constant", "duplicates", "two rows", "huge"],
)
def test_awkward_rows(X):
    y = np.arange(len(X)) % 2
    session = answered(X, y, InformationGain(), 40)
    assert session.done
    assert adjusted_rand_score(y, session.labels()) == 1.0  # every row was asked about


def test_what_cannot_be_measured_or_believed_is_refused():
    with pytest.raises(InvalidParameter, match=r"below 0\.5"):
        ActiveSession(np.eye(3), strategy=InformationGain(0.5))
    with pytest.raises(InvalidData, match="row 0, column 0 is 1e"):
        ActiveSession(1e200 * np.eye(3), strategy=InformationGain())


def test_the_expected_gain_is_the_information_in_the_answer():
    X, y = blobs(3, 10)
    session = ActiveSession(X, strategy=InformationGain(0.2), random_state=0)
    for _ in range(10):
        query = session.ask()
        assert 0 <= query.expected_gain <= 1 - 0.7219 + 1e-3  # the capacity of a 20 % noisy answer
        session.tell(query, LabelOracle(y)(query).answer)
