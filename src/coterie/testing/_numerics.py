"""Checks of numbers: objectives, formats of rows, extreme and degenerate data."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from coterie.constraints import Constraints
from coterie.testing._capabilities import Capabilities
from coterie.testing._check import needs, require, require_same_labels, require_same_partition
from coterie.testing._problems import blobs, noisy


@needs("objective")
def check_objective_is_monotone(estimator: Any, can: Capabilities) -> None:
    """`objective_history_` is finite, goes one way, and ends at `objective_`."""
    for seed in range(8):
        problem = noisy(seed)
        pairs = problem.constraints if can.soft else Constraints(len(problem.X))
        model = can.fit(estimator, can.prepare(problem.X), pairs, k=3)
        history = np.asarray(model.objective_history_, dtype=float)
        require(history.ndim == 1 and history.size > 0, "objective_history_ must be a sequence")
        require(np.isfinite(history).all(), f"objective_history_ is not finite: {history}")
        steps = np.diff(history) if can.objective == "falls" else -np.diff(history)
        allowed = 1e-9 * np.abs(history).max()
        require(
            (steps <= allowed).all(),
            f"objective_history_ must go one way (seed {seed}): {history}",
        )
        require(
            np.isclose(model.objective_, history[-1], rtol=1e-6),
            f"objective_ is {model.objective_}, its history ends at {history[-1]}",
        )


@needs("sparse")
def check_sparse_equals_dense(estimator: Any, can: Capabilities) -> None:
    """CSR rows, 32- or 64-bit, matrix or array, give the labels that dense rows give."""
    problem = blobs(k=3)
    X = np.where(problem.X < 1.5, 0.0, problem.X)  # real zeros, so that the format matters
    X = can.prepare(X + 0.01 * np.eye(3, 4)[problem.groups])
    dense = can.fit(estimator, X, problem.constraints, k=3).labels_
    for make in (sparse.csr_matrix, sparse.csr_array):
        labels = can.fit(estimator, make(X), problem.constraints, k=3).labels_
        require_same_labels(dense, labels, f"{make.__name__} must give the labels of dense rows")


@needs("float32")
def check_float32(estimator: Any, can: Capabilities) -> None:
    """float32 rows give the groups that float64 rows give."""
    problem = blobs(k=3)
    X = can.prepare(problem.X)
    wide = can.fit(estimator, X, problem.constraints, k=3).labels_
    narrow = can.fit(estimator, X.astype(np.float32), problem.constraints, k=3).labels_
    require_same_partition(wide, narrow, "float32 must give the groups of float64")


@needs()
def check_memory_order(estimator: Any, can: Capabilities) -> None:
    """Fortran-ordered and strided rows are the same rows."""
    problem = blobs(k=3)
    X = can.prepare(problem.X)
    wanted = can.fit(estimator, X, problem.constraints, k=3).labels_
    doubled = np.repeat(X, 2, axis=0)[::2]
    for other in (np.asfortranarray(X), doubled):
        labels = can.fit(estimator, other, problem.constraints, k=3).labels_
        require_same_labels(wanted, labels, "the memory order of X must not matter")


@needs("predicts")
def check_predict_training_rows(estimator: Any, can: Capabilities) -> None:
    """Without pairs, `predict` of the training rows gives `labels_`; new rows go with theirs."""
    problem = blobs(k=3)
    X = can.prepare(problem.X)
    model = can.fit(estimator, X, k=3)
    require_same_labels(model.labels_, model.predict(X), "predict of the training rows")
    require_same_partition(
        model.labels_, model.predict(can.prepare(blobs(k=3, seed=9).X)), "predict of new rows"
    )


@needs()
def check_finds_clear_groups(estimator: Any, can: Capabilities) -> None:
    """Groups that nobody could miss are found, with true pairs to help."""
    problem = blobs(k=3)
    labels = can.fit(estimator, can.prepare(problem.X), problem.constraints, k=3).labels_
    if can.n_clusters is not None:
        require_same_partition(labels, problem.groups, "three far groups must be found")
    mixed = [g for g in np.unique(labels) if len(set(problem.groups[labels == g])) > 1]
    require(not mixed, f"clusters {mixed} join groups that lie far apart")


@needs("one_row")
def check_one_row(estimator: Any, can: Capabilities) -> None:
    """A single row is one cluster."""
    X = can.prepare(blobs().X[:1])
    labels = can.fit(estimator, X, Constraints(1), k=1).labels_
    require(labels.shape == (1,) and labels[0] == 0, f"labels_ of one row are {labels}")


@needs()
def check_duplicate_rows(estimator: Any, can: Capabilities) -> None:
    """Many copies of two rows: finite results, and copies stay together."""
    X = can.prepare(np.repeat(blobs(per_group=1).X, 15, axis=0))
    pairs = Constraints(30, must_link=[(0, 1), (16, 17)], cannot_link=[(2, 20)])
    labels = can.fit(estimator, X, pairs).labels_
    require(labels.shape == (30,), f"labels_ has shape {labels.shape}")
    if can.n_clusters is not None:
        require_same_partition(labels, np.repeat([0, 1], 15), "copies of a row must stay together")


@needs()
def check_constant_column(estimator: Any, can: Capabilities) -> None:
    """A column that says nothing does no harm."""
    problem = blobs(k=3)
    X = can.prepare(np.column_stack([problem.X, np.full(len(problem.X), 1.0)]))
    model = can.fit(estimator, X, problem.constraints, k=3)
    if can.n_clusters is not None:
        require_same_partition(model.labels_, problem.groups, "a constant column must do no harm")
    _require_finite(model)


@needs("translation")
def check_large_offset(estimator: Any, can: Capabilities) -> None:
    """Rows far from the origin, 1e8 away, are grouped as they are near it."""
    problem = blobs(k=3)
    # Groups 1.4 apart: their squared distance is lost where squares near 1e16 are subtracted.
    X = 0.1 * can.prepare(problem.X)
    near = can.fit(estimator, X, problem.constraints, k=3).labels_
    far = can.fit(estimator, X + 1e8, problem.constraints, k=3)
    require_same_partition(near, far.labels_, "adding 1e8 to every value must not matter")
    _require_finite(far)


@needs("scaling")
def check_scale(estimator: Any, can: Capabilities) -> None:
    """Tiny and huge units of measurement give the same groups."""
    problem = blobs(k=3)
    X = can.prepare(problem.X)
    wanted = can.fit(estimator, X, problem.constraints, k=3).labels_
    for factor in (1e-6, 1e6):
        model = can.fit(estimator, factor * X, problem.constraints, k=3)
        require_same_partition(wanted, model.labels_, f"multiplying by {factor:g} must not matter")
        _require_finite(model)


def _require_finite(model: Any) -> None:
    for name, value in vars(model).items():
        if name.endswith("_") and isinstance(value, np.ndarray) and value.dtype.kind == "f":
            require(not np.isnan(value).any(), f"{name} holds NaN")


CHECKS = (
    check_objective_is_monotone,
    check_sparse_equals_dense,
    check_float32,
    check_memory_order,
    check_predict_training_rows,
    check_finds_clear_groups,
    check_one_row,
    check_duplicate_rows,
    check_constant_column,
    check_large_offset,
    check_scale,
)
