"""InformationGain: its regression against the plain formula, and what it is for."""

from __future__ import annotations

import numpy as np
import pytest
from problems_active import answered, blobs

from coterie.active import ActiveSession, InformationGain, LabelOracle, answer_all
from coterie.active.information import features as features_module
from coterie.active.information import field as field_module
from coterie.active.information.belief import Belief
from coterie.active.information.features import Features
from coterie.active.information.field import Field
from coterie.active.information.probabilities import link_log_odds
from coterie.active.information.tally import log_odds
from coterie.active.query import Answer
from coterie.active.strategies.space import Space
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
    s = field_module._NOISE
    assert np.allclose(field.weights, np.linalg.solve(A.T @ A + s * np.eye(5), A.T @ Y))
    covariance = np.linalg.inv(np.eye(5) + A.T @ A / s)
    assert np.allclose(field.covariance, covariance)
    # influence = what placing a row takes from the mean variance of all rows
    now = np.einsum("ij,jk,ik->i", phi, covariance, phi).mean()
    for row in range(12):
        then = np.einsum("ij,jk,ik->i", phi, field.with_row(covariance, row), phi).mean()
        assert np.isclose(field.influence().each()[row], now - then)


def test_a_placed_row_is_seen_as_if_it_were_not_placed():
    phi = np.random.default_rng(2).normal(size=(9, 4))
    placed, own = [1, 4, 5, 8], [0, 1, 1, 0]
    field = _placed_field(phi, placed, own)
    everywhere = field.everywhere(np.array(placed), np.array(own))
    influence = field.influence().each(np.array(placed))
    for row, group in zip(placed, own, strict=True):
        others = [(r, g) for r, g in zip(placed, own, strict=True) if r != row]
        without = _placed_field(phi, *zip(*others, strict=True))
        assert np.allclose(field.at_row(row, group), phi[row] @ without.weights)
        assert np.allclose(everywhere[row], phi[row] @ without.weights)
        assert np.isclose(influence[row], without.influence().each()[row])
        field.remove(row, group)
        assert np.allclose(field.covariance, without.covariance)
        assert np.allclose(field.weights, without.weights)
        field.place(row, group)
    assert np.allclose(everywhere[0], phi[0] @ field.weights)


def _placed_field(phi, rows, groups):
    field = Field(phi)
    field.add_group()
    field.add_group()
    for row, group in zip(rows, groups, strict=True):
        field.place(row, group)
    return field


def test_link_odds_are_the_ratio_of_what_the_answers_are_worth_either_way():
    """Against summing the likelihood of every answer over every place of every row."""
    rng = np.random.default_rng(3)
    wrong, n_groups = 0.2, 3
    answers = rng.integers(-1, 2, size=(5, n_groups))  # −1 no, +1 yes, 0 not asked
    prior = rng.dirichlet(np.ones(n_groups + 1), size=5)

    def likelihood(row, one):
        total = 0.0
        for place in range(n_groups + 1):
            chance = prior[row, place]
            for group in np.flatnonzero(answers[row]):
                same = place == group or {place, group} == one
                chance *= 1 - wrong if same == (answers[row, group] > 0) else wrong
            total += chance
        return total

    odds = link_log_odds(prior[:, :-1], prior[:, -1], log_odds(wrong) * answers)
    for a, b in ((0, 1), (0, 2), (1, 2)):
        expected = sum(np.log(likelihood(row, {a, b}) / likelihood(row, set())) for row in range(5))
        assert np.isclose(odds[a, b], expected)
        assert np.isclose(odds[b, a], expected)


def test_votes_follow_rows_that_are_placed_moved_and_joined():
    """The running tally equals one counted from the answers at the end."""
    X, y = blobs(3, 25, spread=3.0, gap=4.0)
    strategy = InformationGain()
    oracle = LabelOracle(y, error_rate=0.25, random_state=1)
    session = answered(X, y, strategy, 50, oracle=oracle)
    rng = np.random.default_rng(0)
    for i, j in rng.integers(75, size=(40, 2)).tolist():  # volunteered: about placed rows too
        if i != j:
            session.tell((i, j), "same" if y[i] == y[j] else "different", despite_clash=True)
    belief = session._planner.belief(session._knowledge)
    tally = belief.tally
    net = np.zeros_like(tally.net)
    for answer in session._knowledge.of_pair.values():
        for layer, (row, other) in enumerate((answer.rows, answer.rows[::-1])):
            if other in belief.home:
                net[layer, tally.index[row], belief.home[other]] += answer.sign
    assert np.array_equal(tally.net, net)
    assert sorted(row for group in belief.groups for row in group) == sorted(belief.home)
    assert all(belief.home[row] == g for g, rows in enumerate(belief.groups) for row in rows)
    # rebuilt from its answers, a session believes the same
    again = strategy.prepare(session._planner.context).belief(session._knowledge)
    assert again.home == belief.home
    assert again.error_rate == belief.error_rate
    assert np.allclose(again.field.covariance, belief.field.covariance)


def test_the_error_rate_is_learned_from_contradictions():
    X, y = blobs(3, 30, spread=2.0, gap=8.0)
    found = {}
    for rate in (0.0, 0.2):
        oracle = LabelOracle(y, error_rate=rate, random_state=0)
        session = answered(X, y, InformationGain(), 80, oracle=oracle)
        found[rate] = session._planner._belief.error_rate
    assert found[0.0] < 1 / 50  # from where it starts it only falls
    assert 0.08 < found[0.2] < 0.3


def features_of(X):
    return Features(Space(X, SquaredEuclidean(), np.ones(len(X), dtype=bool)), 0)


def test_posterior_is_bayes_rule_over_prior_and_answers():
    features = features_of(np.random.default_rng(1).normal(size=(10, 4)))
    belief = Belief(features, error_rate=0.1, first=0)
    belief.learn(Answer(1, (1, 0), "different"))
    assert belief.home == {0: 0, 1: 1}  # there is nobody else to ask: a second group
    prior = belief.prior((features.of_anchors @ belief.field.weights)[5:6], None)[0]
    belief.learn(Answer(2, (5, 0), "different"))
    likelihood = np.array([0.1, 0.9, 0.9])  # P("different" | group 0, group 1, a new one)
    expected = prior * likelihood / (prior * likelihood).sum()
    assert np.allclose(belief.posterior(5), expected)
    assert np.isclose(prior.sum(), 1)


def test_a_certainty_counts_as_the_error_rate_of_that_answer():
    features = features_of(np.random.default_rng(1).normal(size=(6, 3)))
    stated = Belief(features, error_rate=0.3, first=0)
    told = Belief(features, error_rate=0.0, first=0)
    stated.learn(Answer(1, (1, 0), "different"))
    told.learn(Answer(1, (1, 0), "different", certainty=0.7))
    assert np.allclose(stated.posterior(1), told.posterior(1))
    assert stated.posterior(1)[0] > 0.01  # and not as certain as error_rate=0 says


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
    for rate in (0.0, 0.15, "estimate"):
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
                for seed in range(12)
            ]
        )
    for rate in (0.15, "estimate"):  # nobody has to know the rate
        assert scores[rate] > scores[0.0] + 0.1
        assert scores[rate] > 0.85


def test_groups_parted_by_a_wrong_answer_are_asked_about_and_joined():
    """One wrong "different" founds a group too many; nothing is left but to compare the groups."""
    X, y = blobs(2, 12)
    session = ActiveSession(X, strategy=InformationGain(0.1), random_state=0)
    first = None  # the first two rows of one cluster that are compared
    while (query := session.ask()) is not None:
        i, j = query.rows
        same = bool(y[i] == y[j])
        if same and first is None:
            first, same = query, False
        session.tell(query, "same" if same else "different", despite_clash=True)
    assert any(answer.phase == "link" for answer in session.history)
    assert session.n_found == 2
    assert adjusted_rand_score(y, session.labels()) == 1.0


def test_rows_beyond_the_anchors_get_the_clusters_of_their_surroundings(monkeypatch):
    monkeypatch.setattr(features_module, "_ANCHORS", 60)
    X, y = blobs(3, 100, spread=1.5)
    session = answered(X, y, InformationGain(), 15)
    assert adjusted_rand_score(y, session.labels()) > 0.98
    belief = session._planner.belief(session._knowledge)
    assert set(belief.home) <= set(belief.rows)
    again = InformationGain().prepare(session._planner.context)
    again.belief(session._knowledge)  # all at once: the same question
    assert again.questions(session._knowledge, 1) == session.ask(batch=1)


def test_questions_go_between_the_anchors_too(monkeypatch):
    """Where an anchor stands for several rows, the one that is worth most is asked about."""
    monkeypatch.setattr(features_module, "_ANCHORS", 40)
    X, y = blobs(2, 200, spread=3.0, gap=4.0)
    session = answered(X, y, InformationGain(), 30)
    anchors = session._planner.features.anchors
    asked = {row for a in session.history for row in a.rows}
    assert len(asked - set(anchors.tolist())) > 5


def test_a_small_group_far_away_has_an_anchor(monkeypatch):
    monkeypatch.setattr(features_module, "_ANCHORS", 40)
    X = np.random.default_rng(0).normal(size=(4000, 2))
    X[:4] += 50.0  # one row in a thousand: 30 drawn evenly hardly ever have one
    features = features_of(X)
    assert (features.anchors < 4).any()
    assert len(set(features.anchors.tolist())) == 40
    nearest = ((X[:, np.newaxis] - X[features.anchors]) ** 2).sum(axis=2).argmin(axis=1)
    share = np.bincount(nearest, minlength=40)
    assert np.allclose(features.described.share, share / share.mean())
    for at in range(40):
        around = features.around(at, 4000)
        assert set(around.tolist()) == set(np.flatnonzero(nearest == at)) - {features.anchors[at]}
        assert len(features.around(at, 8)) <= 8


def test_the_extension_reproduces_the_anchors(monkeypatch):
    """Nyström at an anchor gives the anchor's own coordinates; points keep the distances."""
    X, _ = blobs(3, 30)
    features = features_of(X)
    placed = features.describe(features.anchors)
    m = features._kernel.shape[1]
    assert np.allclose(placed.phi[:, -m:], features._kernel, atol=1e-6)
    assert np.allclose(placed.points, features.described.points, atol=1e-6)
    squared = ((X[:, np.newaxis] - X) ** 2).sum(axis=2)
    points = features.described.points
    assert np.allclose(((points[:, np.newaxis] - points) ** 2).sum(axis=2), squared)
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
    with pytest.raises(InvalidParameter, match="'estimate'"):
        ActiveSession(np.eye(3), strategy=InformationGain("guess"))
    with pytest.raises(InvalidData, match="row 0, column 0 is 1e"):
        ActiveSession(1e200 * np.eye(3), strategy=InformationGain())


def test_the_expected_gain_is_the_information_in_the_answer():
    X, y = blobs(3, 10)
    session = ActiveSession(X, strategy=InformationGain(0.2), random_state=0)
    for _ in range(10):
        query = session.ask()
        assert 0 <= query.expected_gain <= 1 - 0.7219 + 1e-3  # the capacity of a 20 % noisy answer
        session.tell(query, LabelOracle(y)(query).answer)
