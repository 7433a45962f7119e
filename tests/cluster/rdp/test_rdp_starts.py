"""What RDPMeans and DPMeans do where nobody says how: how many clusters, lambda, xi, starts."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from common.pairs import true_pairs
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score, silhouette_score

from coterie import Constraints
from coterie.cluster import DPMeans, RDPMeans
from coterie.cluster.rdp.n_clusters import information, silhouette, silhouette_distances
from coterie.cluster.rdp.problem import RdpProblem, get_divergence
from coterie.cluster.rdp.spectral import spectral_labels
from coterie.exceptions import CoterieWarning


@pytest.fixture(scope="module")
def twenty():
    """Twenty clusters that K-Means finds."""
    return make_blobs(4_000, n_features=16, centers=20, cluster_std=2.0, random_state=0)


def test_twenty_clusters_are_found_with_pairs_and_without(twenty):
    X, y = twenty
    with warnings.catch_warnings():
        warnings.simplefilter("error", CoterieWarning)
        told = RDPMeans(random_state=0).fit(X, constraints=true_pairs(y, 400))
        alone = DPMeans(random_state=0).fit(X)
    assert told.n_clusters_ == alone.n_clusters_ == 20
    assert adjusted_rand_score(y, told.labels_) > 0.99
    assert adjusted_rand_score(y, alone.labels_) > 0.99


@pytest.mark.slow
def test_a_hundred_thousand_rows_are_clustered_as_by_k_means():
    X, y = make_blobs(100_000, n_features=32, centers=20, random_state=0)
    model = RDPMeans(random_state=0).fit(X, constraints=true_pairs(y, 10_000))
    assert adjusted_rand_score(y, model.labels_) > 0.99


@pytest.mark.parametrize("kind", [True, False])
def test_pairs_of_one_kind_do_not_lead_to_one_heap_or_to_crumbs(kind):
    X, y = make_blobs(300, centers=[(0, 0), (8, 0), (0, 8), (8, 8)], random_state=0)
    model = RDPMeans(random_state=0).fit(X, constraints=true_pairs(y, 60, kind=kind))
    assert model.n_clusters_ == 4


def test_enough_pairs_find_a_number_that_k_means_alone_does_not():
    X, y = make_moons(300, noise=0.1, random_state=0)
    model = RDPMeans(random_state=0).fit(X, constraints=true_pairs(y, 1_200))
    assert model.n_clusters_ == 2
    assert adjusted_rand_score(y, model.labels_) > 0.95


def test_the_hint_is_the_number_of_clusters_of_the_start():
    X, y = make_blobs(400, centers=5, cluster_std=2.0, random_state=3)
    for hint in (2, 5, 7):
        assert DPMeans(n_clusters_hint=hint, random_state=0).fit(X).n_clusters_ == hint
    model = RDPMeans(n_clusters_hint=5, random_state=0).fit(X, constraints=true_pairs(y, 40))
    assert model.n_clusters_ == 5


@pytest.mark.parametrize("rows", ["one cloud", "square", "noise"])
def test_no_number_that_stands_out_is_said(rows):
    rng = np.random.default_rng(0)
    X = {
        "one cloud": rng.normal(size=(500, 2)) * [5, 1],
        "square": rng.random((500, 2)),
        "noise": rng.normal(size=(300, 6)),
    }[rows]
    with pytest.warns(CoterieWarning, match="n_clusters_hint"):
        model = DPMeans(random_state=0).fit(X)
    assert model.n_clusters_ <= np.sqrt(len(X))
    with warnings.catch_warnings():
        warnings.simplefilter("error", CoterieWarning)
        DPMeans(n_clusters_hint=3, random_state=0).fit(X)
        DPMeans(0.5, random_state=0).fit(X)


def test_clusters_that_stand_out_need_no_warning():
    X, _ = make_blobs(300, centers=[(0, 0), (8, 0), (0, 8)], random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", CoterieWarning)
        assert DPMeans(random_state=0).fit(X).n_clusters_ == 3
        assert DPMeans(random_state=0).fit(sp.csr_matrix(X)).n_clusters_ == 3


def test_information_is_the_likelihood_ratio_of_8_at_its_best():
    rng = np.random.default_rng(0)
    together, must = rng.random(60) < 0.4, rng.random(60) < 0.5
    must |= together & (rng.random(60) < 0.7)
    cost = rng.uniform(0.5, 2.0, size=60)
    best = 0.0
    for p in np.append(np.linspace(0.02, 0.98, 25), 0.99):
        for friend_apart in np.append(np.linspace(0.02, 0.98, 25), 0.99):
            if friend_apart > p:
                continue
            drawn = 0.3 * p + 0.7 * friend_apart
            total = 0.0
            for t, m, c in zip(together, must, cost, strict=True):
                chance = p if t else friend_apart
                total += c * np.log((chance if m else 1 - chance) / (drawn if m else 1 - drawn))
            best = max(best, total)
    assert information(together, must, cost, 0.3) == pytest.approx(best)
    assert information(must, must, cost, 0.3) > information(together, must, cost, 0.3)
    assert information(np.ones(60, bool), must, cost, 1.0) == pytest.approx(0.0)


def test_silhouette_is_that_of_scikit_learn():
    X, y = make_blobs(120, centers=4, random_state=0)
    y[0] = 9  # alone
    problem = RdpProblem(X, Constraints(120), None, get_divergence("sqeuclidean"))
    found = silhouette(silhouette_distances(problem), y)
    assert found == pytest.approx(silhouette_score(X, y), abs=1e-7)
    assert silhouette(silhouette_distances(problem), np.zeros(120, int)) == 0.0


def test_the_unit_of_the_data_does_not_matter():
    X, y = make_blobs(300, centers=4, cluster_std=2.5, random_state=1)
    pairs = true_pairs(y, 150)
    one = RDPMeans(random_state=0).fit(X, constraints=pairs)
    for factor in (2.0**-20, 2.0**20):
        other = RDPMeans(random_state=0).fit(X * factor, constraints=pairs)
        np.testing.assert_array_equal(one.labels_, other.labels_)
        assert other.objective_ == pytest.approx(one.objective_ * factor**2)


def test_without_a_bound_xi_ends_where_more_would_change_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    i = rng.integers(60, size=300)
    j = (i + rng.integers(1, 60, size=300)) % 60
    kind = rng.random(300) < 0.5  # they contradict each other
    pairs = np.column_stack([i, j])
    c = Constraints(60, must_link=pairs[kind], cannot_link=pairs[~kind])
    model = RDPMeans(
        n_clusters_hint=3, xi0=1e-3, xi_max=None, patience=290, init="single", random_state=0
    ).fit(X, constraints=c)
    assert model.converged_
    assert abs(model.objective_) < 1e4 * 300 * model.lambda_value_
    far = RDPMeans(
        model.lambda_value_, xi0=1e12, xi_max=1e12, init=model.labels_, random_state=0
    ).fit(X, constraints=c)
    np.testing.assert_array_equal(far.labels_, model.labels_)


def test_given_a_lambda_j_is_never_above_that_of_algorithm_1():
    for seed in range(5):
        X, y = make_blobs(200, centers=6, cluster_std=1.5, random_state=seed)
        pairs = true_pairs(y, 60, seed)
        given = {"lambda_": 12.0, "xi0": 1.0, "xi_rate": 1.0, "random_state": seed}
        printed = RDPMeans(init="single", **given).fit(X, constraints=pairs)
        ours = RDPMeans(**given).fit(X, constraints=pairs)
        assert ours.objective_ <= printed.objective_ + 1e-9


@pytest.mark.parametrize("n", [90, 3_000])
def test_the_spectral_start_does_not_grow_with_the_rows(n):
    X, y = make_blobs(n, centers=[(0, 0), (9, 0), (0, 9)], cluster_std=0.8, random_state=5)
    wide = np.hstack([X, np.random.default_rng(0).normal(size=(n, 6))])
    hinted = DPMeans("farthest_first", 3, init="spectral", max_iter=1, random_state=0).fit(wide)
    assert hinted.n_clusters_ <= 4  # one round of the rule after three
    problem = RdpProblem(wide, Constraints(n), None, get_divergence("sqeuclidean"))
    for exactly in (False, True):
        rng = np.random.default_rng(0)
        labels = spectral_labels(problem, 0.0, 15.0, 3, rng, exactly=exactly)
        assert adjusted_rand_score(y, labels) == 1.0


def test_rows_of_no_weight_do_not_count_for_the_start():
    X, y = make_blobs(300, centers=[(0, 0), (8, 0), (0, 8)], random_state=0)
    far = np.vstack([X, np.full((20, 2), 500.0)])
    weights = np.r_[np.ones(300), np.zeros(20)]
    model = DPMeans(random_state=0).fit(far, sample_weight=weights)
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(y, model.labels_[:300]) == 1.0


def test_wrong_pairs_do_not_outweigh_the_rows():
    X, y = make_blobs(400, centers=4, cluster_std=1.0, random_state=2)
    rng = np.random.default_rng(0)
    i = rng.integers(400, size=800)
    j = (i + rng.integers(1, 400, size=800)) % 400
    kind = (y[i] == y[j]) ^ (rng.random(800) < 0.2)
    pairs = np.column_stack([i, j])
    c = Constraints(400, must_link=pairs[kind], cannot_link=pairs[~kind])
    alone = adjusted_rand_score(y, KMeans(4, n_init=10, random_state=0).fit(X).labels_)
    model = RDPMeans(n_clusters_hint=4, random_state=0).fit(X, constraints=c)
    assert adjusted_rand_score(y, model.labels_) >= alone - 0.02
