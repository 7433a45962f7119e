"""Families: evidence, expectations and predictions against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from mixture.tvclust.models import FAMILIES, blurred, small_table
from scipy.special import logsumexp

GAUSSIANS = ["full", "tied", "diag", "spherical"]


def sums(family, X, labels, n_clusters=None):
    n_clusters = labels.max() + 1 if n_clusters is None else n_clusters
    statistics = np.zeros((n_clusters, family.width))
    family.add(X, np.eye(n_clusters)[labels], statistics)
    return statistics


def naive_evidence(naive, X, labels):
    if hasattr(naive, "log_joint_rows"):
        return naive.log_joint_rows(X, labels.tolist())
    return sum(naive.log_marginal(X[labels == k]) for k in np.unique(labels))


@pytest.mark.parametrize("name", FAMILIES)
def test_evidence_is_that_of_the_chain_rule(name):
    X, family, naive = small_table(name, 9)
    labels = np.array([0, 1, 0, 2, 1, 0, 0, 2, 1])
    found = family.log_evidence(sums(family, X, labels, 4))  # one cluster without rows
    assert found == pytest.approx(naive_evidence(naive, X, labels), abs=1e-9)


@pytest.mark.parametrize("name", FAMILIES)
def test_prediction_is_the_ratio_of_evidences(name):
    X, family, naive = small_table(name, 8)
    labels = np.array([0, 1, 0, 2, 1, 0, 0])
    score = family.predictive_scores(sums(family, X[:7], labels))(X[7:])[0]
    before = naive_evidence(naive, X[:7], labels)
    after = [naive_evidence(naive, X, np.append(labels, k)) for k in range(3)]
    np.testing.assert_allclose(score, np.array(after) - before, atol=1e-9)


@pytest.mark.parametrize("blur", [False, True])
@pytest.mark.parametrize("name", FAMILIES)
def test_expectation_is_the_slope_of_the_evidence(name, blur):
    """d/dw ln p(rows, w copies of x) at w = 0 is E ln p(x), in a conjugate family."""
    X, family, _ = small_table(name, 42, seed=1)
    if blur and name not in GAUSSIANS:
        pytest.skip("counts have no blur")
    if blur:
        family = blurred(family, np.array([0.3, 0.1]))
    statistics = sums(family, X[:40], np.arange(40) % 3)
    score = family.expected_scores(statistics)(X[40:])
    step = 1e-5
    for i in range(2):
        for k in range(3):
            resp = np.zeros((1, 3))
            resp[0, k] = step
            more, less = statistics.copy(), statistics.copy()
            family.add(X[40 + i : 41 + i], resp, more)
            family.add(X[40 + i : 41 + i], -resp, less)
            slope = (family.log_evidence(more) - family.log_evidence(less)) / (2 * step)
            assert score[i, k] == pytest.approx(slope, rel=1e-5)


@pytest.mark.parametrize("name", FAMILIES)
def test_gain_of_a_merge(name):
    X, family, _ = small_table(name, 30, seed=2)
    statistics = sums(family, X, np.arange(30) % 4)
    gains = family.merge_gains(statistics)
    np.testing.assert_allclose(gains, gains.T)
    merged = statistics.copy()
    merged[1] += merged[3]
    merged[3] = 0.0
    change = family.log_evidence(merged) - family.log_evidence(statistics)
    assert gains[1, 3] == pytest.approx(change, abs=1e-8)


@pytest.mark.parametrize("name", ["multinomial", "bernoulli", "poisson"])
def test_counts_dense_and_sparse_alike(name):
    X, family, _ = small_table(name, 12)
    labels = np.arange(12) % 3
    dense, sparse = sums(family, X, labels), sums(family, sp.csr_array(X), labels)
    np.testing.assert_allclose(dense, sparse)
    for scores in (family.expected_scores(dense), family.predictive_scores(dense)):
        np.testing.assert_allclose(scores(X), scores(sp.csr_array(X)))


def test_blur_is_the_mean_over_spread_rows():
    """Rows spread by a known noise: the blurred sums are the mean sums of noisy copies."""
    rng = np.random.default_rng(0)
    X, family, _ = small_table("full", 40)
    blur = np.array([0.5, 0.2])
    labels = np.arange(40) % 2
    noisy = np.repeat(X, 2_000, axis=0) + rng.normal(size=(80_000, 2)) * np.sqrt(blur)
    mean = sums(family, noisy, np.repeat(labels, 2_000)) / 2_000
    ours = blurred(family, blur).posterior(sums(family, X, labels))
    theirs = family.posterior(mean)
    np.testing.assert_allclose(ours.scale, theirs.scale, rtol=0.02, atol=0.3)


def test_scores_of_a_mixture_are_densities():
    """Predictive densities of the 1-d families add up to 1 over their space."""
    grid = np.linspace(-60, 60, 40_001)[:, None]
    for name in GAUSSIANS:
        X, family, _ = small_table(name, 20)
        narrow = _one_column(family)
        statistics = sums(narrow, X[:, :1], np.arange(20) % 2)
        total = logsumexp(narrow.predictive_scores(statistics)(grid), axis=0) + np.log(120 / 40_000)
        np.testing.assert_allclose(total, 0.0, atol=2e-3)


def _one_column(family):
    if hasattr(family, "unit"):
        return type(family)(family.unit[:1] ** 2, 0.7, 0.5, 3.5, shared=family.shared)
    return type(family)(family.prior_scale[:1], 0.5, 4.5)
