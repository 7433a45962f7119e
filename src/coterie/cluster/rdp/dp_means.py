"""DP-means: K-Means that opens a cluster wherever no centre is near enough."""

from __future__ import annotations

from typing import Any, Self

from coterie.cluster.rdp.base import PricedMeans, RdpSettings
from coterie.cluster.rdp.starts import StartRule
from coterie.cluster.rdp.xi import XiRule

__all__ = ["DPMeans"]


class DPMeans(PricedMeans):
    """DP-means (Kulis and Jordan 2011; other divergences: Jiang et al. 2012): K is inferred.

    Minimises sum_i D(x_i, mu_{z_i}) + lambda K. It takes no constraints: see `RDPMeans`, which
    with no pairs does the same.

    Parameters
    ----------
    lambda_ : {"auto", "farthest_first", "paper"} or float, default "auto"
        The price of a cluster, in units of the divergence. "auto": twice what the farthest row of
        the start pays, so that the number of clusters is that of the start. "farthest_first":
        starting from the mean, add `n_clusters_hint` times the row farthest from all chosen;
        lambda is the last such distance. "paper": the `n_clusters_hint`-th largest distance to
        the mean. A number: K-Means starts with as many clusters as farthest-first needs at it.
    n_clusters_hint : int, optional
        Number of clusters expected. None: the one of the widest mean silhouette on a sample of
        the rows, with a warning where none stands out.
    divergence : str or Distortion, default "sqeuclidean"
        "sqeuclidean", "euclidean" (plain distance; no Bregman divergence, so J may rise), "kl"
        (counts, 0.3 added to each) or any of `coterie.distortions`.
    order : {"random", "natural"}, default "random"
        How the rows farther than lambda from every centre are visited; see `RDPMeans`.
    init : {"auto", "single", "spectral"}, array of labels (n,), or a fitted model, default "auto"
        "auto": K-Means (the best of ten runs, on a sample of many rows); see `RDPMeans`.
    n_init : int, default 1
        Starts and orders; the one of least J is kept.
    max_iter : int, default 300
    random_state : int, RandomState or None

    Attributes
    ----------
    labels_ : (n,) int32
    n_clusters_ : int
    cluster_centers_ : (K, d)
    lambda_value_ : float
        Lambda as used.
    objective_, objective_history_, n_iter_, converged_
        J, J after each round (it never rises), rounds, and whether the labels came to rest.

    Examples
    --------
    >>> from coterie.cluster import DPMeans
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(300, centers=[(0, 0), (9, 0), (0, 9)], random_state=3)
    >>> DPMeans(random_state=0).fit(X).n_clusters_
    3
    """

    def __init__(
        self,
        lambda_: Any = "auto",
        n_clusters_hint: int | None = None,
        *,
        divergence: Any = "sqeuclidean",
        order: str = "random",
        init: Any = "auto",
        n_init: int = 1,
        max_iter: int = 300,
        random_state: Any = None,
    ) -> None:
        self.lambda_ = lambda_
        self.n_clusters_hint = n_clusters_hint
        self.divergence = divergence
        self.order = order
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Cluster the rows of `X` (n, d), dense or CSR; `y` is ignored."""
        return self._fit(X, y, None, sample_weight)

    def _settings(self) -> RdpSettings:
        return RdpSettings(
            StartRule.checked(self.lambda_, self.n_clusters_hint, self.init),
            self.order,
            self.n_init,
            XiRule.without_pairs(self.max_iter),
        )
