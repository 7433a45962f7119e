"""Expectation-maximisation: one start from its first mixture to its last."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data import Rows
from coterie.data.threads import one_blas_thread
from coterie.mixture.ppc.core import CorePosterior
from coterie.mixture.ppc.covariances import COVARIANCES
from coterie.mixture.ppc.expectation import Expectation, expect
from coterie.mixture.ppc.gaussians import Mixture, make_mixture, maximize
from coterie.mixture.ppc.prior import Prior
from coterie.mixture.ppc.weights import ByGradient, ByGrid, WeightsUpdate, at
from coterie.progress import keep_going

__all__ = ["Problem", "Run", "make_problem", "run"]

FloatArray = NDArray[np.float64]


class Problem(NamedTuple):
    """What does not change from one iteration or start to the next."""

    rows: Rows
    core: CorePosterior
    prior: Prior
    update: WeightsUpdate
    n_clusters: int
    covariance_type: str
    reg_covar: float


class Run(NamedTuple):
    """One start.

    Attributes
    ----------
    mixture : Mixture
        Where it ended.
    bounds : list of float
        The bound before each M-step.
    converged : bool
    marginals : (s, K) or None
        Of the nodes in the last E-step.
    """

    mixture: Mixture
    bounds: list[float]
    converged: bool
    marginals: FloatArray | None


def make_problem(
    rows: Rows,
    core: CorePosterior,
    n_clusters: int,
    *,
    weights_update: str,
    covariance_type: str,
    reg_covar: float,
) -> Problem:
    """Prepare the prior and the update of the weights, once a fit."""
    rough = core.rough if weights_update != "nonoverlapping" else np.ones_like(core.rough)
    prior = Prior(core.graph, core.exponent, rough)
    update: WeightsUpdate = ByGrid(prior) if weights_update == "grid" else ByGradient(prior)
    return Problem(rows, core, prior, update, n_clusters, covariance_type, reg_covar)


def run(problem: Problem, mixture: Mixture, max_iter: int, tol: float) -> Run:
    """Iterate until the mean penalised log-likelihood changes by less than `tol`.

    As in GaussianMixture, the bound of an iteration is that of the mixture it began with.
    """
    problem.core.last = None
    log_omega = at(problem.prior, cluster_weights(mixture, problem.n_clusters)).log_omega
    bounds: list[float] = []
    # Small factorisations only wait for each other when a BLAS gives them several threads.
    with one_blas_thread():
        for iteration in range(1, max_iter + 1):
            found = expectation(problem, mixture)
            bounds.append((found.log_likelihood - log_omega) / problem.rows.n)
            mixture, log_omega = maximization(problem, mixture, found)
            if len(bounds) > 1 and abs(bounds[-1] - bounds[-2]) < tol:
                return Run(mixture, bounds, True, problem.core.last)
            if not keep_going(iteration, max_iter, bounds[-1]):
                break
    return Run(mixture, bounds, False, problem.core.last)


def cluster_weights(mixture: Mixture, n_clusters: int) -> FloatArray:
    """Weights (K,) of clusters, each the sum over its components."""
    return np.asarray(mixture.weights.reshape(n_clusters, -1).sum(axis=1))


def expectation(problem: Problem, mixture: Mixture) -> Expectation:
    """The E-step."""
    covariance = COVARIANCES[problem.covariance_type]
    return expect(problem.rows, problem.core, mixture, problem.n_clusters, covariance)


def maximization(problem: Problem, mixture: Mixture, found: Expectation) -> tuple[Mixture, float]:
    """The M-step: the new mixture and log Ω at its weights.

    A component that has lost all its rows stays where it is: with none to fit, any place is as
    likely, and this one has a covariance.
    """
    covariance = COVARIANCES[problem.covariance_type]
    moments = found.moments
    means, covariances = maximize(moments, mixture.means, problem.reg_covar, covariance)
    empty = moments.counts <= np.finfo(np.float64).eps * problem.rows.n
    if empty.any():
        means = np.where(empty[:, None], mixture.means, means)
        covariances = covariance.keep(covariances, mixture.covariances, empty)
    pi, log_omega = problem.update(found.prior_counts, cluster_weights(mixture, problem.n_clusters))
    counts = np.maximum(moments.counts, np.finfo(np.float64).tiny).reshape(problem.n_clusters, -1)
    weights = (pi[:, None] * counts / counts.sum(axis=1, keepdims=True)).ravel()
    weights = np.maximum(weights, np.finfo(np.float64).tiny)
    return make_mixture(weights, means, covariances, problem.covariance_type), log_omega
