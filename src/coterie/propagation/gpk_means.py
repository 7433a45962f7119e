"""GPK-Means: Gaussian propagation around any clusterer (Eaton 2005, Fig. 3.1)."""

from __future__ import annotations

import hashlib
import logging
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from coterie._typing import Array
from coterie.constraints import Constraints
from coterie.exceptions import InvalidData, InvalidParameter
from coterie.parameters import check_parameters
from coterie.progress import keep_going
from coterie.propagation._meta import PropagatingClusterer
from coterie.propagation.gaussian import Fitting, read_clusters
from coterie.propagation.near_ends import neighborhoods
from coterie.propagation.pipeline import PipelineClusterer
from coterie.propagation.shape import cluster_shape
from coterie.propagation.spreading import Options, Spread, spread
from coterie.words import warn

__all__ = ["GPKMeans"]


logger = logging.getLogger(__name__)


class GPKMeans(PropagatingClusterer):
    """Cluster, carry the known pairs over to their neighbourhoods, and cluster again.

    The first run of `estimator` knows the pairs given. Each round then propagates them by the
    clusters and metrics found last (`propagate_gaussian`) and runs the estimator with the pairs
    that gives, from where it ended last. Few pairs go further so, as long as they are typical of
    their surroundings.

    With `threshold=1` and no duplicate rows this is two runs of the estimator, the second from
    where the first ended (Eaton 2005, section 5.4.1).

    Parameters
    ----------
    estimator : estimator, default None
        Any clusterer of Coterie that weighs its pairs (`PCKMeans`, `MPCKMeans`, `HMRFKMeans`,
        `PPC`, `RDPMeans`, `Mosaic`, ...); None is `MPCKMeans()`. Metrics it learns, or
        covariances, shape the Gaussians; otherwise they are round. One that keeps every pair
        (`COPKMeans`, `ConstrainedKMeans`, w = inf) is refused: propagated pairs are guesses.
        A pipeline is given the pairs where its steps take them: `make_pipeline(RCA(), KMeans(3))`.
    threshold : float in (0, 1] or "auto", default "auto"
        Least weight of a propagated pair, for a source of weight 1. Eaton (2005) uses 0.5 and 0.7,
        and 0.01 to 0.05 in twenty dimensions, where few rows are near each other. "auto" is the
        lowest, 0.01 at least, at which a source gives no more than 4 pairs on average: 0.5 hands
        100 pairs of 1,000 rows in a plane on to a quarter of a million.
    reduce : {"max", "sum", "reduced", "full", "auto"}, default "max"
        Of several pairs of one kind on the same rows, the strongest ("max", the thesis'
        "reduced") or their sum ("sum", "full"). "auto" is reduced.
    n_rounds : int, default 10
        At most so many rounds of propagation after the first run. Rounds end before when the
        estimator's objective settles or a labelling comes back.
    start : {"model", "centers"}, default "model"
        What a round takes over from the last: all of it (centres, metrics and labels), so that on
        the same pairs it cannot end with a higher objective; or as in Eaton (2005) its
        centres alone, from which metrics are learned afresh, which often ends in another optimum,
        be it better or worse. Mixtures and clusterers that infer K have "model" only; one that
        has no `init` starts by itself, from the propagated pairs.
    reduce_dim : transformer, default None
        Propagate in the space of its `fit_transform`, by Euclidean distance there: PCA, RCA
        (which is given the constraints) or TruncatedSVD for sparse rows. In many dimensions a
        Gaussian holds next to no rows. Clustering itself is in the space of X.
    scale, radius, share_ends, hard_weight, max_pairs
        As in `propagate_gaussian`.
    tol : float, default 1e-6
        Relative change of the objective between rounds below which it has settled.
    random_state : int, RandomState or None
        Handed to every `random_state` of the estimator; None leaves them alone.

    Attributes
    ----------
    estimator_ : estimator
        As fitted in the last round.
    labels_ : (n_samples,) ndarray
    n_rounds_ : int
        Rounds of propagation that were run.
    propagated_constraints_ : Constraints
        What the last round was given: the pairs of `fit`, and those propagated from them.
    n_propagated_ : int
        How many of them are not pairs of `fit`. Where that is 0 a warning says what to do.
    threshold_ : float
        That of the last round; None where there was nothing to propagate and it is "auto".
    objective_history_ : (n_rounds_ + 1,) ndarray
        The estimator's final objective in each run. Runs have different pairs, so it may go both
        ways.
    objective_ : float
    converged_ : bool
        Whether the rounds ended before `n_rounds` was reached.
    constraints_ : Constraints
        The pairs of `fit`.
    violations_ : PairTable
        Those of them that were broken.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from coterie import Constraints, GPKMeans, MPCKMeans
    >>> X, y = load_iris(return_X_y=True)
    >>> known = Constraints(150, must_link=[(54, 74), (110, 120)], cannot_link=[(77, 146)])
    >>> model = GPKMeans(MPCKMeans(3, random_state=0)).fit(X, constraints=known)
    >>> model.n_propagated_ > 3
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        threshold: float | str = "auto",
        reduce: str = "max",
        n_rounds: int = 10,
        start: str = "model",
        reduce_dim: Any = None,
        scale: str = "aim",
        radius: str = "euclidean",
        share_ends: bool = True,
        hard_weight: float = 1.0,
        max_pairs: int = 10_000_000,
        tol: float = 1e-6,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.threshold = threshold
        self.reduce = reduce
        self.n_rounds = n_rounds
        self.start = start
        self.reduce_dim = reduce_dim
        self.scale = scale
        self.radius = radius
        self.share_ends = share_ends
        self.hard_weight = hard_weight
        self.max_pairs = max_pairs
        self.tol = tol
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any = None, *, constraints: Any = None, sample_weight: Any = None
    ) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features), or rows in files
            In files if the estimator inside reads them; rows near a pair are then found by passes.
        y : ignored
        constraints : Constraints, optional
        sample_weight : array-like of shape (n_samples,), optional
            Passed on to the estimator.
        """
        check_parameters(self)
        self._check_parameters(X)
        X, known, weights = self._check_fit_input(X, y, constraints, sample_weight)
        fit_params = {} if weights is None else {"sample_weight": weights}
        first = self._fresh_inner(self._rng(), weights)
        model = clone(first).fit(X, constraints=known, **fit_params)
        if self.start == "centers" and not hasattr(model, "distortion_params_"):
            raise InvalidParameter(
                f"{type(first).__name__} does not start from centres alone; use start='model'."
            )
        given, threshold = known, self._options().threshold
        objectives, seen = [_objective(model)], {_digest(model.labels_)}
        converged = not (known.weight > 0).any()  # nothing to propagate
        near = None if converged or self.reduce_dim is None else self._space(X, known)
        while not converged and len(objectives) <= self.n_rounds:
            given, threshold = self._propagate(X, near, model, known)
            model = self._run_again(first, model, X, given, fit_params)
            objectives.append(_objective(model))
            labels = _digest(model.labels_)
            converged = labels in seen or _settled(objectives, self.tol)
            seen.add(labels)
            logger.debug("round %d: %r", len(objectives) - 1, given)
            if not keep_going(len(objectives) - 1, self.n_rounds, objectives[-1]):
                break
        self._publish(model, known, given)
        self.objective_history_ = np.array(objectives)
        self.objective_ = objectives[-1]
        self.n_rounds_ = len(objectives) - 1
        self.converged_ = bool(converged)
        self.threshold_ = threshold
        self._say_if_nothing_was_propagated(X.shape[1] if near is None else near.shape[1])
        return self

    @property
    def _reads_stored_rows(self) -> bool:  # type: ignore[override]
        """Whether all inside do."""
        return not self._needing_memory()

    @property
    def _instead(self) -> str:  # type: ignore[override]
        return (
            f"It reads files if all inside does, and {' and '.join(self._needing_memory())} "
            "cannot: put PCKMeans or another estimator that reads them inside, and RCA or nothing "
            "as reduce_dim."
        )

    def _needing_memory(self) -> list[str]:
        """Names of what is inside and works on rows in memory alone."""
        inner = self._inner()
        inside = [step for _, step in inner.steps] if isinstance(inner, Pipeline) else [inner]
        inside += [] if self.reduce_dim is None else [self.reduce_dim]
        inside = [each for each in inside if each not in ("passthrough", None)]
        reads = [bool(getattr(each, "_reads_stored_rows", False)) for each in inside]
        return [type(each).__name__ for each, able in zip(inside, reads, strict=True) if not able]

    def _say_if_nothing_was_propagated(self, n_columns: int) -> None:
        """Once a fit; a threshold of 1 asks for it, and so do no pairs."""
        if self.n_propagated_ or not self.n_rounds_ or self.threshold == 1:
            return
        lower = "" if self.threshold == "auto" else 'threshold="auto", '
        fewer = max(2, min(5, n_columns // 2))
        warn(
            f"none of the {self.constraints_.n_pairs} pairs was propagated: in {n_columns} "
            f"column(s) no row is near the ends of a pair at threshold={self.threshold_:g}, so "
            f"that this is {type(self.estimator_).__name__} run again. Try {lower}"
            f"reduce_dim=PCA({fewer}), or GraphPropagation, which is for many columns.",
        )

    def _options(self) -> Options:
        return Options.checked(
            self.threshold, self.reduce, self.share_ends, self.hard_weight, self.max_pairs
        )

    def _check_parameters(self, X: Any) -> None:
        self._options()
        Fitting.checked(self.scale, self.radius)
        if issparse(X) and self.reduce_dim is None:
            raise InvalidData(
                "sparse rows have no Gaussian neighbourhoods: give reduce_dim, for instance "
                "TruncatedSVD(20), or use GraphPropagation."
            )

    def _propagate(self, X: Any, near: Any, model: Any, known: Constraints) -> Spread:
        """The pairs and those propagated by the clusters of `model`, in the space `near` if any."""
        if near is None and isinstance(model, PipelineClusterer):
            space = model.space(X)  # distances there are those of the metric it learned
            labels, centers, metrics = cluster_shape(model.last_step, space)
        else:
            space = X if near is None else near
            labels, centers, metrics = cluster_shape(model, space)
        fitting = Fitting.checked(self.scale, self.radius)
        clusters = read_clusters(space, labels, centers, metrics if near is None else None, fitting)
        certainty = self._default_certainty(model)
        return spread(known, neighborhoods(space, clusters), self._options(), certainty)

    def _run_again(
        self, first: Any, model: Any, X: Any, given: Constraints, fit_params: dict[str, Any]
    ) -> Any:
        """The estimator run from `model` (Fig. 3.1, step 3c); its parameters are as before.

        One without `init` makes its own start from the pairs it is given (`Mosaic`).
        """
        again = clone(first)
        params = first.get_params(deep=False)
        if "init" not in params:
            return again.fit(X, constraints=given, **fit_params)
        again.set_params(init=model.cluster_centers_ if self.start == "centers" else model)
        again.fit(X, constraints=given, **fit_params)
        return again.set_params(init=params["init"])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.sparse and self.reduce_dim is not None
        return tags


def _digest(labels: Array) -> bytes:
    """A few bytes that tell labels (n,) from others."""
    return hashlib.blake2b(np.ascontiguousarray(labels), digest_size=16).digest()


def _objective(model: Any) -> float:
    """The estimator's final objective; the bound of a mixture goes the other way."""
    if hasattr(model, "objective_"):
        return float(model.objective_)
    return -float(model.lower_bound_) if hasattr(model, "lower_bound_") else float("nan")


def _settled(objectives: list[float], tol: float) -> bool:
    """Whether the last two propagated runs ended alike; the first run had other pairs."""
    if len(objectives) < 3:
        return False
    before, now = objectives[-2:]
    return abs(now - before) <= tol * max(abs(now), abs(before))
