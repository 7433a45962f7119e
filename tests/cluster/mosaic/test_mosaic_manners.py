"""Mosaic among other estimators: transform, score, numbers that stay, fits that go on."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from coterie import Constraints, Mosaic
from coterie.cluster.mosaic.tuning import Tuning
from coterie.constraints import sample_pairs
from coterie.data import use_threads
from coterie.exceptions import InfeasibleConstraints


class TestTransform:
    def test_it_is_what_predict_looks_at(self):
        X, y = make_moons(300, noise=0.1, random_state=0)
        model = Mosaic(2, random_state=0).fit(X, constraints=sample_pairs(y, 80, random_state=0))
        field = model.transform(X)
        assert (field.argmax(axis=1) == model.predict(X)).all()
        assert field.shape == (300, 2)
        assert list(model.get_feature_names_out()) == ["mosaic0", "mosaic1"]


class TestScore:
    def test_it_is_the_mean_log_probability_of_the_pairs(self):
        X, y = make_moons(200, noise=0.2, random_state=0)
        model = Mosaic(2, random_state=0).fit(X, constraints=sample_pairs(y, 60, random_state=0))
        new = Constraints(
            200,
            must_link=[(0, 1), (2, 3)],
            cannot_link=[(4, 5)],
            must_certainty=[0.8, np.nan],
            cannot_weight=2.0,
        )
        chance, total, count = model.predict_proba(X), 0.0, 0.0
        for (i, j), kind, weight, sure in zip(
            new.pairs, new.kind, new.weight, new.certainty, strict=True
        ):
            wrong = model.noise_ if np.isnan(sure) else 1 - sure
            same = sum(chance[i, k] * chance[j, k] for k in range(2))
            agree = same if kind > 0 else 1 - same
            total += weight * np.log((1 - wrong) * agree + wrong * (1 - agree))
            count += weight
        assert model.score(X, constraints=new) == pytest.approx(total / count)
        assert model.score(X) == 0.0

    def test_the_right_number_of_clusters_scores_best(self):
        X, y = make_blobs(400, centers=4, cluster_std=0.8, random_state=2)
        known, held = (sample_pairs(y, 300, random_state=seed) for seed in (0, 1))
        scores = {
            k: Mosaic(k, random_state=0).fit(X, constraints=known).score(X, constraints=held)
            for k in (2, 4, 8)
        }
        assert max(scores, key=scores.get) == 4


class TestNumbers:
    def test_clusters_are_numbered_by_their_first_rows(self):
        X, y = make_blobs(200, centers=5, random_state=0)
        for seed in range(3):
            known = sample_pairs(y, 50, random_state=seed)
            labels = Mosaic(5, random_state=seed).fit_predict(X, constraints=known)
            _, first = np.unique(labels, return_index=True)
            assert (np.diff(first) > 0).all()

    def test_after_new_answers_rows_keep_their_numbers(self):
        X, y = make_blobs(400, centers=8, cluster_std=0.9, random_state=3)
        model = Mosaic(8, random_state=0, warm_start=True)
        before = model.fit(X, constraints=sample_pairs(y, 40, random_state=0)).labels_
        model.set_params(random_state=1)
        after = model.fit(X, constraints=sample_pairs(y, 400, random_state=1)).labels_
        company = adjusted_rand_score(before, after)
        assert (before == after).mean() > company - 0.02
        assert (model.predict(X) == after).mean() > 0.9

    def test_another_number_of_clusters_or_rows_is_no_obstacle(self):
        X, y = make_blobs(200, centers=4, random_state=0)
        known = sample_pairs(y, 100, random_state=0)
        model = Mosaic(6, random_state=0, warm_start=True).fit(X, constraints=known)
        for k in (3, 7):
            model.set_params(n_clusters=k).fit(X, constraints=known)
            assert np.unique(model.labels_).tolist() == list(range(k))
        half = sample_pairs(y[:100], 50, random_state=0)
        assert model.set_params(n_clusters=4).fit(X[:100], constraints=half).labels_.size == 100


class TestManyRows:
    """Beyond a number of rows, those in pairs and a sample of the others teach."""

    class Small(Mosaic):
        tuning = Tuning(most_features=1_000 * 1_000)  # 1,000 rows

    def test_all_rows_are_placed_and_pairs_have_their_own_rows(self):
        X, y = make_moons(6_000, noise=0.08, random_state=0)
        known = sample_pairs(y, 200, noise=0.1, random_state=0)
        model = self.Small(2, random_state=0).fit(X, constraints=known)
        assert adjusted_rand_score(y, model.labels_) > 0.95
        free = np.setdiff1d(np.arange(6_000), known.pairs)
        assert (model.predict(X)[free] == model.labels_[free]).all()
        given = {tuple(pair) for pair in known.pairs.tolist()}
        for table in (model.suspect_pairs(20), model.violations_):
            assert {(i, j) for i, j in zip(table.i, table.j, strict=True)} <= given
        wrong = model.labels_[known.pairs[:, 0]] == model.labels_[known.pairs[:, 1]]
        assert len(model.violations_) == (wrong != (known.kind > 0)).sum()

    def test_hard_pairs_are_kept_and_impossible_ones_named_by_their_rows(self):
        X, y = make_moons(3_000, noise=0.08, random_state=0)
        hard = sample_pairs(y, 100, random_state=0).as_hard()
        assert len(self.Small(2, random_state=0).fit(X, constraints=hard).violations_) == 0
        triangle = Constraints(3_000, cannot_link=[(100, 2000), (2000, 2900), (100, 2900)])
        with pytest.raises(InfeasibleConstraints) as caught:
            self.Small(2, random_state=0).fit(X, constraints=triangle.as_hard())
        assert np.unique(caught.value.conflict.pairs).tolist() == [100, 2000, 2900]

    def test_rows_of_pairs_that_taught_nothing_hear_their_pairs(self):
        """More rows are in pairs than teach: the others are placed under their pairs afterwards."""
        X, y = make_moons(6_000, noise=0.25, random_state=0)
        known = sample_pairs(y, 3_000, random_state=0)
        model = self.Small(2, random_state=0).fit(X, constraints=known)
        assert adjusted_rand_score(y, model.labels_) > 0.85
        inside = np.unique(known.pairs)
        assert (model.labels_[inside] != model.predict(X)[inside]).sum() > 100
        together = model.labels_[known.pairs[:, 0]] == model.labels_[known.pairs[:, 1]]
        broken = together != (known.kind > 0)
        assert len(model.violations_) == broken.sum() < 0.02 * known.n_pairs
        hard = self.Small(2, random_state=0).fit(X, constraints=known.as_hard())
        assert len(hard.violations_) == 0

    def test_impossible_pairs_that_taught_nothing_are_named_by_their_rows(self):
        X, y = make_moons(6_000, noise=0.1, random_state=0)
        known = sample_pairs(y, 3_000, random_state=0)
        taken = np.setdiff1d(np.arange(6_000), known.pairs)[:3]
        triangle = Constraints(6_000, cannot_link=[taken[[0, 1]], taken[[1, 2]], taken[[0, 2]]])
        with pytest.raises(InfeasibleConstraints) as caught:
            self.Small(2, random_state=0).fit(X, constraints=known + triangle.as_hard())
        assert np.unique(caught.value.conflict.pairs).tolist() == taken.tolist()

    @pytest.mark.parametrize("kind", ["position", "shapes"])
    def test_pilots_of_some_rows_decide_for_all(self, kind):
        """Clusters by position come from the pilot's rows, shapes are learned from all."""

        class Scouted(Mosaic):
            tuning = Tuning(pilot_rows=1_000)

        if kind == "shapes":
            X, y = make_moons(4_000, noise=0.08, random_state=0)
        else:
            X, y = make_blobs(4_000, centers=2, random_state=0, cluster_std=0.5)
        known = sample_pairs(y, 1_000, noise=0.1, random_state=0)
        model = Scouted(2, random_state=0).fit(X, constraints=known)
        assert adjusted_rand_score(y, model.labels_) > 0.9
        assert (len(model.prototypes_) == 2) == (kind == "position")
        assert 0.05 < model.noise_ < 0.15
        with use_threads(2):
            again = Scouted(2, random_state=0).fit(X, constraints=known)
        assert np.array_equal(again.labels_, model.labels_)
        assert np.array_equal(again.field_weights_, model.field_weights_)
        given = {tuple(pair) for pair in known.pairs.tolist()}
        table = model.suspect_pairs(50)
        assert {(i, j) for i, j in zip(table.i, table.j, strict=True)} <= given
        right = (y[table.i] == y[table.j]) == (table.kind > 0)
        assert right.mean() < 0.1

    def test_memory_does_not_grow_with_the_pairs(self):
        """Rows in pairs beyond those that teach have no features."""
        X, y = make_moons(40_000, noise=0.08, random_state=0)
        known = sample_pairs(y, 20_000, random_state=0)
        self.Small(2, random_state=0).fit(X[:2000], constraints=known.subset(range(2000)))
        tracemalloc.start()
        self.Small(2, random_state=0).fit(X, constraints=known)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 60e6

    def test_memory_does_not_grow_with_the_rows(self):
        """Beyond the rows: a label and a few numbers a row, not its features."""
        X, y = make_moons(40_000, noise=0.08, random_state=0)
        known = sample_pairs(y, 200, random_state=0)
        model = self.Small(2, random_state=0).fit(X[:2000], constraints=known.subset(range(2000)))
        tracemalloc.start()
        model.fit(X, constraints=known)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 40e6  # features of 40,000 rows at 1,000 prototypes are 160 MB
