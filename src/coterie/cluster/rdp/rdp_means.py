"""RDP-means: DP-means that listens to friends and strangers, more closely from round to round."""

from __future__ import annotations

from typing import Any, Self

from coterie.cluster.rdp.base import PricedMeans, RdpSettings
from coterie.cluster.rdp.starts import StartRule
from coterie.cluster.rdp.xi import XiRule

__all__ = ["RDPMeans"]


class RDPMeans(PricedMeans):
    """RDP-means: the number of clusters is inferred, pairs may be wrong.

    Algorithm 1 of Khashabi et al. (2015).

    A row joins the cluster of least D(x, mu_k) - xi1 f_k + xi2 s_k, where f_k and s_k count its
    must-linked friends and cannot-linked strangers there, unless that is not below lambda: then it
    opens a cluster. xi starts small and grows from round to round, so the geometry decides first
    and the pairs settle what it leaves open. At fixed xi no round raises

        J = sum_i D(x_i, mu_{z_i}) - xi1 #(must-links kept) + xi2 #(cannot-links broken) + lambda K.

    A pair counts `Constraints.cost` times (1 for a plain pair). Hard pairs are never broken: rows
    joined by hard must-links move as one, hard cannot-links are forbidden.

    Parameters
    ----------
    lambda_ : {"auto", "farthest_first", "paper"} or float, default "auto"
        The price of a cluster, in units of the divergence. "auto": twice what the farthest row of
        the start pays, so that no row opens a cluster because of where it lies, only because
        strangers crowd it out of all that there are. "farthest_first": starting from the mean, add
        `n_clusters_hint` times the row farthest from all chosen; lambda is the last such distance.
        "paper": the `n_clusters_hint`-th largest distance to the mean, which is what the authors
        ran.
    n_clusters_hint : int, optional
        Number of clusters expected. None: K-Means is tried with more and more clusters; the number
        is the one that tells most of the pairs under (8), and among those that the pairs leave
        open the one of the widest mean silhouette. With a hundred pairs or more some clusters more
        and fewer are tried with half of the pairs, and the other half decides. A warning says where
        nothing does.
    divergence : str or Distortion, default "sqeuclidean"
        "sqeuclidean", "euclidean" (plain distance, as the authors ran it; no Bregman divergence,
        so J may rise when centres move), "kl" (counts: (x + .3) / (N + .3 d) of a row
        of N counts in d columns) or any of `coterie.distortions`.
    xi0, xi_max : "auto" or float, default "auto"
    xi_rate : float, default 2
        xi of round t is min(xi0 xi_rate^t, xi_max). "auto" is in units of the data: xi begins at a
        thousandth of a row's mean divergence from its centre in the start, and ends at what (8)
        makes of answers that are right 95 times in 100, or at that mean if it is less, so that
        wrong pairs do not outweigh the rows. xi_max=None: no bound, as in the paper: xi grows until
        one pair outweighs every distance.
    xi_ratio : float, default 1
        xi1 / xi2: above 1, friends count for more than strangers.
    patience : int, default 20
        Rounds without a change after which a growing xi is taken to change nothing more. Once xi
        is at its maximum, one such round is proof.
    order : {"random", "natural"}, default "random"
        Every round first labels the rows in no constraint that some centre holds within lambda
        (their order cannot matter), then visits all other rows one by one: in a fresh random
        order, or as they stand. Rows that come early open the clusters that later ones join.
    init : {"auto", "single", "spectral"}, array of labels (n,), or a fitted model, default "auto"
        K-Means (of ten runs, on a sample of many rows, the one of least J; where lambda is given,
        or a rule for it, also "single", and the lower J is kept); all rows in one cluster, as in
        Algorithm 1; groups by the leading eigenvectors of (21); or where to go on from: cluster
        numbers then stay as they are, as far as clusters survive.
    n_init : int, default 1
        Starts and orders; the one of least J is kept.
    max_iter : int, default 300
    random_state : int, RandomState or None

    Attributes
    ----------
    labels_ : (n,) int32
    n_clusters_ : int
    cluster_centers_ : (K, d)
    violations_ : PairTable
        The pairs that were broken, each with its cost at the last xi.
    lambda_value_, xi_ : float
        Lambda as used, and xi2 of the last round.
    objective_ : float
        J at the last xi.
    objective_history_, xi_history_ : (n_iter_,)
        J after each round's assignments, at that round's xi.
    n_iter_, converged_

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import Constraints
    >>> from coterie.cluster import RDPMeans
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1], [9.0]])
    >>> pairs = Constraints(5, must_link=[(3, 4)])
    >>> RDPMeans(lambda_=4.0, order="natural").fit(X, constraints=pairs).labels_
    array([1, 1, 0, 2, 2])
    """

    def __init__(
        self,
        lambda_: Any = "auto",
        n_clusters_hint: int | None = None,
        *,
        divergence: Any = "sqeuclidean",
        xi0: Any = "auto",
        xi_rate: float = 2.0,
        xi_max: Any = "auto",
        xi_ratio: float = 1.0,
        patience: int = 20,
        order: str = "random",
        init: Any = "auto",
        n_init: int = 1,
        max_iter: int = 300,
        random_state: Any = None,
    ) -> None:
        self.lambda_ = lambda_
        self.n_clusters_hint = n_clusters_hint
        self.divergence = divergence
        self.xi0 = xi0
        self.xi_rate = xi_rate
        self.xi_max = xi_max
        self.xi_ratio = xi_ratio
        self.patience = patience
        self.order = order
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any = None, *, constraints: Any = None, sample_weight: Any = None
    ) -> Self:
        """Cluster the rows of `X` (n, d), dense or CSR, with the pairs known; `y` is ignored."""
        return self._fit(X, y, constraints, sample_weight)

    def _settings(self) -> RdpSettings:
        return RdpSettings(
            StartRule.checked(self.lambda_, self.n_clusters_hint, self.init),
            self.order,
            self.n_init,
            XiRule(
                self.xi0, self.xi_rate, self.xi_max, self.xi_ratio, self.patience, self.max_iter
            ),
        )
