"""Mosaic: many prototypes per cluster, joined by the evidence of the pairs."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from coterie._typing import Array
from coterie.base import broken_pairs
from coterie.cluster.mosaic.blobs import fit_positions
from coterie.cluster.mosaic.clusters import (
    fill_clusters,
    number_alike,
    say_fewer,
    without_empty,
)
from coterie.cluster.mosaic.everyone import Everyone, Learned, place_everyone
from coterie.cluster.mosaic.evidence import Evidence, pair_costs
from coterie.cluster.mosaic.field import means_of
from coterie.cluster.mosaic.fitted import FittedMosaic
from coterie.cluster.mosaic.noise import check_noise
from coterie.cluster.mosaic.problem import MosaicSettings
from coterie.cluster.mosaic.search import Search
from coterie.cluster.mosaic.space import (
    DISTORTIONS,
    check_rows,
    fit_space,
)
from coterie.cluster.mosaic.teaching import named_by, teaching_rows
from coterie.cluster.mosaic.tuning import Tuning
from coterie.constraints import Constraints
from coterie.data import Rows, StoredRows, gather, one_blas_thread
from coterie.exceptions import InvalidParameter
from coterie.validation import (
    check_choice,
    check_count,
    check_n_clusters,
)

__all__ = ["Mosaic"]


ENGINES = ("auto", "belief_propagation", "mean_field")


class Mosaic(FittedMosaic):
    r"""Clusters of any shape, learned from pairs: many prototypes, joined by the evidence.

    Prototypes spread over the data carry one smooth function of position per cluster, the
    *field*; a row goes where its field is highest, unless its own pairs say otherwise. Field and
    labels lower one objective,

    .. math:: J(y, W) = \tfrac{\beta}{2}\Bigl(\sum_i w_i \|e_{y_i} - W^\top z_i\|^2
        + \lambda\|W\|^2\Bigr) + \sum_{\text{broken pairs}} s_{ij},

    data fit + geometric prior (near prototypes prefer the same cluster) + evidence, with z_i the
    kernel values of row i at the prototypes and s_ij the strength of a pair in nats. See
    docs/mosaic.md for the steps. Without pairs it is K-Means.

    Parameters
    ----------
    n_clusters : int or None, default=8
        That many clusters come back, unless fewer rows are different or hard must-links hold them
        together (a warning says so). None finds the number from the pairs: the directions of the
        field along which they agree more than shuffled pairs would.
    max_clusters : int or None, default=None
        With n_clusters=None, the most clusters there may be.
    n_prototypes : "auto" or int, default="auto"
        "auto": 8 sqrt(n), at least 300, at most 1,000 and the number of distinct rows; one per
        cluster without pairs, or where K-Means foretells the pairs as well.
    distortion : {"sqeuclidean", "cosine"}, default="sqeuclidean"
    noise : "estimate", None or float in (0, 0.5), default="estimate"
        How often a plain soft pair is wrong: chosen so that pairs held out are predicted best,
        then estimated from the pairs that the clusters cannot explain; 0.05 (the library's default
        certainty) for None; or the given rate. Pairs with a certainty of their own and hard pairs
        are taken at their word.
    refine : bool, default=True
        Whether rows in pairs are placed by their own pairs too. False labels every row by the
        field alone, as `predict` does; hard pairs are refused then, as they could not be kept.
    inference : {"auto", "belief_propagation", "mean_field"}, default="auto"
        How beliefs travel along the pairs: "auto" propagates beliefs unless the messages would
        take more than 80 MB; then pairs are so many that mean field is as good.
    smoothness : float, default=0.1
        lambda, the weight of the geometric prior in rows.
    max_dimensions : int, default=50
        Rows with more columns are described by their leading principal components.
    n_init : int, default=1
        Times each start (by position, and by the pairs at three reaches) is made.
    max_iter : int, default=25
        Rounds of the soft stage, and of the hard stage after it.
    tol : float, default=5e-4
        The soft stage ends when a row's belief changes by less on average.
    random_state : int, RandomState or None
    warm_start : bool, default=False
        Whether a fit starts from the clusters of the one before, too, and gives them the same
        numbers: for the same rows with more answers.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Clusters are numbered in the order of their first rows.
    n_clusters_ : int
        How many there are; labels are 0, …, n_clusters_ - 1, each with at least one row.
    prototypes_ : ndarray or CSR matrix of shape (n_prototypes, n_features)
        Mean of the rows nearest to each prototype.
    prototype_labels_ : ndarray of shape (n_prototypes,)
    objective_ : float
    objective_history_ : ndarray
        J after each accepted step of the last stage; it never rises.
    noise_ : float
        Share of plain pairs that are wrong, as estimated or given.
    sharpness_ : float
        beta, nats per unit of the field.
    violations_ : PairTable
        The pairs that were broken, each with its cost, worst first.
    suspects_ : PairTable
        The 1,000 soft pairs most probably wrong; see `suspect_pairs`.
    n_iter_ : int
        Rounds of the soft stage.
    center_, basis_, landmarks_, whitening_, field_weights_ : ndarrays
        The map from rows to coordinates, prototypes in those coordinates, and the field.
    columns_ : Columns or None
        Where pairs teach which columns matter: `means` and `variances` (n_clusters_, n_columns) of
        each cluster in units of `basis_`, `log_share`, `sharpness`. Chances are the coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import Constraints
    >>> from coterie.cluster import Mosaic
    >>> X = np.array([[0.0], [0.1], [1.0], [1.1], [2.0], [2.1]])
    >>> known = Constraints(6, must_link=[(0, 4), (1, 5)], cannot_link=[(0, 2), (3, 5)])
    >>> labels = Mosaic(2, random_state=0).fit_predict(X, constraints=known)
    >>> bool(labels[0] == labels[1] == labels[4] == labels[5] != labels[2] == labels[3])
    True
    """

    tuning: ClassVar[Tuning] = Tuning()  # a subclass may have other numbers

    def __init__(
        self,
        n_clusters: int | None = 8,
        *,
        max_clusters: int | None = None,
        n_prototypes: Any = "auto",
        distortion: str = "sqeuclidean",
        noise: Any = "estimate",
        refine: bool = True,
        inference: str = "auto",
        smoothness: float = 0.1,
        max_dimensions: int = 50,
        n_init: int = 1,
        max_iter: int = 25,
        tol: float = 5e-4,
        random_state: Any = None,
        warm_start: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.max_clusters = max_clusters
        self.n_prototypes = n_prototypes
        self.distortion = distortion
        self.noise = noise
        self.refine = refine
        self.inference = inference
        self.smoothness = smoothness
        self.max_dimensions = max_dimensions
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.warm_start = warm_start

    _reads_stored_rows = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # -- fit -----------------------------------------------------------------------------------
    def fit(
        self, X: Any, y: Any = None, *, constraints: Any = None, sample_weight: Any = None
    ) -> Mosaic:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n_samples, n_features)
        y : ignored
        constraints : Constraints, optional
            What is known about pairs of rows.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts.
        """
        X, constraints, weights = self._check_fit_input(X, y, constraints, sample_weight)
        self._check_parameters(X.shape[0], constraints)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        with one_blas_thread():  # more would round otherwise
            self._fit(X, constraints, weights, rng)
        return self

    def _fit(
        self, X: Any, constraints: Constraints, weights: Array | None, rng: np.random.Generator
    ) -> None:
        check_rows(X, self.distortion)
        n, tuning = X.shape[0], self.tuning
        before = self._before(n)
        most = tuning.most_features // tuning.most_prototypes
        most = max(most, tuning.rows_a_cluster * (self.n_clusters or 0))
        rows = teaching_rows(n, constraints, weights, most, rng)
        some, known = X, constraints
        if rows.size < n or isinstance(X, StoredRows):
            some, known = gather(Rows(X), rows), constraints.subset(rows)
        count = np.ones(rows.size) if weights is None else weights[rows]
        settings = self._settings(rows.size)
        with named_by(rows, n):
            learned = self._learn(
                some, known, count, settings, rng, None if before is None else before[rows]
            )
        field = learned.fit.field
        prototypes = means_of(some, learned.rows, field.near, field.n_prototypes)
        learned = learned._replace(rows=rows[learned.rows])
        del some
        everyone = place_everyone(
            X, learned, constraints, weights, settings, rng, refine=self.refine
        )
        self._publish(learned, prototypes, everyone)
        cost = pair_costs(constraints, learned.fit.noise_rate)
        self.violations_ = broken_pairs(everyone.labels, constraints, cost)

    def _before(self, n: int) -> NDArray[np.int64] | None:
        """The clusters that a fit goes on from, if any."""
        labels = getattr(self, "labels_", None) if self.warm_start else None
        if labels is None or np.size(labels) != n:
            return None
        labels = np.asarray(labels)
        if labels.dtype.kind not in "iu" or labels.min() < 0 or labels.max() >= n:
            raise InvalidParameter(
                f"warm_start=True goes on from labels_, which must be whole numbers in 0..{n - 1}: "
                "this model was changed. Fit with warm_start=False."
            )
        return labels

    def _learn(
        self,
        X: Any,
        known: Constraints,
        weights: Array,
        settings: MosaicSettings,
        rng: np.random.Generator,
        before: Array | None,
    ) -> Learned:
        """A space and clusters of rows X that count `weights` times, or of some of them."""
        n, seed, most = X.shape[0], int(rng.integers(2**31)), self.tuning.most_numbers
        space, coordinates = fit_space(X, self.distortion, weights, self.max_dimensions, most, seed)
        evidence, noise, rows = Evidence(known, self.tuning), check_noise(self.noise), np.arange(n)
        if evidence.core.rows.size:
            if noise.origin == "estimated":
                noise = evidence.first_noise()
            search = Search(settings, evidence, weights, noise, rng, before)
            space, found, rows = search.run(X, space, coordinates)
            if rows.size < n:
                evidence = Evidence(known.subset(rows), self.tuning)
        else:
            assert self.n_clusters is not None  # refused without pairs
            seed = int(rng.integers(2**31))
            found = fit_positions(coordinates, weights, noise, self.n_clusters, settings, seed)
        if self.n_clusters is not None:
            found = fill_clusters(found, evidence, weights[rows])
            n_different = len(np.unique(coordinates[rows], axis=0)) if found.has_empty() else n
            say_fewer(self.n_clusters, found.labels, n_different)
        found = without_empty(found)
        if before is not None:
            found = number_alike(found, before[rows].astype(np.int64))
        return Learned(rows, evidence, space, found)

    def _settings(self, n: int) -> MosaicSettings:
        return MosaicSettings(
            n_clusters=self.n_clusters,
            max_clusters=self.max_clusters,
            n_prototypes=self._prototype_count(n),
            may_be_blobs=self.n_prototypes == "auto",
            inference=self.inference,
            smoothness=float(self.smoothness),
            n_init=self.n_init,
            max_iter=self.max_iter,
            tol=self.tol,
            tuning=self.tuning,
        )

    def _publish(self, learned: Learned, prototypes: Any, everyone: Everyone) -> None:
        found, space = learned.fit, learned.space
        field, weights = found.field, found.field_weights
        self.labels_, self.suspects_ = everyone
        self.n_clusters_ = weights.shape[1]
        self.prototypes_ = prototypes
        self.prototype_labels_ = (field.at_prototypes @ weights).argmax(axis=1).astype(np.int64)
        self.objective_ = found.history[-1]
        self.objective_history_ = np.array(found.history)
        self.noise_ = found.noise_rate
        self.sharpness_ = found.sharpness
        self.n_iter_ = found.rounds
        self.center_, self.basis_, self.columns_ = space.mean, space.basis, space.columns
        self.landmarks_, self.whitening_ = field.landmarks.prototypes, field.landmarks.whiten
        self.field_weights_ = weights

    # -- parameters ----------------------------------------------------------------------------
    def _check_parameters(self, n: int, constraints: Constraints) -> None:
        check_choice("distortion", self.distortion, DISTORTIONS)
        check_choice("inference", self.inference, ENGINES)
        check_noise(self.noise)
        if self.max_clusters is not None:
            check_count("max_clusters", self.max_clusters, least=2)
            if self.n_clusters is not None:
                raise InvalidParameter(
                    f"max_clusters={self.max_clusters} bounds the number that n_clusters=None "
                    f"finds, and n_clusters={self.n_clusters}; give one of the two."
                )
        if self.n_clusters is not None:
            check_n_clusters(self.n_clusters, n)
            if self.n_clusters == 1:  # beliefs have nothing to choose from, so say it at once
                constraints.check_feasible(1, hard_only=True)
        elif not (constraints.weight > 0).any():
            raise InvalidParameter(
                "n_clusters=None finds the number of clusters from the pairs, and there are none; "
                "give n_clusters or constraints."
            )
        if not self.refine and constraints.is_hard.any():
            raise InvalidParameter(
                "refine=False labels rows by the field alone and cannot keep hard pairs; set "
                "refine=True, or soften the pairs with constraints.as_soft()."
            )

    def _prototype_count(self, n: int) -> int:
        if self.n_prototypes != "auto":
            return min(self.n_prototypes, n)
        tuning = self.tuning
        wanted = max(tuning.pilot_prototypes, int(tuning.prototypes_per_root * np.sqrt(n)))
        return max(1, min(n, wanted, tuning.most_prototypes, tuning.most_features // n))
