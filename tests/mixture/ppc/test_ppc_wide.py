"""PPC where pairs are many a row: the weights, the bound, and what is said about both."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from ppc_problems import PLAIN, assert_finite, fit, labelled_pairs

from coterie import Constraints
from coterie.constraints import grid_neighbors, sample_pairs
from coterie.exceptions import ApproximationWarning, UnboundedObjective
from coterie.metrics import adjusted_rand_score, matched_accuracy
from coterie.mixture import PPC
from coterie.mixture.ppc.core import CoreGraph, PpcSettings
from coterie.mixture.ppc.prior import ByGradient, Prior
from reference.ppc import g_of, naive_ppc

ORDERS = (np.array([0, 1, 2]), np.array([1, 0, 2]), np.array([1, 2, 0]))
pytestmark = pytest.mark.filterwarnings("ignore::coterie.exceptions.ApproximationWarning")


def dense(seed, n=6, k=3, hard=0.0):
    """True pairs between nearly all of `n` rows of `k` classes."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % k)
    i, j = np.triu_indices(n, k=1)
    kept = rng.random(i.size) < 0.8
    pairs = np.column_stack([i[kept], j[kept]])
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    weight = np.where(rng.random(len(pairs)) < hard, np.inf, rng.uniform(0.3, 3.0, len(pairs)))
    return Constraints(
        n, pairs[same], pairs[~same], must_weight=weight[same], cannot_weight=weight[~same]
    )


def core_of(constraints, k):
    return CoreGraph(constraints, k, PpcSettings("mean_field", "point", 0.95), 0)


def posterior_counts(constraints, k, seed):
    """Counts (K,) of a distribution q that breaks no hard pair, E_q[cost] and H(q)."""
    rng = np.random.default_rng(seed)
    c = constraints
    weight = np.array(
        [
            g_of(y, c.pairs.tolist(), c.kind, c.strength()) * rng.exponential() ** 3
            for y in itertools.product(range(k), repeat=c.n_samples)
        ]
    )
    q = weight / weight.sum()
    counts, cost = np.zeros(k), 0.0
    for y, p in zip(itertools.product(range(k), repeat=c.n_samples), q, strict=True):
        if p > 0:
            counts += p * np.bincount(y, minlength=k)
            cost -= p * np.log(g_of(y, c.pairs.tolist(), c.kind, c.strength()))
    entropy = -float((q[q > 0] * np.log(q[q > 0])).sum())
    return counts, cost, entropy


# -- log Ω of a forest ----------------------------------------------------------------------------
@pytest.mark.parametrize("hard", [0.0, 0.3])
def test_the_surrogate_of_a_forest_is_bounded_and_below_the_true_one(hard):
    """Against enumeration: Ω_S ≥ Ω, and N·log π − log Ω_S never above E_q[cost] − H(q).

    Along (1 − 2ε, ε, ε) the surrogate of pairs as if alone rises for ever.
    """
    errors, rises = [], 0
    for seed in range(12):
        c = dense(seed, hard=hard)
        core = core_of(c, 3)
        everything = np.ones(core.core.n_nodes, dtype=bool)
        forest = Prior(core.graph, core.exponent, everything)
        alone = Prior(core.graph, core.exponent, everything, overlap=False)
        broken = core.core.constant(core.strength)
        counts, cost, entropy = posterior_counts(c, 3, seed)
        corners = [
            np.array([1 - 2 * e, e, e])[r] for e in 10.0 ** -np.arange(1, 15) for r in ORDERS
        ]
        simplex = list(np.random.default_rng(seed).dirichlet(np.ones(3), 20))
        for pi in corners + simplex:
            value = counts @ np.log(pi) - (forest.log_omega(np.log(pi))[0] - broken)
            assert value <= cost - entropy + 1e-9, (seed, pi)
        for pi in simplex:
            true = naive_ppc(np.zeros((6, 3)), pi, c.pairs.tolist(), c.kind, c.strength())[1]
            error = forest.log_omega(np.log(pi))[0] - broken - true
            assert error >= -1e-9
            errors.append(error)
        values = [counts @ np.log(pi) - alone.log_omega(np.log(pi))[0] for pi in corners]
        rises += max(values) > cost - entropy
    assert rises > 6  # the test tells the two apart
    assert np.mean(errors) < 4.0  # nats, of 12 pairs of which the forest has 5


def test_weights_are_the_maximum_of_the_forests_surrogate():
    """Up to a fiftieth of what the rows by themselves would lose by going there."""
    for seed in range(6):
        c = dense(seed, k=2)
        core = core_of(c, 2)
        prior = Prior(core.graph, core.exponent, np.ones(core.core.n_nodes, dtype=bool))
        counts, _, _ = posterior_counts(c, 2, seed)
        found = ByGradient(prior)(counts, np.array([0.5, 0.5]))
        value = counts @ np.log(found.pi) - found.log_omega
        grid = np.linspace(0.001, 0.999, 999)
        others = [
            counts @ np.log([p, 1 - p]) - prior.log_omega(np.log([p, 1 - p]))[0] for p in grid
        ]
        best = grid[np.argmax(others)]
        lost = counts @ np.log(counts / counts.sum() / [best, 1 - best])
        assert value >= max(others) - 0.02 * lost - 1e-6, seed


def test_open_weights_stay_at_the_shares_of_the_rows():
    """Hard pairs that leave one division of the rows: the maximum is a corner, worth < log 2."""
    must = [(a, a + 1) for a in range(30)] + [(a, a + 1) for a in range(31, 59)]
    c = Constraints(60, must, [(0, 59)]).as_hard()
    core = core_of(c, 2)
    prior = Prior(core.graph, core.exponent, core.wide)
    counts = np.array([31.0, 29.0])
    shares = counts / 60
    found = ByGradient(prior)(counts, shares)
    np.testing.assert_allclose(found.pi, shares, atol=1e-9)
    corner = np.array([0.999, 0.001])
    gain = counts @ np.log(corner / shares) - prior.log_omega(np.log(corner))[0]
    assert 0 < gain + prior.log_omega(np.log(shares))[0] < np.log(2)


# -- true pairs help ------------------------------------------------------------------------------
def unbalanced(shares, spread, seed, n=500):
    rng = np.random.default_rng(seed)
    k = len(shares)
    centre = spread * rng.normal(size=(k, k + 1))
    y = rng.choice(k, 2 * n, p=shares)
    X = centre[y] + rng.normal(size=(2 * n, k + 1))
    return (X[:n], y[:n]), (X[n:], y[n:])


@pytest.mark.parametrize("per_row", [2, 6, 20])
@pytest.mark.parametrize("shares", [(0.8, 0.2), (0.5, 0.3, 0.2), (0.4, 0.25, 0.15, 0.12, 0.08)])
def test_true_pairs_help_on_unbalanced_classes_on_old_rows_and_new_ones(shares, per_row):
    """Never below the same mixture without pairs, up to how far new rows vary (.01)."""
    for seed in range(2):
        (X, y), (new, truth) = unbalanced(shares, 1.0, seed)
        told = labelled_pairs(y, per_row * len(y), np.random.default_rng(seed))
        plain, model = fit(X, k=len(shares)), fit(X, told, len(shares))
        assert matched_accuracy(y, model.labels_) >= matched_accuracy(y, plain.labels_)
        with_pairs = matched_accuracy(truth, model.predict(new))
        assert with_pairs >= matched_accuracy(truth, plain.predict(new)) - 0.01, seed
        assert model.weights_.min() > 0.25 * min(shares)
        assert_finite(model)


@pytest.mark.parametrize("hard", [False, True])
def test_many_cannot_links_leave_every_cluster_its_weight(hard):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 200)
    X = 2.5 * np.array([[0, 0], [1, 1], [0, 2]])[y] + rng.normal(size=(600, 2))
    told = labelled_pairs(y, 1800, rng).only("cannot")
    told = told.as_hard() if hard else told
    plain = fit(X, k=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model = fit(X, told, 3)
    assert model.weights_.min() > 0.2
    assert matched_accuracy(y, model.labels_) > matched_accuracy(y, plain.labels_)
    assert matched_accuracy(y, model.predict(X)) > matched_accuracy(y, plain.predict(X)) - 0.01
    assert_finite(model)


@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize("per_row", [2, 6])
def test_cannot_links_that_use_up_a_small_cluster_say_nothing_against_it(per_row, hard):
    """Nearly all rows in no pair are of the large cluster; new rows are not. (.79, none .84)"""
    for seed in range(1, 3):
        (X, y), (new, truth) = unbalanced((0.8, 0.2), 1.0, seed)
        told = labelled_pairs(y, per_row * 2 * len(y), np.random.default_rng(seed)).only("cannot")
        plain, model = fit(X, k=2), fit(X, told.as_hard() if hard else told, 2)
        assert matched_accuracy(y, model.labels_) >= matched_accuracy(y, plain.labels_)
        with_pairs = matched_accuracy(truth, model.predict(new))
        assert with_pairs >= matched_accuracy(truth, plain.predict(new)) - 0.01, seed
        assert np.sort(model.weights_) == pytest.approx(np.sort(model.resp_.mean(axis=0)))
        assert 0.1 < model.weights_.min() < 0.4


def test_an_objective_without_a_maximum_is_refused():
    rng = np.random.default_rng(0)
    y = rng.choice(3, 300, p=[0.6, 0.2, 0.2])
    X = 6.0 * np.array([[0, 0], [1, 1], [0, 2]])[y] + rng.normal(size=(300, 2))
    told = labelled_pairs(y, 2000, rng).only("cannot").as_hard()
    with pytest.raises(UnboundedObjective, match="proportions"):
        fit(X, told, 3, weights_update="nonoverlapping")
    shares = fit(X, told, 3, weights_update="proportions").weights_
    np.testing.assert_allclose(np.sort(shares), np.sort(np.bincount(y) / 300), atol=0.01)


# -- the bound and what is said -------------------------------------------------------------------
def grid_image():
    rng = np.random.default_rng(0)
    truth = (np.add.outer(np.arange(30), np.arange(8)) > 15).astype(int)
    image = truth + rng.normal(size=truth.shape)
    return image.reshape(-1, 1), grid_neighbors((30, 8), q=0.05)


def test_the_bound_of_a_grid_is_a_bound_and_the_error_of_log_omega_is_told():
    X, links = grid_image()
    model = fit(X, links, inference="mean_field")
    exact = fit(X, links, inference="exact", init=model, max_iter=1, tol=0)
    assert model.lower_bound_ <= exact.lower_bounds_[0] + 1e-9
    report = model.inference_report_
    assert report["lower_bound"] == "lower bound"
    assert "spanning forest" in report["log_omega"]
    low, high = report["log_omega_range"]
    core = CoreGraph(links, 2, PpcSettings("exact", "point", 0.95), 0)
    true = Prior(core.graph, core.exponent, core.wide).log_omega(np.log(model.weights_))[0]
    assert low <= true <= high
    assert exact.inference_report_["lower_bound"] == "penalised log-likelihood"
    assert exact.inference_report_["log_omega"] == "exact"
    assert np.diff(model.lower_bounds_).min() > -1e-8


@pytest.mark.parametrize(
    ("settings", "omega", "bound"),
    [
        ({"weights_update": "nonoverlapping"}, "as if no two", "estimate"),
        ({"weights_update": "proportions"}, "left out", "lower bound"),
        ({"inference": "gibbs"}, "exact", "estimate"),
        ({"inference": "mean_field"}, "exact", "lower bound"),
        ({}, "exact", "penalised log-likelihood"),
    ],
)
def test_the_report_says_what_log_omega_and_the_bound_are(settings, omega, bound):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 30)
    X = rng.normal(size=(60, 2)) + 2 * y[:, None]
    report = fit(X, labelled_pairs(y, 30, rng), **settings).inference_report_
    assert omega in report["log_omega"]
    assert report["lower_bound"] == bound


def test_proportions_never_lower_their_bound_and_are_the_shares_of_the_posterior():
    rng = np.random.default_rng(0)
    y = rng.choice(3, 150, p=[0.6, 0.3, 0.1])
    X = 2 * rng.normal(size=(3, 2))[y] + rng.normal(size=(150, 2))
    told = labelled_pairs(y, 60, rng, flip=0.1)
    model = fit(X, told, 3, weights_update="proportions", tol=0, max_iter=60, reg_covar=1e-9)
    assert np.diff(model.lower_bounds_).min() > -1e-9
    np.testing.assert_allclose(model.weights_, model.resp_.mean(axis=0), atol=1e-3)


@pytest.mark.filterwarnings("default::coterie.exceptions.ApproximationWarning")
def test_falling_back_from_exact_is_said_once_with_the_width():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    X = rng.normal(size=(120, 2)) + 3 * y[:, None]
    with pytest.warns(ApproximationWarning, match="width of 15") as told:
        PPC(2, n_init=3, random_state=0).fit(X, constraints=labelled_pairs(y, 900, rng))
    assert len([w for w in told if issubclass(w.category, ApproximationWarning)]) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error", ApproximationWarning)
        fit(X, labelled_pairs(y, 900, rng), inference="mean_field")
        fit(X, labelled_pairs(y, 60, rng))


def test_starts_of_sampling_are_compared_by_a_bound():
    """The kept start has the highest bound of mean field, not the highest estimate."""
    from coterie.mixture.ppc.em import comparable_bound

    seen = []

    def spy(problem, result):
        seen.append((comparable_bound(problem, result), result))
        return seen[-1][0]

    X, links = grid_image()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("coterie.mixture.ppc.em.comparable_bound", spy)
        model = fit(X, links, inference="gibbs", n_init=3, max_iter=5)
    best = max(seen, key=lambda pair: pair[0])[1]
    assert len(seen) == 3
    assert model.lower_bounds_ == best.bounds
    again = fit(X, links, inference="exact", init=model, max_iter=1, tol=0)
    assert max(score for score, _ in seen) <= again.lower_bounds_[0] + 1e-9


# -- starts ---------------------------------------------------------------------------------------
def test_the_mixture_without_pairs_is_a_start_where_pairs_lead_astray():
    """One class has most rows: must-links join them, and K-Means cuts the class in two."""
    shares = (0.85, 0.1, 0.05)
    centre = np.array([[0.0, 0, 0], [4, 0, 0], [0, 4, 0]])
    for seed in range(3):
        rng = np.random.default_rng(seed)
        y = rng.choice(3, 400, p=shares)
        X = centre[y] + rng.normal(size=(400, 3)) * [1.0, 1.0, 2.5]
        told = labelled_pairs(y, 400, rng)
        # Without a prior, which is another one where another model is gone on from.
        plain, model = fit(X, k=3, **PLAIN), fit(X, told, 3, **PLAIN)
        assert matched_accuracy(y, model.labels_) >= matched_accuracy(y, plain.labels_)
        from_plain = fit(X, told, 3, init=plain, **PLAIN)
        assert model.lower_bound_ >= from_plain.lower_bound_ - 5e-3


def test_of_many_starts_few_are_run_to_the_end(monkeypatch):
    from coterie.mixture.ppc import em

    steps = []
    expect = em.expect

    def counted(*args, **kwargs):
        steps.append(1)
        return expect(*args, **kwargs)

    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    told = labelled_pairs(rng.integers(0, 3, 120), 30, rng)
    monkeypatch.setattr(em, "expect", counted)
    settings = {"init": "random", "tol": 0, "max_iter": 50}
    many = fit(X, told, 3, n_init=30, **settings)
    # The first five, 25 for 4 iterations, 9 for 3 more, 5 from there to the end.
    assert len(steps) <= 5 * 50 + 25 * 4 + 9 * 3 + 5 * 43
    assert many.lower_bound_ >= fit(X, told, 3, n_init=5, **settings).lower_bound_ - 1e-9


def test_must_links_that_join_most_rows_of_a_large_cluster_are_a_start():
    """Nine rows of ten are of one class: its must-links are no neighbours in an image."""
    rng = np.random.default_rng(3)
    y = rng.choice(3, size=400, p=[0.9, 0.06, 0.04])
    X = np.array([[0.0, 0.0], [3.5, 0.0], [0.0, 3.5]])[y] + rng.normal(size=(400, 2))
    known = sample_pairs(y, 400, random_state=3)
    model = PPC(3, random_state=0, inference="mean_field").fit(X, constraints=known)
    assert adjusted_rand_score(y, model.labels_) > 0.9


@pytest.mark.parametrize("seed", range(3))
def test_must_links_that_join_a_class_of_most_rows_still_say_where_clusters_are(seed):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(3, 8)) * 1.2
    y = rng.choice(3, 600, p=[0.9, 0.07, 0.03])
    X = centres[y] + rng.normal(size=(600, 8))
    model = PPC(3, random_state=0).fit(X, constraints=labelled_pairs(y, 600, rng))
    assert adjusted_rand_score(y, model.labels_) > 0.9
