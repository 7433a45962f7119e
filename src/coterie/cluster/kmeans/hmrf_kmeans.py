"""HMRF-KMeans: constrained K-Means with distortions that are learned (Basu et al. 2006)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.cluster.kmeans.family import PairwiseKMeans
from coterie.cluster.kmeans.values import KMeansSettings
from coterie.distortions import Distortion
from coterie.distortions.base import need_form
from coterie.distortions.registry import chosen_distortion
from coterie.exceptions import InvalidParameter

__all__ = ["HMRFKMeans"]


class HMRFKMeans(PairwiseKMeans):
    r"""K-Means on a hidden Markov random field, with a distortion that adapts to the pairs.

    Minimises (3.14) of Basu, Bilenko, Banerjee and Mooney (2006),

    .. math:: \sum_i d_A(x_i, \mu_{y_i}) + \sum_{ML} w_{ij} \varphi(x_i, x_j) 1[y_i \ne y_j]
        + \sum_{CL} w_{ij} (\varphi^{max} - \varphi(x_i, x_j)) 1[y_i = y_j]
        - \log P(A) - n \log\det A,

    where a broken must-link costs more the farther its rows, a broken cannot-link more the
    nearer, and the last term stands for the squared Euclidean distance only. (For that distance
    the objective is twice the negative log-posterior, up to constants, which is the scale of
    `w`.) The ablations of Basu et al. (2006) are settings: C-D-R the default, C-D `prior=None`, C
    `learn_metric=False`, K-Means without constraints.

    Parameters
    ----------
    n_clusters : int, default=8
    w : "auto" or float, default="auto"
        Weight of a pair; its cost is this times a distance, so "auto" is 1 on any scale.
        `numpy.inf` never breaks a pair.
    distortion : str or Distortion, default="sqeuclidean"
        "sqeuclidean", "mahalanobis", "cosine", "correlation", "kl", "i-divergence",
        "itakura-saito", or an object from `coterie.distortions`.
    learn_metric : bool, default=True
    metric_form : {"diagonal", "full"}, default="diagonal"
        Full matrices are for squared Euclidean and Mahalanobis distance, where learning starts
        from the given metric (a diagonal: from the inverse variances).
    per_cluster : bool, default=False
        One metric for each cluster instead of one for all (squared Euclidean and Mahalanobis
        distance).
    prior : {"rayleigh", None}, default="rayleigh"
        Prior on the weights of the metric. Without one, cosine and divergence weights keep a
        mean of 1, since nothing else would fix their scale.
    prior_width : "auto" or float, default="auto"
        s of the Rayleigh prior: weights far above it are pulled down. "auto" is one over the
        scatter of each column (its variance, for squared distances; its variance where the
        other columns are known, for full metrics), so that units do not matter: what 1, the
        paper's choice, is for columns of unit variance. It is 1 for the cosine, Kullback-Leibler
        and Itakura-Saito, which have no units.
    eta : "auto" or float, default="auto"
        Size of a step along the gradient of the metric, as printed. "auto" takes the closed form,
        or a step by which no weight changes by more than a factor e. Either is halved until the
        objective falls.
    phi_max : {"tight", "paper"} or float, default="tight"
        Bound in the cost of a broken cannot-link: the diameter of the data; as printed (which
        lets cannot-links outweigh everything as their number grows); or a number (footnote 5).
        A number, or a printed bound that does not bound these rows, grows to the distance of the
        farthest cannot-linked pair where that is more, so that no cost is negative.
    inference : str, default="icm"
        Engine that labels the rows in constraints: "icm", "mean_field", "gibbs",
        "belief_propagation", "linear_program", "exact", "auto", or "plain_icm": row by row, as
        printed.
    init : str, array or fitted model, default="auto"
        As in `PCKMeans`; "perturb" completes neighbourhoods by perturbing the global centroid, as
        printed in section 3.3.5.
    n_init, max_iter, tol, random_state, warm_start
        As in `PCKMeans`.
    metric : str or Distortion, optional
        Another name for `distortion`; give one of the two.

    Attributes
    ----------
    labels_, cluster_centers_, objective_, objective_history_, violations_, n_iter_, converged_
        As in `PCKMeans`.
    distortion_params_ : ndarray or None
        The learned A: (n_features,) diagonal, (n_clusters, n_features) one diagonal per cluster,
        (1, n_features, n_features) or (n_clusters, n_features, n_features) full.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from coterie import Constraints, HMRFKMeans
    >>> X, y = load_iris(return_X_y=True)
    >>> known = Constraints(150, must_link=[(50, 60), (100, 120)], cannot_link=[(77, 146)])
    >>> model = HMRFKMeans(3, random_state=0).fit(X, constraints=known)
    >>> model.distortion_params_.shape
    (4,)
    """

    _keeps_groups = True

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        w: Any = "auto",
        distortion: Any = "sqeuclidean",
        learn_metric: bool = True,
        metric_form: str = "diagonal",
        per_cluster: bool = False,
        prior: str | None = "rayleigh",
        prior_width: Any = "auto",
        eta: Any = "auto",
        phi_max: Any = "tight",
        inference: str = "icm",
        init: Any = "auto",
        n_init: Any = "auto",
        max_iter: int = 300,
        tol: float = 1e-6,
        random_state: Any = None,
        warm_start: bool = False,
        metric: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.w = w
        self.distortion = distortion
        self.learn_metric = learn_metric
        self.metric_form = metric_form
        self.per_cluster = per_cluster
        self.prior = prior
        self.prior_width = prior_width
        self.eta = eta
        self.phi_max = phi_max
        self.inference = inference
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.warm_start = warm_start
        self.metric = metric

    def _distortion(self) -> Distortion:
        return chosen_distortion(self.distortion, self.metric)

    def _settings(self, n_clusters: int, distortion: Distortion) -> KMeansSettings:
        if self.learn_metric:
            need_form(distortion, self.metric_form)
            if self.per_cluster and not distortion.per_cluster:
                raise InvalidParameter(
                    "per_cluster=True is for sqeuclidean and mahalanobis, "
                    f"not for {distortion.name}."
                )
        return KMeansSettings(
            n_clusters,
            form=self.metric_form if self.learn_metric else None,
            per_cluster=self.per_cluster and self.learn_metric,
            prior_width=None if self.prior is None else self.prior_width,
            eta=None if self.eta == "auto" else float(self.eta),
            phi_max=self.phi_max,
            inference=self.inference,
        )

    def _log_normalizer(self) -> NDArray[np.float64]:
        if not self.learn_metric:
            return super()._log_normalizer()
        return self._distortion().log_det(self.distortion_params_)
