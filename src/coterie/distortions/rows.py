"""What distortions ask of rows, dense and CSR alike: sums, pairs, entries that they cannot take."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from coterie._typing import Array
from coterie.data import Rows
from coterie.exceptions import InvalidData

__all__ = ["first_bad", "gather_pairs", "refuse", "row_sums"]

_PAIR_BYTES = 1 << 25
_SPARSE_STEP = 16_384


def row_sums(X: Any, weights: Array | None = None, power: int = 1) -> NDArray[np.float64]:
    """sum_m weights_m x_m^power of every row, (b,) float64."""
    if sp.issparse(X):
        values = X if power == 1 else X.power(power)
        weights = np.ones(X.shape[1]) if weights is None else weights
        return np.asarray(values @ weights, dtype=np.float64)
    if weights is None:
        if power == 2:
            # In the rows' own precision, as the products it is added to; twice as quick.
            return np.einsum("ij,ij->i", X, X).astype(np.float64, copy=False)
        return X.sum(axis=1, dtype=np.float64)
    if power == 2:
        return np.einsum("ij,ij,j->i", X, X, weights, dtype=np.float64)
    return np.asarray(X @ weights, dtype=np.float64)


def gather_pairs(X: Any, i: Array, j: Array) -> Any:
    """Yield (lo, hi, rows x_i, rows x_j) over pieces of the pair list that fit in memory."""
    source = Rows.of(X).source
    step = _SPARSE_STEP if source.is_sparse else max(256, _PAIR_BYTES // (8 * source.d))
    for lo in range(0, len(i), step):
        hi = min(lo + step, len(i))
        yield lo, hi, source.take(i[lo:hi]), source.take(j[lo:hi])


def first_bad(X: Any, bad: Any) -> tuple[int, int, float] | None:
    """Row, column and value of the first entry for which `bad(values)` holds, or None."""
    if sp.issparse(X):
        where = np.flatnonzero(bad(X.data))
        if not where.size:
            return None
        p = int(where[0])
        row = int(np.searchsorted(X.indptr, p, side="right")) - 1
        return row, int(X.indices[p]), float(X.data[p])
    for lo in range(0, X.shape[0], 65_536):
        found = np.argwhere(bad(X[lo : lo + 65_536]))
        if found.size:
            row, column = int(found[0, 0]) + lo, int(found[0, 1])
            return row, column, float(X[row, column])
    return None


def refuse(X: Any, bad: Any, what: str, remedy: str) -> None:
    """Raise `InvalidData` that names the first entry for which `bad` holds."""
    found = first_bad(X, bad)
    if found is not None:
        row, column, value = found
        why = f"is {value:g}: {what}. {remedy}"
        error = InvalidData(f"row {row}, column {column} {why}")
        error.entry = row, column, why
        raise error
