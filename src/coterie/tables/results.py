"""What a model says about rows, as columns beside theirs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.tables.notes import Note

__all__ = ["Results", "results_of", "scattered", "sizes_of"]

_AT_ONCE = 1 << 20  # labels that are counted: sorting them all would take twice their memory


class Results(NamedTuple):
    """Columns about rows, and what the user should know about them.

    Attributes
    ----------
    columns : dict of str to (n,) ndarray
        "cluster", and "confidence" where the model has probabilities.
    notes : list of Note
    """

    columns: dict[str, NDArray[Any]]
    notes: list[Note]


def results_of(
    model: Any, X: Any, labels: NDArray[Any], *, new: bool = False, rows: slice = slice(None)
) -> dict[str, NDArray[Any]]:
    """The columns cluster (n,) and, where the model has one, confidence: P(cluster).

    For the rows it was fitted to (not `new`) that takes their pairs into account, where it can;
    `rows` are those of them that X and `labels` are about.
    """
    if not len(labels) and hasattr(model, "predict_proba"):
        return {"cluster": labels, "confidence": np.empty(0)}
    if hasattr(model, "resp_") and not new:
        shares = model.resp_[rows]
    elif hasattr(model, "predict_proba"):
        shares = np.asarray(model.predict_proba(X))
        if hasattr(model, "paired_rows_") and not new:
            first = rows.start or 0
            lo, hi = np.searchsorted(model.paired_rows_, (first, first + len(labels)))
            shares[model.paired_rows_[lo:hi] - first] = model.paired_resp_[lo:hi]
    else:
        return {"cluster": labels}
    return {"cluster": labels, "confidence": np.asarray(shares)[np.arange(len(labels)), labels]}


def scattered(results: dict[str, NDArray[Any]], rows: Any, n: int) -> dict[str, NDArray[Any]]:
    """Columns about `rows` (m,) as columns about all n; the others are in no cluster (-1).

    >>> import numpy as np
    >>> scattered({"cluster": np.array([1, 0])}, np.array([0, 2]), 3)["cluster"].tolist()
    [1, -1, 0]
    """
    whole = {}
    for name, values in results.items():
        whole[name] = np.full(n, -1 if name == "cluster" else np.nan, dtype=values.dtype)
        whole[name][rows] = values
    return whole


def sizes_of(parts: Iterable[NDArray[Any]]) -> dict[int, int]:
    """How many rows each cluster has, by its number; from labels in stretches (n,).

    >>> import numpy as np
    >>> sizes_of([np.array([2, 0]), np.array([2])])
    {0: 1, 2: 2}
    """
    sizes: Counter[int] = Counter()
    for labels in parts:
        for start in range(0, len(labels), _AT_ONCE):
            found, counts = np.unique(labels[start : start + _AT_ONCE], return_counts=True)
            sizes.update(dict(zip(found.tolist(), counts.tolist(), strict=True)))
    return dict(sorted(sizes.items()))
