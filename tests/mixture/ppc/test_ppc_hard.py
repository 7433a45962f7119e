"""Hard cannot-links that freeze single changes: mean field, Gibbs sampling and "auto" with them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from ppc_problems import assert_finite, fit, labelled_pairs

from coterie import Constraints
from coterie.exceptions import ApproximationWarning
from coterie.metrics import matched_accuracy


def bars(seed):
    """Two long bars side by side, which K-Means cuts across."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], 150)
    return rng.normal(size=(300, 2)) * [4, 0.6] + np.outer(y, [0, 2.2]), y, rng


@pytest.mark.filterwarnings("ignore::coterie.exceptions.ApproximationWarning")
@pytest.mark.parametrize("inference", ["mean_field", "gibbs"])
def test_disjoint_hard_pairs_with_two_clusters_do_not_freeze(inference):
    for seed in range(3):
        X, y, rng = bars(seed)
        pairs = np.column_stack([rng.permutation(150), 150 + rng.permutation(150)])
        told = Constraints(300, cannot_link=pairs).as_hard()
        exact = matched_accuracy(y, fit(X, told, inference="exact").labels_)
        model = fit(X, told, inference=inference)
        assert exact > 0.98
        assert matched_accuracy(y, model.labels_) > exact - 0.03, seed
        assert (model.labels_[pairs[:, 0]] != model.labels_[pairs[:, 1]]).all()
        assert_finite(model)


@pytest.mark.filterwarnings("ignore::coterie.exceptions.ApproximationWarning")
def test_wide_hard_components_do_as_well_as_nearly_hard_ones():
    for seed in range(3):
        X, y, rng = bars(seed)
        told = labelled_pairs(y, 900, rng).only("cannot")
        nearly = Constraints(300, cannot_link=told.cannot_link, cannot_certainty=0.99)
        soft = matched_accuracy(y, fit(X, nearly).labels_)
        model = fit(X, told.as_hard())
        assert matched_accuracy(y, model.labels_) >= soft - 0.01, seed
        assert (np.diff(model.labels_[told.cannot_link], axis=1) != 0).all()


@pytest.mark.filterwarnings("ignore::coterie.exceptions.ApproximationWarning")
def test_the_bound_of_frozen_mean_field_never_falls_and_stays_below_the_truth():
    X, _, rng = bars(0)
    pairs = np.column_stack([rng.permutation(150), 150 + rng.permutation(150)])
    told = Constraints(300, cannot_link=pairs).as_hard()
    model = fit(X, told, inference="mean_field", tol=0, max_iter=15, reg_covar=1e-9)
    assert np.diff(model.lower_bounds_).min() > -1e-8
    exact = fit(X, told, inference="exact", init=model, max_iter=1, tol=0, reg_covar=1e-9)
    assert model.lower_bound_ <= exact.lower_bounds_[0] + 1e-9


def test_what_mean_field_cannot_be_sure_of_is_said():
    X, y, rng = bars(0)
    told = labelled_pairs(y, 40, rng).only("cannot").as_hard()
    with pytest.warns(ApproximationWarning, match="frozen"):
        fit(X, told, inference="mean_field")
    with warnings.catch_warnings():
        warnings.simplefilter("error", ApproximationWarning)
        fit(X, told)
        fit(X, labelled_pairs(y, 40, rng), inference="mean_field")
