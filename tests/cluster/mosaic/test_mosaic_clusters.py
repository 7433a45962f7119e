"""How many clusters Mosaic returns: as many as were asked for, or it says why not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale

from coterie import Constraints, Mosaic
from coterie.constraints import sample_pairs
from coterie.exceptions import CoterieWarning, InvalidParameter


def check_numbers(model, n_clusters):
    assert model.n_clusters_ == n_clusters
    assert np.unique(model.labels_).tolist() == list(range(n_clusters))
    assert model.field_weights_.shape[1] == n_clusters
    assert model.prototype_labels_.max() < n_clusters


class TestAskedFor:
    @pytest.mark.parametrize("k", [5, 10, 60, 170])
    def test_more_clusters_than_pairs_speak_of_come_back(self, k):
        X, y = load_wine(return_X_y=True)
        X, known = scale(X), sample_pairs(y, 80, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("error", CoterieWarning)
            model = Mosaic(k, random_state=0).fit(X, constraints=known)
        check_numbers(model, k)
        free = np.setdiff1d(np.arange(len(X)), known.pairs)
        assert (model.predict(X)[free] == model.labels_[free]).all()
        assert model.predict_proba(X).shape == (len(X), k)

    def test_nearly_as_many_as_rows(self):
        rng = np.random.default_rng(0)
        y = np.repeat(np.arange(300), 2)
        X = rng.normal(size=(300, 6))[y] + 0.05 * rng.normal(size=(600, 6))
        known = sample_pairs(y, 200, random_state=0)
        model = Mosaic(300, random_state=0).fit(X, constraints=known)
        check_numbers(model, 300)
        assert adjusted_rand_score(y, model.labels_) > 0.7

    def test_without_pairs_too(self):
        X, _ = make_blobs(100, random_state=0)
        check_numbers(Mosaic(90, random_state=0).fit(X), 90)

    def test_too_few_different_rows_are_said(self):
        X = np.repeat([[0.0, 0], [0, 1], [5, 5]], 10, axis=0)
        with pytest.warns(CoterieWarning, match="only 3 rows are different") as said:
            model = Mosaic(4, random_state=0).fit(X)
        assert len(said) == 1
        check_numbers(model, 3)
        assert model.predict(X).max() < 3

    def test_hard_pairs_are_kept_all_the_same(self):
        X, y = make_blobs(60, centers=3, random_state=0)
        first = [np.flatnonzero(y == k)[0] for k in range(3)]
        links = [(first[y[i]], i) for i in range(60) if i != first[y[i]]]
        hard = Constraints(60, must_link=links).as_hard()
        with pytest.warns(CoterieWarning, match="hard must-links"):
            model = Mosaic(5, random_state=0).fit(X, constraints=hard)
        assert len(model.violations_) == 0
        check_numbers(model, 3)


class TestAtMost:
    def test_fewer_come_back_than_there_may_be(self):
        X, y = make_moons(400, noise=0.06, random_state=0)
        known = sample_pairs(y, 200, random_state=0)
        model = Mosaic(None, max_clusters=6, random_state=0).fit(X, constraints=known)
        check_numbers(model, 2)

    def test_no_more_come_back_than_there_may_be(self):
        X, y = make_blobs(500, centers=6, cluster_std=0.5, random_state=1)
        known = sample_pairs(y, 800, random_state=0)
        assert Mosaic(None, random_state=0).fit(X, constraints=known).n_clusters_ > 3
        model = Mosaic(None, max_clusters=3, random_state=0).fit(X, constraints=known)
        assert model.n_clusters_ <= 3

    def test_both_are_too_many(self):
        X, y = make_moons(50, random_state=0)
        with pytest.raises(InvalidParameter, match="give one of the two"):
            Mosaic(2, max_clusters=3).fit(X, constraints=sample_pairs(y, 20, random_state=0))
        with pytest.raises(InvalidParameter, match="max_clusters"):
            Mosaic(None, max_clusters=1).fit(X, constraints=sample_pairs(y, 20, random_state=0))


class TestManyClusters:
    def test_hundreds_take_no_longer_than_a_few_k_means(self):
        X, y = make_blobs(3000, n_features=8, centers=200, cluster_std=1.0, random_state=0)
        known = sample_pairs(y, 3000, random_state=0)
        model = Mosaic(200, random_state=0).fit(X, constraints=known)
        check_numbers(model, 200)
        plain = KMeans(200, n_init=1, random_state=0).fit_predict(X)
        assert adjusted_rand_score(y, model.labels_) > adjusted_rand_score(y, plain) - 0.02
