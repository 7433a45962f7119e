"""Truncated stick-breaking variational Bayes for TVClust.

Factors: q(z_a) of every node a (a free row, or rows joined by hard must-links), Beta factors of
the sticks V_1..V_{T-1} (V_T = 1), the conjugate factor of each component, Beta factors of p and q,
and a Gamma factor of alpha where alpha has a prior. Core nodes are updated one after the other
given their neighbours' responsibilities, everything else in closed form, so the bound never falls.
A node with a hard cannot-link keeps a factor with all its mass on one component. Components are
numbered by size after every iteration: of all orders of the sticks, largest first has the highest
bound (swapping neighbours of sizes a, b before a rest r changes it by ln (alpha + a + r) -
ln (alpha + b + r)).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import betaln, digamma, gammaln

from coterie._typing import Array, FloatArray, IntArray
from coterie.data import (
    Rows,
    fold,
    join,
    make_room,
    map_blocks,
    map_listed,
    one_blas_thread,
)
from coterie.exceptions import InfeasibleConstraints
from coterie.inference import NoFeasibleLabels, feasible_start, pairwise_model
from coterie.mixture.tvclust import _kernels as kernels
from coterie.mixture.tvclust.families import Family
from coterie.mixture.tvclust.pairs import AnswerLogs, PairEvidence, Trust
from coterie.mixture.tvclust.passes import (
    Components,
    CoreResp,
    Labelled,
    LabelSums,
    RowWeights,
    core_sums,
    free_sums,
    label_sums,
    posterior_labels,
    row_posteriors,
)
from coterie.progress import keep_going

__all__ = [
    "Alpha",
    "Factors",
    "Priors",
    "TwoViews",
    "Variational",
    "go_on",
    "label_statistics",
    "likely_labels",
    "responsibilities",
    "run_variational",
]

_SWEEPS = 2  # over the core in each iteration: evidence travels one link a sweep at least


class Alpha(NamedTuple):
    """Concentration: known (`rate` None), or with a Gamma(shape, rate) prior or factor."""

    shape: float
    rate: float | None = None

    @property
    def mean(self) -> float:
        """E alpha."""
        return self.shape if self.rate is None else self.shape / self.rate

    @property
    def mean_log(self) -> float:
        """E ln alpha."""
        if self.rate is None:
            return float(np.log(self.shape))
        return float(digamma(self.shape) - np.log(self.rate))


class Priors(NamedTuple):
    """Priors of p, q and alpha."""

    p: Trust
    q: Trust
    alpha: Alpha


class TwoViews(NamedTuple):
    """Rows, their weights ((0,) for ones), the pairs and the family, fixed for one fit."""

    rows: Rows
    weights: FloatArray
    evidence: PairEvidence
    family: Family


class Sticks(NamedTuple):
    """Beta(a, b) factors of V_1..V_{T-1}, (T - 1,) each."""

    a: FloatArray
    b: FloatArray

    @classmethod
    def update(cls, counts: FloatArray, alpha: Alpha) -> Sticks:
        """a_k = 1 + N_k, b_k = E alpha + sum of N beyond k."""
        beyond = counts[::-1].cumsum()[::-1]
        return cls(1 + counts[:-1], alpha.mean + beyond[1:])

    def expected_logs(self) -> tuple[FloatArray, FloatArray]:
        """E ln V and E ln (1 - V), (T - 1,) each."""
        both = digamma(self.a + self.b)
        return digamma(self.a) - both, digamma(self.b) - both

    def log_weights(self) -> FloatArray:
        """E ln pi_k = E ln V_k + sum_{l<k} E ln (1 - V_l), (T,)."""
        log_v, log_rest = self.expected_logs()
        return np.append(log_v, 0.0) + np.concatenate([[0.0], np.cumsum(log_rest)])

    def weights(self) -> FloatArray:
        """E pi_k, (T,)."""
        v = self.a / (self.a + self.b)
        return np.append(v, 1.0) * np.concatenate([[1.0], np.cumprod(1 - v)])


class Factors(NamedTuple):
    """The factors of the posterior; an iteration takes them and returns better ones.

    Attributes
    ----------
    statistics : (T, width)
        Expected sums of each component, which its conjugate factor follows from.
    sticks : Sticks
    alpha : Alpha
    p, q : Beta, or Known
    node_resp : (s, T)
        q(z) of the nodes of the core.
    agreement : (m,)
        Probability that the rows of each pair are together.
    """

    statistics: FloatArray
    sticks: Sticks
    alpha: Alpha
    p: Trust
    q: Trust
    node_resp: FloatArray
    agreement: FloatArray

    def components(self, family: Family) -> Components:
        """What a pass over rows needs of them."""
        score = family.expected_scores(self.statistics)
        return Components(family, score, self.sticks.log_weights())


class Variational(NamedTuple):
    """The factors at the end, and the bound after each iteration."""

    factors: Factors
    bounds: FloatArray
    converged: bool


def run_variational(
    data: TwoViews,
    labels: IntArray,
    truncation: int,
    priors: Priors,
    *,
    max_iter: int,
    tol: float,
    rng: np.random.Generator,
    listen: bool = False,
) -> Variational:
    """Coordinate ascent from labels (n,) below `truncation`; ends when the bound gains < tol n.

    With `listen` the pairs first have the voice that agreeing with the labels gives them.
    """
    with one_blas_thread():  # K small factorisations an iteration: more threads only wait
        factors = _start(data, labels, truncation, priors, rng, listen)
    return go_on(data, factors, priors, max_iter=max_iter, tol=tol, rng=rng)


def go_on(
    data: TwoViews,
    factors: Factors,
    priors: Priors,
    *,
    max_iter: int,
    tol: float,
    rng: np.random.Generator,
) -> Variational:
    """Coordinate ascent from factors."""
    bounds: list[float] = []
    converged = False
    with one_blas_thread():
        for iteration in range(1, max_iter + 1):
            factors, entropy = _improve(data, factors, priors, rng)
            bounds.append(_bound(data, factors, priors, entropy))
            if len(bounds) > 1 and bounds[-1] - bounds[-2] < tol * data.rows.n:
                converged = True
                break
            if not keep_going(iteration, max_iter, bounds[-1]):
                break
    return Variational(factors, np.array(bounds), converged)


def _improve(
    data: TwoViews, old: Factors, priors: Priors, rng: np.random.Generator
) -> tuple[Factors, float]:
    """Every factor updated once given the others, and the entropy of all q(z)."""
    statistics, node_resp, entropy = _expectation(data, old, rng)
    largest_first = np.argsort(-statistics[:, 0], kind="stable")
    if (np.diff(largest_first) != 1).any():
        statistics = statistics[largest_first]
        node_resp = np.ascontiguousarray(node_resp[:, largest_first])
    agreement = _agreement(data.evidence, node_resp)
    p, q = data.evidence.update(agreement, priors.p, priors.q)
    sticks = Sticks.update(statistics[:, 0], old.alpha)
    alpha = _update_alpha(sticks, priors.alpha)
    return Factors(statistics, sticks, alpha, p, q, node_resp, agreement), entropy


def _bound(data: TwoViews, factors: Factors, priors: Priors, entropy: float) -> float:
    """The lower bound on ln p(rows, answers)."""
    statistics = factors.statistics
    return (
        entropy
        + data.family.log_evidence(statistics)
        + stick_bound(statistics[:, 0], factors.sticks, factors.alpha, priors.alpha)
        + factors.p.log_evidence(priors.p)
        + factors.q.log_evidence(priors.q)
        + data.evidence.given_log_likelihood(factors.agreement)
    )


def stick_bound(counts: FloatArray, sticks: Sticks, alpha: Alpha, prior: Alpha) -> float:
    """E[ln p(z|V) + ln p(V|alpha) - ln q(V) + ln p(alpha) - ln q(alpha)]."""
    log_v, log_rest = sticks.expected_logs()
    beyond = counts[::-1].cumsum()[::-1][1:]
    model = alpha.mean_log + (alpha.mean - 1 + beyond) * log_rest + counts[:-1] * log_v
    factor = (sticks.a - 1) * log_v + (sticks.b - 1) * log_rest - betaln(sticks.a, sticks.b)
    total = float((model - factor).sum())
    if prior.rate is None or alpha.rate is None:
        return total
    own = (prior.shape - alpha.shape) * alpha.mean_log - (prior.rate - alpha.rate) * alpha.mean
    norm = prior.shape * np.log(prior.rate) - gammaln(prior.shape)
    return total + float(own + norm - alpha.shape * np.log(alpha.rate) + gammaln(alpha.shape))


def _update_alpha(sticks: Sticks, prior: Alpha) -> Alpha:
    if prior.rate is None:
        return prior
    _, log_rest = sticks.expected_logs()
    return Alpha(prior.shape + len(log_rest), prior.rate - float(log_rest.sum()))


def _agreement(evidence: PairEvidence, node_resp: FloatArray) -> FloatArray:
    edge = np.empty(len(evidence.core.edges))
    kernels.edge_agreement(evidence.core.edges, node_resp, edge)
    return evidence.agreement(edge)


# -- rows ---------------------------------------------------------------------------------------


def _expectation(
    data: TwoViews, old: Factors, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, float]:
    """New statistics, responsibilities (s, T) of the nodes, and the entropy of all q(z)."""
    evidence, core = data.evidence, data.evidence.core
    wide = (core.rows.size, old.node_resp.shape[1])
    room = make_room(evidence.scratch, {}, listed={"unary": (wide, np.float64)})
    free = fold(
        map_blocks(
            data.rows,
            free_sums,
            old.components(data.family),
            state=RowWeights(data.weights),
            listed=core.rows,
            room=room,
        ),
        room=room,
    )
    if not core.n_nodes:
        return free.statistics, old.node_resp, free.entropy
    unary = core.contract(free.unary) if core.n_nodes < core.rows.size else free.unary
    odds = evidence.odds(AnswerLogs.of(old.p, old.q))
    node_resp, entropy = evidence.scratch.copy(old.node_resp), 0.0
    for _ in range(_SWEEPS if len(core.edges) else 1):
        entropy = kernels.sweep(
            rng.permutation(core.n_nodes), unary, core.indptr, core.indices, odds,
            evidence.forbidden, evidence.pinned, node_resp,
        )  # fmt: skip
    resp = core.expand(node_resp, evidence.scratch.empty(wide, np.float64))
    if data.weights.size:
        resp *= data.weights[core.rows, None]
    inside = fold(map_listed(data.rows, core_sums, data.family, core.rows, CoreResp(resp)))
    return free.statistics + inside, node_resp, free.entropy + entropy


def label_statistics(data: TwoViews, labels: IntArray, n_clusters: int) -> FloatArray:
    """Sums over the rows of each cluster of labels (n,), (K, width)."""
    into, state = LabelSums(data.family, n_clusters), Labelled(labels, data.weights)
    return fold(map_blocks(data.rows, label_sums, into, state=state))


def _start(
    data: TwoViews,
    labels: IntArray,
    truncation: int,
    priors: Priors,
    rng: np.random.Generator,
    listen: bool,
) -> Factors:
    """Factors with all mass on labels (n,): a node takes its first row's, hard cannot-links kept.

    The pairs speak first with the voice their priors give them: a start that breaks them says
    nothing about how far they can be trusted. One that was made to keep them does (`listen`).
    """
    core, evidence = data.evidence.core, data.evidence
    nodes = labels[core.first_rows]
    if evidence.pinned.any():
        nodes = np.where(evidence.pinned, _kept_apart(data, nodes, truncation, rng), nodes)
    labels = labels.copy()
    labels[core.rows] = core.expand(nodes)
    statistics = label_statistics(data, labels, truncation)
    node_resp = np.eye(truncation)[nodes]
    sticks = Sticks.update(statistics[:, 0], priors.alpha)
    agreement = _agreement(evidence, node_resp)
    p, q = priors.p, priors.q
    if listen:
        p, q = evidence.update(agreement, p, q)
    return Factors(statistics, sticks, priors.alpha, p, q, node_resp, agreement)


def _kept_apart(
    data: TwoViews, wanted: IntArray, truncation: int, rng: np.random.Generator
) -> IntArray:
    """Labels (s,) near the wanted ones under which no hard cannot-link is broken."""
    core, forbidden = data.evidence.core, data.evidence.forbidden
    unary = 1.0 - np.eye(truncation)[wanted]
    same = np.where(forbidden, np.inf, 0.0)
    model = pairwise_model(unary, core.indptr, core.indices, same, np.zeros_like(same))
    try:
        return feasible_start(model, rng)
    except NoFeasibleLabels as error:
        raise InfeasibleConstraints(
            f"the hard cannot-links cannot be kept with truncation={truncation} components; "
            "raise truncation, or make some of them soft."
        ) from error


def likely_labels(data: TwoViews, factors: Factors) -> Array:
    """The component of the highest q(z) of every row, (n,), without n x T numbers."""
    core, state = data.evidence.core, RowWeights(data.weights)
    blocks = map_blocks(data.rows, posterior_labels, factors.components(data.family), state=state)
    labels = join(blocks, data.rows.n)
    labels[core.rows] = core.expand(factors.node_resp.argmax(axis=1))
    return labels


def responsibilities(data: TwoViews, factors: Factors) -> FloatArray:
    """q(z) of every row, (n, T)."""
    core = data.evidence.core
    state = RowWeights(data.weights)
    blocks = map_blocks(data.rows, row_posteriors, factors.components(data.family), state=state)
    resp = join(blocks, data.rows.n)
    resp[core.rows] = core.expand(factors.node_resp)
    return resp
