"""Graph propagation around any clusterer, for text, images and embeddings."""

from __future__ import annotations

from typing import Any, Self

from coterie.constraints import Constraints
from coterie.propagation._meta import PropagatingClusterer
from coterie.propagation.graph import propagate_graph
from coterie.propagation.neighbors import neighbor_graph
from coterie.words import warn

__all__ = ["GraphPropagation"]


class GraphPropagation(PropagatingClusterer):
    """Carry the known pairs along a graph of nearest neighbours, then cluster with all of them.

    Where dimension is high, Gaussians hold next to no rows and `GPKMeans` has nothing to add.
    Neighbours are there in any dimension: pairs spread from their ends to rows that a random walk
    joins to them (`propagate_graph`). The graph does not depend on the clusters, so one run of the
    estimator is enough.

    Parameters
    ----------
    estimator : estimator, default None
        Any clusterer of Coterie that weighs its pairs; None is `MPCKMeans()`.
    n_neighbors : int, default 10
    metric : str, default "euclidean"
        Of the neighbours; "cosine" for text and embeddings.
    reduce_dim : transformer, default None
        Look for neighbours in the space of its `fit` and `transform`, as `TruncatedSVD(10)` for
        bags of words. Clustering itself is in the space of X.
    alpha : float in (0, 1), default 0.8
        How far walks go.
    threshold : float in (0, 1] or "auto", default 0.1
        Least weight of a propagated pair, for a source of weight 1; "auto" as in `GPKMeans`.
    reduce, share_ends, hard_weight, max_pairs
        As in `propagate_graph`.
    approximate : "auto" or bool, default "auto"
        Approximate neighbours (extra `coterie[neighbors]`); "auto": from 50,000 rows on.
    random_state : int, RandomState or None
        Handed to every `random_state` of the estimator (None leaves them alone), and for the
        search of approximate neighbours.

    Attributes
    ----------
    estimator_ : estimator
        As fitted.
    labels_ : (n_samples,) ndarray
    propagated_constraints_ : Constraints
        What the estimator was given: the pairs of `fit`, and those propagated from them.
    n_propagated_ : int
        How many of them are not pairs of `fit`.
    constraints_ : Constraints
        The pairs of `fit`.
    violations_ : PairTable
        Those of them that were broken.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from coterie import Constraints, GraphPropagation, PCKMeans
    >>> X, y = load_digits(n_class=3, return_X_y=True)
    >>> known = Constraints(len(X), must_link=[(0, 10)], cannot_link=[(0, 1), (1, 2)])
    >>> model = GraphPropagation(PCKMeans(3, random_state=0)).fit(X, constraints=known)
    >>> model.n_propagated_ > 3
    True
    """

    _instead = (
        "The graph joins every row to its neighbours among all others. GPKMeans looks for rows "
        "near a pair only, and reads files; or fit a sample that holds the rows in pairs "
        "(constraints.subset(rows)), then MPCKMeans(init=model.estimator_) to all."
    )

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_neighbors: int = 10,
        metric: str = "euclidean",
        reduce_dim: Any = None,
        alpha: float = 0.8,
        threshold: float | str = 0.1,
        reduce: str = "max",
        share_ends: bool = True,
        hard_weight: float = 1.0,
        max_pairs: int = 10_000_000,
        approximate: Any = "auto",
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.reduce_dim = reduce_dim
        self.alpha = alpha
        self.threshold = threshold
        self.reduce = reduce
        self.share_ends = share_ends
        self.hard_weight = hard_weight
        self.max_pairs = max_pairs
        self.approximate = approximate
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any = None, *, constraints: Any = None, sample_weight: Any = None
    ) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n_samples, n_features)
        y : ignored
        constraints : Constraints, optional
        sample_weight : array-like of shape (n_samples,), optional
            Passed on to the estimator.
        """
        X, known, weights = self._check_fit_input(X, y, constraints, sample_weight)
        rng = self._rng()
        inner = self._fresh_inner(rng, weights)
        given = self._propagate(X, known, self._default_certainty(inner), rng)
        inner.fit(X, constraints=given, **({} if weights is None else {"sample_weight": weights}))
        self._publish(inner, known, given)
        if not self.n_propagated_ and (known.weight > 0).any() and self.threshold != 1:
            warn(
                f"none of the {known.n_pairs} pairs was propagated: no walk comes to the ends of "
                f"a pair with probability threshold={self.threshold}. Lower it, or raise alpha "
                "or n_neighbors.",
            )
        return self

    def _propagate(
        self, X: Any, known: Constraints, default_certainty: float, rng: Any
    ) -> Constraints:
        """The pairs and those propagated along the graph of the rows."""
        graph = neighbor_graph(
            self._space(X, known),
            self.n_neighbors,
            metric=self.metric,
            approximate=self.approximate,
            random_state=rng,
        )
        return propagate_graph(
            graph,
            known,
            self.threshold,
            alpha=self.alpha,
            reduce=self.reduce,
            share_ends=self.share_ends,
            hard_weight=self.hard_weight,
            default_certainty=default_certainty,
            max_pairs=self.max_pairs,
        )
