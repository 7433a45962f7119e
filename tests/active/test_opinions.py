"""Classifiers that carry groups to all rows, how they are weighed, and what is thought of them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from problems_active import answered, blobs
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from coterie import PCKMeans
from coterie.active import ActiveSession, InformationGain
from coterie.active.forecast import foretell
from coterie.active.information import error_rate as rate_module
from coterie.active.information import opinions
from coterie.active.information.agreement import outlook, weighted_rand
from coterie.active.information.error_rate import estimate_rate
from coterie.active.information.opinions import Described, pooled
from coterie.active.information.partitions import Partitions


def rows_of(n=40, m=5, seed=0):
    rng = np.random.default_rng(seed)
    target = rng.integers(2, size=n)
    X = rng.normal(size=(n, m)) + 2.0 * target[:, np.newaxis]
    return Described(X, X, X, np.ones(n)), target


def test_the_regression_without_a_row_is_the_one_that_never_saw_it():
    rows, target = rows_of()
    at = np.arange(12)
    held = opinions._regression(rows, at, target[at], 2, 0.5).held_out
    for out in range(12):
        kept = np.delete(at, out)
        without = opinions._regression(rows, kept, target[kept], 2, 0.5)
        assert np.allclose(without.of(rows)[out], held[out])


def test_the_mixture_finds_round_clusters_from_one_row_each():
    X, y = blobs(3, 30, spread=1.0, gap=6.0)
    rows = Described(X, X, X, np.ones(90))
    at = np.array([np.flatnonzero(y == k)[0] for k in range(3)])
    chance = opinions._mixture(rows, at, np.arange(3), 3).of(rows)
    assert np.allclose(chance.sum(axis=1), 1)
    assert adjusted_rand_score(y, chance.argmax(axis=1)) > 0.95


@pytest.mark.parametrize("sparse", [False, True])
def test_trees_are_judged_by_rows_that_they_were_not_shown(sparse):
    """Groups that have nothing to do with the rows are learned by heart, and not foretold."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    target = rng.integers(2, size=60)
    rows = Described(X, X, sp.csr_array(X) if sparse else X, np.ones(60))
    found = opinions._trees(rows, np.arange(60), target, 2, 0)
    assert (found.of(rows).argmax(axis=1) == target).mean() > 0.95
    assert (found.held_out.argmax(axis=1) == target).mean() < 0.7
    assert np.allclose(found.held_out.sum(axis=1), 1)


def test_who_foretells_rows_is_believed():
    """Only the third of twelve columns says the group: trees see it, distances do not."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 12))
    target = (X[:, 2] > 0).astype(np.int64)
    X[:, 2] *= 0.5
    noise = rng.normal(size=(80, 6))
    pool = pooled(
        Described(noise, noise, X, np.ones(80)), np.arange(60), target[:60], np.arange(2), 2, 0
    )
    assert pool.weights.argmax() == 3
    assert np.isclose(pool.weights.sum(), 1)


def test_weights_are_the_most_probable_ones():
    """Against a grid over two classifiers."""
    own = np.random.default_rng(0).uniform(0.05, 1, size=(30, 2))
    grid = np.linspace(0.001, 0.999, 1999)
    score = np.log(own[:, :1] * grid + own[:, 1:] * (1 - grid)).sum(axis=0)
    score += opinions._PRIOR * (np.log(grid) + np.log(1 - grid))
    assert np.isclose(opinions._weights(own)[0], grid[score.argmax()], atol=2e-3)


def test_the_pool_shares_one_minus_the_weight_of_the_field_and_follows_joined_groups():
    rows, target = rows_of()
    groups = np.array([1, 4])  # of six; the others have no rows
    pool = pooled(rows, np.arange(20), groups[target[:20]], groups, 6, 0)
    assert np.allclose(pool.of_anchors.sum(axis=1), 1 - pool.weights[0])
    assert not pool.of_anchors[:, [0, 2, 3, 5]].any()
    assert np.allclose(pool.of(rows)[20:], pool.of_anchors[20:])
    joined = pool.merged(1, 4)
    assert np.allclose(joined.of_anchors[:, 1], pool.of_anchors.sum(axis=1))
    assert np.allclose(joined.of(rows)[:, 1], pool.of(rows).sum(axis=1))
    assert not joined.of_anchors[:, 4].any()
    assert pool.merged(1, 7) is pool  # a group that came later


def test_the_error_rate_is_bayes_rule_with_places_summed_out():
    rng = np.random.default_rng(2)
    prior = rng.dirichlet(np.ones(4), size=6)
    yes, no = rng.integers(3, size=(2, 6, 3))
    chances = []
    for rate in rate_module._RATES:
        total = (1 - rate) ** 19  # the prior
        for x in range(6):
            likelihood = 0.0
            for place in range(4):
                one = prior[x, place]
                for group, said in product(range(3), (1, -1)):
                    count = (yes if said > 0 else no)[x, group]
                    right = (place == group) == (said > 0)
                    one *= (1 - rate if right else rate) ** count
                likelihood += one
            total *= likelihood
        chances.append(total)
    expected = np.average(rate_module._RATES, weights=chances)
    found = estimate_rate(
        prior, (yes - no).astype(float), (yes + no).astype(float), np.zeros((6, 3))
    )
    assert np.isclose(found, expected)


def test_weighted_rand_is_the_rand_index_of_copies():
    rng = np.random.default_rng(0)
    a, b = rng.integers(3, size=(2, 12))
    assert np.isclose(weighted_rand(a, b, np.ones(12)), adjusted_rand_score(a, b))
    # A row of weight 2 is two rows whose own pair does not count.
    weight = np.ones(12)
    weight[3] = 2.0
    copied_a, copied_b = np.append(a, a[3]), np.append(b, b[3])
    both = np.ones((13, 13)) - np.eye(13)
    both[3, 12] = both[12, 3] = 0.0
    same_a, same_b = (v[:, np.newaxis] == v for v in (copied_a, copied_b))
    n, hit = both.sum(), (both * same_a * same_b).sum()
    in_a, in_b = (both * same_a).sum(), (both * same_b).sum()
    expected = in_a * in_b / n
    assert np.isclose(
        weighted_rand(a, b, weight), (hit - expected) / ((in_a + in_b) / 2 - expected)
    )
    assert weighted_rand(np.zeros(4, int), np.zeros(4, int), np.ones(4)) == 0.0


def test_few_answers_do_not_undo_what_is_plain_without_them():
    """Six clusters that lie apart, three wrong answers: the plain clustering is shown."""
    X, y = blobs(6, 25, spread=1.0, gap=8.0)
    session = ActiveSession(X, strategy=InformationGain(), random_state=0)
    assert adjusted_rand_score(y, session.labels()) > 0.95  # no answer at all
    for _ in range(3):
        query = session.ask()
        i, j = query.rows
        session.tell(query, "different" if y[i] == y[j] else "same")
    assert adjusted_rand_score(y, session.labels()) > 0.9
    for answer in session.history:  # rows that were asked about are where answers say
        same = session.labels()[answer.rows[0]] == session.labels()[answer.rows[1]]
        assert same == (answer.answer == "same")


def test_answers_that_prove_themselves_take_over():
    """Classes that K-Means cannot find: left and right of many columns of points."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(200, 2)) * [1.0, 12.0]
    y = (X[:, 0] > 0.5).astype(int)
    X[:, 0] += y * 0.3
    session = answered(X, y, InformationGain(), 60)
    belief = session._planner.belief(session._knowledge)
    found = outlook(belief, session._planner.partitions)
    assert found.partition is None
    assert abs(found.agreement - adjusted_rand_score(y, session.labels())) < 0.2
    assert adjusted_rand_score(y, session.labels()) > 0.7


def test_one_lucky_answer_does_not_choose_the_clustering_that_is_shown():
    """Of 50 answers two are "same": 100 clusters happen to explain both, 17 only one of them."""
    X, y = load_digits(return_X_y=True)
    chosen = np.random.default_rng(0).permutation(len(y))[:600]
    X, y = StandardScaler().fit_transform(X[chosen]), y[chosen]
    session = answered(X, y, InformationGain(), 50)
    assert adjusted_rand_score(y, session.labels()) > 0.45  # 0.21 by 100 clusters
    assert np.unique(session.labels()).size < 50


def test_partitions_of_few_or_equal_rows():
    assert Partitions(np.zeros((30, 2)), np.ones(30), 0).merit.size == 0
    assert Partitions(np.arange(6.0)[:, np.newaxis], np.ones(6), 0).merit.size == 0
    assert Partitions(np.arange(10.0)[:, np.newaxis], np.ones(10), 0).merit.tolist() == [1.0]


def test_a_forecast_goes_on_as_estimates_grew_and_ends_at_one():
    flat = foretell([(50, 0.6), (100, 0.6), (200, 0.6), (400, 0.6)], 20)
    steep = foretell([(50, 0.1), (100, 0.3), (200, 0.5), (400, 0.7)], 20)
    assert flat.now == 0.6
    assert 0 < flat.gain < steep.gain < 0.7
    assert foretell([(16, 0.2), (200, 1.0)], 20).then == 1.0
    assert foretell([(10, 0.9)], 1000).then < 1.0
    falling = foretell([(500, 0.9), (1000, 0.7), (2000, 0.5)], 20)
    assert falling.then == falling.now == 0.5
    assert "the clusters are at about 0.60; 20 more answers: about 0.6" in str(flat)


def test_a_session_says_what_more_answers_would_bring():
    X, y = blobs(3, 20)
    session = ActiveSession(X, strategy=InformationGain(), random_state=0)
    assert session.expected_gain is None  # nobody has answered
    session = answered(X, y, InformationGain(), 25)
    assert session.expected_gain.now > 0.75
    assert session.expected_gain.answers == 20
    by_estimator = answered(X, y, InformationGain(), 5, estimator=PCKMeans(3, random_state=0))
    assert by_estimator.expected_gain is None  # the clusters are not the strategy's own
