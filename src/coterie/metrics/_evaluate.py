"""All scores at once, over the rows that may fairly be scored."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from coterie.constraints import Constraints
from coterie.exceptions import InvalidParameter
from coterie.metrics._partition import (
    check_about,
    check_partitions,
    matched_accuracy,
    pairwise_scores,
)
from coterie.parameters import check_arguments
from coterie.validation import check_choice


def evaluation_rows(
    n_samples: int, rows: str | ArrayLike = "all", constraints: Constraints | None = None
) -> NDArray[np.int64]:
    """The rows to score.

    Parameters
    ----------
    n_samples : int
        Number of rows there are.
    rows : {"all", "unconstrained"} or array-like
        "unconstrained": rows in none of the `constraints`, whose labels nobody gave away.
        Otherwise row numbers (a test fold) or a boolean mask of length `n_samples`.
    constraints : Constraints, optional
        Needed by "unconstrained" only.

    Returns
    -------
    ndarray of shape (r,), int64
        Row numbers, sorted.
    """
    if isinstance(rows, str):
        if rows == "all":
            return np.arange(n_samples, dtype=np.int64)
        if rows != "unconstrained":
            raise InvalidParameter(
                f"rows={rows!r} is not understood; use 'all', 'unconstrained', row numbers or a "
                "boolean mask."
            )
        if constraints is None:
            raise InvalidParameter("rows='unconstrained' needs the constraints: pass constraints=")
        check_about(n_samples, constraints)
        free = np.ones(n_samples, dtype=bool)
        free[constraints.pairs.ravel()] = False
        return np.flatnonzero(free).astype(np.int64)
    return _rows_from_array(n_samples, np.asarray(rows))


def _rows_from_array(n_samples: int, chosen: NDArray) -> NDArray[np.int64]:
    if chosen.ndim == 1 and chosen.dtype == bool:
        if chosen.size != n_samples:
            raise InvalidParameter(
                f"The mask rows= has {chosen.size} entries for {n_samples} rows; give one a row."
            )
        return np.flatnonzero(chosen).astype(np.int64)
    if chosen.ndim != 1 or not np.issubdtype(chosen.dtype, np.integer):
        raise InvalidParameter(
            f"rows= must be row numbers or a mask in one dimension, not {chosen.ndim}-D "
            f"{chosen.dtype}."
        )
    outside = chosen[(chosen < 0) | (chosen >= n_samples)]
    if outside.size:
        raise InvalidParameter(
            f"rows= names row {outside[0]}, but the rows are 0 to {n_samples - 1}."
        )
    return np.unique(chosen.astype(np.int64))


def evaluate(
    labels_true: ArrayLike,
    labels_pred: ArrayLike,
    *,
    constraints: Constraints | None = None,
    rows: str | ArrayLike = "all",
    pairs: str = "all",
) -> dict[str, float]:
    """Every external score of a clustering, over all rows or the ones that may fairly be scored.

    The papers draw constraints from training folds, cluster all rows and score the test fold:
    that is ``rows=test_fold``. ``rows="unconstrained"`` leaves out every row in a constraint.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n,)
        Classes and clusters of *all* rows; the choice of rows happens here.
    constraints : Constraints, optional
        What the clustering was told; needed by ``rows="unconstrained"`` and
        ``pairs="unconstrained"``.
    rows : {"all", "unconstrained"} or array-like
        See `evaluation_rows`.
    pairs : {"all", "unconstrained"}, default="all"
        "unconstrained" leaves the pairs of the constraints out of precision, recall and F.

    Returns
    -------
    dict of str to float
        "precision", "recall", "f" (pairwise), "accuracy" (best matching), "nmi" (arithmetic mean
        of the entropies), "ari", and "n_rows", the number of rows scored.
    """
    check_arguments(evaluate, locals())
    true, pred = check_partitions(labels_true, labels_pred)
    if constraints is not None:
        check_about(true.size, constraints)
    chosen = evaluation_rows(true.size, rows, constraints)
    told = None
    if check_choice("pairs", pairs, ("all", "unconstrained")) == "unconstrained":
        if constraints is None:
            raise InvalidParameter("pairs='unconstrained' needs the constraints: pass constraints=")
        told = constraints.subset(chosen)
    true, pred = check_partitions(true[chosen], pred[chosen])
    pairwise = pairwise_scores(true, pred, constraints=told)
    return {
        "precision": pairwise.precision,
        "recall": pairwise.recall,
        "f": pairwise.f,
        "accuracy": matched_accuracy(true, pred),
        "nmi": float(normalized_mutual_info_score(true, pred, average_method="arithmetic")),
        "ari": float(adjusted_rand_score(true, pred)),
        "n_rows": chosen.size,
    }
