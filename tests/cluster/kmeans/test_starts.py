"""Where centres start: from the pairs, from the rows, and the better of many."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from coterie import (
    LCVQE,
    ConstrainedKMeans,
    Constraints,
    COPKMeans,
    HMRFKMeans,
    MPCKMeans,
    PCKMeans,
    SeededKMeans,
)
from coterie.cluster.kmeans.seeded_kmeans import groups_apart
from coterie.constraints import sample_pairs
from coterie.metrics import adjusted_rand_score
from coterie.progress import watching


def start_of(X, known, k, init, seed=0, **params):
    """The centres that a fit begins with: from them one iteration gives the same labels."""
    model = PCKMeans(k, init=init, max_iter=1, random_state=seed, w=0.0, **params)
    return model.fit(X, constraints=known).cluster_centers_


def as_set(centers):
    return {tuple(np.round(center, 6)) for center in np.asarray(centers)}


@pytest.fixture
def scattered():
    """Groups of 4, 3, 2 and 2 rows: the two largest lie together, the others far out."""
    X = np.array(
        [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1], [2, 2], [50, 0], [50, 1], [0, 60], [1, 60]]
        + [[25, 30]] * 4,
        dtype=float,
    )
    groups = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 3, -1, -1, -1, -1])
    return X, Constraints.from_groups(groups), groups


def test_largest_takes_the_largest_groups(scattered):
    X, known, groups = scattered
    expected = [X[groups == g].mean(axis=0) for g in (0, 1)]
    for seed in range(3):
        assert as_set(start_of(X, known, 2, "largest", seed)) == as_set(expected)
        assert as_set(start_of(X, known, 2, "figure-1", seed)) == as_set(expected)


def test_farthest_takes_large_groups_far_apart(scattered):
    X, known, groups = scattered
    # 4 rows first; then size times squared distance is largest for the two at (0.5, 60).
    expected = [X[groups == g].mean(axis=0) for g in (0, 3)]
    for seed in range(3):
        assert as_set(start_of(X, known, 2, "farthest", seed)) == as_set(expected)


def test_figure_1_takes_one_row_apart_and_perturbs_the_mean():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)) * 5
    known = Constraints(
        60, must_link=[(0, 1), (2, 3)], cannot_link=[(7, 0), (7, 3), (8, 1), (8, 2), (7, 8)]
    )
    centers = start_of(X, known, 4, "figure-1")
    groups = as_set([X[[0, 1]].mean(axis=0), X[[2, 3]].mean(axis=0)])
    assert groups <= as_set(centers)
    apart = as_set(X[[7, 8]]) & as_set(centers)
    assert len(apart) == 1  # "a point", not all of them
    rest = np.array(sorted(as_set(centers) - groups - apart))
    assert len(rest) == 1
    assert np.abs(rest - X.mean(axis=0)).max() < 0.5  # one hundredth of the spread, times noise


@pytest.mark.parametrize("init", ["neighborhoods", "largest", "farthest"])
def test_rows_that_are_mutually_cannot_linked_are_centres(init):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 2)) * 5
    found = [3, 20, 41, 66]  # what Explore finds: one row of each cluster, all different
    pairs = [(a, b) for i, a in enumerate(found) for b in found[i + 1 :]]
    known = Constraints(80, cannot_link=[*pairs, (10, 3), (11, 20)])
    for seed in range(3):
        assert as_set(start_of(X, known, 4, init, seed)) == as_set(X[found])


def test_single_rows_stand_beside_groups():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 2)) * 5
    parted = [(0, 5), (20, 1), (20, 6), (30, 0), (30, 5), (20, 30)]
    known = Constraints(80, must_link=[(0, 1), (5, 6)], cannot_link=parted)
    expected = [X[[0, 1]].mean(axis=0), X[[5, 6]].mean(axis=0), X[20], X[30]]
    assert as_set(start_of(X, known, 4, "neighborhoods")) == as_set(expected)
    seeded = SeededKMeans(4, max_iter=1, random_state=0).fit(X, constraints=known)
    assert as_set(seeded.cluster_centers_) == as_set(expected)


def test_seeds_are_the_largest_groups_that_are_known_to_be_apart():
    """The three largest groups are of two clusters; cannot-links say which."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    X = rng.normal(size=(60, 2)) + 20.0 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    chains = [range(0, 6), range(10, 15), range(20, 24), range(40, 43), range(50, 52)]
    must = [(a, a + 1) for chain in chains for a in list(chain)[:-1]]
    known = Constraints(60, must, [(0, 20), (1, 40), (21, 41), (10, 42), (50, 22)])
    expected = [X[list(chain)].mean(axis=0) for chain in (chains[0], chains[2], chains[3])]
    seeded = SeededKMeans(3, max_iter=1, random_state=0).fit(X, constraints=known)
    assert np.array_equal(seeded.labels_, y)  # from two groups of class 0 it would not end there
    several = SeededKMeans(3, random_state=0).fit(X, constraints=known.only("must"))
    assert len(np.unique(several.labels_[::20])) == 3  # one group, then k-means++
    groups = np.full(60, -1)
    for number, chain in enumerate(chains):
        groups[list(chain)] = number
    chosen = groups_apart(known, groups, 3)
    assert [int(chosen[chain[0]]) for chain in chains] == [0, -1, 1, 2, -1]
    assert as_set(expected) == as_set([X[chosen == c].mean(axis=0) for c in range(3)])


@pytest.mark.parametrize("estimator", [SeededKMeans, ConstrainedKMeans])
def test_without_seeds_it_is_k_means_of_several_starts(estimator):
    X, _ = make_blobs(300, 2, centers=9, cluster_std=0.5, random_state=3)
    best = KMeans(9, n_init=20, random_state=0).fit(X).inertia_
    for seed in range(6):
        found = estimator(9, random_state=seed).fit(X).objective_
        assert 2 * found <= 1.1 * best  # half squared distances


def make_trap(n_clusters=6, seed=0):
    """Blobs, and true pairs whose groups are all in two of them: a start that misses the others."""
    X, y = make_blobs(60 * n_clusters, 2, centers=n_clusters, cluster_std=0.4, random_state=seed)
    rng = np.random.default_rng(seed)
    must = []
    for label in (0, 1):
        rows = rng.permutation(np.flatnonzero(y == label))[:18].reshape(-1, 3)
        must += [(a, b) for a, b, c in rows] + [(b, c) for a, b, c in rows]
    return X, y, Constraints(len(y), must_link=must)


ESTIMATORS = [PCKMeans, HMRFKMeans, MPCKMeans, LCVQE, COPKMeans]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_true_pairs_do_not_spoil_the_start(estimator):
    """Groups that all lie in two clusters: from them alone the other four are never found."""
    X, y, known = make_trap()
    spoiled = estimator(6, init="largest", random_state=0).fit(X, constraints=known)
    assert adjusted_rand_score(y, spoiled.labels_) < 0.8
    for seed in range(3):
        model = estimator(6, random_state=seed).fit(X, constraints=known)
        assert adjusted_rand_score(y, model.labels_) > 0.99


def test_the_default_start_is_better_than_the_better_of_both_kinds():
    ratios = []
    for seed in range(8):
        X, y = make_blobs(200, 4, centers=8, cluster_std=3.0, random_state=seed)
        known = sample_pairs(y, 40, random_state=seed)
        J = {
            init: PCKMeans(8, w=1.0, init=init, random_state=seed).fit(X, constraints=known)
            for init in ("auto", "neighborhoods", "k-means++")
        }
        J = {init: model.objective_ for init, model in J.items()}
        ratios.append(J["auto"] / min(J["neighborhoods"], J["k-means++"]))
    assert np.mean(ratios) < 1, ratios
    # There is next to no structure here, and after five iterations the order is not quite final.
    assert max(ratios) < 1.02, ratios


def test_without_pairs_the_default_start_is_as_good_as_ten_of_kmeans():
    X, _ = make_blobs(300, 3, centers=12, cluster_std=1.5, random_state=4)
    ten = KMeans(12, n_init=10, random_state=0).fit(X).inertia_
    found = [2 * PCKMeans(12, random_state=seed).fit(X).objective_ for seed in range(4)]
    assert np.mean(found) <= 1.01 * ten


def test_history_is_that_of_the_start_that_was_kept():
    X, y = make_blobs(200, 4, centers=8, cluster_std=3.0, random_state=2)
    known = sample_pairs(y, 60, random_state=0)
    for model in (PCKMeans(8, random_state=0), HMRFKMeans(8, random_state=0)):
        model.fit(X, constraints=known)
        history = model.objective_history_
        assert model.n_iter_ == len(history) > 5
        assert (np.diff(history) <= 1e-9 * np.abs(history[:-1])).all()
        for most in (1, 3, 5, 6):
            assert model.set_params(max_iter=most).fit(X, constraints=known).n_iter_ <= most


def test_a_fit_can_be_stopped_while_starts_are_tried():
    X, y = make_blobs(200, 4, centers=8, cluster_std=3.0, random_state=0)
    seen = []
    with watching(lambda step: seen.append(step) or len(seen) == 7):
        model = PCKMeans(8, random_state=0).fit(X, constraints=sample_pairs(y, 60, random_state=0))
    assert len(seen) == 8  # and one assignment, of which the watcher is told, to end with
    assert not model.converged_
    assert len(np.unique(model.labels_)) == 8


def test_large_problems_are_screened_on_a_sample():
    X, y = make_blobs(12_000, 3, centers=6, cluster_std=0.5, random_state=0)
    known = sample_pairs(y, 300, random_state=0)
    for extra in ({}, {"sample_weight": np.ones(len(X))}):
        model = PCKMeans(6, random_state=0).fit(X, constraints=known, **extra)
        assert adjusted_rand_score(y, model.labels_) > 0.99
        assert model.labels_.shape == (12_000,)
    far = PCKMeans(6, random_state=0).fit(X + 1e6, constraints=known)
    assert adjusted_rand_score(y, far.labels_) > 0.99


@pytest.mark.parametrize("init", ["auto", "largest", "farthest", "figure-1"])
@pytest.mark.parametrize("metric", ["sqeuclidean", "cosine", "kl"])
def test_every_start_serves_every_metric(init, metric):
    rng = np.random.default_rng(4)
    X = rng.random((40, 3)) + 0.05
    known = sample_pairs(rng.integers(4, size=40), 30, random_state=0)
    for given in (known, Constraints(40)):
        model = PCKMeans(4, init=init, metric=metric, n_init=2, random_state=0)
        model.fit(X, constraints=given)
        assert np.isfinite(model.cluster_centers_).all()
        assert len(np.unique(model.labels_)) >= 2


@pytest.mark.parametrize("seed", range(4))
def test_a_metric_is_learned_to_its_end_before_starts_are_compared(seed):
    """3 columns of 20 matter: true pairs that nothing breaks cost nothing, and lead nowhere else.

    By what starts cost after five iterations three of these four were 108 to 709 above.
    """
    rng = np.random.default_rng(2)
    y = rng.integers(4, size=300)
    X = rng.normal(size=(300, 20))
    X[:, :3] += 5 * rng.normal(size=(4, 3))[y]
    X /= X.std(axis=0)
    known = sample_pairs(y, 30, random_state=2)
    alone = HMRFKMeans(4, random_state=seed).fit(X)
    told = HMRFKMeans(4, random_state=seed).fit(X, constraints=known)
    assert len(told.violations_.i) == 0
    assert told.objective_ == pytest.approx(alone.objective_, rel=1e-9)
