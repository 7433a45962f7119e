"""Every estimator of the table against Coterie's checks and scikit-learn's."""

from __future__ import annotations

import pytest
from estimators import CASES
from sklearn.utils.estimator_checks import parametrize_with_checks

import coterie
from coterie.testing import checks_for


def test_every_public_clusterer_is_in_the_table():
    public = {name for name in coterie.__all__ if hasattr(getattr(coterie, name), "fit_predict")}
    assert public == {type(case.estimator).__name__ for case in CASES}


FAILURES = {id(case.estimator): case.expected_failures for case in CASES}


@pytest.mark.parametrize(
    ("case", "check"),
    [
        pytest.param(case, check, id=f"{case.name}-{check.name}")
        for case in CASES
        for check in checks_for(case.capabilities)
    ],
)
def test_coterie(case, check):
    check(case.estimator, case.capabilities)


@parametrize_with_checks(
    [case.estimator for case in CASES if case.scikit_learn],
    expected_failed_checks=lambda estimator: FAILURES[id(estimator)],
)
def test_scikit_learn(estimator, check):
    check(estimator)
