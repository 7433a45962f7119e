"""Whitening: the linear map after which a covariance is the identity."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coterie._typing import Array

__all__ = ["Whitening", "whitening"]


class Whitening(NamedTuple):
    """Directions (d, r) in which rows vary, orthonormal, and their spread (r,) along each."""

    directions: Array
    spread: Array

    @property
    def map(self) -> Array:
        """T (d, r) with T' C T = I: coordinates along the directions, each with unit variance."""
        return np.asarray(self.directions / self.spread)

    @property
    def root(self) -> Array:
        """C^(-1/2) (d, d): whitened rows in the axes they came in."""
        return self.map @ self.directions.T


def whitening(covariance: Array, tolerance: float) -> Whitening:
    """Of a symmetric matrix C (d, d), directions of least variance first.

    Directions whose variance is no more than `tolerance` times the largest are left out.
    """
    values, vectors = np.linalg.eigh(covariance)
    varies = values > tolerance * max(values[-1], np.finfo(float).tiny)
    return Whitening(vectors[:, varies], np.sqrt(values[varies]))
