"""Checks of what `fit` is: what it accepts, publishes, repeats, and leaves alone."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from sklearn.base import clone

from coterie.constraints import Constraints
from coterie.exceptions import CoterieError, InvalidConstraints
from coterie.testing._capabilities import Capabilities
from coterie.testing._check import (
    equal,
    needs,
    public_state,
    require,
    require_same_labels,
)
from coterie.testing._problems import blobs, noisy


@needs()
def check_labels(estimator: Any, can: Capabilities) -> None:
    """`fit` returns self; `labels_` is (n,) integers; `fit_predict` is the same."""
    problem = blobs(k=3)
    X = can.prepare(problem.X)
    model = can.fresh(estimator, k=3)
    given = can.given(problem.constraints)
    require(model.fit(X, **given) is model, "fit must return self")
    labels = model.labels_
    require(isinstance(labels, np.ndarray), "labels_ must be a numpy array")
    require(labels.shape == (36,), f"labels_ has shape {labels.shape} for 36 rows")
    require(np.issubdtype(labels.dtype, np.integer), f"labels_ has dtype {labels.dtype}")
    require(model.n_features_in_ == X.shape[1], "n_features_in_ must be the number of columns")
    again = can.fresh(estimator, k=3).fit_predict(X, **given)
    require_same_labels(labels, again, "fit_predict must give labels_")


@needs()
def check_determinism(estimator: Any, can: Capabilities) -> None:
    """The same random_state gives the same fitted attributes, bit for bit."""
    problem = noisy()
    X, pairs = can.prepare(problem.X), _usable(problem.constraints, can)
    first, second = (public_state(can.fit(estimator, X, pairs, k=3)) for _ in range(2))
    different = sorted(
        name for name in first.keys() | second.keys() if not _equal_item(first, second, name)
    )
    require(not different, f"two fits with one random_state differ in {different}")


@needs()
def check_leaves_its_input_alone(estimator: Any, can: Capabilities) -> None:
    """`fit` changes neither parameters nor rows nor constraints, and takes read-only rows."""
    problem = blobs()
    X = can.prepare(problem.X)
    before = X.copy()
    X.setflags(write=False)
    model = can.fresh(estimator)
    params = copy.deepcopy(model.get_params(deep=False))
    pairs = problem.constraints + Constraints(problem.groups.size)  # an equal, separate value
    model.fit(X, **can.given(pairs))
    after = model.get_params(deep=False)
    changed = sorted(name for name in params if not equal(params[name], after[name]))
    require(not changed, f"fit changed the parameters {changed}")
    require(np.array_equal(before, X), "fit changed X")
    require(pairs == problem.constraints, "fit changed the constraints")


@needs()
def check_clone(estimator: Any, can: Capabilities) -> None:
    """A clone of a fitted model has its parameters and nothing fitted."""
    problem = blobs()
    model = can.fit(estimator, can.prepare(problem.X), problem.constraints)
    copied = clone(model)
    require(
        equal(copied.get_params(deep=False), model.get_params(deep=False)), "clone lost parameters"
    )
    require(not public_state(copied), f"clone kept {sorted(public_state(copied))}")


@needs("refuses_constraints")
def check_constraints_are_refused(estimator: Any, can: Capabilities) -> None:
    """An estimator that promises to take no pairs does not take and forget them either."""
    problem = blobs()
    X = can.prepare(problem.X)
    error = _error_of_fit(can.fresh(estimator), X, constraints=problem.constraints)
    require(
        isinstance(error, TypeError) and "constraints" in str(error),
        f"fit(X, constraints=...) must be refused with a TypeError; got {error!r}",
    )


@needs("constraints")
def check_refuses_constraints_of_other_rows(estimator: Any, can: Capabilities) -> None:
    """Constraints about another number of rows, or of another type, are refused as such."""
    problem = blobs()
    X = can.prepare(problem.X)
    for wrong in (Constraints(problem.groups.size + 1), Constraints(problem.groups.size - 1)):
        error = _error_of_fit(can.fresh(estimator), X, constraints=wrong)
        require(
            isinstance(error, InvalidConstraints) and "subset" in str(error),
            f"constraints over {wrong.n_samples} rows for {len(X)} must be refused with "
            f"InvalidConstraints that names subset(); got {error!r}",
        )
    error = _error_of_fit(can.fresh(estimator), X, constraints=[(0, 1)])
    require(
        isinstance(error, CoterieError | TypeError),
        f"a plain list of pairs must be refused; got {error!r}",
    )


@needs()
def check_y_is_ignored(estimator: Any, can: Capabilities) -> None:
    """`y` changes nothing: a clusterer that reads it would leak the truth in cross-validation."""
    problem = noisy(seed=1)
    X, pairs = can.prepare(problem.X), _usable(problem.constraints, can)
    without = can.fit(estimator, X, pairs, k=3).labels_
    for y in (problem.groups, np.zeros(len(X), dtype=int), np.arange(len(X)) % 2):
        require_same_labels(
            without, can.fit(estimator, X, pairs, k=3, y=y).labels_, "y must be ignored"
        )


@needs()
def check_constraints_as_y_are_refused(estimator: Any, can: Capabilities) -> None:
    """Constraints in the place of `y` would be lost without a word: the right call is shown."""
    problem = blobs()
    X = can.prepare(problem.X)
    for name in ("fit", "fit_predict", "fit_transform"):
        method = getattr(can.fresh(estimator), name, None)
        if method is None:
            continue
        try:
            method(X, problem.constraints)
            error: Exception | None = None
        except Exception as raised:  # whatever it is, it is judged below
            error = raised
        shown = "(X, constraints=" if can.constraints else "(X)"
        require(
            isinstance(error, TypeError) and shown in str(error),
            f"{name}(X, constraints) puts the pairs into y: a TypeError must show the right "
            f"call; got {error!r}",
        )


@needs("constraints")
def check_empty_constraints_are_none(estimator: Any, can: Capabilities) -> None:
    """No constraints, in either way of saying it, give the same fit and no violations."""
    X = can.prepare(noisy(seed=2).X)
    none, empty = (can.fit(estimator, X, c, k=3) for c in (None, Constraints(len(X))))
    require_same_labels(none.labels_, empty.labels_, "empty constraints must equal None")
    require(len(none.violations_.i) == 0, "there is nothing to violate without constraints")


@needs()
def check_refit_forgets(estimator: Any, can: Capabilities) -> None:
    """A second fit, on a part of the rows, is what a fresh model would have fitted."""
    problem = blobs(k=3)
    X = can.prepare(problem.X)
    rows = np.flatnonzero(np.arange(len(X)) % 3 != 0)
    part = problem.constraints.subset(rows)
    used = can.fit(estimator, X, problem.constraints, k=3)
    used.fit(X[rows], **can.given(part))
    fresh = can.fit(estimator, X[rows], part, k=3)
    require(used.labels_.shape == rows.shape, "labels_ must have one entry a row of the last fit")
    require_same_labels(used.labels_, fresh.labels_, "a refit must equal a fresh fit")
    require(
        public_state(used).keys() == public_state(fresh).keys(),
        "a refit left attributes of the earlier fit behind",
    )


@needs()
def check_failed_fit_leaves_the_model(estimator: Any, can: Capabilities) -> None:
    """A fit that is refused leaves the labels of the earlier fit as they were."""
    problem = blobs()
    X = can.prepare(problem.X)
    model = can.fit(estimator, X, problem.constraints)
    before = model.labels_.copy()
    if can.constraints:
        error = _error_of_fit(model, X, constraints=Constraints(len(X) + 5))
        require(error is not None, "constraints over other rows must be refused")
    else:
        error = _error_of_fit(model, np.full_like(X, np.nan))
        require(error is not None, "rows that are no numbers must be refused")
    require_same_labels(before, model.labels_, "a refused fit must leave labels_ alone")


@needs("sample_weight")
def check_sample_weight_of_one(estimator: Any, can: Capabilities) -> None:
    """A weight of one for each row is no weight."""
    problem = blobs()
    X = can.prepare(problem.X)
    plain = can.fit(estimator, X, problem.constraints).labels_
    weighted = can.fresh(estimator).fit(
        X, sample_weight=np.ones(len(X)), **can.given(problem.constraints)
    )
    require_same_labels(plain, weighted.labels_, "weights of one must change nothing")


@needs("sample_weight", "starts")
def check_sample_weight_is_repetition(estimator: Any, can: Capabilities) -> None:
    """From the same centres, a row of weight w is that row given w times, and 0 is not given.

    scikit-learn's check of this draws a random start, which weights rightly change.
    """
    for seed in range(5):
        X = can.prepare(noisy(seed).X)
        weights = np.random.default_rng(seed).integers(0, 4, len(X))
        repeated = np.repeat(np.arange(len(X)), weights)
        start = X[weights > 0][:3].copy()
        weighted = can.fresh(estimator, k=3, init=start).fit(X, sample_weight=weights.astype(float))
        given = can.fit(estimator, X[repeated], k=3, init=start)
        require_same_labels(
            weighted.labels_[repeated], given.labels_, "a weight must equal repeating the row"
        )


def _usable(constraints: Constraints, can: Capabilities) -> Constraints:
    """Contradictory pairs, or none for an estimator that would have to keep them all."""
    return constraints if can.soft else Constraints(constraints.n_samples)


def _equal_item(first: dict[str, Any], second: dict[str, Any], name: str) -> bool:
    return name in first and name in second and equal(first[name], second[name])


def _error_of_fit(model: Any, X: Any, **given: Any) -> Exception | None:
    try:
        model.fit(X, **given)
    except Exception as error:  # whatever it is, the caller judges it
        return error
    return None


CHECKS = (
    check_labels,
    check_determinism,
    check_leaves_its_input_alone,
    check_clone,
    check_constraints_are_refused,
    check_refuses_constraints_of_other_rows,
    check_y_is_ignored,
    check_constraints_as_y_are_refused,
    check_empty_constraints_are_none,
    check_refit_forgets,
    check_failed_fit_leaves_the_model,
    check_sample_weight_of_one,
    check_sample_weight_is_repetition,
)
