"""Expectation-maximisation: one start from its first mixture to its last.

The E-step passes over every row once in blocks, then asks an engine about the rows in pairs; the
M-step has closed forms but for the clusters' weights (see `prior`). Nothing here changes a value it
was given: an iteration takes an `EmState` and returns the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from coterie._typing import FloatArray
from coterie.constraints import Constraints
from coterie.data import Rows, fold, make_room, map_blocks, one_blas_thread
from coterie.exceptions import UnboundedObjective
from coterie.mixture.ppc.core import CoreGraph
from coterie.mixture.ppc.gaussians import (
    ONCE,
    CoreShares,
    RowWeights,
    core_moments,
    free_sums,
    log_sum_rows,
)
from coterie.mixture.ppc.model import (
    Mixture,
    MixtureShape,
    Moments,
    log_prior,
    make_mixture,
    maximize,
)
from coterie.mixture.ppc.posteriors import CorePosterior, Memory
from coterie.mixture.ppc.prior import ByGradient, ByGrid, Prior, WeightsUpdate, at, by_proportions
from coterie.progress import keep_going

__all__ = [
    "EmRun",
    "EmState",
    "Expectation",
    "PpcProblem",
    "advance",
    "begin",
    "best_run",
    "comparable_bound",
    "core_posterior",
    "expect",
    "make_problem",
    "run",
    "without_pairs",
]


# Strengths of hard pairs before they are hard: certainties of .95 and .9975.
_SOFTER = (3.0, 6.0)
WHOLE = 5  # starts that are run to the end, of however many
# Iterations after which starts are compared: after the last the order of their bounds rarely
# changes; before, a third of them is kept.
_BRIEF = (4, 7, 10)
_FEW = 5  # starts that are not thinned out before


class PpcProblem(NamedTuple):
    """What does not change from one iteration or start to the next.

    `weights` say how often each row counts. `softer` are the problems to be solved first, in turn,
    where hard pairs would freeze mean field.
    """

    rows: Rows
    weights: RowWeights
    core: CoreGraph
    prior: Prior
    update: WeightsUpdate
    shape: MixtureShape
    softer: tuple[PpcProblem, ...] = ()

    @property
    def total(self) -> float:
        """How many rows there are, each counted as often as its weight says."""
        return float(self.weights.weights.sum()) if self.weights.weights.size else self.rows.n

    def reshaped(self, shape: MixtureShape) -> PpcProblem:
        """The same rows and pairs for Gaussians of another shape."""
        softer = tuple(easier.reshaped(shape) for easier in self.softer)
        return self._replace(shape=shape, softer=softer)

    def log_omega(self, pi: FloatArray) -> float:
        """log Ω at weights (K,), as the update of the weights takes it."""
        return 0.0 if self.update is by_proportions else at(self.prior, pi).log_omega


class EmState(NamedTuple):
    """Where an iteration begins.

    Attributes
    ----------
    mixture : Mixture
    log_omega : float
        log Ω at the mixture's weights.
    memory : Memory or None
        Of the last E-step, where the next goes on from; None before the first.
    """

    mixture: Mixture
    log_omega: float
    memory: Memory | None

    def raised(self) -> EmState:
        """The same with more passes from now on (PPC §6)."""
        assert self.memory is not None
        return self._replace(memory=self.memory._replace(level=self.memory.level + 1))


class EmRun(NamedTuple):
    """One start: where it ended, and the bound before each M-step."""

    state: EmState
    bounds: list[float]
    converged: bool


def make_problem(
    rows: Rows, weights: RowWeights, core: CoreGraph, shape: MixtureShape, weights_update: str
) -> PpcProblem:
    """Prepare the prior and the update of the weights, once a fit."""
    prior = Prior(core.graph, core.exponent, core.wide, overlap=weights_update != "nonoverlapping")
    update: WeightsUpdate = ByGradient(prior)
    if weights_update == "grid":
        update = ByGrid(prior)
    elif weights_update == "proportions":
        update = by_proportions
    softer: list[PpcProblem] = []
    if core.freezes:
        cores = [core.soften(strength) for strength in _SOFTER]
        softer = [make_problem(rows, weights, soft, shape, weights_update) for soft in cores]
    return PpcProblem(rows, weights, core, prior, update, shape, tuple(softer))


def without_pairs(problem: PpcProblem) -> PpcProblem:
    """The same rows and shape, and no pairs."""
    settings = problem.core.settings
    core = CoreGraph(Constraints(problem.rows.n), problem.shape.n_clusters, settings, 0)
    return make_problem(problem.rows, problem.weights, core, problem.shape, "proportions")


def begin(problem: PpcProblem, mixture: Mixture, max_iter: int, tol: float) -> EmRun:
    """A run before its first iteration.

    Where hard pairs would freeze mean field, EM comes to rest with soft ones in their place first.
    """
    for easier in problem.softer:
        mixture = run(easier, mixture, max_iter, tol).state.mixture
    state = EmState(mixture, problem.log_omega(mixture.cluster_weights), None)
    return EmRun(state, [], False)


def advance(problem: PpcProblem, so_far: EmRun, max_iter: int, tol: float) -> EmRun:
    """Go on until the mean penalised log-likelihood changes by less than `tol`.

    At most to iteration `max_iter`. As in GaussianMixture, the bound of an iteration is that of the
    mixture it began with.

    Raises
    ------
    UnboundedObjective
        If the bound is not finite.
    """
    state, bounds, converged = so_far.state, list(so_far.bounds), so_far.converged
    # Small factorisations only wait for each other when a BLAS gives them several threads.
    with one_blas_thread():
        while len(bounds) < max_iter and not converged:
            found = expect(problem.rows, problem.core, state.mixture, state.memory, problem.weights)
            bounds.append(_bound(problem, state, found))
            state = _maximization(problem, state.mixture, found)
            converged = len(bounds) > 1 and abs(bounds[-1] - bounds[-2]) < tol
            if converged and not problem.core.at_last_level(state.memory):
                state, converged = state.raised(), False
            if not converged and not keep_going(len(bounds), max_iter, bounds[-1]):
                break
    return EmRun(state, bounds, converged)


def run(problem: PpcProblem, mixture: Mixture, max_iter: int, tol: float) -> EmRun:
    """One start from its first mixture to its last."""
    return advance(problem, begin(problem, mixture, max_iter, tol), max_iter, tol)


def best_run(
    problem: PpcProblem, mixtures: Sequence[Mixture], n_init: int, max_iter: int, tol: float
) -> EmRun:
    """The best of several starts, of which few are run to the end.

    Up to `WHOLE` starts: as many as asked for, of those given the best after a few iterations. Of
    more the first `WHOLE`, so that more starts are never worse, and as many of the others.
    """
    runs = [begin(problem, mixture, max_iter, tol) for mixture in mixtures]
    sure = WHOLE if n_init > WHOLE else 0
    whole = min(n_init, WHOLE)
    if len(runs) > sure + whole:
        runs[sure:] = _promising(problem, runs[sure:], whole, max_iter, tol)
    ended = [advance(problem, start, max_iter, tol) for start in runs]
    if len(ended) == 1:
        return ended[0]
    return max(ended, key=lambda found: comparable_bound(problem, found))


def _promising(
    problem: PpcProblem, runs: list[EmRun], n_kept: int, max_iter: int, tol: float
) -> list[EmRun]:
    """The best of the starts after a few iterations; the worst stop after fewer."""
    for iterations in _BRIEF:
        last = iterations == _BRIEF[-1]
        if not last and len(runs) <= max(n_kept, _FEW):
            continue
        runs = [advance(problem, start, min(iterations, max_iter), tol) for start in runs]
        scores = np.array([comparable_bound(problem, found) for found in runs])
        # Bounds closer than `tol`, where EM comes to rest, are equal: the earlier start goes on.
        behind = np.floor((scores.max() - scores) / max(tol, np.finfo(np.float64).tiny))
        left = n_kept if last else max(n_kept, _FEW, -(-len(runs) // 3))
        runs = [runs[i] for i in np.argsort(behind, kind="stable")[:left]]
    return runs


def _bound(problem: PpcProblem, state: EmState, found: Expectation) -> float:
    """The objective per row, refused if it is infinite or not a number."""
    bound = (found.log_likelihood - state.log_omega + log_prior(state.mixture)) / problem.total
    if not np.isfinite(bound):
        raise UnboundedObjective(
            f"The penalised log-likelihood came out as {bound}. Use weights_update="
            '"proportions", rescale the columns of X, or give hard pairs a certainty of .99.'
        )
    return bound


def comparable_bound(problem: PpcProblem, result: EmRun) -> float:
    """The bound by which starts are compared: one measure for all, never an estimate.

    What sampling and loopy messages estimate may lie above the truth, and higher for a worse
    mixture; the bound of mean field may not.
    """
    if {"gibbs", "belief_propagation"}.isdisjoint(problem.core.engines):
        return result.bounds[-1]
    core, mixture = problem.core.by_mean_field(), result.state.mixture
    found = expect(problem.rows, core, mixture, weights=problem.weights)
    return _bound(problem, result.state, found)


# -- E-step --------------------------------------------------------------------------------------


class Expectation(NamedTuple):
    """What the M-step needs.

    Attributes
    ----------
    log_likelihood : float
        Of the free rows plus log Z of the core, before log Ω.
    moments : Moments
        Of all rows, about the means they were computed with.
    prior_counts : (K,)
        How often each cluster's weight counts: Σ_free r + Σ_nodes m q.
    memory : Memory or None
        What the next E-step goes on from; None without pairs.
    """

    log_likelihood: float
    moments: Moments
    prior_counts: FloatArray
    memory: Memory | None


def expect(
    rows: Rows,
    core: CoreGraph,
    mixture: Mixture,
    last: Memory | None = None,
    weights: RowWeights = ONCE,
) -> Expectation:
    """Penalised log-likelihood (without log Ω) and expected sums (PPC §2.3 and §3).

    Free rows are independent given the parameters and are done with in one pass over the blocks;
    that pass brings back the log-densities of the core rows for the engine. `last` is what the
    E-step before left; `weights` say how often rows count.
    """
    index = core.core
    wide = (index.rows.size, mixture.weights.size)
    room = make_room(core.scratch, {}, listed={"core": (wide, np.float64)})
    free = fold(
        map_blocks(rows, free_sums, mixture, state=weights, listed=index.rows, room=room),
        room=room,
    )
    counts = free.moments.counts.reshape(mixture.shape.n_clusters, -1).sum(axis=1)
    if not core.parts:
        return Expectation(free.log_likelihood, free.moments, counts, None)
    posterior, share = core_posterior(core, free.core, mixture, last, final=False)
    wide = (index.rows.size, mixture.shape.n_clusters)
    resp = index.expand(posterior.marginals, core.scratch.empty(wide, np.float64))
    if share is not None:
        resp = np.repeat(resp, mixture.shape.per_cluster, axis=1) * share
    if core.copies is not None:
        resp = resp * core.copies[:, None]
    inside = fold(
        map_blocks(rows, core_moments, mixture, listed=index.rows, listed_state=CoreShares(resp))
    )
    return Expectation(
        free.log_likelihood + posterior.log_partition,
        free.moments.plus(inside),
        counts + core.exponent @ posterior.marginals,
        Memory(posterior.marginals, posterior.messages, 0 if last is None else last.level),
    )


def core_posterior(
    core: CoreGraph,
    log_joint: FloatArray,
    mixture: Mixture,
    last: Memory | None,
    final: bool,
) -> tuple[CorePosterior, FloatArray | None]:
    """Posterior of the nodes, and the share (r, G) of each component in its cluster.

    A cluster of several components has the density Σ_g π_g N(x | g) / π_k; pairs act on clusters,
    so its components share the row's posterior as they would without pairs. None for one each.
    """
    n_clusters = mixture.shape.n_clusters
    log_pi = np.log(mixture.cluster_weights)
    share = None
    log_cluster = log_joint
    if mixture.shape.per_cluster > 1:
        share = log_joint.reshape(-1, mixture.shape.per_cluster).copy()
        log_cluster = log_sum_rows(share).reshape(-1, n_clusters)
        share = share.reshape(-1, mixture.shape.n_components)
    return core.infer(log_cluster - log_pi, log_pi, last, final), share


# -- M-step --------------------------------------------------------------------------------------


def _maximization(problem: PpcProblem, mixture: Mixture, found: Expectation) -> EmState:
    """The new mixture, with log Ω at its weights.

    A component that has lost all its rows stays where it is: with none to fit, any place is as
    likely, and this one has a covariance.
    """
    shape, moments = problem.shape, found.moments
    means, covariances = maximize(moments, mixture.means, shape)
    empty = moments.counts <= np.finfo(np.float64).eps * problem.total
    if empty.any():
        means = np.where(empty[:, None], mixture.means, means)
        covariances = shape.covariance.keep(covariances, mixture.covariances, empty)
    pi, log_omega = problem.update(found.prior_counts, mixture.cluster_weights)
    counts = np.maximum(moments.counts, np.finfo(np.float64).tiny).reshape(shape.n_clusters, -1)
    weights = (pi[:, None] * counts / counts.sum(axis=1, keepdims=True)).ravel()
    weights = np.maximum(weights, np.finfo(np.float64).tiny)
    new = make_mixture(weights, means, covariances, shape)
    return EmState(new, log_omega, found.memory)
