"""The clustering of a session in the shape of a fitted estimator, for reports and pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin

__all__ = ["AnsweredClusters"]


class AnsweredClusters(ClusterMixin, BaseEstimator):
    """Clusters that answers led to.

    Parameters
    ----------
    strategy : str
        What chose the questions.
    n_answers : int
        How many were answered.

    Attributes
    ----------
    labels_ : (n,)
    """

    def __init__(self, strategy: str = "", n_answers: int = 0) -> None:
        self.strategy = strategy
        self.n_answers = n_answers

    @classmethod
    def of(cls, strategy: Any, n_answers: int, labels: NDArray[Any]) -> AnsweredClusters:
        """With the clusters in place."""
        found = cls(repr(strategy), n_answers)
        found.labels_ = np.asarray(labels)
        return found

    def fit(self, X: Any, y: Any = None) -> AnsweredClusters:
        """Nothing is fitted: the answers are in the session."""
        return self
