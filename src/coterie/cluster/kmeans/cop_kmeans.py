"""COP-KMeans: K-Means that breaks no pair (Wagstaff et al. 2001; Eaton 2005, 2.5.1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie.cluster.kmeans.pckmeans import PCKMeans

__all__ = ["COPKMeans"]


class COPKMeans(PCKMeans):
    r"""K-Means that keeps every must-link and cannot-link, whatever its weight.

    The published algorithm gives each row in turn to the nearest centre that breaks no pair, and
    fails where there is none left, although another order would have succeeded. Here rows joined
    by must-links move as one, the most constrained go first, and where that leads into a dead end
    an assignment is searched for exactly (or ruled out) and brought to least cost; then groups
    move, and swap clusters along chains of cannot-links, while that lowers the objective,
    :math:`\tfrac{1}{2} \sum_i \|x_i - \mu_{y_i}\|^2`. It is `PCKMeans` with w = inf.

    Parameters
    ----------
    n_clusters : int, default=8
    distortion : str or Distortion, default="sqeuclidean"
    exact_assignment : bool, default=False
        End only with an assignment of proven least cost, as in `PCKMeans`.
    time_limit : float, default=10.0
        Seconds for finding an assignment that keeps all pairs where greedy search does not, and
        for `exact_assignment` in a fit.
    init, n_init, max_iter, tol, random_state, warm_start
        As in `PCKMeans`.
    metric : str or Distortion, optional
        Another name for `distortion`; give one of the two.
    min_size, max_size : int or sequence of n_clusters ints, optional
        Fewest and most rows of a cluster, or of each. Kept exactly in `labels_`, together with
        all hard pairs; rows that hard must-links join take their places together. Rows count as
        one, whatever their weight. `predict` knows no sizes: a new row goes to its nearest centre.

    Attributes
    ----------
    labels_, cluster_centers_, objective_, objective_history_, n_iter_, converged_,
    assignment_proven_
        As in `PCKMeans`.
    violations_ : PairTable
        Empty.

    Raises
    ------
    InfeasibleConstraints
        By `fit`, if no assignment keeps all pairs: `.conflict` is a minimal set of your own
        pairs that clash.
    UndecidedFeasibility
        By `fit`, if that was not decided within `time_limit`.

    Examples
    --------
    Row 0 is apart from 1 and 2; taken in the order 1, 2, 0, each to its nearest centre, the
    published algorithm gives 1 and 2 different clusters and has none left for 0:

    >>> import numpy as np
    >>> from coterie import COPKMeans, Constraints
    >>> X = np.array([[5.1], [4.0], [6.0], [0.0], [10.0]])
    >>> known = Constraints(5, cannot_link=[(0, 1), (0, 2)])
    >>> labels = COPKMeans(2, init=[[1.0], [9.0]]).fit_predict(X, constraints=known)
    >>> bool(labels[1] == labels[2] != labels[0])
    True
    """

    # What it fixes of PCKMeans.
    w: Any = np.inf
    inference = "icm"

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        distortion: Any = "sqeuclidean",
        exact_assignment: bool = False,
        time_limit: float = 10.0,
        init: Any = "auto",
        n_init: Any = "auto",
        max_iter: int = 300,
        tol: float = 1e-6,
        random_state: Any = None,
        warm_start: bool = False,
        metric: Any = None,
        min_size: Any = None,
        max_size: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.distortion = distortion
        self.exact_assignment = exact_assignment
        self.time_limit = time_limit
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.warm_start = warm_start
        self.metric = metric
        self.min_size = min_size
        self.max_size = max_size
