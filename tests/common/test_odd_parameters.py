"""Odd values for every parameter: a result, or a typed error that names the parameter."""

from __future__ import annotations

import inspect
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.validation import has_fit_parameter

from coterie import RCA
from coterie.constraints import sample_pairs
from coterie.estimators import ESTIMATORS, estimator_class
from coterie.exceptions import CoterieError, InvalidParameter
from coterie.parameters import PARAMETERS, check_parameters

CLASSES = [*map(estimator_class, ESTIMATORS), RCA]
LONGEST = 60  # seconds that an accepted value may take on 30 rows, with kernels to compile

ODD: list[Any] = [
    None, True, False, 0, 1, -1, 2, 3, 10**30, -(10**30), 0.0, -0.0, 0.5, -0.5, 1e-308, 1e308,
    float("nan"), float("inf"), -float("inf"), "", "auto", "nonsense", "3", b"x", [], [1],
    [1, 2, 3], [[1], [1, 2]], {}, {"a": 1}, (), (0.5, "x"), np.array([]),
    np.array([1.0, 2.0, 3.0]), np.ones((3, 3)), np.full((3, 3), np.nan), np.int64(2),
    np.float32(0.5), np.bool_(True), object(), len, int, 1j, pd.DataFrame({"a": [1]}), slice(3),
    {1}, np.array("auto"), np.array(2), np.random.default_rng(0), 10**400,
]  # fmt: skip


def parameters(cls: type) -> list[str]:
    return [*inspect.signature(cls).parameters]


@pytest.fixture(scope="module")
def rows() -> tuple[Any, Any]:
    y = np.arange(30) % 3
    X = np.random.default_rng(0).normal(size=(30, 3)) + 4 * np.eye(3)[y]
    return X - X.min() + 0.1, sample_pairs(y, 15, random_state=0)


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    def give_up(*_: Any) -> None:
        raise AssertionError(f"still at work after {seconds} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def error_of(work: Callable[..., Any], *args: Any, **kwargs: Any) -> Exception | None:
    try:
        with warnings.catch_warnings(), at_most(LONGEST):
            warnings.simplefilter("ignore")
            work(*args, **kwargs)
    except Exception as error:
        return error
    return None


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_parameter_has_a_rule(cls: type) -> None:
    named = {c.__name__ for c in cls.__mro__}
    ruled = {key.rpartition(".")[2] for key in PARAMETERS if key.rpartition(".")[0] in {"", *named}}
    assert not set(parameters(cls)) - ruled


def test_no_rule_is_idle() -> None:
    taken = {name for cls in CLASSES for name in parameters(cls)}
    assert {key.rpartition(".")[2] for key in PARAMETERS} == taken


@pytest.mark.parametrize(
    ("cls", "name"),
    [(cls, name) for cls in CLASSES for name in parameters(cls)],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_odd_values_are_named_or_work(cls: type, name: str, rows: tuple[Any, Any]) -> None:
    X, known = rows
    given = {key: 3 for key in ("n_clusters", "n_components") if key in parameters(cls)}
    pairs = {"constraints": known} if has_fit_parameter(cls, "constraints") else {}
    for value in ODD:
        estimator = cls(**(given | {name: value}))
        error = error_of(estimator.fit, X, **pairs)
        named = isinstance(error, CoterieError) and name in str(error)
        assert error is None or named, f"{name}={value!r}: {error!r}"


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
