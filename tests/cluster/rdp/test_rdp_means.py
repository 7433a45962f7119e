"""DP-means and RDP-means: the naive twin, the objective, hard pairs, and what users may pass."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from coterie.cluster import DPMeans, RDPMeans
from coterie.cluster.rdp.fit import start_from_labels
from coterie.cluster.rdp.lambda_search import lambda_by_rule, n_covering
from coterie.cluster.rdp.passes import RdpState, run_round, shuffled_rows
from coterie.cluster.rdp.problem import RdpProblem, Xi, get_divergence
from coterie.cluster.rdp.spectral import spectral_operator
from coterie.constraints import Constraints
from coterie.data import use_threads
from coterie.distortions import Bregman
from coterie.exceptions import InvalidParameter
from reference.rdp import naive_objective, naive_round


def random_pairs(rng, n, m, hard=0.0):
    i = rng.integers(n, size=m)
    j = (i + rng.integers(1, n, size=m)) % n
    kind = rng.random(m) < 0.5
    weight = np.where(rng.random(m) < hard, np.inf, rng.choice([0.5, 1.0, 2.0], size=m))
    return Constraints(
        n,
        must_link=np.column_stack([i, j])[kind],
        cannot_link=np.column_stack([i, j])[~kind],
        must_weight=np.where(np.isinf(weight), 1.0, weight)[kind],
        cannot_weight=weight[~kind],
    )


def as_list(c):
    return list(
        zip(
            c.pairs[:, 0].tolist(),
            c.pairs[:, 1].tolist(),
            c.kind.tolist(),
            c.cost().tolist(),
            strict=True,
        )
    )


def library_order(problem, state, lambda_, rng):
    """The order a round visits rows in: free rows within lambda first, then the others."""
    free = np.ones(problem.n, dtype=bool)
    free[problem.core.rows] = False
    to_centers = ((problem.rows.take(np.arange(problem.n))[:, None] - state.centers) ** 2).sum(2)
    first = free & (to_centers.min(axis=1) < lambda_)
    rest = np.flatnonzero(~first)
    items = np.concatenate([problem.core.rows, np.flatnonzero(free & ~first)])
    assert set(items) == set(rest)
    return np.concatenate([np.flatnonzero(first), items[rng.permutation(len(items))]])


@pytest.mark.parametrize("seed", range(30))
def test_a_round_is_algorithm_1_row_by_row(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 40))
    X = rng.normal(size=(n, 2)) * 3
    c = random_pairs(rng, n, int(rng.integers(0, n)))
    problem = RdpProblem(X, c, None, get_divergence("sqeuclidean"))
    lambda_, xi = (
        float(rng.uniform(0.5, 20)),
        Xi(float(rng.uniform(0, 3)), float(rng.uniform(0, 3))),
    )
    state = start_from_labels(problem, rng.integers(1, 4, size=n))
    for step in range(4):
        order = library_order(problem, state, lambda_, np.random.default_rng(step))
        shifted = problem.rows.take(np.arange(n))
        labels, centers = naive_round(
            shifted, as_list(c), state.labels, state.centers, *xi, lambda_, order
        )
        before = RdpState(state.labels.copy(), state.centers.copy())
        state, objective = run_round(problem, state, xi, lambda_, np.random.default_rng(step))
        np.testing.assert_array_equal(state.labels, labels)
        np.testing.assert_allclose(state.centers, centers, atol=1e-12)
        after = naive_objective(shifted, as_list(c), labels, centers, *xi, lambda_)
        assert objective <= problem.objective(*before, xi, lambda_) + 1e-9
        assert after <= objective + 1e-9
        assert problem.objective(*state, xi, lambda_) == pytest.approx(after)


@pytest.mark.parametrize("divergence", ["sqeuclidean", "kl", "itakura-saito"])
@pytest.mark.parametrize("seed", range(12))
def test_objective_never_rises_at_fixed_xi(divergence, seed):
    rng = np.random.default_rng(seed)
    X = rng.gamma(1.0, size=(120, 4)) + 0.05
    c = random_pairs(rng, 120, 150, hard=0.05)
    model = RDPMeans(
        n_clusters_hint=5, divergence=divergence, xi0=0.2, xi_rate=1.0, random_state=seed
    )
    model.fit(X, constraints=c)
    assert model.converged_
    history = model.objective_history_
    assert (np.diff(history) <= 1e-9 * np.abs(history[:-1])).all()
    assert model.objective_ == pytest.approx(history[-1], rel=1e-9)


def test_each_start_of_a_growing_xi_still_descends_at_that_xi():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    problem = RdpProblem(X, random_pairs(rng, 80, 120), None, get_divergence("sqeuclidean"))
    state = start_from_labels(problem, np.zeros(80, dtype=int))
    for t in range(12):
        xi = Xi(1e-3 * 2**t, 1e-3 * 2**t)
        before = problem.objective(*state, xi, 1.5)
        state, after = run_round(problem, state, xi, 1.5, rng)
        assert after <= before + 1e-9


def test_without_xi_it_is_dp_means():
    X, _ = make_blobs(400, centers=5, random_state=1)
    c = random_pairs(np.random.default_rng(2), 400, 300)
    plain = DPMeans(4.0, order="natural", random_state=0).fit(X)
    told = RDPMeans(4.0, xi0=0.0, order="natural", random_state=0).fit(
        X, constraints=Constraints(400)
    )
    np.testing.assert_array_equal(plain.labels_, told.labels_)
    # With pairs that weigh nothing only the order of visits differs: the result is a fixed point.
    weightless = RDPMeans(4.0, xi0=0.0, init=plain.labels_).fit(X, constraints=c)
    np.testing.assert_array_equal(plain.labels_, weightless.labels_)
    assert weightless.objective_ == pytest.approx(plain.objective_)


def test_huge_xi_with_consistent_closed_pairs_recovers_the_components():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))  # no structure at all
    y = rng.integers(4, size=60)
    i, j = np.triu_indices(60, 1)
    same = y[i] == y[j]
    pairs = np.column_stack([i, j])
    c = Constraints(60, must_link=pairs[same], cannot_link=pairs[~same])
    model = RDPMeans(n_clusters_hint=4, random_state=0).fit(X, constraints=c)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert len(model.violations_) == 0


@pytest.mark.parametrize("seed", range(10))
def test_hard_pairs_are_never_broken(seed):
    rng = np.random.default_rng(seed)
    n = 60
    y = rng.integers(5, size=n)
    X = rng.normal(size=(n, 2))
    i = rng.integers(n, size=90)
    j = (i + rng.integers(1, n, size=90)) % n
    must = y[i] == y[j]
    pairs = np.column_stack([i, j])
    c = Constraints(
        n, must_link=pairs[must], cannot_link=pairs[~must], must_weight=np.inf, cannot_weight=np.inf
    ) + random_pairs(rng, n, 40)
    weights = rng.choice([0.0, 1.0, 2.5], size=n)
    model = RDPMeans(1.0, xi_max=0.1, random_state=seed).fit(
        X, constraints=c, sample_weight=weights
    )
    together = model.labels_[c.pairs[:, 0]] == model.labels_[c.pairs[:, 1]]
    assert (together == (c.kind > 0))[c.is_hard].all()
    assert np.isfinite(model.cluster_centers_).all()


def test_a_hard_component_opens_a_cluster_at_its_own_price():
    # Two far pairs joined by hard must-links: alone they pay nothing but lambda.
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    c = Constraints(4, must_link=[(0, 1), (2, 3)], must_weight=np.inf)
    assert RDPMeans(150.0).fit(X, constraints=c).n_clusters_ == 1  # 2 * 5^2 * 2 saved = 100
    assert RDPMeans(49.0).fit(X, constraints=c).n_clusters_ == 2


def test_dense_sparse_float32_and_threads_agree():
    rng = np.random.default_rng(0)
    X, _ = make_blobs(12_000, n_features=5, centers=6, cluster_std=0.6, random_state=0)
    c = random_pairs(rng, 12_000, 4_000)
    models = []
    for threads, data in ((1, X), (2, X), (2, sp.csr_matrix(X)), (2, X.astype(np.float32))):
        with use_threads(threads):
            models.append(RDPMeans(n_clusters_hint=6, random_state=3).fit(data, constraints=c))
    one, two, sparse, single = models
    np.testing.assert_array_equal(one.labels_, two.labels_)
    np.testing.assert_array_equal(one.cluster_centers_, two.cluster_centers_)
    np.testing.assert_array_equal(one.labels_, sparse.labels_)
    assert single.cluster_centers_.dtype == np.float32
    assert adjusted_rand_score(one.labels_, single.labels_) > 0.999


def test_any_bregman_divergence():
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.uniform(0.1, 0.4, (40, 2)), rng.uniform(2, 3, (40, 2))])
    cubic = Bregman(lambda x: x**3, lambda x: 3 * x**2, low=0)
    model = DPMeans(5.0, divergence=cubic, init="single", random_state=0).fit(X)
    assert adjusted_rand_score(np.repeat([0, 1], 40), model.labels_) == 1.0


@pytest.mark.parametrize("rule", ["farthest_first", "paper"])
def test_lambda_rules_against_their_definition(rule):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    k = 4
    to_mean = ((X - X.mean(axis=0)) ** 2).sum(axis=1)
    if rule == "paper":
        expected = np.sort(to_mean)[-k]
    else:
        chosen = [X.mean(axis=0)]
        for _ in range(k):
            gaps = np.min([((X - t) ** 2).sum(axis=1) for t in chosen], axis=0)
            expected = gaps.max()
            chosen.append(X[gaps.argmax()])
    problem = RdpProblem(X, Constraints(50), None, get_divergence("sqeuclidean"))
    found = lambda_by_rule(problem, rule, k)
    assert found == pytest.approx(expected)
    if rule == "farthest_first":
        assert n_covering(problem, found) == k


def test_spectral_operator_is_the_matrix_of_21_and_starts_well():
    rng = np.random.default_rng(0)
    X, y = make_blobs(90, centers=[(0, 0), (9, 0), (0, 9)], cluster_std=0.5, random_state=5)
    c = random_pairs(rng, 90, 60)
    problem = RdpProblem(X, c, None, get_divergence("sqeuclidean"))
    E = np.zeros((90, 90))
    for a, b, kind, cost in as_list(c):
        E[a, b] += kind * cost
        E[b, a] += kind * cost
    Z = X - X.mean(axis=0)
    expected = Z @ Z.T / 30 - 2.0 * np.eye(90) + 0.7 * E
    V = rng.normal(size=(90, 4))
    np.testing.assert_allclose(
        spectral_operator(problem, 0.7, 2.0, 30) @ V, expected @ V, atol=1e-9
    )
    model = RDPMeans(n_clusters_hint=3, init="spectral", random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1.0


def test_predict_rejects_rows_beyond_lambda():
    X, _ = make_blobs(200, centers=3, cluster_std=0.3, random_state=0)
    model = DPMeans(n_clusters_hint=3, random_state=0).fit(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    far = np.array([[100.0, 100.0]])
    assert model.predict(far)[0] >= 0
    assert model.predict(far, reject=True)[0] == -1
    assert (model.predict(X, reject=True) >= 0).all()
    assert model.transform(X).shape == (200, model.n_clusters_)


def test_starting_from_a_fitted_model_keeps_cluster_numbers():
    X, _ = make_blobs(300, centers=4, random_state=0)
    first = RDPMeans(n_clusters_hint=4, random_state=0).fit(X)
    again = RDPMeans(n_clusters_hint=4, random_state=1, init=first).fit(
        X, constraints=Constraints(300, must_link=[(0, 1)])
    )
    assert (again.labels_ == first.labels_).mean() > 0.9


def test_natural_order_is_reproducible_and_random_order_is_seeded():
    X, _ = make_blobs(100, centers=4, random_state=0)
    c = random_pairs(np.random.default_rng(0), 100, 50)
    one = RDPMeans(2.0, order="natural", init="single", random_state=0).fit(X, constraints=c)
    two = RDPMeans(2.0, order="natural", init="single", random_state=9).fit(X, constraints=c)
    np.testing.assert_array_equal(one.labels_, two.labels_)
    one = RDPMeans(2.0, random_state=4).fit(X, constraints=c)
    two = RDPMeans(2.0, random_state=4).fit(X, constraints=c)
    np.testing.assert_array_equal(one.labels_, two.labels_)


def test_more_starts_are_never_worse():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 2))
    c = random_pairs(rng, 150, 150)
    kwargs = {"xi_max": 0.2, "random_state": 0}
    one = RDPMeans(1.0, n_init=1, **kwargs).fit(X, constraints=c)
    ten = RDPMeans(1.0, n_init=10, **kwargs).fit(X, constraints=c)
    assert ten.objective_ <= one.objective_ + 1e-9


@pytest.mark.parametrize("X", [np.ones((20, 3)), np.full((20, 3), 1e6, dtype=np.float32)])
@pytest.mark.parametrize("data", [np.asarray, sp.csr_matrix])
def test_identical_rows_are_one_cluster(X, data):
    assert DPMeans().fit(data(X)).n_clusters_ == 1
    assert RDPMeans(n_clusters_hint=3).fit(data(X)).n_clusters_ == 1


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"lambda_": 0.0}, "lambda_"),
        ({"lambda_": -1}, "lambda_"),
        ({"lambda_": "farthest"}, "farthest_first"),
        ({"n_clusters_hint": 31}, "n_clusters_hint"),
        ({"xi_rate": 0.5}, "xi_rate"),
        ({"order": "sorted"}, "order"),
        ({"divergence": "eucledian"}, "divergence"),
        ({"init": [0, 1]}, "init"),
        ({"init": "spectral", "divergence": "kl"}, "spectral"),
    ],
)
def test_bad_parameters_are_named(parameters, words):
    with pytest.raises(InvalidParameter, match=words):
        RDPMeans(**parameters).fit(np.random.default_rng(0).random((30, 2)) + 0.1)


def test_many_openings_in_one_round_are_laid_out_anew():
    X = np.arange(400.0)[:, None] * 10
    c = Constraints(400, cannot_link=[(0, 1), (5, 200)])
    model = RDPMeans(1.0, random_state=0).fit(X, constraints=c)
    assert model.n_clusters_ == 400
    assert model.objective_ == pytest.approx(400.0)


def test_the_order_of_many_rows_is_a_permutation():
    rng = np.random.default_rng(0)
    for count in (1, 4096, 4097, 10_000):
        np.testing.assert_array_equal(np.sort(shuffled_rows(count, rng)), np.arange(count))
    assert not np.array_equal(shuffled_rows(5000, rng), shuffled_rows(5000, rng))
