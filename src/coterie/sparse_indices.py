"""Sparse matrices as SciPy's compiled solvers take them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

__all__ = ["with_narrow_indices"]


def with_narrow_indices(matrix: Any) -> Any:
    """The same CSR matrix with indices of 32 bits, where these suffice.

    HiGHS and the spanning trees of SciPy 1.14 take no others.
    """
    if max(matrix.nnz, *matrix.shape) > np.iinfo(np.int32).max:
        return matrix
    indices, indptr = (part.astype(np.int32) for part in (matrix.indices, matrix.indptr))
    return csr_array((matrix.data, indices, indptr), shape=matrix.shape)
