"""PCKMeans: pairwise constrained K-Means (Basu et al. 2004)."""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie._typing import Array
from coterie.cluster.kmeans.family import PairwiseKMeans
from coterie.cluster.kmeans.problem import KMeansProblem
from coterie.cluster.kmeans.run import Result, Start
from coterie.cluster.kmeans.values import KMeansSettings
from coterie.cluster.labelling import label_rows, measure_rows
from coterie.cluster.statistics import NONE, Shape
from coterie.constraints import Constraints
from coterie.constraints.sizes import Sizes, read_sizes
from coterie.data import Rows, gather
from coterie.distortions import Distortion
from coterie.distortions.registry import chosen_distortion
from coterie.exceptions import InvalidParameter

__all__ = ["PCKMeans"]

_AUTO_WEIGHT = 2.0  # w="auto" in units of a row's mean distortion within its cluster
_SAMPLE = 5000  # rows that this is judged by


class PCKMeans(PairwiseKMeans):
    r"""K-Means that pays `w` for every must-link or cannot-link it breaks.

    Minimises (2.1) of Basu, Banerjee and Mooney (2004),

    .. math:: \tfrac{1}{2} \sum_i \|x_i - \mu_{y_i}\|^2
        + \sum_{ML} w_{ij} 1[y_i \ne y_j] + \sum_{CL} w_{ij} 1[y_i = y_j],

    or the same with another distortion in place of the half squared distance (the cosine
    distance is the half squared distance of rows of unit length: the spherical form for text).

    Parameters
    ----------
    n_clusters : int, default=8
    w : "auto" or float, default="auto"
        What a broken pair of weight 1 costs. A number is taken as it is. "auto" is twice the
        mean distortion of a row within the clusters of the first start (the least, where there
        are several to choose from), so that it means the same whatever the scale of the data; a
        fit that goes on from a fitted `PCKMeans` keeps the weight of that.
        0 uses the pairs for the start only (as SeededKMeans does); `numpy.inf` never breaks a
        pair (as ConstrainedKMeans).
    distortion : str or Distortion, default="sqeuclidean"
        "sqeuclidean", "mahalanobis", "cosine", "correlation", "kl", "i-divergence",
        "itakura-saito", or an object from `coterie.distortions`.
    inference : str, default="icm"
        Engine that labels the rows in constraints: "icm", "mean_field", "gibbs",
        "belief_propagation", "linear_program", "exact", "auto", or "plain_icm": row by row, as
        printed.
    exact_assignment : bool, default=False
        Where the fit by `inference="icm"` would end, solve the assignment step to proven
        optimality (elimination where the pairs form narrow graphs, otherwise a mixed-integer
        program by HiGHS) and go on, until the proven step changes nothing: never worse than
        "icm". `assignment_proven_` says whether the last step was solved in time.
    time_limit : float, default=10.0
        Seconds for `exact_assignment` in a fit (a step may use half of what is left), and for
        finding an assignment that keeps the hard pairs where greedy search does not.
    init : str, array or fitted model, default="auto"
        "auto": sixteen starts, from the neighbourhoods of the pairs and by k-means++; after two
        iterations the five lowest go on, after five the lowest (of many rows, these are run on a
        sample of those in no pair). With w = 0 it is "neighborhoods". One start, as it is:

        - "neighborhoods": centroids of the groups that the must-links form, the K largest or K
          large ones far apart, whichever costs less; if they are fewer than K, rows that are
          cannot-linked to all of them and to each other, then k-means++;
        - "largest", "farthest": the same by one of the two choices;
        - "figure-1": as printed, the K largest; if they are fewer, one row cannot-linked to all
          of them, then perturbations of the global centroid;
        - "perturb": groups as in "neighborhoods", then perturbations of the global centroid;
        - "k-means++", "random": from the rows alone.

        An array of shape (n_clusters, n_features) gives the centres; a fitted model gives its
        centres and labels.
    n_init : "auto" or int, default="auto"
        Number of whole runs; the one with the lowest objective is kept. "auto" is 1: with
        `init="auto"` sixteen starts are compared already, for less than ten runs would cost.
    max_iter : int, default=300
    tol : float, default=1e-6
        Stop when the objective falls by less than this share of itself.
    random_state : int, RandomState or None
    warm_start : bool, default=False
        Start from the last fit: after new answers, cluster numbers stay what they were.
    metric : str or Distortion, optional
        Another name for `distortion`; give one of the two.
    min_size, max_size : int or sequence of n_clusters ints, optional
        Fewest and most rows of a cluster, or of each. Kept exactly in `labels_`, together with
        all hard pairs; rows that hard must-links join take their places together. Rows count as
        one, whatever their weight. `predict` knows no sizes: a new row goes to its nearest centre.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
    objective_ : float
    objective_history_ : ndarray of shape (n_iter_,)
        The objective after every assignment step; it never rises.
    violations_ : PairTable
        The pairs that were broken, each with its cost, worst first.
    w_ : float
        The weight that was used.
    n_iter_ : int
    converged_ : bool
    assignment_proven_ : bool
        Whether, for the centres found, no assignment costs less: known where no pairs were given
        or `exact_assignment` was reached within `time_limit`.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import Constraints, PCKMeans
    >>> X = np.array([[0.0], [1.0], [5.0], [6.0]])
    >>> known = Constraints(4, must_link=[(1, 2)], cannot_link=[(0, 1)])
    >>> PCKMeans(2, w=100, random_state=0).fit_predict(X, constraints=known).tolist()
    [1, 0, 0, 0]
    """

    _keeps_groups = True
    _constant_penalty = True

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        w: Any = "auto",
        distortion: Any = "sqeuclidean",
        inference: str = "icm",
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
        self.w = w
        self.distortion = distortion
        self.inference = inference
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

    def _distortion(self) -> Distortion:
        return chosen_distortion(self.distortion, self.metric)

    # What a subclass without the parameters has.
    min_size: Any = None
    max_size: Any = None

    def _sizes(self, n_clusters: int, n_rows: int) -> Sizes | None:
        if self.min_size is None and self.max_size is None:
            return None
        if self.inference != "icm":
            raise InvalidParameter(
                f"inference={self.inference!r} knows no sizes; with min_size or max_size leave it "
                "at 'icm', or set exact_assignment=True."
            )
        return read_sizes(self.min_size, self.max_size, n_clusters, n_rows)

    def _can_keep(self, pairs: Constraints) -> bool:
        sized = self.min_size is not None or self.max_size is not None
        return not sized and super()._can_keep(pairs)

    def _settings(self, n_clusters: int, distortion: Distortion) -> KMeansSettings:
        limit = float(self.time_limit)
        engine = "least_energy" if self.exact_assignment else self.inference
        return KMeansSettings(
            n_clusters,
            factor=distortion.kmeans_factor,
            penalty="constant",
            inference=engine,
            time_limit=limit,
        )

    def _publish(self, problem: KMeansProblem, result: Result) -> None:
        super()._publish(problem, result)
        self.assignment_proven_ = result.assignment.core.proven

    def _auto_weight(self, problem: KMeansProblem, starts: list[Start]) -> float:
        """A multiple of the mean distortion within clusters, under the best of the starts."""
        within = min(_mean_distortion(problem, start.centers) for start in starts)
        return _AUTO_WEIGHT * problem.settings.factor * max(within, np.finfo(np.float64).tiny)


def _mean_distortion(problem: KMeansProblem, centers: Array) -> float:
    """Distortion of a row from the centroid of its cluster, were there no pairs: the mean over a
    sample of the rows, each with the nearest of `centers`.
    """
    rows, distortion = problem.rows, problem.distortion
    at = np.arange(0, rows.n, max(1, rows.n // _SAMPLE))
    weights = problem.weights[at] if problem.weights.size else NONE
    sample, A = Rows(rows.shifted(gather(rows, at))), distortion.initial(rows.d)
    own = measure_rows(sample, weights, distortion, A)
    shape, none = Shape(len(centers), rows.d), np.empty(0, dtype=np.int64)
    terms = distortion.center_terms(centers, A)
    found = label_rows(sample, own, distortion, A, terms, problem.price, shape, none)
    counts, sums, _ = found.statistics
    means = distortion.centroid(sums, np.where(counts > 0, counts, 1.0), A)
    slope, offset, _ = distortion.center_terms(means, A)
    total = own.term @ (weights if weights.size else np.ones(at.size))
    total += counts @ offset + (sums * slope).sum()
    return float(max(total, 0.0) / (weights.sum() if weights.size else at.size))
