"""Which member of the family a fit is, and what its steps take and give back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coterie._typing import Array
from coterie.cluster.kmeans.core_graph import CoreLabels, PairCosts
from coterie.cluster.labelling import RowTerms
from coterie.cluster.statistics import Statistics
from coterie.constraints.sizes import Sizes

__all__ = ["Assignment", "Geometry", "KMeansSettings", "Measure"]


class KMeansSettings(NamedTuple):
    """Which member of the family a problem is."""

    n_clusters: int
    factor: float = 1.0  # c: 1/2 for PCKMeans (2.1), 1 for HMRF-KMeans and MPCK-Means
    penalty: str = "distance"  # a broken pair costs its weight: "constant", or times a "distance"
    form: str | None = None  # the metric that is learned: "diagonal", "full" or None
    per_cluster: bool = False  # one metric for each cluster
    prior_width: str | float | None = None  # of the Rayleigh prior on the metric, or "auto"
    eta: float | None = None  # size of a step along the gradient of the metric; None: found
    phi_max: str | float = "tight"
    inference: str = "icm"
    time_limit: float = 10.0  # seconds of exact search
    sizes: Sizes | None = None  # of clusters, for a `SizedProblem`


class Measure(NamedTuple):
    """What depends on the metric A alone: each row's own terms, and log det A, (1,) or (K,)."""

    A: Array | None
    terms: RowTerms
    log_det: Array


class Geometry(NamedTuple):
    """A metric, the weight `w` of a plain pair, and what each pair costs under them."""

    measure: Measure
    w: float
    pairs: PairCosts


class Assignment(NamedTuple):
    """The outcome of an E-step: labels (n,), those of the core, sums, and J.

    Of rows that are not in memory the labels are left out, (0,), unless something needs them: they
    follow from the centres (`KMeansProblem.with_labels`), and `digest` tells whether they change.
    """

    labels: Array
    core: CoreLabels
    statistics: Statistics
    objective: float
    digest: Array

    def same_labels(self, other: Assignment) -> bool:
        """Whether every row has the label it has in the other one."""
        if self.labels.size:
            return np.array_equal(self.labels, other.labels)
        same = np.array_equal(self.digest, other.digest)
        return same and np.array_equal(self.core.nodes, other.core.nodes)
