"""What a picture or report is about: a fitted model or plain labels, rows, pairs. No matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from coterie.constraints import Constraints
from coterie.exceptions import InvalidData, InvalidParameter
from coterie.validation import check_constraints, check_plain_rows

__all__ = ["as_rows", "broken_mask", "constraints_of", "history_of", "labels_of", "names_of"]

# Where estimators keep the value of each iteration, and what to call it.
HISTORIES = {
    "objective_history_": "objective (lower is better)",
    "lower_bounds_": "penalised log-likelihood per row (higher is better)",
}


def as_rows(X: Any) -> Any:
    """X as a finite float array (n, d) or CSR matrix; frames are welcome."""
    return check_plain_rows(X)


def names_of(X: Any, feature_names: Any = None) -> list[str]:
    """Names of the columns of X: given, the frame's own, or "column 0", "column 1", …"""
    width = X.shape[1]
    if feature_names is None:
        columns = getattr(X, "columns", None)
        return [f"column {j}" for j in range(width)] if columns is None else [*map(str, columns)]
    names = [str(name) for name in feature_names]
    if len(names) != width:
        raise InvalidParameter(
            f"feature_names has {len(names)} names but X has {width} columns: give one each."
        )
    return names


def labels_of(model: Any, n: int) -> NDArray[Any]:
    """Labels (n,) of a fitted model, or the labels that were given in its place."""
    if hasattr(model, "fit"):
        check_is_fitted(model)
        labels = np.asarray(model.labels_)
    else:
        labels = np.asarray(model)
    if labels.shape != (n,):
        raise InvalidData(
            f"there are labels of shape {labels.shape} for {n} rows. A picture shows the rows a "
            "model was fitted on; for other rows pass model.predict(X) in place of the model."
        )
    return labels


def constraints_of(model: Any, constraints: Any, n: int) -> Constraints:
    """The pairs that are given, else those the model keeps, else none."""
    if constraints is None:
        constraints = getattr(model, "constraints_", None)
    return check_constraints(constraints, n)


def broken_mask(constraints: Constraints, labels: NDArray[Any]) -> NDArray[np.bool_]:
    """For each pair (m,), whether the labels (n,) break it."""
    i, j = constraints.pairs.T
    return np.asarray((labels[i] == labels[j]) != (constraints.kind > 0))


def history_of(model: Any) -> tuple[NDArray[np.float64], str] | None:
    """(value of each iteration, what it is), or None if the model keeps no such record."""
    for name, title in HISTORIES.items():
        values = getattr(model, name, None)
        if values is not None and len(values):
            return np.asarray(values, dtype=np.float64), title
    return None
