"""What is known of covariances before any row is seen: no value is more exact than it was recorded,
and clusters are about as wide as each other.

Likelihood alone makes a cluster as thin as it can: constant in a column of few different values,
or in a direction that its few rows leave open, it has a density without bound. Two things forbid
it, both in the scale of each column.

The *floor*. A value that is one of m equally likely ones, δ apart, stands for an interval of
width δ: its variance is not known to be less than δ²/12 = V/(m² − 1), V the column's variance
(Sheppard's correction). For other columns 1/m is the chance that two rows agree: the same for
equally likely values, close to δ²/12 for rounded Gaussians, and telling of one frequent value among
continuous ones as well. A cluster of one category then gains about what it costs to name it.

The *target*. Each covariance is drawn towards that of all clusters together, and this towards
its diagonal, by as much as ν more rows would: less, the more rows a cluster has. It is an inverse
Wishart prior, written so that it is greatest (0) at the target T:
log p(Σ) = −ν KL(N(0, T) ‖ N(0, Σ)).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cholesky, eigh

from coterie._typing import FloatArray
from coterie.data import Rows

__all__ = ["CovariancePrior", "Floor", "column_floor", "lifted", "prior_target"]

_SAMPLE = 20_000  # rows whose values are compared
_LEAST = 1e-6  # of a column's variance: as thin as a cluster may be in continuous columns
_ROUNDING = 1e-14  # squared: variance beside the squared mean that is rounding


class CovariancePrior(NamedTuple):
    """The prior of every component's covariance.

    Attributes
    ----------
    rows : float
        ν, how many rows it counts as.
    target : (d, d)
        T, positive definite.
    floor : (d,)
        Diagonal of R, with Σ − R never negative in any direction.
    """

    rows: float
    target: FloatArray
    floor: FloatArray


class Floor(NamedTuple):
    """Least variance (d,) of each column, and its variance (d,) over all rows, both above 0."""

    least: FloatArray
    variance: FloatArray


def column_floor(rows: Rows, weights: FloatArray, mean: FloatArray, variance: FloatArray) -> Floor:
    """The floor of each column from its mean and variance (d,) and the values of a sample.

    `weights` (n,) say how often rows count, of size 0 where all count once. A constant column
    tells clusters apart in no way, whatever its variance: it gets 1.
    """
    constant = variance <= _ROUNDING * (mean + rows.origin) ** 2
    variance = np.where(constant, 1.0, variance)
    chosen = np.arange(0, rows.n, max(1, rows.n // _SAMPLE))
    sample = np.asarray(rows.source.take(chosen), dtype=np.float64)
    times = weights[chosen] if weights.size else np.ones(chosen.size)
    agree = np.array([_agreement(column, times) for column in sample.T])
    with np.errstate(divide="ignore"):
        share = agree**2 / (1.0 - agree**2)  # 1/(m² − 1) with 1/m the chance of agreement
    return Floor(variance * np.clip(share, _LEAST, 1.0), variance)


def _agreement(values: FloatArray, times: FloatArray) -> float:
    """The chance that two rows have the same known value, estimated without bias."""
    known = ~np.isnan(values)
    total = float(times[known].sum())
    if total <= 1.0:
        return 0.0
    each = np.unique(values[known], return_inverse=True)[1]
    count = np.bincount(each, weights=times[known])
    return float((count * np.maximum(count - 1.0, 0.0)).sum() / (total * (total - 1.0)))


def prior_target(within: FloatArray, n_rows: float, floor: Floor) -> FloatArray:
    """T (d, d): the covariance within clusters, drawn to its diagonal by d + 1 rows more.

    `within` (d, d) is that of all clusters together, from `n_rows` rows.
    """
    d = within.shape[0]
    share = 1.0 / (1.0 + (n_rows / (d + 1.0)) ** 2)
    target = (1.0 - share) * within
    target[np.diag_indices(d)] = np.diagonal(within)
    return lifted(target, floor.least)


def lifted(covariance: FloatArray, floor: FloatArray) -> FloatArray:
    """The covariance (d, d) with every direction at least as wide as the floor (d,) is there."""
    unit = np.sqrt(floor)
    whitened = covariance / (unit[:, None] * unit)
    if _exceeds_identity(whitened):
        return covariance
    values, vectors = eigh(whitened)
    vectors *= np.sqrt(np.maximum(values, 1.0))
    vectors *= unit[:, None]
    return np.asarray(vectors @ vectors.T)


def _exceeds_identity(matrix: FloatArray) -> bool:
    try:
        cholesky(matrix - np.eye(matrix.shape[0]), lower=True, check_finite=False)
    except LinAlgError:
        return False
    return True
