"""TVClust: a Dirichlet process mixture of the rows and a noisy graph of the answers, two views of
one clustering (Khashabi et al. 2015, whose equations are cited by number in this folder).
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from coterie._typing import FloatArray
from coterie.base import ConstrainedClusterer, broken_pairs
from coterie.constraints import Constraints, PairTable
from coterie.data import Rows, map_blocks
from coterie.exceptions import CoterieWarning, InvalidParameter
from coterie.mixture.suspects import suspects
from coterie.mixture.tvclust.families import Family, Gaussian, Multinomial
from coterie.mixture.tvclust.gibbs import run_gibbs
from coterie.mixture.tvclust.pairs import AnswerLogs, Beta, PairEvidence
from coterie.mixture.tvclust.passes import Components, row_scores
from coterie.mixture.tvclust.start import measure_columns, measure_counts, starting_labels
from coterie.mixture.tvclust.variational import (
    Alpha,
    Priors,
    TwoViews,
    Variational,
    label_statistics,
    responsibilities,
    run_variational,
)
from coterie.validation import check_choice, check_count, check_real

__all__ = ["TVClust"]


class _Result(NamedTuple):
    """What either way of inference leaves behind."""

    labels: NDArray[np.int64]  # (n,), any numbering
    statistics: FloatArray  # (T, width)
    weights: FloatArray  # (T,)
    p: float
    q: float
    alpha: float
    agreement: FloatArray  # (m,)
    fitted: dict[str, Any]


class TVClust(ConstrainedClusterer):
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
    family : {"gaussian", "multinomial"}, default "gaussian"
        Gaussians with full covariances, or counts (dense or CSR).
    truncation : int, default 20
        Most clusters the variational method can use, and the start of either.
    alpha : float or (shape, rate), default 1.0
        Concentration of the Dirichlet process, or its Gamma prior.
    p_prior, q_prior : (a, b), default (10, 1)
        Beta priors of p and q: before any evidence a pair speaks with about the voice of a
        certainty of 0.95.
    standardize : bool, default True
        Gaussian: scale the prior to each column, which is the same as dividing each column by its
        standard deviation. False: one scale for all columns.
    covariance_prior : float, default 1.0
        Gaussian: expected covariance of a cluster before seeing its rows, relative to that scale.
    mean_precision_prior : float, default 1.0
        Gaussian: rows that the prior's mean is worth (kappa_0).
    degrees_of_freedom_prior : float, optional
        Gaussian: rows that the prior's covariance is worth (nu_0 > d + 1). None: d + 2.
    concentration_prior : float, default 0.5
        Multinomial: the Dirichlet prior's count per column.
    init : "kmeans", array of labels (n,), or a fitted model, default "kmeans"
        K-Means with 2 up to `truncation` clusters, one number a start.
    n_init : int, default 6
        Starts. The variational method keeps the run with the highest bound; Gibbs chains start
        from the best runs.
    max_iter, tol : int and float, default 200 and 1e-5
        Variational: iterations, and the gain in the bound per row below which it ends.
    n_chains, n_sweeps, burn_in, thin : int, default 2, 300, 100 and 2
        Gibbs: chains, sweeps of each, sweeps forgotten, and every how many of the
        others one is kept.
    random_state : int, RandomState or None

    Attributes
    ----------
    labels_ : (n,) int64
    n_clusters_ : int
    p_, q_, alpha_ : float
        Posterior means: how far friends and strangers came to be trusted; the concentration.
    pair_posteriors_ : (m,)
        Posterior probability that each pair's rows share a cluster.
    violations_ : PairTable
        Pairs that `labels_` breaks, with their log-odds in nats.
    weights_ : (K,)
    means_, covariances_ : (K, d), (K, d, d), Gaussian
    components_ : (K, d), multinomial: the probabilities of the columns
    resp_ : (n, K), lower_bound_, lower_bounds_ : variational
        Posterior of each row under the constraints; the bound after each iteration, never falling.
    trace_ : dict of (n_chains, n_sweeps) arrays, Gibbs
        "log_joint", "n_clusters", "p", "q" and "alpha" of every sweep.
    n_iter_, converged_

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from coterie import Constraints
    >>> from coterie.mixture import TVClust
    >>> X, y = load_wine(return_X_y=True)
    >>> model = TVClust(random_state=0).fit(X, constraints=Constraints(178, must_link=[(0, 1)]))
    >>> model.n_clusters_
    3
    """

    def __init__(
        self,
        inference: str = "variational",
        family: str = "gaussian",
        truncation: int = 20,
        *,
        alpha: float | tuple[float, float] = 1.0,
        p_prior: tuple[float, float] = (10.0, 1.0),
        q_prior: tuple[float, float] = (10.0, 1.0),
        standardize: bool = True,
        covariance_prior: float = 1.0,
        mean_precision_prior: float = 1.0,
        degrees_of_freedom_prior: float | None = None,
        concentration_prior: float = 0.5,
        init: Any = "kmeans",
        n_init: int = 6,
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
        inference = check_choice("inference", self.inference, ("variational", "gibbs"))
        check_choice("family", self.family, ("gaussian", "multinomial"))
        priors = self._priors()
        truncation = check_count("truncation", self.truncation)
        X, pairs, weights = self._check_fit_input(X, y, constraints, sample_weight)
        if inference == "gibbs" and weights is not None:
            raise InvalidParameter(
                "inference='gibbs' takes no sample_weight: a row is sampled whole; use "
                "inference='variational'."
            )
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        row_weights = np.empty(0) if weights is None else weights
        if self.family == "multinomial":
            measure, rows = measure_counts(X), Rows(X)
        else:
            measure = measure_columns(X, row_weights, self.standardize)
            rows = Rows(X, shift=measure.origin)
        family = self._model_family(measure.variance, X.shape[1])
        data = TwoViews(rows, row_weights, PairEvidence(pairs), family)
        n_starts = check_count("n_init", self.n_init)
        starts = starting_labels(rows, X, self.init, n_starts, truncation, measure, rng)
        fit = self._fit_variational if inference == "variational" else self._fit_gibbs
        found = fit(data, starts, truncation, priors, rng)
        self.origin_, self.prior_scale_ = measure
        self._publish(data, pairs, found)
        return self

    def _priors(self) -> Priors:
        def beta(name: str) -> Beta:
            a, b = _two(name, getattr(self, name))
            return Beta(check_real(name, a, strict=True), check_real(name, b, strict=True))

        if isinstance(self.alpha, tuple | list):
            shape, rate = _two("alpha", self.alpha)
            alpha = Alpha(
                check_real("alpha", shape, strict=True), check_real("alpha", rate, strict=True)
            )
        else:
            alpha = Alpha(check_real("alpha", self.alpha, strict=True))
        return Priors(beta("p_prior"), beta("q_prior"), alpha)

    def _model_family(self, prior_scale: FloatArray, n_columns: int) -> Family:
        if self.family == "multinomial":
            return Multinomial(
                n_columns,
                check_real("concentration_prior", self.concentration_prior, strict=True),
            )
        d = len(prior_scale)
        nu0 = self.degrees_of_freedom_prior
        nu0 = d + 2.0 if nu0 is None else nu0
        nu0 = check_real("degrees_of_freedom_prior", nu0, least=d + 1.0, strict=True)
        kappa0 = check_real("mean_precision_prior", self.mean_precision_prior, strict=True)
        expected = check_real("covariance_prior", self.covariance_prior, strict=True)
        return Gaussian(prior_scale * (expected * (nu0 - d - 1)), kappa0, nu0)

    def _ascents(
        self, data: TwoViews, starts: Any, truncation: int, priors: Priors, rng: np.random.Generator
    ) -> list[Variational]:
        """A variational run from each start, the highest bound first."""
        max_iter, tol = check_count("max_iter", self.max_iter), check_real("tol", self.tol)
        runs = [
            run_variational(data, start, truncation, priors, max_iter=max_iter, tol=tol, rng=rng)
            for start in starts
        ]
        return sorted(runs, key=lambda run: -run.bounds[-1])

    def _fit_variational(
        self, data: TwoViews, starts: Any, truncation: int, priors: Priors, rng: np.random.Generator
    ) -> _Result:
        best = self._ascents(data, starts, truncation, priors, rng)[0]
        if not best.converged:
            warnings.warn(
                f"the bound still rose after max_iter={self.max_iter} iterations; raise max_iter.",
                CoterieWarning,
                stacklevel=4,
            )
        factors = best.factors
        resp = responsibilities(data, factors)
        fitted = {
            "resp_": resp,
            "lower_bounds_": best.bounds,
            "lower_bound_": float(best.bounds[-1]),
            "n_iter_": len(best.bounds),
            "converged_": best.converged,
        }
        return _Result(
            resp.argmax(axis=1).astype(np.int64),
            factors.statistics,
            factors.sticks.weights(),
            factors.p.mean,
            factors.q.mean,
            factors.alpha.mean,
            factors.agreement,
            fitted,
        )

    def _fit_gibbs(
        self, data: TwoViews, starts: Any, truncation: int, priors: Priors, rng: np.random.Generator
    ) -> _Result:
        n_sweeps = check_count("n_sweeps", self.n_sweeps)
        burn_in = check_count("burn_in", self.burn_in, least=0)
        thin = check_count("thin", self.thin)
        if burn_in >= n_sweeps:
            raise InvalidParameter(
                f"burn_in={burn_in} forgets all n_sweeps={n_sweeps} sweeps; lower it."
            )
        n_chains = check_count("n_chains", self.n_chains)
        if isinstance(self.init, str):  # chains are too slow to find a good region by themselves
            runs = self._ascents(data, starts, truncation, priors, rng)
            starts = [responsibilities(data, run.factors).argmax(axis=1) for run in runs[:n_chains]]
        starts = [starts[c % len(starts)] for c in range(n_chains)]
        found = run_gibbs(
            data, starts, priors, n_sweeps=n_sweeps, burn_in=burn_in, thin=thin, rng=rng
        )
        statistics = label_statistics(data, found.labels, int(found.labels.max()) + 1)
        after = {name: float(values[:, burn_in:].mean()) for name, values in found.trace.items()}
        fitted = {"trace_": found.trace, "n_iter_": found.trace["p"].shape[1], "converged_": True}
        return _Result(
            found.labels,
            statistics,
            statistics[:, 0] / statistics[:, 0].sum(),
            after["p"],
            after["q"],
            after["alpha"],
            found.agreement,
            fitted,
        )

    def _publish(self, data: TwoViews, pairs: Constraints, found: _Result) -> None:
        for name in ("resp_", "lower_bounds_", "lower_bound_", "trace_", "means_", "components_"):
            self.__dict__.pop(name, None)
        used, labels = np.unique(found.labels, return_inverse=True)
        self.labels_ = labels.astype(np.int64)
        self.n_clusters_ = len(used)
        self.statistics_ = found.statistics[used]
        self.weights_ = found.weights[used] / found.weights[used].sum()
        self.p_, self.q_, self.alpha_ = found.p, found.q, found.alpha
        self.pair_posteriors_ = found.agreement
        for name, value in found.fitted.items():
            setattr(self, name, value)
        if "resp_" in found.fitted:
            kept = found.fitted["resp_"][:, used]
            self.resp_ = kept / kept.sum(axis=1, keepdims=True)
        self._publish_components(data.family)
        together, apart = data.evidence.pair_logs(AnswerLogs.at(self.p_, self.q_))
        cost = np.where(pairs.is_hard, np.inf, np.abs(together - apart))
        self.violations_ = broken_pairs(self.labels_, pairs, cost)
        self.constraints_ = pairs

    def _publish_components(self, family: Family) -> None:
        if isinstance(family, Gaussian):
            posterior = family.posterior(self.statistics_)
            self.means_ = posterior.mean + self.origin_
            freedom = posterior.nu - family.d - 1
            self.covariances_ = posterior.scale / freedom[:, None, None]
        elif isinstance(family, Multinomial):
            counts = self.statistics_[:, 1:] + family.concentration
            self.components_ = counts / counts.sum(axis=1, keepdims=True)

    # -- answers ---------------------------------------------------------------------------
    def suspect_pairs(self, k: int | None = 10) -> PairTable:
        """The `k` soft pairs most likely wrong (None: all), each with that probability.

        A must-link is wrong if its rows are apart, a cannot-link if they are together, given
        everything: the rows, all other answers, and the answer itself.
        """
        check_is_fitted(self)
        number = None if k is None else check_count("k", k)
        return suspects(self.constraints_, self.pair_posteriors_, number)

    # -- new rows --------------------------------------------------------------------------
    def _log_joint_of_rows(self, X: Any) -> FloatArray:
        """ln [E pi_k p(x | rows of k)] of every row and cluster, (n, K)."""
        check_is_fitted(self)
        X = self._check_new_rows(X)
        family = self._model_family(self.prior_scale_, X.shape[1])
        score = family.predictive_scores(self.statistics_)
        rows = Rows(X) if self.family == "multinomial" else Rows(X, shift=self.origin_)
        components = Components(family, score, np.log(self.weights_))
        return np.concatenate(list(map_blocks(rows, row_scores, components)))

    def predict_proba(self, X: Any) -> FloatArray:
        """Posterior predictive probability of each cluster for new rows, (n, K)."""
        joint = self._log_joint_of_rows(X)
        return np.exp(joint - logsumexp(joint, axis=1, keepdims=True))

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The likeliest cluster of each new row, (n,)."""
        return self._log_joint_of_rows(X).argmax(axis=1).astype(np.int64)

    def score_samples(self, X: Any) -> FloatArray:
        """Log posterior predictive density of each row, (n,)."""
        scores: FloatArray = logsumexp(self._log_joint_of_rows(X), axis=1)
        return scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        counts = self.family == "multinomial"
        tags.input_tags.sparse = counts
        tags.input_tags.positive_only = counts
        return tags


def _two(name: str, value: Any) -> tuple[Any, Any]:
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise InvalidParameter(f"{name}={value!r} must be two numbers, for example (10, 1).")
    return value[0], value[1]
