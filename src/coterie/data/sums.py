"""Sums of rows by label, dense and CSR alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from coterie.data import _kernels

__all__ = ["add_by_label"]


def add_by_label(
    rows: Any,
    labels: NDArray[Any],
    weights: NDArray[np.float64],
    scale: NDArray[np.float64],
    sums: NDArray[np.float64],
    counts: NDArray[np.float64],
) -> None:
    """Add w s x of dense or CSR rows to `sums` (K, d) and w to `counts` (K,), by label.

    Rows with label -1 are passed over; `weights` and `scale` of size 0 stand for ones; a negative
    weight takes a row out again.
    """
    if sp.issparse(rows):
        _kernels.add_sparse(
            rows.data, rows.indices, rows.indptr, labels, weights, scale, sums, counts
        )
    else:
        _kernels.add_dense(rows, labels, weights, scale, sums, counts)
