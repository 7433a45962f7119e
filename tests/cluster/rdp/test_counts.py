"""divergence="kl": the Laplace smoothing of counts in section 5.3, (x + .3) / (N + .3 d)."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import entropy
from sklearn.metrics import adjusted_rand_score

from coterie import Constraints
from coterie.cluster import DPMeans, RDPMeans
from coterie.cluster.rdp.counts import CountKL
from coterie.exceptions import InvalidData


def some_counts(n=150, length=60, seed=0):
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(30, 0.1), size=3)
    y = rng.integers(3, size=n)
    sizes = rng.integers(3, 2 * length, size=n)
    return np.array([rng.multinomial(m, topics[k]) for m, k in zip(sizes, y, strict=True)]), y


def smoothed(X):
    return (X + 0.3) / (X.sum(axis=1, keepdims=True) + 0.3 * X.shape[1])


@pytest.mark.parametrize("data", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_distances_and_centres_are_those_of_the_smoothed_counts(data, dtype):
    X, y = some_counts()
    X = X.astype(dtype)
    model = RDPMeans(0.5, divergence="kl", init=y, max_iter=1).fit(data(X))
    P = smoothed(X)
    labels = model.labels_
    centers = np.array([P[labels == k].mean(axis=0) for k in range(model.n_clusters_)])
    tolerance = 1e-10 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(model.cluster_centers_, centers, atol=tolerance)
    expected = entropy(P[:, None], centers, axis=2)
    np.testing.assert_allclose(model.transform(data(X)), expected, atol=10 * tolerance)


@pytest.mark.parametrize("data", [np.asarray, sp.csr_matrix])
def test_between_two_rows_is_their_divergence_from_their_mean(data):
    X = some_counts(n=6)[0].astype(float)
    i, j = np.triu_indices(6, 1)
    P = smoothed(X)
    middle = (P[i] + P[j]) / 2
    expected = entropy(P[i], middle, axis=1) + entropy(P[j], middle, axis=1)
    np.testing.assert_allclose(CountKL(0.3).between(data(X), i, j), expected, atol=1e-12)
    assert CountKL(0.3).bound(data(X)).value(None) >= expected.max()


@pytest.mark.parametrize("seed", range(5))
def test_the_objective_of_counts_never_rises_at_fixed_xi(seed):
    X, _ = some_counts(seed=seed)
    rng = np.random.default_rng(seed)
    i = rng.integers(150, size=80)
    j = (i + rng.integers(1, 150, size=80)) % 150
    kind = rng.random(80) < 0.5
    pairs = np.column_stack([i, j])
    c = Constraints(150, must_link=pairs[kind], cannot_link=pairs[~kind])
    model = RDPMeans("paper", 5, divergence="kl", xi0=0.2, xi_rate=1.0, random_state=seed)
    history = model.fit(X.astype(float), constraints=c).objective_history_
    assert (np.diff(history) <= 1e-9 * np.abs(history[:-1])).all()


def test_topics_are_found_from_dense_and_sparse_counts():
    X, y = some_counts()
    X = X.astype(float)
    dense = DPMeans(n_clusters_hint=3, divergence="kl", random_state=0).fit(X)
    sparse = DPMeans(n_clusters_hint=3, divergence="kl", random_state=0).fit(sp.csr_matrix(X))
    assert adjusted_rand_score(y, dense.labels_) > 0.95
    np.testing.assert_array_equal(dense.labels_, sparse.labels_)
    np.testing.assert_array_equal(dense.predict(X), dense.labels_)


def test_rows_without_counts_and_negative_ones_are_refused():
    X = some_counts(n=10)[0].astype(float)
    X[4] = 0
    with pytest.raises(InvalidData, match="row 4"):
        DPMeans(divergence="kl").fit(X)
    X[4, 2] = -1
    with pytest.raises(InvalidData, match="row 4, column 2"):
        DPMeans(divergence="kl").fit(X)
