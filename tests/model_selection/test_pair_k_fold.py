"""Folds that keep pairs whole or hold out pairs, and the score made of pairs."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from coterie import RCA, Constraints, DPMeans, PairKFold, PCKMeans, pair_score
from coterie.constraints import sample_pairs
from coterie.datasets import load
from coterie.exceptions import InvalidConstraints, InvalidParameter


@pytest.fixture(scope="module")
def iris():
    data = load("iris")
    return data.data, data.target, sample_pairs(data.target, 100, random_state=0)


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 1000), st.integers(2, 4))
def test_every_pair_is_held_out_once_and_trained_on_otherwise(seed, n_splits):
    known = sample_pairs(np.arange(30) % 3, 25, random_state=seed)
    X = np.arange(30)
    held = Constraints(30)
    for train, test in PairKFold(known, n_splits, random_state=seed).split(X):
        assert X[train].tolist() == list(range(30))
        scored = known[test]
        ends = X[test][scored.pairs]
        scored = Constraints.from_arrays(30, ends, scored.kind)
        assert known[train] + scored == known
        held = held + scored
        musts = (scored.kind > 0).sum()
        assert abs(musts - (known.kind > 0).sum() / n_splits) < 1.5
    assert held == known


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 1000))
def test_components_stay_whole_and_no_pair_is_lost(seed):
    rng = np.random.default_rng(seed)
    pairs = rng.permutation(60)[:40].reshape(-1, 2)
    known = Constraints(60, pairs[:10], pairs[10:])
    folds = list(PairKFold(known, 3, hold_out="components", random_state=0).split(np.zeros(60)))
    assert np.array_equal(np.sort(np.concatenate([test for _, test in folds])), np.arange(60))
    for train, test in folds:
        assert np.intersect1d(train, test).size == 0
        assert known[train].n_pairs + known.subset(test).n_pairs == 20
    assert max(test.size for _, test in folds) - min(test.size for _, test in folds) <= 4


def test_too_few_pairs_or_components_for_the_folds_are_refused():
    chain = Constraints(9, must_link=[(i, i + 1) for i in range(8)])
    with pytest.raises(InvalidConstraints, match="8 pairs"):
        list(PairKFold(chain, 9).split(np.zeros(9)))
    with pytest.raises(InvalidConstraints, match=r'1 components of pairs.*hold_out="pairs"'):
        list(PairKFold(chain, 2, hold_out="components").split(np.zeros(9)))
    with pytest.raises(InvalidParameter, match="hold_out"):
        PairKFold(chain, hold_out="rows")
    with pytest.raises(InvalidConstraints, match="9 rows but X has 8"):
        list(PairKFold(chain, 2).split(np.zeros(8)))


class Fixed:
    def __init__(self, labels):
        self.labels = labels

    def predict(self, X):
        return np.asarray(self.labels)


def test_the_score_weighs_both_kinds_alike():
    known = Constraints(
        5,
        must_link=[(0, 1), (1, 2), (3, 4)],
        cannot_link=[(0, 3)],
        must_weight=[1, 2, np.inf],
    )
    assert pair_score(Fixed([0, 0, 0, 0, 0]), None, constraints=known) == 0.5
    assert pair_score(Fixed([0, 0, 1, 2, 2]), None, constraints=known) == (2 / 4 + 1) / 2
    assert pair_score(Fixed([0, 0, 1, 2, 3]), None, constraints=known.only("must")) == 1 / 4
    assert np.isnan(pair_score(Fixed([0, 1]), None, constraints=Constraints(2)))


def test_the_score_without_constraints_says_how_to_hand_them_on():
    with pytest.raises(InvalidConstraints, match="enable_metadata_routing"):
        pair_score(Fixed([0, 1]), None)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_search_over_a_pipeline_finds_k_by_held_out_pairs(iris, n_jobs):
    X, _, known = iris
    search = GridSearchCV(
        make_pipeline(StandardScaler(), RCA(), PCKMeans(random_state=0)),
        {"pckmeans__n_clusters": [2, 3, 4]},
        scoring=pair_score,
        cv=PairKFold(known, 3, random_state=0),
        error_score="raise",
        n_jobs=n_jobs,
    )
    with sklearn.config_context(enable_metadata_routing=True):
        search.fit(X, constraints=known)
    assert search.best_params_ == {"pckmeans__n_clusters": 3}
    by_hand = []
    for train, test in PairKFold(known, 3, random_state=0).split(X):
        model = make_pipeline(StandardScaler(), RCA(), PCKMeans(3, random_state=0))
        model.fit(X, rca__constraints=known[train], pckmeans__constraints=known[train])
        by_hand.append(pair_score(model, X[test], constraints=known[test]))
    assert search.cv_results_["mean_test_score"][1] == pytest.approx(np.mean(by_hand))


def test_constraints_reach_folds_without_routing_too(iris):
    X, y, known = iris
    cv = KFold(4, shuffle=True, random_state=0)
    scores = cross_val_score(
        PCKMeans(3, random_state=0),
        X,
        y,
        params={"constraints": known},
        scoring="adjusted_rand_score",
        cv=cv,
    )
    for score, (train, test) in zip(scores, cv.split(X), strict=True):
        model = PCKMeans(3, random_state=0).fit(X[train], constraints=known.subset(train))
        assert score == sklearn.metrics.adjusted_rand_score(y[test], model.predict(X[test]))


def test_clusterers_without_pairs_ask_for_none():
    with sklearn.config_context(enable_metadata_routing=True):
        asked = PCKMeans().get_metadata_routing().fit.requests
        assert asked["constraints"] is True
        assert "constraints" not in DPMeans().get_metadata_routing().fit.requests
        assert "constraints" not in KMeans().get_metadata_routing().fit.requests
