"""What is known of covariances before any row is seen: no value is more exact than it was recorded,
and clusters are about as wide as each other.

Likelihood alone makes a cluster as thin as it can: constant in a column of few different values,
or in a direction that its few rows leave open, it has a density without bound. Two things forbid
it, both in the scale of each column.

The *floor*. No cluster is narrower in a column than its values were recorded exactly
(`coterie.distortions.precision`).

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
from coterie.distortions.precision import least_share

__all__ = ["CovariancePrior", "Floor", "column_floor", "lifted", "prior_target"]

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
    share = least_share(rows, weights)
    return Floor(variance * np.maximum(share, _LEAST), variance)


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
