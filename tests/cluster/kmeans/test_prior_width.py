"""The width of the prior on the metric does not depend on units."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_wine
from sklearn.metrics import normalized_mutual_info_score
from sklearn.preprocessing import StandardScaler

from coterie import HMRFKMeans
from coterie.constraints import sample_pairs
from coterie.data import Rows
from coterie.distortions import get_distortion
from coterie.exceptions import InvalidParameter

X, Y = load_wine(return_X_y=True)
KNOWN = sample_pairs(Y, 44, random_state=0)


@pytest.mark.parametrize("form", ["diagonal", "full"])
@pytest.mark.parametrize("factor", [2.0**-7, 2.0**4])
def test_units_do_not_matter(form, factor):
    # Ten steps of a full metric make 1e-6 of rounding in some places, less where a run ends lower.
    model = HMRFKMeans(3, metric_form=form, tol=0.0, random_state=2)
    one = model.fit(X, constraints=KNOWN).labels_
    params = model.distortion_params_
    two = model.fit(factor * X, constraints=KNOWN).labels_
    np.testing.assert_array_equal(one, two)
    np.testing.assert_allclose(model.distortion_params_ * factor**2, params, rtol=1e-6, atol=1e-9)


def test_small_units_cost_nothing():
    model = HMRFKMeans(3, random_state=0).fit(0.01 * X, constraints=KNOWN)
    assert normalized_mutual_info_score(Y, model.labels_) > 0.8  # .45 with a width of 1


def test_columns_of_unit_variance_have_the_width_of_the_paper():
    rows = StandardScaler().fit_transform(X)
    auto = HMRFKMeans(3, random_state=0).fit(rows, constraints=KNOWN)
    paper = HMRFKMeans(3, prior_width=1.0, random_state=0).fit(rows, constraints=KNOWN)
    assert auto.objective_ == pytest.approx(paper.objective_)


def test_the_unit_is_the_inverse_scatter_of_the_rows_as_weighted():
    rng = np.random.default_rng(0)
    data, weights = rng.random((50, 4)) * [1, 10, 2, 1] + [0, 5, 3, 0], rng.random(50)
    covariance = np.cov(data.T, aweights=weights, bias=True)
    euclidean, ones = get_distortion("sqeuclidean"), np.empty(0)
    for rows in (Rows(data), Rows(sp.csr_matrix(data)), Rows(data, shift=data[0])):
        unit = euclidean.weight_scale(rows, weights, "diagonal")
        np.testing.assert_allclose(unit, 1 / np.diag(covariance))
        np.testing.assert_allclose(
            euclidean.weight_scale(rows, ones, "diagonal"), 1 / data.var(axis=0)
        )
        full = euclidean.weight_scale(rows, weights, "full")
        np.testing.assert_allclose(full, np.diag(np.linalg.inv(covariance)))
    divergence = get_distortion("i-divergence")
    np.testing.assert_allclose(
        divergence.weight_scale(Rows(10 * data), weights, "diagonal"),
        divergence.weight_scale(Rows(sp.csr_matrix(data)), weights, "diagonal") / 10,
    )
    for name in ("cosine", "kl", "itakura-saito"):
        assert get_distortion(name).weight_scale(Rows(data + 1), weights, "diagonal") is None


def test_constant_columns_have_a_finite_width():
    rows = np.ones((20, 3))
    for form in ("diagonal", "full"):
        model = HMRFKMeans(2, metric_form=form, random_state=0)
        assert np.isfinite(model.fit(rows).objective_)
        rows[:, 1] = np.arange(20)


@pytest.mark.parametrize("width", ["atuo", 0, -1, None])
def test_other_values_are_refused(width):
    with pytest.raises(InvalidParameter, match="prior_width"):
        HMRFKMeans(3, prior_width=width).fit(X)
