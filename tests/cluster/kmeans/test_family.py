"""What PCKMeans, HMRFKMeans and MPCKMeans have in common: one objective that never rises."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

from coterie import (
    ConstrainedKMeans,
    Constraints,
    COPKMeans,
    HMRFKMeans,
    MPCKMeans,
    PCKMeans,
    SeededKMeans,
)
from coterie.data import use_threads
from coterie.distortions import Cosine
from coterie.exceptions import (
    InfeasibleConstraints,
    InvalidParameter,
)
from coterie.progress import watching
from reference.pckmeans import best_labels, mpck_objective, pck_objective


def random_problem(seed, n=40, d=3, pairs=30, positive=False):
    rng = np.random.default_rng(seed)
    X = rng.random((n, d)) + 0.05 if positive else rng.normal(size=(n, d))
    listed = rng.integers(n, size=(pairs, 2))
    listed = listed[listed[:, 0] != listed[:, 1]]
    is_must = rng.random(len(listed)) < 0.5
    known = Constraints(
        n,
        must_link=listed[is_must],
        cannot_link=listed[~is_must],
        must_weight=rng.random(is_must.sum()) + 0.5,
        cannot_certainty=rng.random((~is_must).sum()) * 0.4 + 0.55,
    )
    return X, known, rng


FAMILY = {
    "pck": (PCKMeans(3), False),
    "pck-cosine": (PCKMeans(3, metric="cosine"), False),
    "pck-kl": (PCKMeans(3, metric="kl"), True),
    "pck-correlation": (PCKMeans(3, metric="correlation"), False),
    "pck-mahalanobis": (PCKMeans(3, metric="mahalanobis"), False),
    "hmrf-C": (HMRFKMeans(3, learn_metric=False), False),
    "hmrf-C-D": (HMRFKMeans(3, prior=None), False),
    "hmrf-C-D-R": (HMRFKMeans(3), False),
    "hmrf-full": (HMRFKMeans(3, metric_form="full"), False),
    "hmrf-per-cluster": (HMRFKMeans(3, per_cluster=True), False),
    "hmrf-paper": (HMRFKMeans(3, phi_max="paper"), False),
    "hmrf-cosine": (HMRFKMeans(3, distortion="cosine"), False),
    "hmrf-cosine-D": (HMRFKMeans(3, distortion="cosine", prior=None), False),
    "hmrf-kl": (HMRFKMeans(3, distortion="kl"), True),
    "hmrf-kl-D": (HMRFKMeans(3, distortion="kl", prior=None), True),
    "hmrf-is": (HMRFKMeans(3, distortion="itakura-saito"), True),
    "mpck": (MPCKMeans(3), False),
    "mpck-single": (MPCKMeans(3, per_cluster=False), False),
    "mpck-full": (MPCKMeans(3, metric_form="full"), False),
    "mpck-full-single": (MPCKMeans(3, metric_form="full", per_cluster=False), False),
}


@pytest.mark.parametrize("name", FAMILY)
def test_objective_never_rises(name):
    model, positive = FAMILY[name]
    longest = 0
    for seed in range(25):
        X, known, rng = random_problem(seed, positive=positive)
        weights = rng.random(len(X)) if seed % 3 == 0 else None
        model.set_params(
            random_state=seed, w=float(rng.choice([0.1, 1.0, 10.0])), tol=0.0, max_iter=40
        )
        model.fit(X, constraints=known, sample_weight=weights)
        history = model.objective_history_
        assert np.isfinite(history).all()
        assert (np.diff(history) <= 1e-10 * np.abs(history[:-1])).all(), history
        assert history[-1] == model.objective_
        longest = max(longest, len(history))
    assert longest > 3  # otherwise nothing was tested


@pytest.mark.parametrize("seed", range(5))
def test_objective_is_the_printed_one(seed):
    X, known, _ = random_problem(seed)
    pck = PCKMeans(3, w=0.7, random_state=seed).fit(X, constraints=known)
    printed = pck_objective(X, pck.labels_, pck.cluster_centers_, known, 0.7)
    assert pck.objective_ == pytest.approx(printed)
    for form in ("diagonal", "full"):
        for per_cluster in (True, False):
            mpck = MPCKMeans(3, w=0.7, metric_form=form, per_cluster=per_cluster, random_state=seed)
            mpck.fit(X, constraints=known)
            metrics = mpck.metrics_
            if form == "diagonal":
                metrics = np.stack([np.diag(m) for m in metrics])
            printed = mpck_objective(X, mpck.labels_, mpck.cluster_centers_, metrics, known, 0.7)
            assert mpck.objective_ == pytest.approx(printed)


@pytest.mark.parametrize("inference", ["auto", "exact"])
def test_exact_inference_labels_to_the_optimum(inference):
    better = 0
    for seed in range(20):
        X, known, rng = random_problem(seed, n=7, pairs=8)
        centers = rng.normal(size=(3, 3))
        model = PCKMeans(3, w=1.5, init=centers, inference=inference, max_iter=1, random_state=0)
        model.fit(X, constraints=known)
        best = best_labels(X, centers, known, 1.5)
        optimum = pck_objective(X, best, centers, known, 1.5)
        assert model.objective_ == pytest.approx(optimum, abs=1e-9)
        alone = ((X[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
        better += pck_objective(X, alone, centers, known, 1.5) > optimum + 1e-9
    assert better > 10  # the pairs matter


@pytest.mark.parametrize(
    "engine", ["mean_field", "gibbs", "belief_propagation", "linear_program", "exact", "auto"]
)
def test_every_engine_serves_every_member(engine):
    X, known, _ = random_problem(3)
    for model in (PCKMeans(3, w=1.0), HMRFKMeans(3), MPCKMeans(3)):
        model.set_params(inference="icm", random_state=0, init=X[:3])
        by_icm = model.fit(X, constraints=known)
        first = by_icm.objective_history_[0]
        by_engine = model.set_params(inference=engine).fit(X, constraints=known)
        history = by_engine.objective_history_
        assert (np.diff(history) <= 1e-10 * np.abs(history[:-1])).all()
        assert history[0] <= first + 1e-9


@pytest.mark.parametrize("start", range(3))
def test_without_pairs_it_is_kmeans(start):
    X, _ = load_iris(return_X_y=True)
    centers = X[np.random.default_rng(start).choice(150, 3, replace=False)]
    plain = KMeans(3, init=centers, n_init=1, tol=0, max_iter=100).fit(X)
    ours = PCKMeans(3, init=centers, tol=0).fit(X)
    np.testing.assert_array_equal(ours.labels_, plain.labels_)
    np.testing.assert_allclose(ours.cluster_centers_, plain.cluster_centers_)
    assert ours.objective_ == pytest.approx(plain.inertia_ / 2)
    weights = np.random.default_rng(start).random(150)
    plain.fit(X, sample_weight=weights)
    ours.fit(X, sample_weight=weights)
    np.testing.assert_array_equal(ours.labels_, plain.labels_)


def test_weight_zero_starts_from_the_pairs_and_then_forgets_them():
    X, y = load_iris(return_X_y=True)
    known = Constraints.from_labels(np.where(np.arange(150) % 10 == 0, y, -1)).as_soft()
    seeded = PCKMeans(3, w=0.0, random_state=0).fit(X, constraints=known)
    centers = np.stack([X[(np.arange(150) % 10 == 0) & (y == k)].mean(axis=0) for k in range(3)])
    plain = KMeans(3, init=centers, n_init=1, tol=0).fit(X)
    assert seeded.objective_ == pytest.approx(plain.inertia_ / 2)
    i, j = known.pairs.T
    broken = (seeded.labels_[i] == seeded.labels_[j]) != (known.kind > 0)
    assert len(seeded.violations_) == broken.sum() > 0
    assert (seeded.violations_.value == 0).all()


@pytest.mark.parametrize("seed", range(5))
def test_infinite_weight_and_hard_pairs_are_never_broken(seed):
    rng = np.random.default_rng(seed)
    X, truth = rng.normal(size=(60, 2)), rng.integers(3, size=60)
    pairs = rng.integers(60, size=(80, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    soft = Constraints(60, must_link=pairs[same], cannot_link=pairs[~same])
    for model, known in (
        (PCKMeans(3, w=np.inf, random_state=seed), soft),
        (HMRFKMeans(3, random_state=seed), soft.as_hard()),
        (MPCKMeans(3, random_state=seed), soft.as_hard()),
        (PCKMeans(3, w=np.inf, metric="cosine", random_state=seed), soft),
    ):
        model.fit(X, constraints=known)
        labels = model.labels_
        kept = (labels[known.pairs[:, 0]] == labels[known.pairs[:, 1]]) == (known.kind > 0)
        assert kept.all()
        assert len(model.violations_) == 0
        assert np.isfinite(model.objective_)


def test_infeasible_hard_pairs_name_a_minimal_clash():
    X = np.arange(5.0)[:, None]
    known = Constraints(5, cannot_link=[(0, 1), (1, 2), (0, 2), (3, 4)], cannot_weight=np.inf)
    with pytest.raises(InfeasibleConstraints) as caught:
        PCKMeans(2).fit(X, constraints=known)
    assert caught.value.conflict.pairs.tolist() == [[0, 1], [0, 2], [1, 2]]


def test_more_clusters_than_groups_of_hard_must_links_are_refused():
    X = np.arange(6.0)[:, None]
    known = Constraints.from_groups([0, 0, 0, 1, 1, 1])
    with pytest.raises(InvalidParameter, match="2 groups, fewer than n_clusters=3"):
        PCKMeans(3).fit(X, constraints=known)
    assert len(np.unique(PCKMeans(2).fit(X, constraints=known).labels_)) == 2


def test_violations_tell_which_pairs_were_broken_and_what_they_cost():
    X = np.array([[0.0], [0.1], [9.0], [9.1]])
    known = Constraints(4, must_link=[(0, 3)], cannot_link=[(2, 3)], must_weight=2.0)
    model = PCKMeans(2, w=0.01, random_state=0).fit(X, constraints=known)
    table = [(row.i, row.j, row.kind, row.value) for row in model.violations_]
    assert table == [(0, 3, 1, 0.02), (2, 3, -1, 0.01)]


@pytest.mark.parametrize("model", [PCKMeans(4), HMRFKMeans(4), MPCKMeans(4, metric_form="full")])
def test_result_is_bitwise_the_same_for_any_number_of_threads(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30_000, 5)) + rng.integers(4, size=(30_000, 1))
    pairs = rng.integers(30_000, size=(2, 2000, 2))
    known = Constraints(30_000, must_link=pairs[0], cannot_link=pairs[1])
    model.set_params(random_state=0, max_iter=5)
    outcomes = []
    for threads in (1, 2, 4):
        with use_threads(threads):
            model.fit(X, constraints=known)
        outcomes.append((model.labels_, model.cluster_centers_, model.objective_history_))
    for other in outcomes[1:]:
        for one, two in zip(outcomes[0], other, strict=True):
            np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("metric", ["sqeuclidean", "cosine", "kl", "i-divergence"])
def test_dense_sparse_and_float32_agree(metric):
    rng = np.random.default_rng(0)
    X = rng.random((300, 8)) * (rng.random((300, 8)) < 0.6)
    X[:, 0] += 0.1
    X[:100, 1] += 3
    X[100:200, 2] += 3
    known = Constraints(300, must_link=[(0, 1), (5, 250)], cannot_link=[(0, 150), (3, 4)])
    model = PCKMeans(3, metric=metric, w=1.0, init=X[[0, 120, 220]], random_state=0)
    dense = model.fit(X, constraints=known).labels_
    np.testing.assert_array_equal(model.fit(sp.csr_matrix(X), constraints=known).labels_, dense)
    single = model.fit(X.astype(np.float32), constraints=known)
    assert single.cluster_centers_.dtype == np.float32
    assert (single.labels_ == dense).mean() > 0.99


def test_empty_clusters_are_reseeded():
    X = np.concatenate([np.zeros((20, 2)), np.ones((20, 2)), np.full((20, 2), 5.0)])
    far = np.array([[0.0, 0.0], [1.0, 1.0], [1e3, 1e3]])
    model = PCKMeans(3, init=far).fit(X)
    assert np.isfinite(model.cluster_centers_).all()
    assert len(np.unique(model.labels_)) == 3
    assert model.objective_ == pytest.approx(0)


@pytest.mark.parametrize("model", [PCKMeans(3), HMRFKMeans(3), MPCKMeans(3), SeededKMeans(3)])
def test_duplicates_constants_and_single_rows(model):
    same = np.ones((10, 2))
    assert np.isfinite(model.fit(same).cluster_centers_).all()
    one = type(model)(1).fit(np.array([[1.0, 2.0]]))
    assert one.labels_.tolist() == [0]
    wide = np.random.default_rng(0).normal(size=(30, 3))
    wide[:, 1] = 7.0
    assert np.isfinite(model.fit(wide).objective_)


def test_far_from_the_origin_nothing_is_lost():
    X, known, _ = random_problem(0)
    near = PCKMeans(3, init=X[:3], w=1.0, random_state=0).fit(X, constraints=known)
    far = PCKMeans(3, init=X[:3] + 1e7, w=1.0, random_state=0).fit(X + 1e7, constraints=known)
    np.testing.assert_array_equal(near.labels_, far.labels_)
    np.testing.assert_array_equal(far.predict(X + 1e7), near.predict(X))


def test_auto_weight_follows_the_scale_of_the_data():
    X, known, _ = random_problem(1)
    one = PCKMeans(3, random_state=0).fit(X, constraints=known)
    two = PCKMeans(3, random_state=0).fit(X * 1000, constraints=known)
    assert two.w_ == pytest.approx(one.w_ * 1e6)
    np.testing.assert_array_equal(one.labels_, two.labels_)


def test_warm_start_and_init_from_a_model_keep_cluster_numbers():
    X, _ = load_iris(return_X_y=True)
    model = PCKMeans(3, random_state=0, warm_start=True).fit(X)
    before = model.labels_.copy()
    known = Constraints(150, must_link=[(50, 51)], cannot_link=[(50, 101)])
    model.fit(X, constraints=known)
    assert (model.labels_ == before).mean() > 0.9
    other = PCKMeans(3, init=model, random_state=5).fit(X, constraints=known)
    np.testing.assert_array_equal(other.labels_, model.labels_)
    assert other.n_iter_ <= 2
    learned = MPCKMeans(3, random_state=0).fit(X, constraints=known)
    again = MPCKMeans(3, init=learned, tol=1e-3).fit(X, constraints=known)
    assert again.n_iter_ <= 2
    np.testing.assert_array_equal(again.labels_, learned.labels_)


def test_a_watcher_sees_every_iteration_and_can_stop():
    X, known, _ = random_problem(2)
    seen = []
    with watching(seen.append):
        model = PCKMeans(3, init="neighborhoods", random_state=0).fit(X, constraints=known)
    assert [step.step for step in seen] == list(range(1, model.n_iter_ + 1))
    assert [step.objective for step in seen] == model.objective_history_.tolist()
    with watching(lambda step: step.step == 2):
        stopped = PCKMeans(3, init="neighborhoods", random_state=0).fit(X, constraints=known)
    assert stopped.n_iter_ == 2
    assert not stopped.converged_


def test_more_starts_are_never_worse():
    X, known, _ = random_problem(5, n=80, pairs=40)
    one = PCKMeans(6, w=1.0, init="k-means++", random_state=0).fit(X, constraints=known)
    ten = PCKMeans(6, w=1.0, init="k-means++", n_init=10, random_state=0)
    assert ten.fit(X, constraints=known).objective_ <= one.objective_


@pytest.mark.parametrize("init", ["neighborhoods", "k-means++", "random", "perturb"])
@pytest.mark.parametrize("metric", ["sqeuclidean", "cosine", "kl"])
def test_every_start_serves_every_metric(init, metric):
    X, known, _ = random_problem(4, positive=True)
    model = PCKMeans(4, init=init, metric=metric, n_init=2, random_state=0)
    model.fit(X, constraints=known)
    assert np.isfinite(model.cluster_centers_).all()
    assert len(np.unique(model.labels_)) >= 2


def test_seeded_and_constrained_number_clusters_by_label():
    X, y = load_iris(return_X_y=True)
    seeds = np.where(np.arange(150) % 7 == 0, y * 10, -1)
    seeds[np.flatnonzero(seeds >= 0)[0]] = 20  # a wrong label
    seeded = SeededKMeans(3, random_state=0).fit(X, seeds=seeds)
    assert (seeded.labels_ == y).mean() > 0.85
    kept = ConstrainedKMeans(3, random_state=0).fit(X, seeds=seeds)
    known = seeds >= 0
    np.testing.assert_array_equal(kept.labels_[known] * 10, seeds[known])
    assert len(kept.violations_) == 0
    assert len(seeded.violations_) > 0
    more = ConstrainedKMeans(5, random_state=0).fit(X, seeds=seeds)
    np.testing.assert_array_equal(more.labels_[known] * 10, seeds[known])
    assert len(np.unique(more.labels_)) == 5
    by_pairs = ConstrainedKMeans(3, random_state=0).fit(
        X, constraints=Constraints.from_labels(seeds)
    )
    assert len(by_pairs.violations_) == 0


def test_plain_icm_is_the_printed_e_step():
    """From given labels no single row gains by moving; whole groups may."""
    better = 0
    for seed in range(10):
        X, known, _ = random_problem(seed, n=60, pairs=80)
        params = {"w": 2.0, "init": X[:3], "random_state": seed}
        plain = PCKMeans(3, inference="plain_icm", **params).fit(X, constraints=known)
        history = plain.objective_history_
        assert (np.diff(history) <= 1e-10 * np.abs(history[:-1])).all()
        assert plain.converged_
        at_end = PCKMeans(3, **params).fit(X, constraints=known)
        better += at_end.objective_ < plain.objective_ * (1 - 1e-9)
        labels, centers = plain.labels_, plain.cluster_centers_
        least = pck_objective(X, labels, centers, known, 2.0)
        for row in range(len(X)):
            for other in set(range(3)) - {labels[row]}:
                moved = labels.copy()
                moved[row] = other
                assert pck_objective(X, moved, centers, known, 2.0) >= least - 1e-9
    assert better >= 5  # what local search with groups is for


@pytest.mark.parametrize(
    "estimator", [PCKMeans, SeededKMeans, ConstrainedKMeans, COPKMeans, HMRFKMeans]
)
def test_metric_and_distortion_are_two_names_of_one_parameter(estimator):
    X, known, _ = random_problem(3, positive=True)
    known = Constraints(len(X), known.must_link[:3])
    by_name = {
        name: estimator(3, **{name: "cosine"}, random_state=0).fit(X, constraints=known)
        for name in ("distortion", "metric")
    }
    plain = estimator(3, random_state=0).fit(X, constraints=known)
    one, two = by_name.values()
    np.testing.assert_array_equal(one.labels_, two.labels_)
    assert one.objective_ == two.objective_ != plain.objective_
    for model in by_name.values():
        copy = clone(model)
        assert copy.get_params() == model.get_params()
        np.testing.assert_array_equal(copy.fit(X, constraints=known).labels_, one.labels_)
        np.testing.assert_array_equal(model.predict(X), one.predict(X))
    again = clone(plain).set_params(metric=Cosine()).fit(X, constraints=known)
    np.testing.assert_array_equal(again.labels_, one.labels_)
    with pytest.raises(InvalidParameter, match="two names of one parameter"):
        estimator(3, distortion="kl", metric="cosine").fit(X, constraints=known)
    with pytest.raises(InvalidParameter, match=r"metric='cosin' is not known.*cosine"):
        estimator(3, metric="cosin").fit(X, constraints=known)
