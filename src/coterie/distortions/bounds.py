"""phi_max as a constant that grows where it must (footnote 5 of Basu et al. 2006)."""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie._typing import Array
from coterie.distortions.base import Bound, Distortion

__all__ = ["GrowingBound"]


class GrowingBound(Bound):
    """The greater of a given bound and of the distance of the farthest of the listed pairs.

    "In practice, one can initialize phi_max with a sufficiently large constant, which would make
    its derivative zero", and it "must be increased" where the penalty of a cannot-link would be
    negative. As a function of A it is one objective that all steps lower.
    """

    def __init__(self, distortion: Distortion, X: Any, i: Array, j: Array, least: Bound) -> None:
        self.distortion = distortion
        self.X, self.i, self.j = X, i, j
        self.least = least

    def value(self, A: Array | None) -> float | Array:
        """max(least, max_p between_A(x_i, x_j)), a number, or (K,) where A differs by cluster."""
        least = self.least.value(A)
        if not self.i.size:
            return least
        value = np.maximum(least, self.distortion.between(self.X, self.i, self.j, A).max(axis=0))
        return float(value) if np.ndim(value) == 0 else np.asarray(value)

    def gradient(self, A: Array) -> Array:
        """That of the least bound, or of the farthest pair where that is above it."""
        slope = self.least.gradient(A)
        if not self.i.size:
            return slope
        gaps = self.distortion.between(self.X, self.i, self.j, A)
        columns = gaps if gaps.ndim == 2 else gaps[:, None]
        far = columns.argmax(axis=0)
        own = self.distortion.between_gradient(self.X, self.i[far], self.j[far], A)
        above = columns.max(axis=0) > self.least.value(A)
        return np.where(above.reshape(-1, *[1] * (A.ndim - 1)) if A.ndim > 1 else above, own, slope)
