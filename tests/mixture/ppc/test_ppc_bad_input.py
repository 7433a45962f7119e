"""PPC refuses what it cannot fit, names it, and stays finite at the edges."""

from __future__ import annotations

import numpy as np
import pytest
from ppc_problems import TYPES, assert_finite, blobs, fit
from sklearn.exceptions import ConvergenceWarning

from coterie import Constraints
from coterie.exceptions import InfeasibleConstraints, InvalidData, InvalidParameter
from coterie.mixture import PPC


def test_infeasible_hard_pairs_name_a_minimal_conflict():
    X = np.random.default_rng(0).normal(size=(10, 2))
    triangle = Constraints(10, None, [(0, 1), (1, 2), (0, 2), (5, 6)], cannot_weight=np.inf)
    with pytest.raises(InfeasibleConstraints) as error:
        fit(X, triangle, 2)
    assert error.value.conflict.pairs.tolist() == [[0, 1], [0, 2], [1, 2]]
    path = Constraints(10, [(0, 1), (1, 2)], [(0, 2)], must_weight=np.inf, cannot_weight=np.inf)
    with pytest.raises(InfeasibleConstraints) as error:
        fit(X, path, 3)
    assert error.value.conflict.n_pairs == 3


@pytest.mark.parametrize(
    ("params", "word"),
    [
        ({"n_components": 0}, "n_components"),
        ({"n_components": 11}, "n_components"),
        ({"components_per_cluster": 6}, "components_per_cluster"),
        ({"covariance_type": "fulll"}, "full"),
        ({"inference": "exakt"}, "exact"),
        ({"sampling": "points"}, "point"),
        ({"weights_update": "grit"}, "grid"),
        ({"init": "k-means"}, "kmeans"),
        ({"init": np.zeros((3, 3))}, "shape"),
        ({"reg_covar": -1.0}, "reg_covar"),
        ({"prior_rows": -1.0}, "prior_rows"),
        ({"passes": 0}, "passes"),
        ({"passes": (8, 4)}, "rise"),
        ({"prior_rows": "many"}, "prior_rows"),
        ({"tol": -1.0}, "tol"),
        ({"max_iter": 0}, "max_iter"),
        ({"n_init": 0}, "n_init"),
        ({"default_certainty": 0.3}, "default_certainty"),
        ({"n_components": 6, "weights_update": "grid"}, "at most 5"),
    ],
)
def test_bad_parameters_are_named(params, word):
    X = np.random.default_rng(0).normal(size=(10, 2))
    with pytest.raises(InvalidParameter, match=word):
        PPC(**{"n_components": 2, **params}).fit(X, constraints=Constraints(10, [(0, 1)]))


def test_singular_components_are_refused_with_a_remedy():
    X = np.repeat(np.random.default_rng(0).normal(size=(2, 3)), 10, axis=0)
    for covariance_type in TYPES:
        with pytest.raises(InvalidData, match="reg_covar"):
            fit(X, prior_rows=0, covariance_type=covariance_type)
        assert_finite(fit(X, covariance_type=covariance_type))


@pytest.mark.parametrize("sampling", ["point", "chunklet"])
@pytest.mark.parametrize("inference", ["auto", "mean_field", "gibbs", "belief_propagation"])
def test_all_rows_in_one_hard_group(sampling, inference):
    X, _ = blobs(30, 2, 2, 3.0, np.random.default_rng(1))
    model = fit(X, Constraints.from_groups(np.zeros(60)), sampling=sampling, inference=inference)
    assert np.unique(model.labels_).size == 1
    assert_finite(model)


def test_as_many_clusters_as_rows_and_huge_values():
    X = np.random.default_rng(2).normal(size=(6, 2))
    assert_finite(fit(X, k=6))
    assert_finite(fit(X, k=2, components_per_cluster=3))
    with pytest.raises(InvalidData, match="overflow"):
        fit(X * 1e200, k=1)
    far = fit(X, k=2).predict_proba(np.full((1, 2), 1e180))
    assert np.isfinite(far).all()


def test_no_convergence_is_said():
    X, _ = blobs(30, 3, 2, 0.5, np.random.default_rng(3))
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        PPC(3, max_iter=2, tol=0, random_state=0).fit(X)
