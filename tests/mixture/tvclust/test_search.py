"""Starts, splits and merges, covariance types: what a user is promised about the search."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import BayesianGaussianMixture

from coterie.constraints import Constraints, sample_pairs
from coterie.data import Rows, centered
from coterie.exceptions import CoterieWarning
from coterie.mixture import TVClust
from coterie.mixture.tvclust.families import AxisGaussian, Gaussian, Poisson, TiedGaussian
from coterie.mixture.tvclust.foretelling import left_out_scores
from coterie.mixture.tvclust.pairs import Beta, PairEvidence
from coterie.mixture.tvclust.passes import Comparison
from coterie.mixture.tvclust.search import Ascent, climb, improve
from coterie.mixture.tvclust.start import measure_columns, start_sizes
from coterie.mixture.tvclust.variational import (
    Alpha,
    Priors,
    TwoViews,
    run_variational,
)


def true_pairs(y, m, seed=0):
    rng = np.random.default_rng(seed)
    i = rng.integers(len(y), size=m)
    j = (i + rng.integers(1, len(y), size=m)) % len(y)
    same = y[i] == y[j]
    pairs = np.column_stack([i, j])
    return Constraints(len(y), must_link=pairs[same], cannot_link=pairs[~same])


def test_a_larger_truncation_adds_starts_and_changes_none():
    assert start_sizes(40)[: len(start_sizes(9))] == start_sizes(9) == [1, 2, 3, 5, 8]
    X, y = load_wine(return_X_y=True)
    c = true_pairs(y, 60)
    found = [
        TVClust(truncation=t, covariance_type="full", random_state=0).fit(X, constraints=c)
        for t in (9, 12, 40)
    ]
    for other in found[1:]:
        np.testing.assert_array_equal(other.labels_, found[0].labels_)
        assert other.lower_bound_ == pytest.approx(found[0].lower_bound_, rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_the_number_of_blobs_is_found(seed):
    k = 4 + 3 * seed
    X, y = make_blobs(60 * k, n_features=5, centers=k, random_state=seed)
    model = TVClust(random_state=seed).fit(X)
    assert model.n_clusters_ == k
    assert adjusted_rand_score(y, model.labels_) > 0.98


@pytest.mark.parametrize("wrong", ["merged", "split", "both"])
def test_splits_and_merges_mend_a_wrong_partition(wrong):
    X, y = make_blobs(300, n_features=3, centers=5, cluster_std=0.6, random_state=3)
    start = y.copy()
    if wrong in ("merged", "both"):
        start[start == 4] = 3
    if wrong in ("split", "both"):
        ones = np.flatnonzero(y == 0)
        start[ones[X[ones, 0] > np.median(X[ones, 0])]] = 7
    view = TwoViews(
        centered(X), np.empty(0), PairEvidence(Constraints(300)), Gaussian(X.var(0), 1.0, 5.0)
    )
    ascent = Ascent(20, Priors(Beta(10, 1), Beta(10, 1), Alpha(1.0)), 200, 1e-5)
    rng = np.random.default_rng(0)
    stuck = climb(view, start, ascent, rng, 3)
    assert (stuck.run.factors.statistics[:, 0] > 1).sum() == len(np.unique(start))
    mended = improve(stuck, Comparison(X.std(axis=0)), ascent, rng)
    counts = mended.run.factors.statistics[:, 0]
    assert (counts > 1).sum() == 5
    assert mended.bound > stuck.bound
    assert (np.diff(mended.run.bounds) >= -1e-9 * np.abs(mended.run.bounds[:-1])).all()


def test_the_published_bound_never_falls():
    X, y = make_blobs(400, n_features=2, centers=7, random_state=1)
    model = TVClust(random_state=0).fit(X, constraints=true_pairs(y, 40))
    bounds = model.lower_bounds_
    assert (np.diff(bounds) >= -1e-9 * np.abs(bounds[:-1])).all()
    assert len(bounds) == model.n_iter_ > 2


def shaped(kind, rng, n=600, d=4):
    """Rows of three clusters whose covariances are of one kind, and their classes."""
    y = rng.integers(3, size=n)
    means = 4.0 * rng.normal(size=(3, d))
    noise = rng.normal(size=(n, d))
    if kind == "full":
        noise = np.einsum("nd,nde->ne", noise, (rng.normal(size=(3, d, d)))[y])
    if kind == "tied":
        noise = noise @ rng.normal(size=(d, d))
    if kind == "diag":
        noise *= np.exp(rng.normal(size=(3, d)))[y]
    if kind == "spherical":
        noise *= np.array([0.5, 1.0, 2.0])[y][:, None]
        means *= 2.0
    return means[y] + noise, y


@pytest.mark.parametrize("kind", ["full", "tied", "diag"])
def test_auto_finds_the_kind_of_covariance(kind):
    X, y = shaped(kind, np.random.default_rng(1))
    model = TVClust(random_state=0).fit(X)
    assert model.covariance_type_ == kind
    assert adjusted_rand_score(y, model.labels_) > 0.95


@pytest.mark.parametrize(
    ("kind", "shape"), [("full", (4, 4)), ("diag", (4,)), ("diagonal", (4,)), ("spherical", (4,))]
)
def test_a_given_kind_is_used_and_published(kind, shape):
    X, y = shaped("spherical", np.random.default_rng(0))
    model = TVClust(covariance_type=kind, standardize=False, random_state=0).fit(X)
    assert model.covariance_type_ == kind.replace("onal", "")
    assert model.covariances_.shape == (model.n_clusters_, *shape)
    assert adjusted_rand_score(y, model.labels_) > 0.9
    assert (model.predict(X) == model.labels_).mean() > 0.98
    tied = TVClust(covariance_type="tied", random_state=0).fit(X)
    assert tied.covariances_.shape == (4, 4)


def test_covariances_are_those_of_the_rows():
    X, y = shaped("tied", np.random.default_rng(1))
    within = sum(np.cov(X[y == k].T) * ((y == k).sum() - 1) for k in range(3)) / len(X)
    model = TVClust(covariance_type="tied", random_state=0).fit(X)
    assert model.n_clusters_ == 3
    np.testing.assert_allclose(model.covariances_, within, atol=0.1 * np.abs(within).max())


# -- columns as they come ------------------------------------------------------------------------


def test_shared_values_leave_a_row_open_and_distinct_ones_do_not():
    rng = np.random.default_rng(0)
    even = rng.integers(2, size=2_000) * 7.0
    mostly = np.where(rng.random(2_000) < 0.9, 0.0, rng.normal(size=2_000))
    X = np.column_stack([rng.normal(size=2_000), even, mostly, np.ones(2_000)])
    measure = measure_columns(X, np.empty(0), True)
    share = measure.blur / measure.variance
    assert share[0] < 1e-5
    assert share[1] == pytest.approx(np.pi / 24, rel=0.01)  # (pi / 6) (1/8 + 1/8)
    assert share[2] == pytest.approx(np.pi / 6 * 0.9**3, rel=0.05)
    assert share[3] == 0.0
    again = measure_columns(100 * X, np.empty(0), True)
    np.testing.assert_allclose(again.blur, 1e4 * measure.blur)


def test_yes_and_no_columns_do_not_drown_the_numbers():
    """Clusters that differ in two numbers and slightly in eight yes-no columns."""
    rng = np.random.default_rng(0)
    y = rng.choice(3, 500, p=[0.5, 0.3, 0.2])
    yes = rng.random((500, 8)) < rng.uniform(0.1, 0.9, size=(3, 8))[y]
    X = np.column_stack([yes, rng.normal(size=(500, 2)) + 2.0 * y[:, None]]).astype(float)
    c = true_pairs(y, 500)
    model = TVClust(random_state=0).fit(X, constraints=c)
    assert adjusted_rand_score(y, model.labels_) > 0.85
    assert min(model.p_, model.q_) > 0.9


def test_useless_columns_do_not_hide_the_clusters():
    rng = np.random.default_rng(0)
    X, y = make_blobs(500, centers=4, n_features=4, random_state=5)
    X = np.hstack([X, rng.normal(size=(500, 20))])
    for m in (0, 50, 500):
        model = TVClust(random_state=0).fit(X, constraints=true_pairs(y, m))
        assert adjusted_rand_score(y, model.labels_) > 0.95


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
@pytest.mark.parametrize("share", [0.1, 1.0])
def test_with_true_pairs_never_below_a_mixture_told_the_number(load, share):
    X, y = load(return_X_y=True)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    model = TVClust(random_state=0).fit(X, constraints=true_pairs(y, int(share * len(y))))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = BayesianGaussianMixture(
            n_components=y.max() + 1, covariance_type=model.covariance_type_, random_state=0
        ).fit_predict(Z)
    own = adjusted_rand_score(y, model.labels_)
    assert own >= adjusted_rand_score(y, plain) - 0.02
    assert own > 0.7
    assert share < 1 or own > 0.93


# -- what is known and what is said --------------------------------------------------------------


def test_p_and_q_can_be_known_each_for_itself():
    X, y = load_iris(return_X_y=True)
    c = true_pairs(y, 100)
    model = TVClust(p=0.8, random_state=0).fit(X, constraints=c)
    assert model.p_ == 0.8
    assert model.q_ != 0.8
    both = TVClust(p=0.8, q=0.95, random_state=0).fit(X, constraints=c)
    assert (both.p_, both.q_) == (0.8, 0.95)
    sampled = TVClust("gibbs", q=0.7, n_sweeps=20, burn_in=10, random_state=0)
    sampled.fit(X, constraints=c)
    assert sampled.q_ == pytest.approx(0.7)
    assert np.ptp(sampled.trace_["q"]) == 0.0
    assert np.ptp(sampled.trace_["p"]) > 0.0


def test_kept_samples_are_published():
    X, y = load_iris(return_X_y=True)
    c = true_pairs(y, 60)
    model = TVClust("gibbs", n_chains=2, n_sweeps=30, burn_in=10, thin=4, random_state=0)
    model.fit(X, constraints=c)
    assert model.samples_.shape == (2 * 5, 150)
    i, j = c.pairs.T
    together = (model.samples_[:, i] == model.samples_[:, j]).mean(axis=0)
    np.testing.assert_allclose(together, model.pair_posteriors_)
    assert any(np.array_equal(s, model.labels_) for s in model.samples_)
    assert not hasattr(TVClust(random_state=0).fit(X), "samples_")


@pytest.mark.parametrize("inference", ["variational", "gibbs"])
@pytest.mark.parametrize("family", ["bernoulli", "poisson"])
def test_families_of_counts_find_their_clusters(family, inference):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=240)
    if family == "bernoulli":
        X = (rng.random((240, 12)) < rng.choice([0.1, 0.9], size=(3, 12))[y]).astype(float)
    else:
        X = rng.poisson(rng.gamma(1.0, 5.0, size=(3, 6))[y]).astype(float)
    model = TVClust(inference, family, n_sweeps=40, burn_in=20, random_state=0)
    model.fit(X, constraints=true_pairs(y, 60))
    assert adjusted_rand_score(y, model.labels_) > 0.9
    if inference == "variational":  # a sample may have a cluster of a few rows more
        assert model.n_clusters_ == 3
        means = np.array([X[model.labels_ == k].mean(axis=0) for k in range(3)])
        np.testing.assert_allclose(model.components_, means, atol=0.05 * X.max() + 0.05)
    assert (model.predict(X) == model.labels_).mean() > 0.95
    assert model.covariance_type_ == ""


def test_too_small_a_truncation_is_said():
    X, _ = make_blobs(200, centers=6, cluster_std=0.3, random_state=0)
    with pytest.warns(CoterieWarning, match="raise truncation"):
        TVClust(truncation=3, random_state=0).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert TVClust(random_state=0).fit(X).n_clusters_ == 6


def test_hard_pairs_too_say_what_a_cluster_is():
    X, y = load_wine(return_X_y=True)
    known = np.full(len(y), -1)
    known[::10] = y[::10]
    model = TVClust(random_state=0).fit(X, constraints=Constraints.from_labels(known))
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(y, model.labels_) > 0.9


# -- answers that are foretold, not remembered ---------------------------------------------------
@pytest.mark.parametrize("name", ["full", "tied", "diag", "poisson"])
def test_rows_are_foretold_by_components_of_the_other_rows(name):
    """Against sums over the rows that are left, for each fifth of the rows in pairs."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    X = rng.poisson(1.0 + 4.0 * y[:, None], size=(60, 3)).astype(float)
    weights = rng.uniform(0.5, 2.0, size=60)
    family = {
        "full": Gaussian(X.var(0), 1.0, 5.0),
        "tied": TiedGaussian(X.var(0), 1.0, 5.0),
        "diag": AxisGaussian(X.var(0), 0.5, 1.0, 4.0, shared=False),
        "poisson": Poisson(X.mean(0), 0.5),
    }[name]
    evidence = PairEvidence(true_pairs(y, 30))
    view = TwoViews(Rows(X), weights, evidence, family)
    priors = Priors(Beta(10, 1), Beta(10, 1), Alpha(1.0))
    factors = run_variational(view, y, 5, priors, max_iter=0, tol=0.0, rng=rng).factors
    found = left_out_scores(view, factors)
    known = evidence.core.rows
    for first in range(5):
        own = np.arange(first, known.size, 5)
        left = np.setdiff1d(np.arange(60), known[own])
        statistics = np.zeros_like(factors.statistics)
        family.add(X[left], weights[left, None] * np.eye(5)[y[left]], statistics)
        others = factors._replace(statistics=statistics).components(family)
        expected = others.score(X[known[own]]) + others.log_weights
        np.testing.assert_allclose(found[own], expected, rtol=1e-7)


def test_a_few_answers_do_not_choose_what_only_remembers_them():
    """Wine, one answer for ten rows: seven clusters of independent columns (.63) remembered them
    as well as three full ones (.95) foretell them.
    """
    X, y = load_wine(return_X_y=True)
    found = []
    for draw in range(3):
        known = sample_pairs(y, 17, random_state=draw)
        model = TVClust(random_state=0).fit(X, constraints=known)
        found.append(adjusted_rand_score(y, model.labels_))
    assert np.mean(found) > 0.9, found
