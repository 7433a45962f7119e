"""TVClust: a Dirichlet process mixture of the rows and a noisy graph of the answers, two views of
one clustering (Khashabi et al. 2015, whose equations are cited by number in this folder).
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from coterie._typing import FloatArray
from coterie.base import broken_pairs, refuse_stored_rows
from coterie.constraints import Constraints, PairTable
from coterie.data import Rows, StoredRows, each_row, join, keeping, map_blocks, without_gaps
from coterie.exceptions import InvalidParameter
from coterie.extension import ExtensibleClusterer, Placed, Places
from coterie.mixture.suspects import suspects
from coterie.mixture.tvclust.gibbs import spread
from coterie.mixture.tvclust.model import (
    COUNTS,
    FAMILIES,
    covariance_type_of,
    covariance_types,
    model_family,
    model_priors,
    round_family,
)
from coterie.mixture.tvclust.pairs import AnswerLogs, PairEvidence
from coterie.mixture.tvclust.passes import Comparison, Components, densities, likeliest, shares
from coterie.mixture.tvclust.results import Chains, Result, gibbs_result, variational_result
from coterie.mixture.tvclust.search import (
    Ascent,
    Candidate,
    Problem,
    carry_over,
    climb,
    improve,
    search,
)
from coterie.mixture.tvclust.start import Measure, given_labels, measure_columns, measure_counts
from coterie.mixture.tvclust.variational import Priors, TwoViews
from coterie.validation import check_choice, check_count
from coterie.words import warn

__all__ = ["TVClust"]


_SOMETIMES = (  # attributes that some fits have
    "resp_", "lower_bounds_", "lower_bound_", "trace_", "samples_", "means_", "covariances_",
    "components_",
)  # fmt: skip


_GIBBS = (
    "A chain visits every row in every sweep; inference='variational' fits the same model to rows "
    "in files."
)


class TVClust(ExtensibleClusterer):
    """Two-view clustering: K is inferred, and so is how far the answers can be trusted.

    Rows come from a Dirichlet process mixture; a pair of rows in one cluster is answered "friends"
    with probability p, a pair in two clusters "strangers" with probability q (Khashabi et al.
    2015, equation 8). All is learned together, so answers that the rest of the data contradicts
    lose their weight.

    A pair's `weight` multiplies its log-likelihood. A pair with a `certainty` has p = q = that
    certainty, known. Hard pairs are never broken.

    Parameters
    ----------
    inference : {"variational", "gibbs"}, default "variational"
        Truncated stick-breaking variational Bayes, or collapsed Gibbs sampling.
    family : {"gaussian", "multinomial", "bernoulli", "poisson"}, default "gaussian"
        Gaussians; counts with a total of their own, such as words (multinomial); columns of 0 and 1
        (bernoulli); counts without (poisson). All but the first dense or CSR.
    truncation : int, default 50
        Most clusters the variational method can use. A larger one changes no result that it allows.
    covariance_type : {"auto", "full", "tied", "diag", "spherical"}, default "auto"
        Gaussian: a covariance matrix for each cluster, one for all, a variance for each column, or
        one relative to the columns' scale. "auto" compares all four, by how well the answers are
        foretold and then by the bound.
    alpha : float or (shape, rate), default 1.0
        Concentration of the Dirichlet process, or its Gamma prior.
    p, q : float, optional
        How far friends and strangers can be trusted, where that is known. None: learned.
    p_prior, q_prior : (a, b), default (10, 1)
        Beta priors of p and q where they are learned: before any evidence a pair speaks with about
        the voice of a certainty of 0.95.
    standardize : bool, default True
        Gaussian: scale the prior to each column, which is the same as dividing each column by its
        standard deviation. False: one scale for all columns.
    covariance_prior : float, default 1.0
        Gaussian: expected covariance of a cluster before seeing its rows, relative to that scale.
    mean_precision_prior : float, default 1.0
        Gaussian: rows that the prior's mean is worth (kappa_0).
    degrees_of_freedom_prior : float, optional
        Gaussian: rows that the prior's covariance is worth (nu_0 > d + 1; 2 where columns are
        independent). None: one more than the least.
    concentration_prior : float, default 0.5
        Counts: rows, or counts, that the prior is worth in each column.
    init : "kmeans", array of labels (n,), or a fitted model, default "kmeans"
        "kmeans" starts from K-Means with 1, 2, 3, 5, 8, 13, ... clusters, as it is and drawn
        towards the pairs, and goes on by splitting and merging clusters.
    n_init : int, default 3
        Starts that are followed to their end, the most promising ones. Gibbs chains begin there.
    max_iter, tol : int and float, default 200 and 1e-5
        Variational: iterations, and the gain in the bound per row below which it ends.
    n_chains, n_sweeps, burn_in, thin : int, default 2, 300, 100 and 2
        Gibbs: chains, sweeps of each, sweeps forgotten, and every how many of the
        others one is kept.
    random_state : int, RandomState or None

    Attributes
    ----------
    labels_ : (n,) int32
    n_clusters_ : int
    p_, q_, alpha_ : float
        Posterior means: how far friends and strangers came to be trusted; the concentration.
    pair_posteriors_ : (m,)
        Posterior probability that each pair's rows share a cluster.
    violations_ : PairTable
        Pairs that `labels_` breaks, with their log-odds in nats.
    weights_ : (K,)
    covariance_type_ : str
        The type that "auto" chose; empty for counts.
    means_, covariances_ : (K, d), and (K, d, d), tied (d, d), else (K, d): Gaussian
    components_ : (K, d), counts: probabilities of the columns, of a 1, or rates
    blur_ : (d,)
        Gaussian: variance that values shared by many rows leave open in each column.
    resp_ : (n, K), lower_bound_, lower_bounds_ : variational
        Posterior of each row under the constraints; the bound after each iteration, never falling.
        No `resp_` where the rows are not in memory: it would be as large as they are.
    trace_ : dict of (n_chains, n_sweeps) arrays, Gibbs
        "log_joint", "n_clusters", "p", "q" and "alpha" of every sweep.
    samples_ : (S, n) int32, Gibbs
        Labels of every sweep that was kept, chain after chain.
    n_iter_, converged_

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from coterie import Constraints
    >>> from coterie.mixture import TVClust
    >>> X, y = load_wine(return_X_y=True)
    >>> known = [k if i % 10 == 0 else -1 for i, k in enumerate(y)]
    >>> answers = Constraints.from_labels(known)
    >>> model = TVClust(random_state=0).fit(X, constraints=answers)
    >>> model.n_clusters_
    3
    """

    _reads_stored_rows = True

    def __init__(
        self,
        inference: str = "variational",
        family: str = "gaussian",
        truncation: int = 50,
        *,
        covariance_type: str = "auto",
        alpha: float | tuple[float, float] = 1.0,
        p: float | None = None,
        q: float | None = None,
        p_prior: tuple[float, float] = (10.0, 1.0),
        q_prior: tuple[float, float] = (10.0, 1.0),
        standardize: bool = True,
        covariance_prior: float = 1.0,
        mean_precision_prior: float = 1.0,
        degrees_of_freedom_prior: float | None = None,
        concentration_prior: float = 0.5,
        init: Any = "kmeans",
        n_init: int = 3,
        max_iter: int = 200,
        tol: float = 1e-5,
        n_chains: int = 2,
        n_sweeps: int = 300,
        burn_in: int = 100,
        thin: int = 2,
        random_state: Any = None,
    ) -> None:
        self.inference = inference
        self.family = family
        self.truncation = truncation
        self.alpha = alpha
        self.covariance_type = covariance_type
        self.p = p
        self.q = q
        self.p_prior = p_prior
        self.q_prior = q_prior
        self.standardize = standardize
        self.covariance_prior = covariance_prior
        self.mean_precision_prior = mean_precision_prior
        self.degrees_of_freedom_prior = degrees_of_freedom_prior
        self.concentration_prior = concentration_prior
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.n_chains = n_chains
        self.n_sweeps = n_sweeps
        self.burn_in = burn_in
        self.thin = thin
        self.random_state = random_state

    # -- fitting ---------------------------------------------------------------------------
    def fit(
        self, X: Any, y: Any = None, *, constraints: Any = None, sample_weight: Any = None
    ) -> Self:
        """Cluster the rows of `X` (n, d) with the pairs known; `y` is ignored.

        `sample_weight` says how often a row counts; the Gibbs sampler takes none.
        """
        X, pairs, weights = self._check_fit_input(X, y, constraints, sample_weight)
        inference = check_choice("inference", self.inference, ("variational", "gibbs"))
        check_choice("family", self.family, FAMILIES)
        ascent = Ascent(
            self.truncation,
            model_priors(self),
            self.max_iter,
            self.tol,
        )
        if inference == "gibbs" and isinstance(X, StoredRows):
            refuse_stored_rows("TVClust(inference='gibbs')", _GIBBS)
        if inference == "gibbs" and weights is not None:
            raise InvalidParameter(
                "inference='gibbs' takes no sample_weight: a row is sampled whole; use "
                "inference='variational'."
            )
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        measure, problem = self._problem(X, pairs, np.empty(0) if weights is None else weights)
        best = self._ascents(X, problem, ascent, rng)
        self._warn_if_full(best[0], ascent.truncation)
        if inference == "variational":
            self._warn_if_unfinished(best[0])
            found = variational_result(best[0])
        else:
            found = self._fit_gibbs(best, measure, ascent.priors, rng)
        self._publish(best[0].data, pairs, found, measure)
        return self

    def _problem(self, X: Any, pairs: Constraints, weights: FloatArray) -> tuple[Measure, Problem]:
        if self.family in COUNTS:
            measure, rows = measure_counts(X, self.family), Rows(X)
            comparable = Comparison(np.empty(0))
        else:
            measure = measure_columns(X, weights, self.standardize)
            rows, comparable = Rows(X, shift=measure.origin), Comparison(np.sqrt(measure.variance))
        evidence = PairEvidence(pairs)
        rows = keeping(rows, evidence.core.rows)
        families = [model_family(self, measure, kind) for kind in covariance_types(self)]
        views = [TwoViews(rows, weights, evidence, family) for family in families]
        return measure, Problem(views, comparable, round_family(families[0], measure))

    def _ascents(
        self, X: Any, problem: Problem, ascent: Ascent, rng: np.random.Generator
    ) -> list[Candidate]:
        """Runs on all rows, the best first."""
        if not isinstance(self.init, str):
            labels = given_labels(self.init, X, ascent.truncation)
            runs = [climb(view, labels, ascent, rng) for view in problem.views]
            return sorted(runs, key=lambda run: -run.bound)[:1]
        runs = search(problem, ascent, self.n_init, rng)
        runs[0] = improve(runs[0], problem.comparable, ascent, rng)
        if runs[0].data.rows.n == X.shape[0]:
            return runs
        view = problem.views[0]._replace(family=runs[0].data.family)
        whole = climb(view, carry_over(view, runs[0].run.factors), ascent, rng)
        return [improve(whole, problem.comparable, ascent, rng)]

    def _warn_if_unfinished(self, best: Candidate) -> None:
        if not best.run.converged:
            warn(
                f"the bound still rose after max_iter={self.max_iter} iterations; raise max_iter.",
            )

    def _warn_if_full(self, best: Candidate, truncation: int) -> None:
        """Say it where a larger truncation might have found more clusters."""
        used = np.count_nonzero(best.run.factors.statistics[:, 0] >= 0.5)
        if 1 < truncation <= used < best.data.rows.n:
            warn(
                f"all truncation={truncation} components are in use; raise truncation to let more "
                "clusters be found.",
            )

    def _fit_gibbs(
        self, runs: list[Candidate], measure: Measure, priors: Priors, rng: np.random.Generator
    ) -> Result:
        chains = Chains(self.n_chains, self.n_sweeps, self.burn_in, self.thin)
        if chains.burn_in >= chains.n_sweeps:
            raise InvalidParameter(
                f"burn_in={self.burn_in} forgets all n_sweeps={self.n_sweeps} sweeps; lower it."
            )
        kind = covariance_type_of(runs[0].data.family)
        sharp = model_family(self, measure._replace(blur=np.zeros_like(measure.blur)), kind)
        sampled = spread(runs[0].data, sharp, measure.blur, rng)
        return gibbs_result(runs, sampled, chains, priors, rng)

    def _publish(self, data: TwoViews, pairs: Constraints, found: Result, measure: Measure) -> None:
        for name in _SOMETIMES:
            self.__dict__.pop(name, None)
        used = np.unique(found.labels)
        self.labels_ = without_gaps(found.labels)
        self.n_clusters_ = len(used)
        self.statistics_ = found.statistics[used]
        self.weights_ = found.weights[used] / found.weights[used].sum()
        self.p_, self.q_, self.alpha_ = found.p, found.q, found.alpha
        self.pair_posteriors_ = found.agreement
        for name, value in found.fitted.items():
            setattr(self, name, value)
        if "resp_" in found.fitted:
            kept = found.fitted["resp_"][:, used]
            kept /= kept.sum(axis=1, keepdims=True)
            self.resp_ = kept
        self.origin_, self.prior_scale_, self.blur_ = measure
        self.covariance_type_ = covariance_type_of(data.family)
        for name, value in data.family.describe(self.statistics_, self.origin_).items():
            setattr(self, name, value)
        together, apart = data.evidence.pair_logs(AnswerLogs.at(self.p_, self.q_))
        cost = np.where(pairs.is_hard, np.inf, np.abs(together - apart))
        self.violations_ = broken_pairs(self.labels_, pairs, cost)
        self.constraints_ = pairs

    # -- answers ---------------------------------------------------------------------------
    def suspect_pairs(self, k: int | None = 10) -> PairTable:
        """The `k` soft pairs most likely wrong (None: all), each with that probability.

        A must-link is wrong if its rows are apart, a cannot-link if they are together, given
        everything: the rows, all other answers, and the answer itself.
        """
        check_is_fitted(self)
        number = None if k is None else check_count("k", k)
        return suspects(self.constraints_, self.pair_posteriors_, number)

    # -- cluster numbers, and rows that join -------------------------------------------------
    def _count_clusters(self) -> int:
        return int(self.n_clusters_)

    def _put_in_order(self, order: NDArray[np.int64]) -> None:
        self.statistics_, self.weights_ = self.statistics_[order], self.weights_[order]
        if hasattr(self, "resp_"):
            self.resp_ = self.resp_[:, order]
        family = model_family(self, self._measure(), self.covariance_type_)
        for name, value in family.describe(self.statistics_, self.origin_).items():
            setattr(self, name, value)

    def _measure(self) -> Measure:
        return Measure(self.origin_, self.prior_scale_, self.blur_)

    def _places(self, X: Any) -> Places:
        """Minus the log posterior of each cluster; a pair costs the log-odds of p_ and q_."""
        chance = np.asarray(self.predict_proba(X), dtype=np.float64)
        with np.errstate(divide="ignore"):
            costs = -np.log(np.maximum(chance, np.finfo(np.float64).tiny))
        together = np.log(self.p_ / max(1 - self.q_, 1e-12))
        apart = np.log(self.q_ / max(1 - self.p_, 1e-12))
        return Places(costs, float(max((together + apart) / 2, 0.0)))

    def _admit(self, X: Any, placed: Placed) -> None:
        if hasattr(self, "resp_"):
            self.resp_ = np.concatenate([self.resp_, self.predict_proba(X)])

    # -- new rows --------------------------------------------------------------------------
    def _new_rows(self, X: Any) -> tuple[Rows, Components]:
        """New rows, and ln [E pi_k p(x | rows of k)] of every cluster as a pass takes it."""
        check_is_fitted(self)
        X = self._check_new_rows(X)
        family = model_family(self, self._measure(), self.covariance_type_)
        score = family.predictive_scores(self.statistics_)
        rows = Rows(X) if self.family in COUNTS else Rows(X, shift=self.origin_)
        return rows, Components(family, score, np.log(self.weights_))

    def predict_proba(self, X: Any) -> Any:
        """Posterior predictive probability of each cluster for new rows, (n, K).

        Of rows not in memory as `coterie.data.DerivedRows`, which are worked out as they are read.
        """
        rows, components = self._new_rows(X)
        return each_row(rows, shares, components, self.n_clusters_)

    def predict(self, X: Any) -> NDArray[np.int32]:
        """The likeliest cluster of each new row, (n,)."""
        rows, components = self._new_rows(X)
        return join(map_blocks(rows, likeliest, components), rows.n)

    def score_samples(self, X: Any) -> FloatArray:
        """Log posterior predictive density of each row, (n,)."""
        rows, components = self._new_rows(X)
        return join(map_blocks(rows, densities, components), rows.n)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        counts = self.family in COUNTS
        tags.input_tags.sparse = counts
        tags.input_tags.positive_only = counts
        return tags
