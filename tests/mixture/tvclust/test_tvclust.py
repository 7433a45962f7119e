"""TVClust: the bound against its definition, hard pairs, certainties, and new rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from mixture.tvclust.models import FAMILIES, blurred, small_table
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score

from coterie.constraints import Constraints
from coterie.data import Rows, use_threads
from coterie.exceptions import InfeasibleConstraints, InvalidData, InvalidParameter
from coterie.mixture import TVClust
from coterie.mixture.tvclust.pairs import AnswerLogs, Beta, PairEvidence
from coterie.mixture.tvclust.variational import (
    Alpha,
    Priors,
    TwoViews,
    responsibilities,
    run_variational,
)
from reference.tvclust import naive_bound


def noisy_pairs(y, m, p, seed=0):
    """m pairs of distinct rows, each of its true kind with probability p."""
    rng = np.random.default_rng(seed)
    i = rng.integers(len(y), size=m)
    j = (i + rng.integers(1, len(y), size=m)) % len(y)
    must = (y[i] == y[j]) ^ (rng.random(m) >= p)
    pairs = np.column_stack([i, j])
    return Constraints(len(y), must_link=pairs[must], cannot_link=pairs[~must])


def run(X, c, family, *, alpha=1.0, truncation=4, iterations=6, seed=0):
    data = TwoViews(Rows(X), np.empty(0), PairEvidence(c), family)
    priors = Priors(
        Beta(5.0, 1.0), Beta(4.0, 1.5), alpha if isinstance(alpha, Alpha) else Alpha(alpha)
    )
    labels = np.random.default_rng(seed).integers(truncation - 1, size=X.shape[0])
    found = run_variational(
        data,
        labels,
        truncation,
        priors,
        max_iter=iterations,
        tol=0.0,
        rng=np.random.default_rng(seed),
    )
    return data, priors, found


@pytest.mark.parametrize("alpha", [Alpha(0.7), Alpha(2.0, 1.5)])
@pytest.mark.parametrize("name", FAMILIES)
def test_bound_is_its_definition(name, alpha):
    X, family, naive = small_table(name, 14)
    c = Constraints(
        14,
        must_link=[(0, 1), (2, 3), (4, 5)],
        cannot_link=[(0, 4), (6, 7)],
        must_weight=[1.0, 2.5, 1.0],
        must_certainty=[np.nan, np.nan, 0.8],
    )
    # At a fixed point the factors of z and of the parameters belong together.
    data, priors, found = run(X, c, family, alpha=alpha, iterations=400)
    factors = found.factors
    resp = responsibilities(data, factors)
    pairs = [
        (int(i), int(j), int(k), float(w), None if np.isnan(g) else float(g))
        for (i, j), k, w, g in zip(c.pairs, c.kind, c.weight, c.certainty, strict=True)
    ]
    sticks = list(zip(factors.sticks.a, factors.sticks.b, strict=True))
    with_prior = alpha.rate is not None
    expected = naive_bound(
        naive, X, pairs, resp, sticks,
        tuple(factors.p), tuple(factors.q),
        tuple(factors.alpha) if with_prior else alpha.mean,
        tuple(priors.p), tuple(priors.q), tuple(alpha) if with_prior else None,
    )  # fmt: skip
    assert found.bounds[-1] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("seed", range(42))
def test_bound_never_falls(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 60))
    name = FAMILIES[seed % len(FAMILIES)]
    X, family, _ = small_table(name, n, seed)
    if name in ("full", "tied", "diag", "spherical") and seed % 2:
        family = blurred(family, np.array([0.2, 0.05]))
    c = noisy_pairs(rng.integers(3, size=n), int(rng.integers(1, 3 * n)), 0.7, seed)
    if seed % 3 == 0:
        c = c + Constraints(
            n, must_link=[(0, 1), (1, 2)], cannot_link=[(3, 4), (4, 5)],
            must_weight=np.inf, cannot_weight=np.inf,
        )  # fmt: skip
    alpha = Alpha(1.0, 1.0) if seed % 5 == 0 else Alpha(1.0)
    _, _, found = run(X, c, family, alpha=alpha, truncation=6, iterations=60, seed=seed)
    assert (np.diff(found.bounds) >= -1e-9 * np.abs(found.bounds[:-1])).all()
    assert len(found.bounds) > 2


@pytest.mark.parametrize("inference", ["variational", "gibbs"])
@pytest.mark.parametrize("family", ["gaussian", "multinomial", "bernoulli", "poisson"])
def test_hard_pairs_are_never_broken(inference, family):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=50)
    X = rng.poisson(3.0, size=(50, 4)).astype(float)
    if family == "bernoulli":
        X = (X > 2).astype(float)
    c = noisy_pairs(y, 60, 1.0)
    hard = c.as_hard() + noisy_pairs(y, 40, 0.5, seed=1)
    model = TVClust(
        inference, family, truncation=10, n_init=2, n_sweeps=30, burn_in=10, random_state=0
    ).fit(X, constraints=hard)
    together = model.labels_[hard.pairs[:, 0]] == model.labels_[hard.pairs[:, 1]]
    assert (together == (hard.kind > 0))[hard.is_hard].all()
    assert not np.isinf(model.violations_.value).any()


def test_too_few_components_for_the_hard_pairs_is_said():
    X = np.random.default_rng(0).normal(size=(6, 2))
    c = Constraints(6, cannot_link=[(0, 1), (1, 2), (0, 2)], cannot_weight=np.inf)
    with pytest.raises(InfeasibleConstraints, match="truncation"):
        TVClust(truncation=2).fit(X, constraints=c)


def test_it_learns_how_far_to_trust_the_pairs_and_names_the_wrong_ones():
    X, y = load_iris(return_X_y=True)
    c = noisy_pairs(y, 900, 0.85)
    model = TVClust(random_state=0).fit(X, constraints=c)
    assert adjusted_rand_score(y, model.labels_) > 0.95
    assert model.p_ == pytest.approx(0.85, abs=0.05)
    assert model.q_ == pytest.approx(0.85, abs=0.05)
    wrong = model.suspect_pairs(100)
    truly = (y[wrong.i] == y[wrong.j]) != (wrong.kind > 0)
    assert truly.mean() > 0.97
    assert len(model.suspect_pairs(None)) == c.n_pairs
    assert (np.diff(wrong.value) <= 0).all()


def test_gibbs_and_variational_find_the_same_groups():
    X, y = load_wine(return_X_y=True)
    c = noisy_pairs(y, 600, 0.9)
    model = TVClust(
        "gibbs", truncation=4, n_sweeps=60, burn_in=30, alpha=(1.0, 1.0), random_state=0
    ).fit(X, constraints=c)
    assert adjusted_rand_score(y, model.labels_) > 0.9
    assert model.trace_["p"].shape == (2, 60)
    assert model.trace_["log_joint"][:, -1].min() > model.trace_["log_joint"][:, 0].max() - 200
    assert model.p_ == pytest.approx(0.9, abs=0.05)


def test_a_certainty_fixes_its_own_pair_and_weight_is_multiplicity():
    X, y = make_blobs(60, centers=2, cluster_std=2.0, random_state=0)
    c = noisy_pairs(y, 40, 0.9)
    certain = Constraints(
        60,
        must_link=c.must_link,
        cannot_link=c.cannot_link,
        must_certainty=0.9,
        cannot_certainty=0.9,
    )
    evidence = PairEvidence(certain)
    p, q = evidence.update(np.full(certain.n_pairs, 0.5), Beta(3.0, 1.0), Beta(2.0, 1.0))
    assert (p, q) == (Beta(3.0, 1.0), Beta(2.0, 1.0))  # such pairs teach nothing about p and q
    odds = evidence.odds(AnswerLogs.at(0.6, 0.7))
    np.testing.assert_allclose(np.abs(odds), np.log(0.9 / 0.1))
    double = Constraints(
        60, must_link=c.must_link, cannot_link=c.cannot_link, must_weight=2.0, cannot_weight=2.0
    )
    one, two = (TVClust(random_state=0).fit(X, constraints=x) for x in (double, c + c))
    assert one.lower_bound_ == pytest.approx(two.lower_bound_, rel=1e-10)
    np.testing.assert_array_equal(one.labels_, two.labels_)


def test_standardizing_is_dividing_by_the_deviation():
    X, y = load_wine(return_X_y=True)
    c = noisy_pairs(y, 100, 0.95)
    one = TVClust(random_state=0).fit(X, constraints=c)
    two = TVClust(random_state=0, standardize=False).fit(
        (X - X.mean(axis=0)) / X.std(axis=0), constraints=c
    )
    np.testing.assert_array_equal(one.labels_, two.labels_)
    shift = len(X) * np.log(X.std(axis=0)).sum()
    assert one.lower_bound_ + shift == pytest.approx(two.lower_bound_, rel=1e-6)


def test_new_rows_and_threads():
    X, y = make_blobs(9_000, n_features=3, centers=4, random_state=0)
    c = noisy_pairs(y, 500, 0.95)
    with use_threads(1):
        one = TVClust(truncation=8, n_init=3, random_state=0).fit(X, constraints=c)
    with use_threads(2):
        two = TVClust(truncation=8, n_init=3, random_state=0).fit(X, constraints=c)
    np.testing.assert_array_equal(one.resp_, two.resp_)
    assert one.n_clusters_ == 4
    proba = one.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert (one.predict(X) == one.labels_).mean() > 0.99
    assert one.score_samples(X).mean() > one.score_samples(X + 50).mean()
    single = TVClust(truncation=8, n_init=3, random_state=0).fit(
        X.astype(np.float32), constraints=c
    )
    assert adjusted_rand_score(one.labels_, single.labels_) > 0.99


def test_counts_dense_and_sparse_agree():
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(40, 0.15), size=3)
    y = rng.integers(3, size=120)
    X = np.array([rng.multinomial(80, topics[k]) for k in y]).astype(float)
    dense = TVClust(family="multinomial", random_state=0).fit(X)
    sparse = TVClust(family="multinomial", random_state=0).fit(sp.csr_matrix(X))
    np.testing.assert_array_equal(dense.labels_, sparse.labels_)
    assert adjusted_rand_score(y, dense.labels_) > 0.95
    np.testing.assert_allclose(dense.predict_proba(X), sparse.predict_proba(sp.csr_matrix(X)))
    assert dense.components_.shape == (dense.n_clusters_, 40)
    X[3, 2] = -1
    with pytest.raises(InvalidData, match="row 3, column 2"):
        TVClust(family="multinomial").fit(X)


def test_degenerate_input_is_sane():
    c = Constraints(12, must_link=[(0, 1)], cannot_link=[(2, 3)])
    same = TVClust(random_state=0).fit(np.ones((12, 3)), constraints=c)
    assert np.isfinite(same.lower_bound_)
    assert np.isfinite(same.means_).all()
    X = np.random.default_rng(0).normal(size=(12, 3))
    assert TVClust(truncation=1).fit(X, constraints=c).n_clusters_ == 1
    assert TVClust().fit(X[:1]).labels_.tolist() == [0]


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"truncation": 0}, "truncation"),
        ({"alpha": 0.0}, "alpha"),
        ({"alpha": (1.0,)}, "alpha"),
        ({"p_prior": 3}, "p_prior"),
        ({"q_prior": (1, -1)}, "q_prior"),
        ({"inference": "variation"}, "variational"),
        ({"family": "exponential"}, "family"),
        ({"covariance_type": "round"}, "covariance_type"),
        ({"p": 1.0}, "hard pairs"),
        ({"q": 0.0}, "q"),
        ({"inference": "gibbs", "burn_in": 300}, "burn_in"),
        ({"degrees_of_freedom_prior": 2.0}, "degrees_of_freedom_prior"),
        ({"init": np.arange(30), "truncation": 20}, "truncation"),
    ],
)
def test_bad_parameters_are_named(parameters, words):
    with pytest.raises(InvalidParameter, match=words):
        TVClust(**parameters).fit(np.random.default_rng(0).normal(size=(30, 2)))
