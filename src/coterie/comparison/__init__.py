"""Several estimators, or several numbers of clusters, on the same rows and pairs."""

from __future__ import annotations

from coterie.comparison.contest import compare
from coterie.comparison.n_clusters import ClusterCount, choose_n_clusters
from coterie.comparison.outcome import Compared, Comparison

__all__ = ["ClusterCount", "Compared", "Comparison", "choose_n_clusters", "compare"]
