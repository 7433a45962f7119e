"""What inference needs of a family, and what most families have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Protocol

import numpy as np

from coterie._typing import FloatArray

__all__ = ["Family", "Scores", "Separable"]


class Scores(Protocol):
    """Log-densities of rows under every cluster; a value that another process can be given."""

    def __call__(self, rows: Any) -> FloatArray:
        """Rows (b, d) to (b, K)."""


class Family(Protocol):
    """What inference needs of a family. Statistics are (K, width), counts in column 0."""

    width: int

    def expected_scores(self, statistics: FloatArray) -> Scores:
        """E ln p(x | cluster) under the clusters' posteriors."""

    def predictive_scores(self, statistics: FloatArray) -> Scores:
        """ln p(x | rows of the cluster)."""

    def add(self, rows: Any, resp: FloatArray, statistics: FloatArray) -> None:
        """Add rows (b, d) with responsibilities (b, K) to the statistics, in place."""

    def log_evidence(self, statistics: FloatArray) -> float:
        """ln of the marginal likelihood of all clusters' rows."""

    def merge_gains(self, statistics: FloatArray) -> FloatArray:
        """What the log-evidence gains if clusters k and l become one, (K, K), symmetric."""

    def describe(self, statistics: FloatArray, origin: FloatArray) -> dict[str, FloatArray]:
        """Posterior means of the parameters, by the name of the attribute they are shown as."""


class Separable(ABC):
    """A family whose clusters share nothing: the evidence is a sum over clusters."""

    @abstractmethod
    def cluster_evidence(self, statistics: FloatArray) -> FloatArray:
        """ln of the marginal likelihood of each cluster's rows, (K,)."""

    def log_evidence(self, statistics: FloatArray) -> float:
        """ln of the marginal likelihood of all clusters' rows."""
        return float(self.cluster_evidence(statistics).sum())

    def merge_gains(self, statistics: FloatArray) -> FloatArray:
        """What the log-evidence gains if clusters k and l become one, (K, K), symmetric."""
        own = self.cluster_evidence(statistics)
        k, other = np.triu_indices(len(statistics), 1)
        gains = np.zeros((len(own), len(own)))
        gains[k, other] = self.cluster_evidence(statistics[k] + statistics[other])
        gains[k, other] -= own[k] + own[other]
        return gains + gains.T
