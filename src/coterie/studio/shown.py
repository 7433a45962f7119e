"""The clustering that everybody sees at the moment."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Shown"]


class Shown(NamedTuple):
    """Clusters of all rows, ready to be looked up.

    Attributes
    ----------
    version : int
        Grows with every clustering.
    labels : (n,)
        As the session has them.
    numbers : (K,) int64
        What the clusters are called, rising.
    position : (n,) int32
        Where in `numbers` each row's cluster stands.
    sizes : (K,) int64
    order : (n,) int64
        Rows by cluster; `begin` (K + 1,) says where each begins.
    """

    version: int
    labels: NDArray[Any]
    numbers: NDArray[np.int64]
    position: NDArray[np.int32]
    sizes: NDArray[np.int64]
    order: NDArray[np.int64]
    begin: NDArray[np.int64]

    @classmethod
    def of(cls, labels: NDArray[Any], version: int) -> Shown:
        """Sort the rows by cluster."""
        numbers, position = np.unique(labels, return_inverse=True)
        sizes = np.bincount(position, minlength=numbers.size)
        order = np.argsort(position, kind="stable")
        begin = np.concatenate([[0], np.cumsum(sizes)])
        return cls(version, labels, numbers, position.astype(np.int32), sizes, order, begin)

    def find(self, number: int) -> int | None:
        """Where a cluster stands, or None if there is none of this number."""
        at = int(np.searchsorted(self.numbers, number))
        return at if at < self.numbers.size and self.numbers[at] == number else None

    def members(self, at: int) -> NDArray[np.int64]:
        """Rows of the cluster at this position, rising."""
        return self.order[self.begin[at] : self.begin[at + 1]]
