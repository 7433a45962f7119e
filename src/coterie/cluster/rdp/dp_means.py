"""DP-means: K-Means that opens a cluster wherever no centre is near enough."""

from __future__ import annotations

from typing import Any, Self

from coterie.cluster.rdp.base import PricedMeans, RdpSettings
from coterie.cluster.rdp.fit import Schedule
from coterie.validation import check_choice, check_count

__all__ = ["DPMeans"]


class DPMeans(PricedMeans):
    """DP-means (Kulis and Jordan 2011; other divergences: Jiang et al. 2012): K is inferred.

    Minimises sum_i D(x_i, mu_{z_i}) + lambda K. It takes no constraints: see `RDPMeans`, which
    with no pairs does the same.

    Parameters
    ----------
    lambda_ : {"auto", "farthest_first", "paper"} or float, default "auto"
        The price of a cluster, in units of the divergence. "auto" is "farthest_first": starting
        from the mean, add `n_clusters_hint` times the row farthest from all chosen; lambda is the
        last such distance. "paper": the `n_clusters_hint`-th largest distance to the mean.
    n_clusters_hint : int, optional
        Number of clusters expected. None: where the farthest-first distance falls most.
    divergence : str or Distortion, default "sqeuclidean"
        "sqeuclidean", "euclidean" (plain distance; no Bregman divergence, so J may rise), "kl"
        (counts, Laplace smoothing 0.3) or any of `coterie.distortions`.
    order : {"random", "natural"}, default "random"
        How the rows farther than lambda from every centre are visited; see `RDPMeans`.
    init : {"single", "spectral"}, array of labels (n,), or a fitted model, default "single"
    n_init : int, default 1
        Starts (orders); the one of least J is kept.
    max_iter : int, default 300
    random_state : int, RandomState or None

    Attributes
    ----------
    labels_ : (n,) int64
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
    >>> DPMeans(lambda_=40.0, init="spectral", random_state=0).fit(X).n_clusters_
    3
    """

    def __init__(
        self,
        lambda_: Any = "auto",
        n_clusters_hint: int | None = None,
        *,
        divergence: Any = "sqeuclidean",
        order: str = "random",
        init: Any = "single",
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
        rule = (
            "farthest_first"
            if isinstance(self.lambda_, str) and self.lambda_ == "auto"
            else self.lambda_
        )
        schedule = Schedule(0.0, 1.0, 0.0, 1.0, 1, check_count("max_iter", self.max_iter))
        order = check_choice("order", self.order, ("random", "natural"))
        n_init = check_count("n_init", self.n_init)
        settings = RdpSettings(rule, self.n_clusters_hint, self.init, order, n_init, schedule)
        return self._fit(X, y, None, sample_weight, settings)
