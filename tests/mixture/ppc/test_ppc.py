"""PPC as an estimator: against GaussianMixture, its limits, its promises, and bad input."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from ppc_problems import PLAIN, TYPES, assert_finite, blobs, fit, labelled_pairs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

import coterie
from coterie import Constraints
from coterie.constraints import grid_neighbors, sample_pairs
from coterie.data import use_threads
from coterie.datasets import load
from coterie.exceptions import (
    TooWide,
)
from coterie.metrics import matched_accuracy
from coterie.mixture import PPC


# -- without pairs -------------------------------------------------------------------------------
@pytest.mark.parametrize("covariance_type", TYPES)
def test_no_pairs_is_gaussian_mixture(covariance_type):
    """From the same start, with the same number of iterations, to 1e-8."""
    rng = np.random.default_rng(0)
    X, _ = blobs(100, 3, 4, 1.5, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        start = GaussianMixture(3, covariance_type=covariance_type, max_iter=1, random_state=1)
        start.fit(X)
        theirs = GaussianMixture(
            3,
            covariance_type=covariance_type,
            weights_init=start.weights_,
            means_init=start.means_,
            precisions_init=start.precisions_,
            tol=1e-6,
            max_iter=300,
        ).fit(X)
    settings = {"covariance_type": covariance_type, "tol": 1e-6, "max_iter": 300, **PLAIN}
    ours = fit(X, k=3, init=start, **settings)
    assert ours.n_iter_ == theirs.n_iter_
    for name in ("weights_", "means_", "covariances_", "precisions_cholesky_", "precisions_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), atol=1e-8)
    assert ours.lower_bound_ == pytest.approx(theirs.lower_bound_, abs=1e-10)
    assert (ours.labels_ == theirs.predict(X)).all()
    new = rng.normal(size=(50, 4)) * 3
    np.testing.assert_allclose(ours.predict_proba(new), theirs.predict_proba(new), atol=1e-8)
    np.testing.assert_allclose(ours.score_samples(new), theirs.score_samples(new), atol=1e-7)
    assert ours.bic(new) == pytest.approx(theirs.bic(new), rel=1e-9)
    assert ours.aic(new) == pytest.approx(theirs.aic(new), rel=1e-9)


def test_without_pairs_nothing_warns():
    """The type is chosen by its likelihood alone: no answer was foretold better or worse."""
    X, _ = blobs(60, 3, 4, 3, np.random.default_rng(0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PPC(3, random_state=0).fit(X)


def test_given_means_start_from_their_nearest_rows():
    rng = np.random.default_rng(1)
    X, _ = blobs(80, 3, 2, 2.0, rng)
    theirs = GaussianMixture(3, random_state=5).fit(X)
    from sklearn.cluster import KMeans

    labels = KMeans(3, n_init=1, random_state=np.random.RandomState(5)).fit(X).labels_
    means = np.stack([X[labels == k].mean(axis=0) for k in range(3)])
    ours = fit(X, k=3, init=means, **PLAIN)
    np.testing.assert_allclose(
        np.sort(ours.means_, axis=0), np.sort(theirs.means_, axis=0), atol=1e-6
    )


def test_far_from_the_origin_and_far_apart():
    """Sums about the old means keep their digits where plain second moments lose them."""
    rng = np.random.default_rng(2)
    X, y = blobs(60, 2, 3, 0.0, rng)
    X[y == 1] += 1e7
    near = fit(X, **PLAIN)
    assert adjusted_rand_score(y, near.labels_) == 1
    for k in (0, 1):
        inside = X[near.labels_ == k]
        np.testing.assert_allclose(
            near.covariances_[k], np.cov(inside.T, bias=True) + 1e-6 * np.eye(3), atol=1e-6
        )


# -- the bound -----------------------------------------------------------------------------------
@pytest.mark.parametrize("sampling", ["point", "chunklet"])
@pytest.mark.parametrize("covariance_type", TYPES)
def test_bound_never_falls_in_exact_mode(sampling, covariance_type):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, y = blobs(25, 3, 2, 1.0, rng)
        pairs = labelled_pairs(y, 25, rng, flip=0.2)
        pairs = pairs + labelled_pairs(y, 8, rng, must_weight=np.inf, cannot_weight=np.inf)
        model = fit(
            X,
            pairs,
            3,
            inference="exact",
            sampling=sampling,
            tol=0,
            max_iter=40,
            covariance_type=covariance_type,
            components_per_cluster=1 + seed % 2,
        )
        steps = np.diff(model.lower_bounds_)
        assert steps.min() > -1e-9, (seed, steps.min())
        assert_finite(model)


def test_mean_field_bound_never_falls_where_log_omega_is_exact():
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = blobs(25, 3, 2, 1.0, rng)
        pairs = labelled_pairs(y, 25, rng, flip=0.2)
        model = fit(X, pairs, 3, inference="mean_field", tol=0, max_iter=30)
        assert np.diff(model.lower_bounds_).min() > -1e-8, seed


def test_lower_bound_is_the_penalised_likelihood():
    """One more E-step of the fitted mixture, by enumeration."""
    from reference.ppc import cluster_log_likelihood, naive_ppc

    rng = np.random.default_rng(3)
    X, y = blobs(4, 2, 2, 2.0, rng)
    c = labelled_pairs(y, 6, rng)
    settings = {"covariance_type": "tied", "prior_rows": 0, "reg_covar": 0.1}
    model = fit(X, c, tol=0, max_iter=300, **settings)
    log_likelihood = cluster_log_likelihood(
        X, model.weights_, model.means_, [model.covariances_] * 2, 1
    )
    joint, omega, _, posterior, together = naive_ppc(
        log_likelihood, model.weights_, c.pairs.tolist(), c.kind, c.strength()
    )
    assert model.lower_bound_ == pytest.approx((joint - omega) / 8, abs=1e-6)
    np.testing.assert_allclose(model.resp_, posterior, atol=1e-9)
    np.testing.assert_allclose(model.pair_posteriors_, together, atol=1e-9)


# -- engines -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("inference", "error"), [("mean_field", 0.12), ("gibbs", 0.06), ("belief_propagation", 0.02)]
)
def test_approximate_posteriors_on_small_loops(inference, error):
    """Mean absolute error of posteriors at the same mixture; loops of up to 12 rows."""
    total = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = blobs(12, 2, 2, 1.0, rng)
        pairs = labelled_pairs(y, 20, rng, flip=0.1, must_weight=0.5, cannot_weight=0.5)
        exact = fit(X, pairs, inference="exact")
        other = fit(X, pairs, inference=inference, init=exact, max_iter=1, tol=0)
        again = fit(X, pairs, inference="exact", init=other, max_iter=1, tol=0)
        total.append(np.abs(other.resp_ - again.resp_).mean())
    assert np.mean(total) < error, total


def test_auto_is_exact_where_it_can_be_and_says_so():
    rng = np.random.default_rng(4)
    X, y = blobs(60, 2, 2, 2.0, rng)
    dense = [(i, j) for i in range(40) for j in range(i + 1, 40)]
    dense = np.array(dense)[rng.random(len(dense)) < 0.5]
    same = y[dense[:, 0]] == y[dense[:, 1]]
    c = Constraints(120, dense[same], dense[~same]) + Constraints(120, [(50, 51), (51, 52)])
    report = fit(X, c).inference_report_
    assert report["exact_rows"] == 3
    assert report["approximate_rows"] == np.unique(dense).size
    assert report["free_rows"] == 120 - 3 - report["approximate_rows"]
    assert sorted(report["engines"]) == ["exact", "mean_field"]
    with pytest.raises(TooWide, match="row 0 among them"):
        fit(X, c, inference="exact")


@pytest.mark.parametrize("inference", ["auto", "mean_field", "gibbs", "belief_propagation"])
def test_hard_pairs_are_never_broken(inference):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, _ = blobs(15, 3, 2, 0.5, rng)
        wanted = rng.integers(0, 3, 45)  # pairs that the rows do not support at all
        hard = labelled_pairs(wanted, 30, rng, must_weight=np.inf, cannot_weight=np.inf)
        soft = labelled_pairs(rng.integers(0, 3, 45), 20, rng)
        model = fit(X, hard + soft, 3, inference=inference, max_iter=10)
        same = model.labels_[hard.pairs[:, 0]] == model.labels_[hard.pairs[:, 1]]
        assert (same == (hard.kind > 0)).all(), seed
        assert np.isfinite(model.violations_.value).all()
        assert_finite(model)


def test_thread_count_changes_nothing():
    rng = np.random.default_rng(5)
    X, y = blobs(4000, 3, 3, 1.5, rng)
    pairs = labelled_pairs(y[:500], 300, rng).relabel(np.arange(500), 12000)
    results = []
    for threads in (1, 2, 3):
        with use_threads(threads):
            results.append(fit(X, pairs, 3, max_iter=5))
    for other in results[1:]:
        assert (results[0].means_ == other.means_).all()
        assert (results[0].resp_ == other.resp_).all()


# -- limits and settings -------------------------------------------------------------------------
def test_shrinking_spheres_tend_to_pckmeans():
    """Appendix C: radius ασ and weights w/α² with α → 0 assign as K-Means with penalties does."""
    from coterie.cluster import PCKMeans
    from coterie.data import Rows
    from coterie.mixture.ppc.all_rows import posterior_of_all
    from coterie.mixture.ppc.core import CoreGraph, PpcSettings
    from coterie.mixture.ppc.em import expect
    from coterie.mixture.ppc.model import MixtureShape, make_mixture

    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, y = blobs(15, 3, 2, 1.2, rng)
        pairs = labelled_pairs(y, 20, rng, flip=0.2)
        w = 1.5
        start = X[rng.choice(45, 3, replace=False)]
        # Every assignment exact, as PPC's is: what ICM finds depends on the order of rows.
        theirs = PCKMeans(3, w=w, init=start, inference="exact", tol=0).fit(X, constraints=pairs)
        alpha = 1e-2
        heavy = w / alpha**2 / np.log(0.95 / 0.05)
        shrunk = Constraints(
            45, pairs.must_link, pairs.cannot_link, must_weight=heavy, cannot_weight=heavy
        )
        core = CoreGraph(shrunk, 3, PpcSettings("exact", "point", 0.95), 0)
        spheres, rows, means = MixtureShape(3, 1, "spherical", 0.0), Rows(X), start
        for _ in range(60):
            mixture = make_mixture(np.full(3, 1 / 3), means, np.full(3, alpha**2), spheres)
            moments = expect(rows, core, mixture).moments
            means = means + moments.sums / np.maximum(moments.counts, 1e-12)[:, None]
        labels = posterior_of_all(rows, core, mixture, shrunk).labels
        assert (labels == theirs.labels_).all(), seed
        np.testing.assert_allclose(means, theirs.cluster_centers_, atol=1e-6)


def test_hard_must_links_with_chunklet_sampling_have_closed_form_weights():
    """Assumption 1: π_k is the mean posterior of groups and free rows (Shental et al.)."""
    rng = np.random.default_rng(6)
    X, y = blobs(30, 2, 2, 1.5, rng)
    c = Constraints.from_groups(np.where((np.arange(60) % 2 == 0) & (y == 1), 7, -1))
    model = fit(X, c, sampling="chunklet", tol=0, max_iter=200)
    core = c.core()
    node = np.empty((core.n_nodes, 2))
    node[core.node] = model.resp_[core.rows]
    free = np.setdiff1d(np.arange(60), core.rows)
    wanted = (node.sum(axis=0) + model.resp_[free].sum(axis=0)) / (core.n_nodes + free.size)
    np.testing.assert_allclose(model.weights_, wanted, atol=1e-7)
    assert abs(fit(X, c, tol=0, max_iter=200).weights_ - wanted).max() > 0.05


def test_several_components_make_one_cluster():
    """Two interleaved classes of two blobs each: one Gaussian a class cannot, two can."""
    rng = np.random.default_rng(7)
    centre = np.array([[0, 0], [6, 6], [6, 0], [0, 6]])
    part = np.repeat(np.arange(4), 60)
    X, y = centre[part] + rng.normal(size=(240, 2)), part // 2
    pairs = labelled_pairs(y, 80, rng)
    several = fit(X, pairs, components_per_cluster=2, n_init=5)
    assert several.means_.shape == (4, 2)
    assert several.resp_.shape == (240, 2)
    assert adjusted_rand_score(y, several.labels_) > 0.95
    assert adjusted_rand_score(y, several.predict(X)) > 0.95
    np.testing.assert_allclose(several.predict_proba(X).sum(axis=1), 1)
    assert several.score(X) > fit(X, pairs, n_init=5).score(X) + 0.3
    rows, cluster = several.sample(500)
    assert (several.predict(rows) == cluster).mean() > 0.97


def test_suspect_pairs_finds_the_flipped_ones():
    rng = np.random.default_rng(8)
    X, y = blobs(60, 3, 3, 4.0, rng)
    truth = labelled_pairs(y, 100, rng)
    wrong = rng.choice(100, 8, replace=False)
    kind = truth.kind.copy()
    kind[wrong] *= -1
    told = Constraints(180, truth.pairs[kind > 0], truth.pairs[kind < 0])
    table = fit(X, told, 3).suspect_pairs(8)
    found = set(zip(table.i.tolist(), table.j.tolist(), strict=True))
    assert found == {tuple(p) for p in truth.pairs[wrong].tolist()}
    assert table.name == "p_wrong"
    assert ((table.value >= 0) & (table.value <= 1)).all()
    hard = told.only("must").as_hard()
    assert len(fit(X, hard, 3).suspect_pairs()) == 0


def test_pair_posteriors_of_every_kind_of_pair():
    X = np.array([[0.0], [0.1], [5.0], [5.1], [0.2], [5.2]])
    c = Constraints(6, must_link=[(0, 1)], must_weight=np.inf) + Constraints(
        6, must_link=[(2, 4)], cannot_link=[(0, 1), (3, 4)], must_weight=0.0, cannot_weight=0.5
    )
    model = fit(X, c)
    chance = {
        (int(i), int(j), int(k)): p
        for (i, j), k, p in zip(c.pairs, c.kind, model.pair_posteriors_, strict=True)
    }
    assert chance[0, 1, 1] == chance[0, 1, -1] == 1  # one group, whatever a soft pair says
    assert chance[3, 4, -1] < 0.01
    assert chance[2, 4, 1] == pytest.approx(model.resp_[2] @ model.resp_[4])


def test_warm_start_keeps_cluster_numbers():
    rng = np.random.default_rng(9)
    X, y = blobs(40, 3, 2, 5.0, rng)
    model = fit(X, labelled_pairs(y, 10, rng), 3, warm_start=True)
    before = model.labels_.copy()
    model.set_params(random_state=99).fit(X, constraints=labelled_pairs(y, 30, rng))
    assert (model.labels_ == before).mean() > 0.98
    other = fit(X, labelled_pairs(y, 30, rng), 3, init=model, random_state=5)
    assert (other.labels_ == before).mean() > 0.95


def test_saves_and_loads(tmp_path):
    rng = np.random.default_rng(10)
    X, y = blobs(20, 2, 2, 3.0, rng)
    model = fit(X, labelled_pairs(y, 15, rng))
    model.save(tmp_path / "model")
    back = coterie.load(tmp_path / "model")
    assert (back.predict(X) == model.predict(X)).all()
    assert back.suspect_pairs(3) == model.suspect_pairs(3)
    assert back.inference_report_ == model.inference_report_


def test_sample_follows_the_mixture():
    rng = np.random.default_rng(11)
    X, _ = blobs(50, 2, 2, 3.0, rng)
    for covariance_type in TYPES:
        model = fit(X, covariance_type=covariance_type)
        rows, cluster = model.sample(20000)
        for k in (0, 1):
            inside = rows[cluster == k]
            assert len(inside) / 20000 == pytest.approx(model.weights_[k], abs=0.02)
            np.testing.assert_allclose(inside.mean(axis=0), model.means_[k], atol=0.1)
            shape = {
                "full": lambda c: c,
                "tied": lambda c: c,
                "diag": np.diag,
                "spherical": lambda c: np.diag(c).mean(),
            }[covariance_type]
            theirs = model.covariances_ if covariance_type == "tied" else model.covariances_[k]
            np.testing.assert_allclose(shape(np.cov(inside.T)), theirs, atol=0.15)


# -- starts ----------------------------------------------------------------------------------------
def test_the_second_start_finds_a_cluster_inside_another_that_random_starts_miss():
    """The third set of Lu and Leen: a thin layer within a wide class, both of the same mean."""
    bunch = load("ppc_3")
    known = sample_pairs(bunch.target, 100, overlap=False, random_state=3).as_hard()
    settings = {"n_components": 2, "covariance_type": "full", "random_state": 0}
    truth = np.array([bunch.data[bunch.target == k].mean(axis=0) for k in (0, 1)])
    assert np.abs(truth[0] - truth[1]).max() < 0.1  # means do not tell the classes apart
    by_chance = PPC(init="random", n_init=6, **settings).fit(bunch.data, constraints=known)
    two = PPC(n_init=2, **settings).fit(bunch.data, constraints=known)
    mosaic = PPC(init="mosaic", **settings).fit(bunch.data, constraints=known)
    for model in (two, mosaic):
        assert matched_accuracy(bunch.target, model.labels_) > 0.9
        assert model.lower_bound_ > by_chance.lower_bound_ + 0.05


def test_where_must_links_join_most_rows_starts_are_kmeans_and_random_not_mosaic(monkeypatch):
    def never(*args, **kwargs):
        raise AssertionError("Mosaic must not run")

    monkeypatch.setattr("coterie.mixture.ppc.start.Mosaic", never)
    X = np.random.default_rng(0).normal(size=(36, 2))
    PPC(2, n_init=3, random_state=0).fit(X, constraints=grid_neighbors((6, 6), q=0.1))
    PPC(2, n_init=3, random_state=0).fit(X)


# -- passes ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("inference", ["gibbs", "mean_field", "structured_mean_field"])
def test_passes_rise_as_em_comes_to_rest(inference, monkeypatch):
    from coterie.mixture.ppc import core

    rng = np.random.default_rng(12)
    X, y = blobs(20, 2, 2, 4.0, rng)
    pairs = labelled_pairs(y, 60, rng, flip=0.1)
    asked, infer = [], core.infer

    def counted(model, method, **options):
        asked.append(options.get("n_samples", options.get("max_sweeps")))
        return infer(model, method, **options)

    monkeypatch.setattr("coterie.mixture.ppc.core.infer", counted)
    settings = {"inference": inference, "init": X[[0, 20]], "tol": 1e-2, "max_iter": 200}
    model = fit(X, pairs, passes=(3, 24), **settings)  # one start
    assert model.converged_
    steps = [count for count in asked if count in (3, 6, 12, 24)]
    assert steps == sorted(steps)
    assert set(steps) == {3, 6, 12, 24}
    fixed = fit(X, pairs, passes=24, **settings)
    assert adjusted_rand_score(fixed.labels_, model.labels_) > 0.9


def test_structured_mean_field_bound_never_falls():
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, y = blobs(15, 2, 2, 1.0, rng)
        pairs = labelled_pairs(y, 60, rng, flip=0.2)
        settings = {"tol": 0, "max_iter": 20, "weights_update": "proportions"}
        model = fit(X, pairs, inference="structured_mean_field", **settings)
        assert np.diff(model.lower_bounds_).min() > -1e-8, seed
        assert model.inference_report_["lower_bound"] == "lower bound"


def test_belief_propagation_goes_on_from_the_last_messages(monkeypatch):
    """Near rest they settle sooner than fresh ones, and what they find is the same."""
    from coterie.mixture.ppc import core

    links = grid_neighbors((12, 12), q=0.2)
    X = np.random.default_rng(0).normal(size=(144, 1)) + (np.arange(144) // 72)[:, None]
    sweeps, infer = [], core.infer

    def counted(model, method, **options):
        found = infer(model, method, **options)
        sweeps.append((options.get("messages") is not None, found.sweeps))
        return found

    with monkeypatch.context() as patch:
        patch.setattr("coterie.mixture.ppc.core.infer", counted)
        model = fit(X, links, inference="belief_propagation")
    first = [count for warm, count in sweeps if not warm]
    later = [count for warm, count in sweeps if warm]
    assert later[-1] < first[0]
    again = fit(X, links, inference="belief_propagation", init=model, max_iter=1, tol=0)
    np.testing.assert_allclose(again.resp_, model.resp_, atol=0.02)
