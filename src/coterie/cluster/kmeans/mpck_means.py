"""MPCK-Means: metric pairwise constrained K-Means (Bilenko et al. 2004; Eaton 2005, 2.6)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.cluster.kmeans.hmrf_kmeans import HMRFKMeans

__all__ = ["MPCKMeans"]


class MPCKMeans(HMRFKMeans):
    r"""K-Means with pairs and one learned metric for each cluster.

    Minimises, as (2.4)-(2.6) of Eaton (2005),
    :math:`\sum_i (\|x_i - \mu_{y_i}\|^2_{A_{y_i}} - \log\det A_{y_i})`
    plus the cost of broken pairs: for a must-link the mean of its squared distance under its two
    clusters' metrics, for a cannot-link the diameter of the data less the distance of its rows,
    both under the cluster's metric. It is `HMRFKMeans` with squared Euclidean distance, no prior,
    and metrics per cluster by default; the metrics have a closed form (2.7), in which each broken
    must-link counts half for either cluster, and which is only taken as far as it lowers the
    objective.

    Parameters
    ----------
    n_clusters : int, default=8
    w : "auto" or float, default="auto"
        Weight of a pair; "auto" is 1, since the cost is a distance.
    metric_form : {"diagonal", "full"}, default="diagonal"
    per_cluster : bool, default=True
    inference, init, n_init, max_iter, tol, random_state, warm_start
        As in `HMRFKMeans`.

    Attributes
    ----------
    labels_, cluster_centers_, objective_, objective_history_, violations_, n_iter_, converged_
        As in `PCKMeans`.
    metrics_ : ndarray of shape (n_clusters, n_features) or (n_clusters, n_features, n_features)
        The metric of each cluster: its diagonal, or in full.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from coterie import Constraints, MPCKMeans
    >>> X, y = load_iris(return_X_y=True)
    >>> known = Constraints(150, must_link=[(50, 60), (100, 120)], cannot_link=[(77, 146)])
    >>> MPCKMeans(3, random_state=0).fit(X, constraints=known).metrics_.shape
    (3, 4)
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        w: Any = "auto",
        metric_form: str = "diagonal",
        per_cluster: bool = True,
        inference: str = "icm",
        init: Any = "auto",
        n_init: Any = "auto",
        max_iter: int = 300,
        tol: float = 1e-6,
        random_state: Any = None,
        warm_start: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.w = w
        self.metric_form = metric_form
        self.per_cluster = per_cluster
        self.inference = inference
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.warm_start = warm_start

    # What MPCK-Means fixes of HMRF-KMeans.
    distortion = "sqeuclidean"
    metric = None
    learn_metric = True
    prior = None
    prior_width = "auto"
    eta = "auto"
    phi_max = "tight"

    @property
    def metrics_(self) -> NDArray[np.float64]:
        """The metric of each cluster, repeated where all share one."""
        A = np.asarray(self.distortion_params_)
        per_cluster = A.ndim == 2 or (A.ndim == 3 and len(A) == len(self.cluster_centers_))
        if per_cluster:
            return A
        shared = A[0] if A.ndim == 3 else A
        return np.tile(shared, (len(self.cluster_centers_), *[1] * shared.ndim))
