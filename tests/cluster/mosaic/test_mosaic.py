"""Mosaic as a whole: shapes, hard pairs, noise, the number of clusters, new rows, bad input."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

from coterie.cluster import Mosaic
from coterie.cluster.mosaic import search
from coterie.cluster.mosaic.space import MosaicSpace
from coterie.constraints import Constraints
from coterie.data import ProcessEngine, engine, use_threads
from coterie.exceptions import InfeasibleConstraints, InvalidData, InvalidParameter
from reference import mosaic as naive


def random_pairs(groups, count, rng, flip=0.0, **options):
    """Random distinct pairs of their true kind, a share `flip` of them turned; and which."""
    n = len(groups)
    code = rng.choice(n * (n - 1) // 2, count, replace=False)
    j = np.floor((1 + np.sqrt(1 + 8.0 * code)) / 2).astype(int)
    pairs = np.column_stack([code - j * (j - 1) // 2, j])
    turned = rng.random(count) < flip
    same = (groups[pairs[:, 0]] == groups[pairs[:, 1]]) ^ turned
    wrong = {tuple(pair) for pair in pairs[turned].tolist()}
    return Constraints(n, must_link=pairs[same], cannot_link=pairs[~same], **options), wrong


SHAPES = {
    "moons": lambda: make_moons(600, noise=0.08, random_state=0),
    "rings": lambda: make_circles(600, noise=0.06, factor=0.5, random_state=0),
}


class TestShapes:
    @pytest.mark.parametrize("name", SHAPES)
    def test_pairs_join_what_is_not_one_blob(self, name):
        X, y = SHAPES[name]()
        known, _ = random_pairs(y, 100, np.random.default_rng(0))
        labels = Mosaic(2, random_state=0).fit_predict(X, constraints=known)
        plain = KMeans(2, n_init=5, random_state=0).fit_predict(X)
        assert adjusted_rand_score(y, plain) < 0.6
        assert adjusted_rand_score(y, labels) > 0.97

    def test_one_cluster_in_two_far_places(self):
        X, place = make_blobs(400, centers=[[0, 0], [10, 0], [0, 10], [10, 10]], random_state=0)
        y = np.array([0, 1, 1, 0])[place]
        known, _ = random_pairs(y, 30, np.random.default_rng(0))
        model = Mosaic(2, random_state=0).fit(X, constraints=known)
        assert adjusted_rand_score(y, model.labels_) == 1.0
        corners = model.predict([[0, 0], [10, 10], [10, 0], [0, 10]])
        assert corners[0] == corners[1] != corners[2] == corners[3]

    def test_more_pairs_are_better_on_iris(self):
        X, y = load_iris(return_X_y=True)
        scores = {
            count: np.mean(
                [
                    adjusted_rand_score(
                        y,
                        Mosaic(3, random_state=seed).fit_predict(
                            X, constraints=random_pairs(y, count, np.random.default_rng(seed))[0]
                        ),
                    )
                    for seed in range(5)
                ]
            )
            for count in (20, 100, 400)
        }
        assert scores[20] < scores[400]
        assert scores[100] > 0.85
        assert scores[400] > 0.97


class TestFewPairs:
    def test_without_pairs_it_is_k_means(self):
        X, _ = load_iris(return_X_y=True)
        model = Mosaic(3, random_state=0).fit(X)
        plain = KMeans(3, n_init=10, random_state=0).fit(X)
        assert adjusted_rand_score(model.labels_, plain.labels_) == 1.0
        assert len(model.prototypes_) == 3
        spread = sum(
            ((X - X[model.labels_ == k].mean(0))[model.labels_ == k] ** 2).sum() for k in range(3)
        )
        assert spread == pytest.approx(plain.inertia_, rel=1e-6)
        assert len(model.violations_) == len(model.suspects_) == 0

    @pytest.mark.parametrize("count", [1, 3, 10])
    def test_few_true_pairs_do_no_harm(self, count):
        X, y = make_blobs(300, centers=4, cluster_std=1.0, random_state=3)
        plain = adjusted_rand_score(y, KMeans(4, n_init=10, random_state=0).fit_predict(X))
        for seed in range(3):
            known, _ = random_pairs(y, count, np.random.default_rng(seed))
            found = adjusted_rand_score(
                y, Mosaic(4, random_state=seed).fit_predict(X, constraints=known)
            )
            assert found > plain - 0.05

    @pytest.mark.parametrize("count", [10, 50, 200])
    def test_many_small_blobs_stay_as_k_means_finds_them(self, count):
        """Few pairs between many clusters say little about their shapes: one prototype each."""
        corners = np.stack(np.meshgrid(range(5), range(5)), axis=-1).reshape(-1, 2)
        X, y = make_blobs(1000, centers=corners, cluster_std=0.15, random_state=0)
        known, _ = random_pairs(y, count, np.random.default_rng(count))
        model = Mosaic(25, random_state=0).fit(X, constraints=known)
        plain = KMeans(25, n_init=10, random_state=0).fit_predict(X)
        assert len(model.prototypes_) == 25
        assert adjusted_rand_score(y, model.labels_) > adjusted_rand_score(y, plain) - 0.02
        hard = Mosaic(25, random_state=0).fit(X, constraints=known.as_hard())
        assert len(hard.violations_) == 0

    @pytest.mark.parametrize("kind", ["must", "cannot"])
    def test_pairs_of_one_kind_do_not_empty_or_merge_clusters(self, kind):
        X, y = make_blobs(240, centers=3, cluster_std=0.8, random_state=1)
        known, _ = random_pairs(y, 150, np.random.default_rng(0))
        labels = Mosaic(3, random_state=0).fit_predict(X, constraints=known.only(kind))
        assert adjusted_rand_score(y, labels) > 0.95


class TestPairs:
    def test_hard_pairs_are_kept_whatever_they_say(self):
        for seed in range(10):
            rng = np.random.default_rng(seed)
            X = rng.normal(size=(80, 3))
            nonsense = rng.integers(0, 4, 80)
            known, _ = random_pairs(nonsense, 150, rng)
            model = Mosaic(4, random_state=seed).fit(X, constraints=known.as_hard())
            assert len(model.violations_) == 0

    def test_infeasible_hard_pairs_are_named(self):
        X = np.random.default_rng(0).normal(size=(30, 2))
        triangle = Constraints(30, cannot_link=[(0, 1), (1, 2), (0, 2)], cannot_weight=np.inf)
        with pytest.raises(InfeasibleConstraints) as caught:
            Mosaic(2).fit(X, constraints=triangle)
        assert caught.value.conflict.n_pairs == 3

    def test_noise_is_estimated_and_wrong_pairs_are_suspected(self):
        X, y = make_moons(500, noise=0.08, random_state=1)
        known, wrong = random_pairs(y, 1500, np.random.default_rng(0), flip=0.15)
        model = Mosaic(2, random_state=0).fit(X, constraints=known)
        assert adjusted_rand_score(y, model.labels_) > 0.95
        assert model.noise_ == pytest.approx(0.15, abs=0.05)
        suspects = model.suspect_pairs(100)
        right = [(i, j) in wrong for i, j in zip(suspects.i, suspects.j, strict=True)]
        assert len(suspects) == 100
        assert np.mean(right) > 0.9
        assert (np.diff(suspects.value) <= 0).all()

    def test_clean_pairs_are_found_clean(self):
        X, y = make_moons(500, noise=0.08, random_state=1)
        known, _ = random_pairs(y, 1500, np.random.default_rng(0))
        assert Mosaic(2, random_state=0).fit(X, constraints=known).noise_ < 0.005

    def test_a_given_rate_is_used_and_none_is_the_default_certainty(self):
        X, y = make_moons(200, noise=0.1, random_state=1)
        known, _ = random_pairs(y, 100, np.random.default_rng(0))
        assert Mosaic(2, noise=0.2).fit(X, constraints=known).noise_ == 0.2
        assert Mosaic(2, noise=None).fit(X, constraints=known).noise_ == 0.05

    def test_certainties_are_honoured(self):
        """The same wrong pairs are followed at high certainty and overruled at low."""
        X, y = make_blobs(200, centers=[[0, 0], [3, 0]], cluster_std=1.0, random_state=0)
        true, _ = random_pairs(
            y, 300, np.random.default_rng(0), must_certainty=0.9, cannot_certainty=0.9
        )
        row = int(np.flatnonzero(~np.isin(np.arange(200), true.pairs) & (y == 0))[0])
        others = np.flatnonzero(y == 1)[:2]
        for certainty, moved in ((0.9999, True), (0.55, False)):
            wrong = Constraints(
                200, must_link=[(row, int(o)) for o in others], must_certainty=certainty
            )
            labels = Mosaic(2, random_state=0).fit_predict(X, constraints=true + wrong)
            assert (labels[row] == labels[others[0]]) == moved

    def test_unrefined_labels_are_those_of_the_field(self):
        X, y = make_moons(300, noise=0.2, random_state=1)
        known, _ = random_pairs(y, 200, np.random.default_rng(0))
        model = Mosaic(2, refine=False, random_state=0).fit(X, constraints=known)
        assert (model.labels_ == model.predict(X)).all()
        assert len(model.violations_) > 0
        refined = Mosaic(2, random_state=0).fit(X, constraints=known)
        assert len(refined.violations_) < len(model.violations_)

    def test_mean_field_finds_the_same_clusters(self):
        X, y = make_moons(400, noise=0.08, random_state=1)
        known, _ = random_pairs(y, 300, np.random.default_rng(0))
        labels = Mosaic(2, inference="mean_field", random_state=0).fit_predict(X, constraints=known)
        assert adjusted_rand_score(y, labels) > 0.97


class TestNumberOfClusters:
    @pytest.mark.parametrize("k", [2, 3, 5])
    def test_it_is_found_from_the_pairs(self, k):
        angle = 2 * np.pi * np.arange(k) / k
        centers = 5 * np.column_stack([np.cos(angle), np.sin(angle)])
        X, y = make_blobs(500, centers=centers, cluster_std=1.0, random_state=k)
        known, _ = random_pairs(y, 600, np.random.default_rng(0))
        model = Mosaic(None, random_state=0).fit(X, constraints=known)
        assert model.n_clusters_ == k

    def test_two_places_of_one_cluster_count_once(self):
        X, place = make_blobs(600, centers=[[0, 0], [5, 0], [0, 5], [5, 5]], random_state=5)
        y = np.array([0, 1, 1, 2])[place]
        known, _ = random_pairs(y, 400, np.random.default_rng(0))
        model = Mosaic(None, random_state=0).fit(X, constraints=known)
        assert model.n_clusters_ == 3
        assert adjusted_rand_score(y, model.labels_) > 0.95

    def test_it_needs_pairs(self):
        with pytest.raises(InvalidParameter, match="n_clusters=None"):
            Mosaic(None).fit(np.eye(5))


class TestObjective:
    @pytest.mark.parametrize("seed", range(5))
    def test_it_is_the_printed_formula_and_never_rises(self, seed, monkeypatch):
        rng = np.random.default_rng(seed)
        X, y = make_moons(120, noise=0.3, random_state=seed)
        known, _ = random_pairs(y, 120, rng, flip=0.1)
        held = {}
        original = search.finish

        def keep(problem, *args, **options):
            held["ridge"] = problem.ridge
            return original(problem, *args, **options)

        monkeypatch.setattr(search, "finish", keep)
        model = Mosaic(2, n_prototypes=100, random_state=seed).fit(X, constraints=known)
        ridge = held["ridge"]
        wanted = naive.objective(
            model.labels_,
            ridge.field.features.astype(float),
            model.field_weights_,
            ridge.weights,
            model.smoothness,
            model.sharpness_,
            known.pairs,
            known.kind,
            np.full(known.n_pairs, np.log((1 - model.noise_) / model.noise_)),
        )
        assert model.objective_ == pytest.approx(wanted, rel=1e-5)
        assert (np.diff(model.objective_history_) < 0).all()

    def test_it_is_the_formula_for_blobs_too(self):
        X, y = make_blobs(200, centers=6, cluster_std=0.5, random_state=0)
        known, _ = random_pairs(y, 15, np.random.default_rng(0))
        model = Mosaic(6, random_state=0).fit(X, constraints=known)
        assert len(model.prototypes_) == 6
        place = MosaicSpace(model.center_, model.basis_, False).coordinates(X)
        wanted = naive.objective(
            model.labels_,
            np.array([[naive.cauchy(x, z) for z in model.landmarks_] for x in place]),
            model.field_weights_,
            np.ones(200),
            model.smoothness,
            model.sharpness_,
            known.pairs,
            known.kind,
            np.full(known.n_pairs, np.log((1 - model.noise_) / model.noise_)),
        )
        assert model.objective_ == pytest.approx(wanted, rel=1e-5)


class TestNewRows:
    def test_rows_in_no_pair_are_predicted_as_they_were_labelled(self):
        X, y = make_moons(700, noise=0.25, random_state=0)
        known, _ = random_pairs(y, 120, np.random.default_rng(0))
        model = Mosaic(2, random_state=0).fit(X, constraints=known)
        free = np.setdiff1d(np.arange(700), known.pairs)
        assert free.size > 400
        assert (model.predict(X)[free] == model.labels_[free]).all()
        assert (model.predict(X[free][:5]) == model.labels_[free][:5]).all()

    def test_probabilities_are_calibrated_enough_to_rank(self):
        X, y = make_moons(800, noise=0.25, random_state=0)
        known, _ = random_pairs(y[:400], 400, np.random.default_rng(0))
        model = Mosaic(2, random_state=0).fit(X[:400], constraints=known)
        chance = model.predict_proba(X[400:])
        assert chance.sum(axis=1) == pytest.approx(1.0)
        assert (chance.argmax(axis=1) == model.predict(X[400:])).all()
        label = y[:400][model.labels_ == 1]
        truth = y[400:] if label.mean() > 0.5 else 1 - y[400:]
        right = chance.argmax(axis=1) == truth
        sure = chance.max(axis=1) > 0.9
        assert right[sure].mean() > right[~sure].mean() + 0.1

    def test_prototypes_are_means_of_their_rows(self):
        X, y = make_moons(500, random_state=0)
        known, _ = random_pairs(y, 50, np.random.default_rng(0))
        model = Mosaic(2, n_prototypes=20, random_state=0).fit(X, constraints=known)
        assert model.prototypes_.shape == (20, 2)
        assert (model.predict(model.prototypes_) == model.prototype_labels_).mean() > 0.9
        sparse = Mosaic(2, n_prototypes=20, random_state=0).fit(sp.csr_matrix(X), constraints=known)
        assert sparse.prototypes_.toarray() == pytest.approx(model.prototypes_, abs=1e-6)


class TestInput:
    def test_wide_sparse_rows_and_cosine(self):
        rng = np.random.default_rng(0)
        y = rng.integers(0, 3, 300)
        topics = rng.dirichlet(np.full(6000, 0.05), 3)
        X = sp.csr_matrix(np.array([rng.multinomial(80, topics[t]) for t in y], dtype=float))
        known, _ = random_pairs(y, 100, rng)
        model = Mosaic(3, distortion="cosine", random_state=0).fit(X, constraints=known)
        assert adjusted_rand_score(y, model.labels_) > 0.95
        assert sp.issparse(model.prototypes_)
        assert (model.predict(3.0 * X) == model.predict(X)).all()

    def test_zero_rows_have_no_direction(self):
        with pytest.raises(InvalidData, match="row 1"):
            Mosaic(2, distortion="cosine").fit([[1.0, 2], [0, 0], [2, 1]])

    @pytest.mark.parametrize("count", [50, "auto"])
    def test_threads_do_not_change_the_result(self, count):
        X, y = make_moons(9000, noise=0.2, random_state=0)
        known, _ = random_pairs(y, 500, np.random.default_rng(0))
        fits = []
        for threads in (1, 2, 3):
            with use_threads(threads):
                fits.append(Mosaic(2, n_prototypes=count, random_state=0).fit(X, constraints=known))
        for other in fits[1:]:
            assert (fits[0].labels_ == other.labels_).all()
            assert (fits[0].field_weights_ == other.field_weights_).all()
            assert fits[0].objective_ == other.objective_

    def test_processes_give_the_bits_of_threads(self):
        X, y = make_moons(8500, noise=0.2, random_state=0)  # two blocks
        known, _ = random_pairs(y, 100, np.random.default_rng(0))
        model = Mosaic(2, n_prototypes=20, max_iter=2, noise=0.05, random_state=0)
        wanted = clone(model).fit(X, constraints=known)
        with (
            ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool,
            engine(ProcessEngine(pool, 2)),
        ):
            found = clone(model).fit(X, constraints=known)
            np.testing.assert_array_equal(found.predict(X), wanted.predict(X))
        np.testing.assert_array_equal(found.labels_, wanted.labels_)
        np.testing.assert_array_equal(found.field_weights_, wanted.field_weights_)
        assert found.objective_ == wanted.objective_

    def test_fewer_distinct_rows_than_prototypes_or_clusters(self):
        X = np.repeat([[0.0, 0], [0, 1], [5, 5]], 10, axis=0)
        known = Constraints(30, must_link=[(0, 11)], cannot_link=[(0, 25)])
        labels = Mosaic(2, random_state=0).fit_predict(X, constraints=known)
        assert labels[0] == labels[11] != labels[25]
        assert Mosaic(4, random_state=0).fit(X, constraints=known).labels_.max() <= 3

    def test_sample_weight_silences_rows(self):
        X, y = make_blobs(120, centers=[[0, 0], [6, 0]], random_state=0)
        far = np.vstack([X, [[1e6, 1e6]]])
        known, _ = random_pairs(y, 60, np.random.default_rng(0))
        known = Constraints(121, must_link=known.must_link, cannot_link=known.cannot_link)
        weights = np.append(np.ones(120), 0.0)
        labels = Mosaic(2, random_state=0).fit_predict(
            far, constraints=known, sample_weight=weights
        )
        assert adjusted_rand_score(y, labels[:-1]) == 1.0

    @pytest.mark.parametrize(
        ("options", "word"),
        [
            ({"distortion": "euclid"}, "distortion"),
            ({"inference": "bp"}, "inference"),
            ({"noise": 0.6}, "below 0.5"),
            ({"noise": 0.0}, "noise"),
            ({"noise": "estimated"}, "estimate"),
            ({"n_prototypes": 0}, "n_prototypes"),
            ({"smoothness": 0.0}, "smoothness"),
            ({"n_init": 0}, "n_init"),
            ({"n_clusters": 50}, "fewer rows"),
        ],
    )
    def test_bad_parameters_are_named(self, options, word):
        X = np.random.default_rng(0).normal(size=(20, 2))
        with pytest.raises(InvalidParameter, match=word):
            Mosaic(**{"n_clusters": 2, **options}).fit(X)

    def test_the_field_alone_cannot_keep_hard_pairs(self):
        hard = Constraints(20, must_link=[(0, 1)], must_weight=np.inf)
        with pytest.raises(InvalidParameter, match="refine"):
            Mosaic(2, refine=False).fit(np.eye(20), constraints=hard)
