"""How exactly columns were recorded, and that no learned metric believes in more."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_wine
from sklearn.metrics import adjusted_rand_score

from coterie import HMRFKMeans, MPCKMeans
from coterie.constraints import sample_pairs
from coterie.data import Rows
from coterie.distortions.base import ConstantBound
from coterie.distortions.learning import LinearProblem
from coterie.distortions.precision import least_share

ONES = np.empty(0)


def test_equally_likely_values_have_the_variance_of_their_interval():
    """δ²/12 for m values δ apart: Sheppard's correction, whatever δ is."""
    rng = np.random.default_rng(0)
    for m, step in ((2, 1.0), (5, 0.1), (17, 3.0)):
        X = step * rng.integers(m, size=(20_000, 1))
        wanted = step**2 / 12 / X.var()
        assert least_share(Rows(X), ONES)[0] == pytest.approx(wanted, rel=0.05)


def test_a_column_that_says_nothing_keeps_all_its_variance_and_a_continuous_one_none():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=1000), rng.random(1000) < 0.03, np.full(1000, 7.0)])
    assert least_share(Rows(X), ONES) == pytest.approx([0.0, 1.0, 1.0], abs=1e-4)


def test_the_first_look_at_few_rows_changes_nothing_that_counts():
    """Floors are 1e-6 of a column's variance and more: below that, all is continuous."""
    rng = np.random.default_rng(2)
    n = 20_000
    columns = [np.where(rng.random(n) < often, 0.5, rng.random(n)) for often in (0.01, 0.03, 0.2)]
    columns += [np.round(rng.normal(size=n), digits) for digits in range(7)]
    X = np.column_stack([*columns, np.sort(rng.random(n)), np.repeat(rng.random(n // 2), 2)])
    wanted = []
    for values in X.T:
        _, count = np.unique(values, return_counts=True)
        agree = (count * (count - 1.0)).sum() / (n * (n - 1.0))
        wanted.append(agree**2 / (1 - agree**2))
    np.testing.assert_allclose(least_share(Rows(X), ONES), wanted, rtol=1e-9, atol=1e-8)


def test_sparse_rows_and_weights():
    rng = np.random.default_rng(1)
    X = rng.integers(4, size=(60, 5)) * rng.integers(2, size=(60, 5)) * 1.0
    weights = rng.integers(1, 4, 60).astype(float)
    dense = least_share(Rows(X), weights)
    np.testing.assert_allclose(least_share(Rows(sp.csr_matrix(X)), weights), dense, rtol=1e-12)
    repeated = np.repeat(X, weights.astype(int), axis=0)
    np.testing.assert_allclose(least_share(Rows(repeated), ONES), dense, rtol=1e-12)
    empty = sp.csr_matrix((3, 2))
    np.testing.assert_array_equal(least_share(Rows(empty), ONES), 1.0)


@pytest.mark.parametrize("per_cluster", [True, False])
def test_no_weight_is_above_what_values_can_tell(per_cluster):
    X, _ = load_digits(n_class=3, return_X_y=True)
    share = least_share(Rows(X), ONES)
    model = MPCKMeans(3, per_cluster=per_cluster, random_state=0).fit(X)
    most = 1 / np.maximum(share * X.var(axis=0), 1e-12)
    varies = X.var(axis=0) > 0
    assert (model.metrics_[:, varies] <= most[varies] * (1 + 1e-9)).all()


def test_the_floor_of_full_metrics_is_in_the_scale_of_each_column():
    """Three rows in three columns leave a direction open; units do not change what is believed."""
    rng = np.random.default_rng(2)
    gaps = rng.normal(size=(2, 3))
    floor = np.array([[0.02, 0.3, 0.01]])

    def proposed(unit):
        scatter = (gaps * unit).T @ (gaps * unit)
        problem = LinearProblem(
            scatter[None], floor * unit**2, ConstantBound(1.0), np.zeros(1), np.full(1, 3.0), None
        )
        return problem.propose(np.eye(3)[None])[0] * np.outer(unit, unit)

    plain = proposed(np.ones(3))
    np.testing.assert_allclose(proposed(np.array([1.0, 1e3, 1e-3])), plain, rtol=1e-6)
    widest = np.linalg.eigvalsh(plain * np.sqrt(np.outer(floor[0], floor[0]))).max()
    assert widest == pytest.approx(3.0)  # the mass: nothing is narrower than the floor


def test_full_metrics_reach_their_optimum_in_the_units_of_wine():
    """One floor for all columns was that of proline, in the hundreds: J ended at 7364."""
    X, y = load_wine(return_X_y=True)
    pairs = sample_pairs(y, 44, random_state=0)
    model = HMRFKMeans(3, metric_form="full", random_state=0).fit(X, constraints=pairs)
    assert model.objective_ < 2000


def one_hot_table(seed, n=300):
    """Three clusters in three numbers, beside two nominal columns, written as 0 and 1."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    numbers = 2.2 * np.eye(3)[y] + rng.normal(size=(n, 3))
    near = np.where(rng.random(n) < 0.6, y, rng.integers(6, size=n))
    hot = [np.eye(6)[near], np.eye(8)[rng.integers(8, size=n)]]
    return np.column_stack([numbers, *hot]), y


@pytest.mark.parametrize(("estimator", "most"), [(MPCKMeans, 0.3), (HMRFKMeans, 0.15)])
def test_categories_are_no_reason_to_fall_far_below_k_means(estimator, most):
    """A cluster of one category had metrics without bound: ARI .24 and .38, K-Means .73."""
    lost = []
    for seed in range(5):
        X, y = one_hot_table(seed)
        pairs = sample_pairs(y, 30, random_state=seed)
        plain = KMeans(3, n_init=10, random_state=seed).fit_predict(X)
        found = estimator(3, random_state=seed).fit(X, constraints=pairs).labels_
        lost.append(adjusted_rand_score(y, plain) - adjusted_rand_score(y, found))
    assert np.mean(lost) < most
