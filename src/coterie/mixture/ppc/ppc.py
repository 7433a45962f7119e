"""PPC: penalized probabilistic clustering (Lu and Leen 2007, cited as PPC in this folder)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from coterie.base import broken_pairs
from coterie.constraints import Constraints, PairTable
from coterie.exceptions import ApproximationWarning, InvalidParameter
from coterie.inference import engines
from coterie.mixture.ppc.all_rows import posterior_of_all
from coterie.mixture.ppc.core import CoreGraph, PpcSettings
from coterie.mixture.ppc.covariances import COVARIANCES
from coterie.mixture.ppc.em import EmRun, PpcProblem, best_run, make_problem
from coterie.mixture.ppc.fitted import FittedMixture
from coterie.mixture.ppc.gaussians import RowWeights
from coterie.mixture.ppc.posteriors import pair_posteriors
from coterie.mixture.ppc.preparation import (
    Starts,
    find_starts,
    fit_rows,
    make_prior,
    picked_for_being_apart,
)
from coterie.mixture.ppc.report import describe, warn_of_doubts
from coterie.mixture.ppc.selection import choose_type
from coterie.mixture.ppc.start import INITS, StartRows, type_of
from coterie.mixture.suspects import suspects
from coterie.validation import check_choice, check_count
from coterie.words import warn

__all__ = ["PPC"]

SAMPLING = ("point", "chunklet")
WEIGHTS_UPDATE = ("gradient", "proportions", "nonoverlapping", "grid")


class PPC(FittedMixture):
    r"""Gaussian mixture with must-link and cannot-link pairs in the prior of the assignments.

    Maximises the penalised likelihood of Lu and Leen (2007, equation 2.6),

    .. math:: P(X) = \frac{1}{\Omega} \sum_Z \prod_i \pi_{z_i} N(x_i | \mu_{z_i}, \Sigma_{z_i})
        \prod_{ML} e^{-w_{ij} 1[z_i \ne z_j]} \prod_{CL} e^{-w_{ij} 1[z_i = z_j]},

    by EM, where w is the strength of a pair: log(γ/(1 − γ)) for a pair that is right with
    probability γ, infinite for a hard one. Posteriors of rows in pairs are exact where the
    graph of the pairs is narrow, which it is for pairs picked at random.

    Parameters
    ----------
    n_components : int, default=2
        Number of clusters.
    covariance_type : {"auto", "full", "tied", "diag", "spherical"}, default="auto"
        "auto" compares all four from the first start (on a sample of many rows): by how well the
        mixture foretells the answers, and where that does not decide by Akaike's criterion.
    inference : str, default="auto"
        How the posterior of rows in pairs is found: "auto", "exact", "mean_field",
        "structured_mean_field", "gibbs" or "belief_propagation". "auto" is exact wherever that is
        affordable and mean field elsewhere; "exact" refuses (`TooWide`) what is not.
    sampling : {"point", "chunklet"}, default="point"
        Whether each row of a group joined by hard must-links is drawn by the weights of the
        clusters (assumption 2, the paper's own) or the group once (assumption 1).
    weights_update : {"gradient", "proportions", "nonoverlapping", "grid"}, default="gradient"
        How the clusters' weights are found: by ascent on the objective, with log Ω exact where
        the graph is narrow and of a spanning forest where it is wide; as the shares of the rows,
        without Ω (pairs are then answers like data and not a prior); as if no two pairs shared a
        row, which is refused where it has no maximum; or by the paper's grid of step 0.01 (at
        most 5 clusters). Where all pairs are cannot-links, the rows in no pair are not like new
        rows, and after the ascent `weights_` are the shares of all rows.
    components_per_cluster : int, default=1
        Gaussians that make up each cluster. Pairs act on clusters.
    default_certainty : float, default=0.95
        Probability that a pair given without a certainty is right.
    prior_rows : float or "auto", default="auto"
        How many rows the prior of each covariance counts as: it draws them to the covariance
        within all clusters together and keeps them from being thinner than values are recorded,
        both in the scale of each column. "auto" is n_features + 1; 0 is no prior, and with
        `reg_covar=1e-6` GaussianMixture's likelihood.
    reg_covar : float, default=0
        Added to the diagonal of every covariance, in the units of the data, squared.
    passes : int, (int, int) or "auto", default="auto"
        Gibbs samples, mean-field sweeps or most sweeps of messages in an E-step that is not exact.
        Of two numbers the first is doubled whenever EM comes to rest, up to the second
        (Lu and Leen 2007, section 6). "auto" is 60 samples, 1 sweep, 200 sweeps.
    n_init : int, default=1
        Number of starts; the one with the highest bound is kept (by mean field where `inference`
        gives an estimate). Of more than 5 the first 5 and the 5 others that are best after 10
        iterations are run to the end; two thirds of the others stop after 4, and again after 7.
    init : {"neighborhoods", "mosaic", "kmeans", "random"}, array or fitted model
        A short PCKMeans run, a run of Mosaic, scikit-learn's KMeans, wide Gaussians on random
        rows, or the nearest of given means (n_components, n_features); or a fitted PPC or
        GaussianMixture to go on from. The second start of "neighborhoods" is "mosaic" (if there
        are pairs), those after it are "random"; the mixture fitted without pairs is tried as
        well, and gone on with if it is better after 10 iterations.
    max_iter : int, default=100
    tol : float, default=1e-3
        Stop when the bound, per row, changes by less.
    random_state : int, RandomState or None
    warm_start : bool, default=False
        Start from the last fit: after new answers, cluster numbers stay what they were.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The most probable joint assignment where inference is exact, elsewhere each row's most
        probable cluster; no hard pair is broken.
    resp_ : ndarray of shape (n_samples, n_components)
        Posterior of each row's cluster given all rows and pairs. There is none where the rows are
        not in memory: it may be larger than they are.
    paired_rows_, paired_resp_ : ndarray of shape (r,), (r, n_components)
        The rows that pairs speak of, and their posteriors: known wherever the rows are.
    weights_ : ndarray of shape (n_components * components_per_cluster,)
        Components of a cluster stand together.
    means_ : ndarray of shape (n_components * components_per_cluster, n_features)
    covariance_type_ : str
        The type fitted.
    covariances_, precisions_, precisions_cholesky_ : ndarray
        In the shapes of scikit-learn's GaussianMixture.
    lower_bound_ : float
        Penalised log-likelihood per row, with the logarithm of the covariances' prior (at most 0);
        a lower bound of it where mean field or the Ω of a
        spanning forest is used, an estimate with Gibbs sampling, belief propagation and
        `weights_update="nonoverlapping"`: `inference_report_["lower_bound"]` says which.
    lower_bounds_ : list of float
        Its value in each iteration. It never falls while inference is exact.
    pair_posteriors_ : ndarray of shape (n_pairs,)
        For each pair of `constraints`, in their order, the posterior probability that its two rows
        share a cluster.
    violations_ : PairTable
        Pairs that `labels_` break, with their strengths.
    inference_report_ : dict
        Rows inferred exactly, approximately and without pairs; the largest width; engines used;
        what log Ω and the bound are, and where log Ω is not exact the range it lies in.
    n_iter_ : int
    converged_ : bool

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import Constraints
    >>> from coterie.mixture import PPC
    >>> X = np.array([[0.0], [1.0], [1.2], [6.0], [7.0], [7.1]])
    >>> known = Constraints(6, must_link=[(0, 1)], cannot_link=[(2, 3), (1, 5)])
    >>> model = PPC(2, random_state=0).fit(X, constraints=known)
    >>> (model.pair_posteriors_ > 0.5).tolist()
    [True, False, False]
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        covariance_type: str = "auto",
        inference: str = "auto",
        sampling: str = "point",
        weights_update: str = "gradient",
        components_per_cluster: int = 1,
        default_certainty: float = 0.95,
        prior_rows: Any = "auto",
        reg_covar: float = 0.0,
        passes: Any = "auto",
        n_init: int = 1,
        init: Any = "neighborhoods",
        max_iter: int = 100,
        tol: float = 1e-3,
        random_state: Any = None,
        warm_start: bool = False,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.inference = inference
        self.sampling = sampling
        self.weights_update = weights_update
        self.components_per_cluster = components_per_cluster
        self.default_certainty = default_certainty
        self.prior_rows = prior_rows
        self.reg_covar = reg_covar
        self.passes = passes
        self.n_init = n_init
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.warm_start = warm_start

    _reads_stored_rows = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True  # gaps are integrated out
        return tags

    # -- fit -----------------------------------------------------------------------------------
    def fit(
        self, X: Any, y: Any = None, *, constraints: Any = None, sample_weight: Any = None
    ) -> Self:
        """Fit the mixture to the rows of X and what is known about pairs of them.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features), or rows in files
            NaN where a value is not known: it is integrated out, exactly. Rows in files
            (`coterie.data.open_rows`, Dask) are read by passes and may hold no NaN.
        y : ignored
            Present for scikit-learn's conventions. Known labels enter by
            `Constraints.from_labels`.
        constraints : Constraints, optional
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts. The copies of a row in a pair share its cluster.
        """
        X, constraints, weights = self._check_fit_input(X, y, constraints, sample_weight)
        k = self._check_parameters(X.shape[0])
        if constraints.is_hard.any():
            constraints.check_feasible(k, hard_only=True)
        rng = check_random_state(self.random_state)
        settings = PpcSettings(
            self.inference, self.sampling, self.default_certainty, _check_passes(self.passes)
        )
        core = CoreGraph(constraints, k, settings, int(rng.randint(2**31 - 1)), weights)
        rows, given = fit_rows(X, weights)
        if (fallback := core.fallback()) is not None:
            warn(fallback, ApproximationWarning)
        starts = self._starts(given, constraints, rng)
        shape = self._shape(prior=make_prior(rows, starts, self.prior_rows))
        problem = make_problem(rows, RowWeights(given.weights), core, shape, self.weights_update)
        problem, best = self._run(problem, starts, constraints)
        if not best.converged:
            warn(
                f"EM did not come to rest in {self.max_iter} iterations. Raise max_iter or tol.",
                ConvergenceWarning,
            )
        self._publish(problem, constraints, best)
        return self

    def _check_parameters(self, n_samples: int) -> int:
        k, per_cluster = int(self.n_components), int(self.components_per_cluster)
        if k * per_cluster > n_samples:
            raise InvalidParameter(
                f"n_samples={n_samples} should be >= {k * per_cluster}, the number of components: "
                "lower n_components or components_per_cluster, or give more rows."
            )
        check_choice("covariance_type", self.covariance_type, ("auto", *COVARIANCES))
        check_choice("inference", self.inference, engines(marginals=True))
        check_choice("sampling", self.sampling, SAMPLING)
        check_choice("weights_update", self.weights_update, WEIGHTS_UPDATE)
        if isinstance(self.init, str):
            check_choice("init", self.init, INITS)
        return k

    def _starts(
        self, given: StartRows, constraints: Constraints, rng: np.random.RandomState
    ) -> Starts:
        """Where to begin."""
        model = self if self.warm_start and hasattr(self, "means_") else self.init
        if hasattr(model, "means_"):
            return Starts(given, model=model)
        n_starts = int(self.n_init) if isinstance(self.init, str) else 1
        return find_starts(given, constraints, self._shape(), self.init, n_starts, rng)

    def _run(
        self, problem: PpcProblem, starts: Starts, constraints: Constraints
    ) -> tuple[PpcProblem, EmRun]:
        """The best of the starts, with the covariance type given or chosen."""
        limits = self.max_iter, self.tol
        wanted = self.covariance_type
        if wanted == "auto":
            if starts.model is None:
                wanted, run = choose_type(
                    problem, starts, constraints, self.init, self.weights_update, *limits
                )
            else:
                wanted, run = type_of(starts.model), None
            problem = problem.reshaped(problem.shape._replace(covariance_type=wanted))
            if run is not None:
                return problem, run
        mixtures = starts.mixtures(problem, *limits)
        return problem, best_run(problem, mixtures, self.n_init, *limits)

    def _publish(self, problem: PpcProblem, constraints: Constraints, best: EmRun) -> None:
        mixture, core = best.state.mixture, problem.core.core
        found = posterior_of_all(
            problem.rows, problem.core, mixture, constraints, best.state.memory, problem.weights
        )
        if self.weights_update == "gradient" and picked_for_being_apart(constraints):
            mixture = mixture.with_cluster_weights(found.totals / problem.total)
        self.covariance_type_ = problem.shape.covariance_type
        self.paired_rows_, self.paired_resp_ = found.paired
        if found.resp is not None:
            self.resp_ = found.resp
        elif hasattr(self, "resp_"):  # of an earlier fit
            del self.resp_
        self.labels_ = found.labels
        self.weights_ = mixture.weights
        self.means_ = mixture.means + problem.rows.origin
        self.covariances_ = mixture.covariances
        self.precisions_cholesky_ = mixture.factors
        self.precisions_ = problem.shape.covariance.precisions(mixture.factors)
        self.lower_bounds_ = best.bounds
        self.lower_bound_ = best.bounds[-1]
        self.n_iter_ = len(best.bounds)
        self.converged_ = best.converged
        self.constraints_ = constraints
        self.pair_posteriors_ = pair_posteriors(constraints, core, found.together, found.core)
        self.violations_ = broken_pairs(found.labels, constraints, problem.core.strength)
        pi = mixture.cluster_weights
        self.inference_report_ = describe(problem, pi, found.core, self.weights_update)
        warn_of_doubts(pi, found.totals, problem.total, found.core)

    # -- pairs ---------------------------------------------------------------------------------
    def suspect_pairs(self, k: int = 10) -> PairTable:
        """The `k` pairs most likely wrong, each with the posterior probability that it is.

        A must-link is wrong if its rows do not share a cluster, a cannot-link if they do; the
        posterior weighs the rows and all other pairs against the pair's own certainty. Hard
        pairs are right by decree and never listed.
        """
        check_is_fitted(self)
        return suspects(self.constraints_, self.pair_posteriors_, check_count("k", k))


def _check_passes(passes: Any) -> tuple[int, int] | None:
    """First and last number of passes; None for "auto"."""
    if isinstance(passes, str) and passes == "auto":
        return None
    first, last = map(int, (passes, passes) if np.ndim(passes) == 0 else passes)
    if first > last:
        raise InvalidParameter(f"passes={passes!r} must rise: give (first, last) in that order.")
    return first, last
