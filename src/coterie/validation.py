"""Input checks shared by every estimator: rows, constraints, weights and named choices."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable
from importlib import import_module
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import InputTags
from sklearn.utils.validation import check_array, has_fit_parameter, validate_data

from coterie.constraints import Constraints
from coterie.exceptions import (
    InvalidCells,
    InvalidConstraints,
    InvalidData,
    InvalidParameter,
    MisplacedConstraints,
    MissingDependency,
)
from coterie.unreadable import why_unreadable
from coterie.words import nearest

__all__ = [
    "check_choice",
    "check_constraints",
    "check_count",
    "check_first_labels",
    "check_n_clusters",
    "check_plain_rows",
    "check_real",
    "check_rows",
    "check_sample_weight",
    "refuse_constraints_as_y",
]


_HEAVIEST = 1e30  # a weight whose root times a million rows is still a float32


def check_rows(estimator: Any, X: Any, tags: InputTags, *, reset: bool) -> Any:
    """Return `X` as a C-ordered float32/float64 array or a CSR matrix with sorted indices.

    Sets or checks `n_features_in_` and `feature_names_in_` as every scikit-learn estimator does.
    The tags say whether the estimator takes sparse rows, and NaN.
    """
    X = _readable(X)
    gaps = tags.allow_nan
    try:
        X = validate_data(
            estimator,
            X,
            reset=reset,
            ensure_all_finite="allow-nan" if gaps else True,
            **_how_read(tags.sparse),
        )
    except (ValueError, TypeError, OverflowError) as error:
        why = why_unreadable(X, gaps=gaps)
        kind = InvalidCells if why is None and isinstance(error, TypeError) else InvalidData
        raise kind(why or str(error)) from error
    return _sorted_indices(X)


def check_plain_rows(X: Any, *, least: int = 1, sparse: bool = True, name: str = "X") -> Any:
    """As `check_rows`, where no estimator remembers the columns; at least `least` rows."""
    X = _readable(X)
    how = _how_read(sparse) | {"accept_large_sparse": True}
    try:
        X = check_array(X, ensure_min_samples=least, input_name=name, **how)
    except (ValueError, TypeError, OverflowError) as error:
        why = why_unreadable(X) if name == "X" else None
        why = why or f"{name} cannot be read as rows of numbers: {error}"
        raise InvalidData(why) from error
    return _sorted_indices(X)


def _how_read(sparse: bool) -> dict[str, Any]:
    return {
        "accept_sparse": "csr" if sparse else False,
        "dtype": [np.float64, np.float32],
        "order": "C",
        "accept_large_sparse": False,
    }


def _readable(X: Any) -> Any:
    """`X` with sound indices, and as a table if it hands itself over as a stream."""
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        # Filled, else what is below the mask would be read.
        return np.ma.filled(X.astype(np.float64), np.nan)
    if sp.issparse(X):
        _check_indices(X)
    elif hasattr(X, "__arrow_c_stream__") and not hasattr(X, "__array__"):
        return _from_stream(X)
    return X


def _sorted_indices(X: Any) -> Any:
    if hasattr(X, "sort_indices") and not X.has_sorted_indices:
        X = X.copy()
        X.sort_indices()
    return X


def _from_stream(X: Any) -> Any:
    """What hands itself over by Arrow's stream interface (a DuckDB relation), as a table."""
    try:
        return import_module("pyarrow").table(X)
    except ImportError as error:
        raise MissingDependency(
            f"{type(X).__name__} is read through Arrow, which needs pyarrow; install it with: "
            "pip install 'coterie[parquet]'"
        ) from error


def _check_indices(X: Any) -> None:
    """Refuse a sparse matrix whose indices lie outside it: kernels would read other memory."""
    try:
        if X.format in ("csr", "csc", "bsr"):
            X.check_format(full_check=True)
        elif X.format == "coo":
            _check_coordinates(X)
    except ValueError as error:
        raise InvalidData(
            f"X is a damaged {X.format.upper()} matrix ({error}); build it again from its entries."
        ) from error


def _check_coordinates(X: Any) -> None:
    for name, at, size in zip(("row", "column"), (X.row, X.col), X.shape, strict=True):
        if at.size and (at.min() < 0 or at.max() >= size):
            raise ValueError(f"{name} indices must lie in 0 to {size - 1}")
    if not X.row.size == X.col.size == X.data.size:
        raise ValueError("row, column and data have different lengths")


def check_constraints(constraints: Any, n_samples: int) -> Constraints:
    """Return `constraints`, or an empty set for None; refuse a set made for other rows."""
    if constraints is None:
        return Constraints(n_samples)
    if not isinstance(constraints, Constraints):
        raise InvalidConstraints(
            f"constraints must be a coterie.Constraints, got {type(constraints).__name__}. "
            "Build one with Constraints(n_samples, must_link=..., cannot_link=...), or with "
            "Constraints.from_labels, from_groups or from_frame."
        )
    if constraints.n_samples != n_samples:
        raise InvalidConstraints(
            f"the constraints speak of {constraints.n_samples} rows but X has {n_samples}. "
            "If X is a part of the rows (a fold, a filtered frame), pass "
            "constraints.subset(rows) with the row numbers that are left."
        )
    return constraints


def refuse_constraints_as_y(estimator: Any, y: Any, method: str = "fit") -> None:
    """Refuse `Constraints` in the place of `y`, where they would be ignored without a word."""
    if not isinstance(y, Constraints):
        return
    name = type(estimator).__name__
    if has_fit_parameter(estimator, "constraints"):
        remedy = f"Name the argument: {name}(...).{method}(X, constraints=your_constraints)."
    else:
        remedy = f"{name} takes no constraints: {name}(...).{method}(X)."
    raise MisplacedConstraints(
        f"the second argument of {method} is y, which is ignored, and it was given a "
        f"Constraints. {remedy}"
    )


def check_sample_weight(sample_weight: Any, n_samples: int) -> NDArray[np.float64] | None:
    """Return the weights as (n_samples,) float64, or None where every row weighs the same 1."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, numbers.Real):
        weights = np.full(n_samples, float(sample_weight))
    else:
        weights = check_array(
            sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
        )
    if weights.shape != (n_samples,):
        raise InvalidData(
            f"sample_weight has shape {weights.shape}, expected ({n_samples},): one per row of X."
        )
    negative = np.flatnonzero(weights < 0)
    if negative.size:
        raise InvalidData(
            f"sample_weight[{negative[0]}] = {weights[negative[0]]} is negative; "
            "weights say how often a row counts, give 0 or more."
        )
    huge = np.flatnonzero(weights > _HEAVIEST)
    if huge.size:
        raise InvalidData(
            f"sample_weight[{huge[0]}] = {weights[huge[0]]} is beyond {_HEAVIEST:g}, and sums of "
            "such weights overflow; divide all of them by one number."
        )
    if not weights.any():
        raise InvalidData("sample_weight is zero for every row; at least one row must count.")
    return weights


def check_first_labels(init: Any, X: Any, names: Iterable[str]) -> NDArray[Any]:
    """Labels (n,) of any kind that a fit starts from: `init` itself, or those of a fitted model.

    `names` are what `init` could be instead.
    """
    n = X.shape[0]
    if hasattr(init, "predict"):
        return np.asarray(init.labels_ if len(init.labels_) == n else init.predict(X))
    labels = np.asarray(init)
    instead = f"or use {', '.join(map(repr, names))} or a fitted model."
    if labels.shape != (n,):
        raise InvalidParameter(
            f"init has shape {labels.shape}, expected ({n},): one label a row; {instead}"
        )
    bad = np.flatnonzero(labels != labels)
    if bad.size:
        raise InvalidParameter(f"init[{bad[0]}] is not a number: give every row a label; {instead}")
    return labels


def check_choice(name: str, value: Any, options: Iterable[str]) -> str:
    """Return `value` if it is one of `options`; else say which is nearest and list them all."""
    options = list(options)
    if isinstance(value, str) and value in options:
        return value
    hint = nearest(str(value), options)
    raise InvalidParameter(f"{name}={value!r} is not known.{hint} Choose from {options}.")


def check_count(name: str, value: Any, *, least: int = 1) -> int:
    """Return an integer parameter of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise InvalidParameter(f"{name}={value!r} must be an integer of at least {least}.")
    return int(value)


def check_real(
    name: str, value: Any, *, least: float = 0.0, strict: bool = False, finite: bool = True
) -> float:
    """Return a real parameter of at least `least` (above it where `strict`)."""
    word = "above" if strict else "at least"
    wanted = f"{name}={value!r} must be a {'finite ' if finite else ''}number {word} {least:g}."
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InvalidParameter(wanted)
    try:
        number = float(value)
    except OverflowError:
        number = math.nan
    if (
        math.isnan(number)
        or number < least
        or (strict and number == least)
        or (finite and math.isinf(number))
    ):
        raise InvalidParameter(wanted)
    return number


def check_n_clusters(n_clusters: Any, n_samples: int) -> int:
    """Return the number of clusters, refusing more clusters than rows."""
    k = check_count("n_clusters", n_clusters)
    if k > n_samples:
        raise InvalidParameter(
            f"n_samples={n_samples} should be >= n_clusters={k}: "
            "there are fewer rows than clusters; lower n_clusters or give more rows."
        )
    return k
