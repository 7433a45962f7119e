"""Collapsed Gibbs: likelihoods and the posterior by enumeration, and a joint-distribution test."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from mixture.tvclust.models import FAMILIES, small_table
from scipy.special import logsumexp

from coterie.constraints import Constraints
from coterie.data import Rows, centered
from coterie.mixture.tvclust import gibbs
from coterie.mixture.tvclust.families import Gaussian
from coterie.mixture.tvclust.pairs import AnswerLogs, Beta, PairEvidence
from coterie.mixture.tvclust.variational import Alpha, Priors, TwoViews
from reference.tvclust import log_joint, naive_sweep, partitions

P, Q, ALPHA = 0.85, 0.9, 1.3


def pairs_of(c):
    return [
        (int(i), int(j), int(kind), float(w), None if np.isnan(g) else float(g))
        for (i, j), kind, w, g in zip(c.pairs, c.kind, c.weight, c.certainty, strict=True)
    ]


def small_problem(family, seed=0, hard=False):
    n = 6
    inf = np.inf
    c = Constraints(
        n,
        must_link=[(0, 1), (2, 4), (0, 3)],
        cannot_link=[(0, 5), (1, 2)],
        must_weight=[inf if hard else 1.0, 2.0, 1.0],
        cannot_weight=[inf if hard else 1.0, 1.0],
        must_certainty=[np.nan, np.nan, 0.7],
    )
    X, ours, naive = small_table(family, n, seed)
    rows = Rows(sp.csr_matrix(X)) if family in ("multinomial", "poisson") else Rows(X)
    return TwoViews(rows, np.empty(0), PairEvidence(c), ours), naive, X, c


@pytest.mark.parametrize("family", FAMILIES)
def test_joint_of_every_partition(family):
    data, naive, X, c = small_problem(family)
    for labels in partitions(6):
        expected = log_joint(naive, X, pairs_of(c), labels, P, Q, ALPHA)
        ours = gibbs.log_joint(data, np.array(labels), AnswerLogs.at(P, Q), ALPHA)
        assert ours == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize("family", FAMILIES)
def test_sweeps_visit_partitions_as_often_as_they_should(family, hard):
    data, naive, X, c = small_problem(family, hard=hard)
    every = list(partitions(6))
    joint = np.array([log_joint(naive, X, pairs_of(c), z, P, Q, ALPHA) for z in every])
    exact = np.exp(joint - logsumexp(joint))
    sampler = gibbs.Sampler(data)
    labels = sampler.of_nodes(np.arange(6))
    rng = np.random.default_rng(1)
    seen = dict.fromkeys(every, 0)
    sweeps = 8_000
    for _ in range(sweeps):
        labels = sampler.sweep(labels, AnswerLogs.at(P, Q), ALPHA, rng)
        seen[_numbered(sampler.of_rows(labels))] += 1
    found = np.array([seen[z] for z in every]) / sweeps
    assert 0.5 * np.abs(found - exact).sum() < 0.05  # total variation


def _numbered(labels):
    names = {}
    return tuple(names.setdefault(int(k), len(names)) for k in labels)


@pytest.mark.parametrize("family", FAMILIES)
def test_conditionals_are_those_of_the_joint(family):
    """One node free, all others held: draws follow the joint's ratio."""
    data, naive, X, c = small_problem(family, seed=3)
    sampler = gibbs.Sampler(data)
    nodes = sampler.nodes
    start = np.array([0, 0, 1, 1, 2, 2])
    rng = np.random.default_rng(0)
    # A sweep visits the nodes in the order the generator gives: the node drawn last is conditioned
    # on the others as the sweep left them; accumulate observed and expected shares by cluster size.
    observed = expected = 0.0
    for _ in range(500):
        labels = sampler.of_nodes(start)
        state = rng.bit_generator.state
        rng.integers(2**63, size=1, dtype=np.uint64)
        last = rng.permutation(len(labels))[-1]
        rng.bit_generator.state = state
        rows = sampler.of_rows(sampler.sweep(labels, AnswerLogs.at(P, Q), ALPHA, rng))
        row = int(nodes.members[nodes.ptr[last]])
        others = sorted(set(np.delete(rows, row).tolist()))
        joints = []
        for k in [*others, max(others) + 1]:
            trial = rows.copy()
            trial[row] = k
            joints.append(log_joint(naive, X, pairs_of(c), trial.tolist(), P, Q, ALPHA))
        shares = np.exp(np.array(joints) - logsumexp(joints))
        expected += shares[-1]
        observed += rows[row] not in others
    assert observed == pytest.approx(expected, abs=4 * np.sqrt(500 * 0.25))
    assert 10 < expected < 490


def test_successive_conditional_simulation_returns_the_prior():
    """Geweke: redraw rows and answers given z, p, q; sweep; p, q and K must keep their prior."""
    rng = np.random.default_rng(0)
    n, d, kappa0, nu0 = 6, 2, 1.0, 5.0
    scale = np.ones(d)
    priors = Priors(Beta(3.0, 1.5), Beta(4.0, 2.0), Alpha(2.0, 2.0))
    i, j = np.triu_indices(n, 1)
    i, j = i[:8], j[:8]
    p, q, alpha = rng.beta(*priors.p), rng.beta(*priors.q), rng.gamma(2.0) / 2.0
    labels = np.zeros(n, dtype=np.int64)
    draws = []
    for step in range(3_000):
        X = _rows_given(labels, scale, kappa0, nu0, rng)
        together = labels[i] == labels[j]
        friend = np.where(together, rng.random(8) < p, rng.random(8) >= q)
        pairs = np.column_stack([i, j])
        c = Constraints(n, must_link=pairs[friend], cannot_link=pairs[~friend])
        data = TwoViews(Rows(X), np.empty(0), PairEvidence(c), Gaussian(scale, kappa0, nu0))
        sampler = gibbs.Sampler(data)
        seats = sampler.sweep(sampler.of_nodes(labels), AnswerLogs.at(p, q), alpha, rng)
        _, labels = np.unique(sampler.of_rows(seats), return_inverse=True)
        p, q = gibbs.draw_beliefs(data, labels, priors, rng)
        alpha = gibbs.draw_alpha(alpha, labels.max() + 1, n, priors.alpha, rng)
        if step >= 200:
            draws.append((p, q, alpha, labels.max() + 1, (labels[0] == labels[1])))
    found = np.array(draws, dtype=float)
    prior_alpha = rng.gamma(2.0, size=200_000) / 2.0
    tables = sum(prior_alpha / (prior_alpha + t) for t in range(n))
    expected = np.array(
        [priors.p.mean, priors.q.mean, 1.0, tables.mean(), (1 / (1 + prior_alpha)).mean()]
    )
    batches = found[: len(found) // 50 * 50].reshape(50, -1, 5).mean(axis=1)
    error = batches.std(axis=0, ddof=1) / np.sqrt(50)
    assert (np.abs(batches.mean(axis=0) - expected) < 4.5 * error + 1e-3).all()
    assert (error < 0.1).all()


def _rows_given(labels, scale, kappa0, nu0, rng):
    """Rows from the prior given the partition."""
    from scipy.stats import invwishart

    X = np.empty((len(labels), len(scale)))
    for k in np.unique(labels):
        sigma = invwishart.rvs(nu0, np.diag(scale), random_state=rng)
        mean = rng.multivariate_normal(np.zeros(len(scale)), sigma / kappa0)
        own = labels == k
        X[own] = rng.multivariate_normal(mean, sigma, size=own.sum())
    return X


def test_long_runs_of_updates_and_downdates_keep_their_digits():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(100, 3)), rng.normal(size=(100, 3)) * 1e-3 + 50.0])
    data = TwoViews(
        centered(X), np.empty(0), PairEvidence(Constraints(200)), Gaussian(X.var(0), 1.0, 5.0)
    )
    sampler = gibbs.Sampler(data)
    labels = np.repeat([0, 1], 100)
    for _ in range(50):
        labels = sampler.sweep(labels, AnswerLogs.at(P, Q), ALPHA, rng)
    assert len(np.unique(labels[:100])) == len(np.unique(labels[100:])) == 1
    assert labels[0] != labels[150]


def test_more_clusters_than_the_first_slots():
    X = np.arange(200.0)[:, None] * 1e3
    data = TwoViews(
        Rows(X), np.empty(0), PairEvidence(Constraints(200)), Gaussian(np.ones(1), 1e-3, 5.0)
    )
    start = np.zeros(200, dtype=np.int64)
    rng = np.random.default_rng(0)
    labels = gibbs.Sampler(data).sweep(start, AnswerLogs.at(P, Q), 1e60, rng)
    assert not start.any()  # a value goes in, another comes out
    assert len(np.unique(labels)) > 150


def test_representative_is_nearest_to_the_similarity_matrix():
    rng = np.random.default_rng(0)
    kept = np.array(
        [np.unique(rng.integers(3, size=12), return_inverse=True)[1] for _ in range(15)]
    ).astype(np.int32)
    same = (kept[:, :, None] == kept[:, None, :]).astype(float)
    gaps = ((same - same.mean(axis=0)) ** 2).sum(axis=(1, 2))
    np.testing.assert_array_equal(gibbs.representative(kept), kept[gaps.argmin()])


def test_naive_sweep_and_ours_agree_in_distribution():
    """The twin the benchmark times is the same sampler: mean number of clusters after a sweep."""
    data, naive, X, _ = small_problem("full", seed=5)
    plain = Constraints(6, must_link=[(0, 1), (2, 4)], cannot_link=[(0, 5)])
    data = TwoViews(data.rows, np.empty(0), PairEvidence(plain), data.family)
    friends = {k: [] for k in range(6)}
    strangers = {k: [] for k in range(6)}
    for (a, b), kind in zip(plain.pairs.tolist(), plain.kind, strict=True):
        for one, other in ((a, b), (b, a)):
            (friends if kind > 0 else strangers)[one].append(other)
    rng = np.random.default_rng(0)
    labels = np.zeros(6, dtype=np.int64)
    theirs = []
    for _ in range(300):
        naive_sweep(naive, X, friends, strangers, labels, P, Q, ALPHA, rng)
        theirs.append(len(np.unique(labels)))
    sampler = gibbs.Sampler(data)
    seats = sampler.of_nodes(np.zeros(6, dtype=np.int64))
    ours = []
    for _ in range(5_000):
        seats = sampler.sweep(seats, AnswerLogs.at(P, Q), ALPHA, rng)
        ours.append(len(np.unique(seats)))
    assert np.mean(theirs) == pytest.approx(np.mean(ours), abs=0.25)
