"""How exactly the values of a column were recorded, and so how narrow a cluster can be known to be.

A value that is one of m equally likely ones, δ apart, stands for an interval of width δ: its
variance is not known to be less than δ²/12 = V/(m² − 1), V the column's variance (Sheppard's
correction). For other columns 1/m is the chance that two rows agree: the same for equally likely
values, close to δ²/12 for rounded Gaussians, and telling of one frequent value among continuous
ones as well. A cluster of one category then gains about what it costs to name it.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from coterie._typing import Array, FloatArray
from coterie.data import Rows

__all__ = ["least_share"]

_SAMPLE = 20_000  # rows whose values are compared
# Where no two of so many agree, the share is below 1e-9: nothing beside any scatter of use.
_FIRST_LOOK = 500


def least_share(rows: Rows, weights: Array) -> FloatArray:
    """The share (d,) of each column's variance, up to 1, that every cluster has at the least.

    `weights` (n,) say how often rows count, of size 0 where all count once.
    """
    chosen = np.arange(0, rows.n, max(1, rows.n // _SAMPLE))
    times = weights[chosen] if weights.size else np.ones(chosen.size)
    sample = rows.source.take(chosen)
    if sp.issparse(sample):
        agree = _sparse_agreement(sp.csr_array(sample), times)
    else:
        columns = np.asarray(sample, dtype=np.float64).T
        once = not weights.size
        agree = np.array([_agreement(c, None if once else times) for c in columns])
    with np.errstate(divide="ignore"):
        share = agree**2 / (1.0 - agree**2)  # 1/(m² − 1) with 1/m the chance of agreement
    return np.minimum(share, 1.0)


def _agreement(values: FloatArray, times: FloatArray | None) -> float:
    """The chance that two rows have the same known value, estimated without bias.

    `times` (r,) say how often each row counts; None is once, which takes only a sort.
    """
    known = ~np.isnan(values)
    if times is None:
        if known.size > _FIRST_LOOK and _all_differ(values[:: known.size // _FIRST_LOOK]):
            return 0.0
        ordered = np.sort(values[known])
        new = np.concatenate(([True], ordered[1:] != ordered[:-1], [True]))
        count = np.diff(np.flatnonzero(new)).astype(np.float64)
    else:
        each = np.unique(values[known], return_inverse=True)[1]
        count = np.asarray(np.bincount(each, weights=times[known]), dtype=np.float64)
    total = float(count.sum())
    if total <= 1.0:
        return 0.0
    return float((count * np.maximum(count - 1.0, 0.0)).sum() / (total * (total - 1.0)))


def _all_differ(values: FloatArray) -> bool:
    """Whether no two values are equal; NaN differs from everything."""
    ordered = np.sort(values)
    return not (ordered[1:] == ordered[:-1]).any()


def _sparse_agreement(sample: sp.csr_array, times: FloatArray) -> FloatArray:
    """`_agreement` of every column (d,), without filling it: zeros are one kind."""
    entries = sample.tocoo()
    heard = entries.data != 0
    column, value = entries.col[heard], entries.data[heard]
    weight = times[entries.row[heard]]
    order = np.lexsort((value, column))
    column, value, weight = column[order], value[order], weight[order]
    new = np.ones(column.size, dtype=np.bool_)
    new[1:] = (column[1:] != column[:-1]) | (value[1:] != value[:-1])
    count = np.bincount(np.cumsum(new) - 1, weights=weight) if column.size else np.zeros(0)
    d, total = sample.shape[1], float(times.sum())
    if total <= 1.0:
        return np.zeros(d)
    stored = np.bincount(column, weights=weight, minlength=d)
    alike = count * np.maximum(count - 1.0, 0.0)
    agree = np.bincount(column[new], weights=alike, minlength=d)
    zeros = np.maximum(total - stored, 0.0)
    return np.asarray((agree + zeros * np.maximum(zeros - 1.0, 0.0)) / (total * (total - 1.0)))
