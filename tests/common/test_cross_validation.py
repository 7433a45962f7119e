"""Every clusterer that takes pairs goes through a search over folds of pairs."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import sklearn
from estimators import CASES
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from coterie import Constraints, PairKFold, PCKMeans, pair_score

GROUPS = np.repeat([0, 1], 12)
X = 1.0 + 10.0 * np.eye(2, 4)[GROUPS] + np.random.default_rng(0).uniform(0, 0.3, (24, 4))
PAIRS = Constraints(
    24,
    must_link=[(0, 1), (2, 3), (12, 13), (14, 15)],
    cannot_link=[(0, 12), (3, 14), (5, 16), (7, 20)],
)


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.capabilities.constraints and case.capabilities.predicts],
    ids=lambda case: case.name,
)
def test_held_out_pairs_are_kept_by_clear_groups(case):
    can = case.capabilities
    model = Pipeline([("same", FunctionTransformer()), ("cluster", can.fresh(case.estimator))])
    with sklearn.config_context(enable_metadata_routing=True):
        scores = cross_val_score(
            model,
            can.prepare(X),
            params={"constraints": can.pairs(PAIRS)},
            scoring=pair_score,
            cv=PairKFold(can.pairs(PAIRS), 2, random_state=0),
            error_score="raise",
        )
    assert scores.tolist() == [1.0, 1.0]


class Stream:
    """Rows that can do nothing but hand themselves over, as a DuckDB relation does."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def test_rows_with_an_arrow_stream_are_rows_with_names():
    rows = Stream(pa.table({name: X[:, at] for at, name in enumerate("abcd")}))
    model = PCKMeans(2, random_state=0).fit(rows, constraints=PAIRS)
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert np.array_equal(
        model.labels_, PCKMeans(2, random_state=0).fit(X, constraints=PAIRS).labels_
    )
    assert np.array_equal(model.predict(rows), model.labels_)
