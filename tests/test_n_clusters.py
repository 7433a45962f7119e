"""The number of clusters by held-out pairs."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from coterie import PPC, Constraints, DPMeans, PCKMeans, choose_n_clusters
from coterie.constraints import sample_pairs
from coterie.exceptions import InvalidConstraints, InvalidParameter


@pytest.fixture(scope="module")
def blobs():
    centers = 6.0 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
    X, y = make_blobs([60, 40, 30, 20], 2, centers=centers, cluster_std=0.8, random_state=2)
    return X, y, sample_pairs(y, 120, random_state=0)


def test_the_true_number_is_found(blobs):
    X, _, known = blobs
    model = PCKMeans()
    chosen = choose_n_clusters(model, X, [6, 2, 3, 4, 5], constraints=known)
    assert chosen.n_clusters == 4
    assert chosen.candidates.tolist() == [2, 3, 4, 5, 6]
    assert chosen.scores.shape == (5, 5)
    assert chosen.scores[2].min() > 0.99
    assert not hasattr(model, "labels_")
    frame = chosen.to_frame()
    assert frame["n_clusters"].tolist() == [2, 3, 4, 5, 6]
    assert frame["score"].idxmax() == 2
    again = choose_n_clusters(model, X, [2, 3, 4, 5, 6], constraints=known)
    np.testing.assert_array_equal(again.scores, chosen.scores)


def test_an_estimator_by_another_name(blobs):
    X, _, known = blobs
    assert choose_n_clusters(PPC(), X, [2, 4], constraints=known, folds=2).n_clusters == 4


def test_the_estimator_is_told_of_exclusive_groups(blobs):
    X, y, known = blobs
    rows = [int(np.flatnonzero(y == label)[0]) for label in range(3)]
    told = []

    class Told(PCKMeans):
        def fit(self, X, y=None, *, constraints=None, sample_weight=None):
            told.append(constraints.exclusive.listed())
            return super().fit(X, y, constraints=constraints, sample_weight=sample_weight)

    choose_n_clusters(Told(), X, [3], constraints=known + Constraints(len(X), exclusive=[rows]))
    assert told == [[sorted(rows)]] * 5


def test_pairs_that_the_others_imply_are_not_asked_about():
    """Every pair of two groups, and between them: whatever is held out is known all the same."""
    X = np.random.default_rng(0).normal(size=(24, 2))
    known = Constraints.from_labels(np.repeat([0, 1], 12)).entailed().as_soft()
    with pytest.raises(InvalidConstraints, match="follows from the others"):
        choose_n_clusters(PCKMeans(), X, [2, 3], constraints=known)


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"candidates": []}, InvalidParameter, "candidates"),
        ({"candidates": [0]}, InvalidParameter, "candidates"),
        ({"estimator": DPMeans()}, InvalidParameter, "finds the number"),
        ({"folds": 1}, InvalidParameter, "folds"),
        ({"constraints": None}, InvalidConstraints, "0 must-links are too few"),
    ],
)
def test_bad_input(blobs, wrong, error, message):
    X, _, known = blobs
    given = {"estimator": PCKMeans(), "candidates": [2, 3], "constraints": known} | wrong
    with pytest.raises(error, match=message):
        choose_n_clusters(given.pop("estimator"), X, given.pop("candidates"), **given)
