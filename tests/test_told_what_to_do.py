"""What people get wrong first, and what they are told: each message ends with what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from coterie import Constraints, GPKMeans, PCKMeans
from coterie.base import ConstrainedClusterer
from coterie.exceptions import InvalidConstraints, InvalidData, UnknownParameter

X = np.random.default_rng(0).random((20, 3))
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])


def with_cell(value: float) -> np.ndarray:
    table = X.copy()
    table[4, 1] = table[7, 1] = value
    return table


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (with_cell(np.nan), r"X contains NaN \(row 4, column 1; 2 rows .*SimpleImputer.*--impute"),
        (pd.DataFrame(with_cell(np.nan), columns=["a", "b", "c"]), r"NaN \(row 4, column 'b';"),
        (FRAME.assign(b=pd.array([1, None] * 10, dtype="Int64")), r"NaN \(row 1, column 'b'; 10"),
        (with_cell(-np.inf), r"X contains infinity \(row 4, column 1; 2 rows"),
        (sp.csr_matrix(with_cell(np.nan)), "X contains NaN. Drop"),
        (pd.DataFrame(X).assign(city="Ulm"), "column 'city' of X holds 'Ulm'"),
        (FRAME.assign(city="Ulm"), "column 'city' of X holds 'Ulm', .*Recipe"),
        (pl.DataFrame(FRAME.assign(city="Ulm" * 99)), "column 'city' of X holds 'Ulm.*…, "),
        (FRAME.assign(city="Ulm").to_numpy(), "column 3 of X holds 'Ulm', .*Recipe"),
        ([[1.0, "2"], [3.0, "x"]], "column 1 of X holds 'x'"),
        (np.array([["1", "a"], ["2", "3"]]), "column 1 of X holds 'a'"),
        (FRAME.assign(when=pd.Timestamp("2020-01-01")), "column 'when' of X holds Timestamp"),
        (pl.DataFrame(X).lazy(), r"lazy frame, .* X.collect\(\)"),
        ("rows.csv", r"X is a path \('rows.csv'\). .*open_table"),
        (Path("rows.csv"), "X is a path .*open_rows"),
    ],
)
def test_rows_that_cannot_be_read(rows: Any, words: str) -> None:
    with pytest.raises(InvalidData, match=words) as caught:
        PCKMeans(3).fit(rows)
    assert "HistGradientBoosting" not in str(caught.value)


def test_what_is_not_known_keeps_its_own_words() -> None:
    with pytest.raises(ValueError, match="Expected 2D array"):
        PCKMeans(3).fit(X[:, 0])


def test_a_misspelt_parameter_is_told_the_right_one() -> None:
    with pytest.raises(
        UnknownParameter, match=r"PCKMeans has no parameter 'n_cluster'. Did you mean 'n_clusters'"
    ):
        PCKMeans(n_cluster=3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"no parameter 'colour'. It has n_clusters, "):
        PCKMeans(colour=3)  # type: ignore[call-arg]


def test_a_misspelt_parameter_of_a_grid_is_told_the_right_one() -> None:
    """scikit-learn's own words are a list of all names."""
    words = r"PCKMeans has no parameter 'n_cluster'. Did you mean 'n_clusters'"
    whole = make_pipeline(StandardScaler(), PCKMeans(3))
    for search in (
        GridSearchCV(PCKMeans(3), {"n_cluster": [2, 3]}),
        GridSearchCV(whole, {"pckmeans__n_cluster": [2, 3]}),
        GridSearchCV(GPKMeans(PCKMeans(3)), {"estimator__n_cluster": [2, 3]}),
    ):
        with pytest.raises(ValueError, match=words):
            search.fit(X)
    assert PCKMeans(3).set_params(n_clusters=4).n_clusters == 4
    assert GPKMeans(PCKMeans(3)).set_params(estimator__n_clusters=4).estimator.n_clusters == 4


def test_estimators_of_others_may_take_anything() -> None:
    class Open(ConstrainedClusterer):
        def __init__(self, **anything: Any) -> None:
            self.anything = anything

    assert Open(colour=3).anything == {"colour": 3}


def test_the_number_of_rows_is_asked_for() -> None:
    with pytest.raises(
        InvalidConstraints, match=r"n_samples is missing: .*Constraints\(len\(X\), "
    ):
        Constraints(must_link=[(0, 1)])
    with pytest.raises(InvalidConstraints, match=r"not a row count; give .* X.shape\[0\]"):
        Constraints([(0, 1)], [(1, 2)])  # type: ignore[arg-type]
