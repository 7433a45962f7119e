"""Rows with gaps, and rows that count more than once."""

from __future__ import annotations

import numpy as np
import pytest
from ppc_problems import PLAIN, TYPES, assert_finite, blobs, fit, labelled_pairs
from scipy.stats import multivariate_normal
from sklearn.metrics import adjusted_rand_score

from coterie import Constraints
from coterie.exceptions import InvalidData
from coterie.mixture import PPC
from reference.ppc import naive_gap_step, naive_ppc


def with_gaps(X, share, rng):
    """X with a share of its values unknown, and one row of which nothing is known."""
    out = np.where(rng.random(X.shape) < share, np.nan, X)
    out[0] = np.nan
    return out


def matrices(model):
    """Covariances (G, d, d) of a fitted model, and its means."""
    g, d = model.means_.shape
    given = model.covariances_
    full = {
        "full": lambda: given,
        "tied": lambda: np.broadcast_to(given, (g, d, d)),
        "diag": lambda: np.stack([np.diag(one) for one in given]),
        "spherical": lambda: np.stack([one * np.eye(d) for one in given]),
    }
    return full[model.covariance_type_]()


@pytest.mark.parametrize("covariance_type", TYPES)
def test_one_step_is_that_of_the_naive_twin(covariance_type):
    """E-step with marginal densities, M-step with conditional means and covariances."""
    rng = np.random.default_rng(0)
    X, _ = blobs(30, 2, 4, 2.0, rng)
    X = with_gaps(X + 1e3, 0.3, rng)
    settings = {"covariance_type": covariance_type, **PLAIN}
    start = fit(X, max_iter=1, **settings)
    ours = fit(X, init=start, max_iter=1, **settings)
    weights, means, scatter, log_density = naive_gap_step(
        X, start.weights_, start.means_, matrices(start)
    )
    np.testing.assert_allclose(start.score_samples(X), log_density, atol=1e-8)
    np.testing.assert_allclose(ours.weights_, weights, atol=1e-10)
    np.testing.assert_allclose(ours.means_, means, atol=1e-8)
    if covariance_type == "tied":
        scatter = np.broadcast_to(np.einsum("g,gij->ij", weights, scatter), scatter.shape)
    elif covariance_type == "diag":
        scatter = scatter * np.eye(4)
    elif covariance_type == "spherical":
        scatter = np.einsum("gii->g", scatter)[:, None, None] / 4 * np.eye(4)
    np.testing.assert_allclose(matrices(ours), scatter + 1e-6 * np.eye(4), atol=1e-8)


@pytest.mark.parametrize("covariance_type", TYPES)
def test_the_bound_never_falls_with_gaps_pairs_weights_and_a_prior(covariance_type):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y = blobs(25, 3, 3, 1.5, rng)
        X = with_gaps(np.column_stack([X, rng.integers(0, 2, 75)]), 0.25, rng)
        model = PPC(3, covariance_type=covariance_type, inference="exact", tol=0, max_iter=25)
        model.set_params(random_state=seed)
        with pytest.warns(UserWarning, match="max_iter"):
            model.fit(
                X,
                constraints=labelled_pairs(y, 20, rng, flip=0.1),
                sample_weight=rng.uniform(0.1, 3.0, 75),
            )
        assert np.diff(model.lower_bounds_).min() > -1e-9, seed
        assert_finite(model)


def test_pairs_and_gaps_together_by_enumeration():
    rng = np.random.default_rng(1)
    X, y = blobs(4, 2, 3, 2.0, rng)
    X = with_gaps(X, 0.3, rng)
    known = labelled_pairs(y, 6, rng)
    model = fit(X, known, tol=0, max_iter=200, prior_rows=0, reg_covar=0.3)
    density = np.zeros((8, 2))
    for i, row in enumerate(X):
        o = ~np.isnan(row)
        for g in range(2) if o.any() else ():
            part = model.covariances_[g][np.ix_(o, o)]
            density[i, g] = multivariate_normal(model.means_[g][o], part).logpdf(row[o])
    _, _, _, posterior, together = naive_ppc(
        density, model.weights_, known.pairs.tolist(), known.kind, known.strength()
    )
    np.testing.assert_allclose(model.resp_, posterior, atol=1e-9)
    np.testing.assert_allclose(model.pair_posteriors_, together, atol=1e-9)


def test_the_bound_has_no_slope_where_em_rests():
    """Finite differences of the marginal likelihood at the means that EM came to."""
    rng = np.random.default_rng(2)
    X, _ = blobs(40, 2, 3, 3.0, rng)
    X = with_gaps(X, 0.2, rng)
    model = fit(X, tol=0, max_iter=400, **PLAIN)
    for at in np.ndindex(2, 3):
        values = []
        for step in (-1e-4, 1e-4):
            moved = model.means_.copy()
            moved[at] += step
            other = fit(X, init=model, max_iter=1, **PLAIN)
            other.means_ = moved
            other.weights_, other.covariances_ = model.weights_, model.covariances_
            values.append(other.score_samples(X).sum())
        assert abs(values[1] - values[0]) / 2e-4 < 1e-2


def test_every_method_takes_gaps_and_says_what_it_cannot_use():
    rng = np.random.default_rng(3)
    X, y = blobs(80, 3, 4, 4.0, rng)
    gaps = with_gaps(X, 0.2, rng)
    model = PPC(3, random_state=0).fit(gaps, constraints=labelled_pairs(y, 30, rng))
    assert adjusted_rand_score(y, model.labels_) > 0.85
    assert adjusted_rand_score(y, model.predict(gaps)) > 0.85
    np.testing.assert_allclose(model.predict_proba(gaps).sum(axis=1), 1)
    np.testing.assert_allclose(model.predict_proba(gaps)[0], model.weights_)  # nothing known
    assert np.isfinite(model.score(gaps))
    assert np.isfinite(model.bic(gaps))
    gaps[:, 2] = np.nan
    with pytest.raises(InvalidData, match="column 2"):
        PPC(3).fit(gaps)
    gaps[:, 2] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        PPC(3).fit(gaps)


# -- sample_weight -------------------------------------------------------------------------------
@pytest.mark.parametrize("covariance_type", TYPES)
def test_whole_weights_are_repeated_rows(covariance_type):
    rng = np.random.default_rng(4)
    X, _ = blobs(40, 3, 3, 2.0, rng)
    times = rng.integers(0, 4, 120)
    settings = {"covariance_type": covariance_type, "random_state": 0}
    means = X[[0, 50, 100]]
    often = PPC(3, init=means, **settings).fit(X, sample_weight=times)
    repeated = PPC(3, init=means, **settings).fit(np.repeat(X, times, axis=0))
    np.testing.assert_allclose(often.weights_, repeated.weights_, atol=1e-8)
    np.testing.assert_allclose(often.means_, repeated.means_, atol=1e-7)
    np.testing.assert_allclose(often.covariances_, repeated.covariances_, atol=1e-7)
    assert often.lower_bound_ == pytest.approx(repeated.lower_bound_, abs=1e-9)


def test_a_row_in_a_pair_that_counts_three_times_is_three_rows_of_one_group():
    rng = np.random.default_rng(5)
    X, y = blobs(10, 2, 2, 2.0, rng)
    known = labelled_pairs(y, 8, rng)
    times = np.ones(20, dtype=int)
    times[known.pairs[0]] = 3
    start = fit(X, known, **PLAIN)
    once = PPC(2, covariance_type="full", init=start, **PLAIN)
    often = once.fit(X, constraints=known, sample_weight=times)
    row = np.repeat(np.arange(20), times)
    groups = np.where(times[row] > 1, row, -1)
    first = np.searchsorted(row, np.arange(20))
    linked = known.relabel(first, row.size) + Constraints.from_groups(groups, weight=np.inf)
    copies = PPC(2, covariance_type="full", init=start, **PLAIN).fit(X[row], constraints=linked)
    np.testing.assert_allclose(often.means_, copies.means_, atol=1e-8)
    np.testing.assert_allclose(often.resp_, copies.resp_[first], atol=1e-8)
    assert often.lower_bound_ == pytest.approx(copies.lower_bound_, abs=1e-9)
