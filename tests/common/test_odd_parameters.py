"""Odd values for every parameter: a result, or a typed error that names the parameter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from odd_values import CLASSES, ODD, cryptic, error_of, parameters, rule_keys
from sklearn.utils.validation import has_fit_parameter

from coterie.constraints import sample_pairs
from coterie.exceptions import InvalidParameter
from coterie.parameters import check_parameters


@pytest.fixture(scope="module")
def rows() -> tuple[Any, Any]:
    y = np.arange(30) % 3
    X = np.random.default_rng(0).normal(size=(30, 3)) + 4 * np.eye(3)[y]
    return X - X.min() + 0.1, sample_pairs(y, 15, random_state=0)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_parameter_has_a_rule(cls: type) -> None:
    assert not set(parameters(cls)) - {key.rpartition(".")[2] for key in rule_keys(cls)}


@pytest.mark.parametrize(
    ("cls", "name"),
    [(cls, name) for cls in CLASSES for name in parameters(cls)],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_odd_values_are_named_or_work(
    cls: type, name: str, rows: tuple[Any, Any], record_property: Any
) -> None:
    record_property("tried", len(ODD))
    X, known = rows
    given = {key: 3 for key in ("n_clusters", "n_components") if key in parameters(cls)}
    pairs = {"constraints": known} if has_fit_parameter(cls, "constraints") else {}
    for value in ODD:
        estimator = cls(**(given | {name: value}))
        error = error_of(estimator.fit, X, **pairs)
        assert not cryptic(error, name), f"{name}={value!r}: {error!r}"


def test_a_parameter_of_somebody_else_is_left_alone(rows: tuple[Any, Any]) -> None:
    from coterie import PCKMeans

    class Theirs(PCKMeans):
        def __init__(self, n_clusters: int = 3, alpha: Any = "their own") -> None:
            super().__init__(n_clusters)
            self.alpha = alpha

    X, known = rows
    assert Theirs().fit(X, constraints=known).labels_.shape == (30,)
    with pytest.raises(InvalidParameter, match="n_clusters=0 must be an integer of at least 1"):
        Theirs(0).fit(X)


def test_long_values_are_shown_short() -> None:
    from coterie import PCKMeans

    with pytest.raises(InvalidParameter) as caught:
        check_parameters(PCKMeans(3, warm_start=np.zeros((100, 100))))
    assert len(str(caught.value)) < 150
    assert "warm_start" in str(caught.value)
