"""The estimator of a session: fitted again after new answers, cluster numbers kept."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from coterie.constraints import Constraints
from coterie.stability import renumber

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
        self._given = estimator
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
            found = renumber(found, self._last)
        self._last = found
        return found

    def fresh_labels(self, X: Any, constraints: Constraints, n_found: int | None) -> NDArray[Any]:
        """Clusters of a fit of its own, from no earlier one, that no later one starts from."""
        estimator = clone(self._given)
        with_found_clusters(estimator, n_found)
        return np.array(estimator.fit(X, constraints=constraints).labels_)
