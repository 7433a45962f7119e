"""The estimator of a session: fitted again after new answers, cluster numbers kept."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone

from coterie.constraints import Constraints

__all__ = ["Refit", "with_found_clusters"]


def with_found_clusters(estimator: Any, n_found: int | None) -> bool:
    """Set `n_clusters` to what the strategy found, where it has that to say; whether it changed."""
    before = estimator.get_params(deep=False).get("n_clusters")
    if n_found is None or before is None or before == n_found:
        return False
    estimator.set_params(n_clusters=n_found)
    return True


class Refit:
    """A copy of the estimator that starts each fit from the last.

    Parameters
    ----------
    estimator : estimator
        Not changed.
    """

    def __init__(self, estimator: Any) -> None:
        self._estimator = clone(estimator)
        if "warm_start" in self._estimator.get_params(deep=False):
            self._estimator.set_params(warm_start=True)
        self._last: NDArray[Any] | None = None

    def labels(self, X: Any, constraints: Constraints, n_found: int | None) -> NDArray[Any]:
        """Clusters of all rows, (n,). With another number of clusters the start is a new one."""
        if with_found_clusters(self._estimator, n_found):
            self._estimator = clone(self._estimator)
        found = np.array(self._estimator.fit(X, constraints=constraints).labels_)
        # After a new start the estimator goes on with numbers of its own.
        if self._last is not None:
            found = renumbered(found, self._last)
        self._last = found
        return found


def renumbered(labels: NDArray[Any], like: NDArray[Any]) -> NDArray[Any]:
    """The same clusters under the numbers of an earlier clustering that they share most rows with.

    Clusters beyond the earlier ones get the next numbers. Negative labels (outliers) stay.
    """
    inside = (labels >= 0) & (like >= 0)
    n_now, n_then = int(labels.max()) + 1, int(like.max()) + 1
    shared = np.zeros((n_now, n_then), dtype=np.int64)
    np.add.at(shared, (labels[inside], like[inside]), 1)
    now, then = linear_sum_assignment(-shared)
    numbers = np.full(n_now, -1)
    numbers[now] = then
    free = np.setdiff1d(np.arange(n_now + n_then), then)
    left = numbers < 0
    numbers[left] = free[: left.sum()]
    return np.where(labels >= 0, numbers[labels], labels)
