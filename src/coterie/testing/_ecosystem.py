"""Checks of how an estimator lives with others: data frames, pipelines, searches, files."""

from __future__ import annotations

import importlib
import tempfile
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import estimator_html_repr

from coterie import persistence
from coterie.exceptions import LostPairs
from coterie.testing._capabilities import Capabilities
from coterie.testing._check import (
    equal,
    needs,
    public_state,
    require,
    require_same_labels,
)
from coterie.testing._problems import blobs, noisy

FRAMES = ("pandas", "polars")


@needs()
def check_data_frames(estimator: Any, can: Capabilities) -> None:
    """Data frames of every installed kind are rows with names."""
    problem = blobs()
    X = can.prepare(problem.X)
    names = [f"column {j}" for j in range(X.shape[1])]
    wanted = can.fit(estimator, X, problem.constraints).labels_
    for library in filter(find_spec, FRAMES):
        frame = importlib.import_module(library).DataFrame(dict(zip(names, X.T, strict=True)))
        model = can.fit(estimator, frame, problem.constraints)
        require_same_labels(wanted, model.labels_, f"a {library} frame must be the same rows")
        require(
            list(model.feature_names_in_) == names,
            f"feature_names_in_ must be the columns of the {library} frame",
        )


@needs("transforms")
def check_transform(estimator: Any, can: Capabilities) -> None:
    """`transform` gives one named column each, as an array or as a data frame on request."""
    problem = blobs()
    X = can.prepare(problem.X)
    model = can.fit(estimator, X, problem.constraints)
    out = model.transform(X)
    names = list(model.get_feature_names_out())
    require(out.shape == (len(X), len(names)), f"{len(names)} names for columns {out.shape}")
    require(np.isfinite(out).all(), "transform gives values that are not finite")
    require(len(set(names)) == len(names), f"column names repeat: {names}")
    for library in filter(find_spec, FRAMES):
        frame = model.set_output(transform=library).transform(X)
        require(list(frame.columns) == names, f"set_output({library!r}) must name the columns")
        require(np.array_equal(frame.to_numpy(), out), f"set_output({library!r}) changes values")


@needs()
def check_pipeline(estimator: Any, can: Capabilities) -> None:
    """As the last step of a Pipeline, with constraints (if any) by ``step__constraints``."""
    problem = blobs()
    X = can.prepare(problem.X)
    pipeline = Pipeline(
        [("same", FunctionTransformer(accept_sparse=True)), ("cluster", can.fresh(estimator))]
    )
    given = can.given(problem.constraints)
    pipeline.fit(X, **{f"cluster__{name}": value for name, value in given.items()})
    require_same_labels(
        can.fit(estimator, X, problem.constraints).labels_,
        pipeline["cluster"].labels_,
        "a pipeline must pass constraints on",
    )


@needs("predicts", "n_clusters")
def check_grid_search(estimator: Any, can: Capabilities) -> None:
    """GridSearchCV runs and finds the number of far groups."""
    problem = blobs(k=3)
    X = can.prepare(problem.X)
    rows = np.random.default_rng(0).permutation(len(X))
    search = GridSearchCV(
        can.fresh(estimator),
        {can.n_clusters: [2, 3]},
        scoring=_agreement,
        cv=2,
        error_score="raise",
    )
    search.fit(X[rows], problem.groups[rows])
    require(search.best_params_ == {can.n_clusters: 3}, "the search must find three far groups")


@needs("predicts", "constraints")
def check_folds(estimator: Any, can: Capabilities) -> None:
    """Cross-validation hands each fold the constraints of its rows, and those are used."""
    problem = noisy()
    X, pairs = can.prepare(problem.X), can.pairs(problem.constraints)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LostPairs)
        found = cross_validate(
            can.fresh(estimator, k=3),
            X,
            problem.groups,
            params={"constraints": pairs},
            scoring=_agreement,
            cv=KFold(3, shuffle=True, random_state=0),
            return_estimator=True,
            return_indices=True,
            error_score="raise",
        )
    for model, rows in zip(found["estimator"], found["indices"]["train"], strict=True):
        wanted = can.fit(estimator, X[rows], pairs.subset(rows), k=3)
        require_same_labels(wanted.labels_, model.labels_, "a fold must use the pairs of its rows")


def _agreement(model: Any, X: Any, y: Any) -> float:
    return float(adjusted_rand_score(y, model.predict(X)))


@needs()
def check_save_and_load(estimator: Any, can: Capabilities) -> None:
    """A saved model comes back with its parameters, its fitted attributes and its answers."""
    problem = blobs()
    X = can.prepare(problem.X)
    model = can.fit(estimator, X, problem.constraints)
    with tempfile.TemporaryDirectory() as folder:
        path = persistence.save(model, Path(folder) / "model")
        again = persistence.load(path, trusted=[type(model)])
    require(
        equal(model.get_params(deep=False), again.get_params(deep=False)),
        "parameters differ after save and load",
    )
    before, after = public_state(model), public_state(again)
    different = [
        name for name in before if name not in after or not equal(before[name], after[name])
    ]
    require(not different, f"fitted attributes differ after save and load: {different}")
    if can.predicts:
        require_same_labels(model.predict(X), again.predict(X), "predict after save and load")


@needs()
def check_representations(estimator: Any, can: Capabilities) -> None:
    """Text and HTML representations name the class."""
    name = type(estimator).__name__
    require(name in repr(estimator), "repr must name the class")
    require(name in estimator_html_repr(estimator), "the HTML representation must name the class")


CHECKS = (
    check_data_frames,
    check_transform,
    check_pipeline,
    check_grid_search,
    check_folds,
    check_save_and_load,
    check_representations,
)
