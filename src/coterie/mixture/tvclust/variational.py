"""Truncated stick-breaking variational Bayes for TVClust.

Factors: q(z_a) of every node a (a free row, or rows joined by hard must-links), Beta factors of
the sticks V_1..V_{T-1} (V_T = 1), the conjugate factor of each component, Beta factors of p and q,
and a Gamma factor of alpha where alpha has a prior. Core nodes are updated one after the other
given their neighbours' responsibilities, everything else in closed form, so the bound never falls.
A node with a hard cannot-link keeps a factor with all its mass on one component.
"""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, digamma, gammaln

from coterie.data import Rows, one_blas_thread
from coterie.exceptions import InfeasibleConstraints
from coterie.inference import NoFeasibleLabels, feasible_start, pairwise_model
from coterie.mixture.tvclust import _kernels as kernels
from coterie.mixture.tvclust.families import Family
from coterie.mixture.tvclust.pairs import Belief, Beta, PairEvidence
from coterie.progress import keep_going

__all__ = ["Alpha", "Data", "Priors", "Variational", "responsibilities", "run_variational"]

logger = logging.getLogger(__name__)
Floats = NDArray[np.float64]
_ENTRIES = 1 << 18  # of the widest table made for a stretch of rows
_SWEEPS = 2  # over the core in each iteration: evidence travels one link a sweep at least
NO_SLOT = np.empty(0, dtype=np.int64)


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

    p: Beta
    q: Beta
    alpha: Alpha


class Data(NamedTuple):
    """Rows, their weights ((0,) for ones), the pairs and the family, fixed for one fit."""

    rows: Rows
    weights: Floats
    evidence: PairEvidence
    family: Family
    slot: NDArray[np.int64]

    @classmethod
    def of(cls, rows: Rows, weights: Floats, evidence: PairEvidence, family: Family) -> Data:
        """With the place of every row in the core worked out."""
        core = evidence.core
        slot = NO_SLOT
        if core.rows.size:
            slot = np.full(rows.n, -1, dtype=np.int64)
            slot[core.rows] = np.arange(core.rows.size)
        return cls(rows, weights, evidence, family, slot)


class Sticks(NamedTuple):
    """Beta(a, b) factors of V_1..V_{T-1}, (T - 1,) each."""

    a: Floats
    b: Floats

    @classmethod
    def update(cls, counts: Floats, alpha: Alpha) -> Sticks:
        """a_k = 1 + N_k, b_k = E alpha + sum of N beyond k."""
        beyond = counts[::-1].cumsum()[::-1]
        return cls(1 + counts[:-1], alpha.mean + beyond[1:])

    def expected_logs(self) -> tuple[Floats, Floats]:
        """E ln V and E ln (1 - V), (T - 1,) each."""
        both = digamma(self.a + self.b)
        return digamma(self.a) - both, digamma(self.b) - both

    def log_weights(self) -> Floats:
        """E ln pi_k = E ln V_k + sum_{l<k} E ln (1 - V_l), (T,)."""
        log_v, log_rest = self.expected_logs()
        return np.append(log_v, 0.0) + np.concatenate([[0.0], np.cumsum(log_rest)])

    def weights(self) -> Floats:
        """E pi_k, (T,)."""
        v = self.a / (self.a + self.b)
        return np.append(v, 1.0) * np.concatenate([[1.0], np.cumprod(1 - v)])


class Variational(NamedTuple):
    """The factors, and the bound after each iteration."""

    statistics: Floats
    sticks: Sticks
    alpha: Alpha
    p: Beta
    q: Beta
    node_resp: Floats
    agreement: Floats
    bounds: Floats
    converged: bool


def run_variational(
    data: Data,
    labels: NDArray[np.int64],
    truncation: int,
    priors: Priors,
    *,
    max_iter: int,
    tol: float,
    rng: np.random.Generator,
) -> Variational:
    """Coordinate ascent from labels (n,) below `truncation`; ends when the bound gains < tol n."""
    with one_blas_thread():  # K small factorisations an iteration: more threads only wait
        return _ascend(data, labels, truncation, priors, max_iter, tol, rng)


def _ascend(
    data: Data,
    labels: NDArray[np.int64],
    truncation: int,
    priors: Priors,
    max_iter: int,
    tol: float,
    rng: np.random.Generator,
) -> Variational:
    node_resp = _start(data, labels, truncation, rng)
    statistics = _label_statistics(data, labels, node_resp)
    # The pairs speak first with the voice their priors give them: a start that breaks them says
    # nothing about how far they can be trusted.
    p, q, alpha = priors.p, priors.q, priors.alpha
    sticks = Sticks.update(statistics[:, 0], alpha)
    bounds: list[float] = []
    converged = False
    for iteration in range(1, max_iter + 1):
        statistics, entropy = _expectation(
            data, statistics, sticks, Belief.of(p, q), node_resp, rng
        )
        agreement = _agreement(data.evidence, node_resp)
        p, q = data.evidence.update(agreement, priors.p, priors.q)
        sticks = Sticks.update(statistics[:, 0], alpha)
        alpha = _update_alpha(sticks, priors.alpha)
        bounds.append(
            entropy
            + float(data.family.log_evidence(statistics).sum())
            + stick_bound(statistics[:, 0], sticks, alpha, priors.alpha)
            + p.log_evidence(priors.p)
            + q.log_evidence(priors.q)
            + data.evidence.given_log_likelihood(agreement)
        )
        if len(bounds) > 1 and bounds[-1] - bounds[-2] < tol * data.rows.n:
            converged = True
            break
        if not keep_going(iteration, max_iter, bounds[-1]):
            break
    return Variational(
        statistics, sticks, alpha, p, q, node_resp, agreement, np.array(bounds), converged
    )


def stick_bound(counts: Floats, sticks: Sticks, alpha: Alpha, prior: Alpha) -> float:
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


def _agreement(evidence: PairEvidence, node_resp: Floats) -> Floats:
    edge = np.empty(len(evidence.core.edges))
    kernels.edge_agreement(evidence.core.edges, node_resp, edge)
    return evidence.agreement(edge)


# -- rows ---------------------------------------------------------------------------------------


def _expectation(
    data: Data,
    statistics: Floats,
    sticks: Sticks,
    belief: Belief,
    node_resp: Floats,
    rng: np.random.Generator,
) -> tuple[Floats, float]:
    """New statistics and the entropy of all q(z); `node_resp` (s, T) is updated in place."""
    core = data.evidence.core
    score = data.family.scorer(statistics)
    log_weights = sticks.log_weights()
    unary = np.empty((core.rows.size, len(log_weights)))

    def work(start: int, stop: int) -> tuple[Floats, float]:
        sums, entropy = np.zeros_like(statistics), 0.0
        for lo, hi, rows in _pieces(data, start, stop, len(log_weights)):
            logits = score(rows)
            logits += log_weights
            slot = data.slot[lo:hi] if data.slot.size else NO_SLOT
            entropy += kernels.soften(logits, data.weights[lo:hi], slot, unary)
            data.family.add(rows, logits, sums)
        return sums, entropy

    sums, entropy = data.rows.map_reduce(work, lambda a, b: (a[0] + b[0], a[1] + b[1]))
    odds = data.evidence.odds(belief)
    unary = core.contract(unary) if core.n_nodes < core.rows.size else unary
    core_entropy = 0.0
    for _ in range(_SWEEPS if len(core.edges) else 1):
        core_entropy = kernels.sweep(
            rng.permutation(core.n_nodes), unary, core.indptr, core.indices, odds,
            data.evidence.forbidden, data.evidence.pinned, node_resp,
        )  # fmt: skip
    _add_core(data, node_resp, sums)
    return sums, entropy + core_entropy


def _pieces(data: Data, start: int, stop: int, truncation: int) -> Any:
    """Rows in pieces small enough that the tables made for them stay in the cache."""
    for lo, hi, chunk in data.rows.chunks(start, stop):
        if data.rows.is_sparse:
            yield lo, hi, chunk
            continue
        step = max(64, _ENTRIES // (truncation * data.rows.d))
        for at in range(lo, hi, step):
            end = min(at + step, hi)
            yield at, end, chunk[at - lo : end - lo]


def _add_core(data: Data, node_resp: Floats, sums: Floats) -> None:
    core = data.evidence.core
    step = max(64, _ENTRIES // data.family.width)
    for at in range(0, core.rows.size, step):
        listed = core.rows[at : at + step]
        resp = node_resp[core.node[at : at + step]]
        if data.weights.size:
            resp = resp * data.weights[listed, None]
        data.family.add(data.rows.take(listed), resp, sums)


def _label_statistics(data: Data, labels: NDArray[np.int64], node_resp: Floats) -> Floats:
    """Sums over rows that have all their mass on their label."""
    truncation = node_resp.shape[1]
    sums = np.zeros((truncation, data.family.width))
    eye = np.eye(truncation)
    for lo, hi, rows in _pieces(data, 0, data.rows.n, truncation):
        resp = eye[labels[lo:hi]]
        if data.weights.size:
            resp *= data.weights[lo:hi, None]
        if data.slot.size:
            resp[data.slot[lo:hi] >= 0] = 0.0
        data.family.add(rows, resp, sums)
    _add_core(data, node_resp, sums)
    return sums


def _start(
    data: Data, labels: NDArray[np.int64], truncation: int, rng: np.random.Generator
) -> Floats:
    """Responsibilities (s, T) of the nodes: their first row's label, hard cannot-links kept."""
    core, evidence = data.evidence.core, data.evidence
    first = np.full(core.n_nodes, -1, dtype=np.int64)
    first[core.node[::-1]] = labels[core.rows[::-1]]
    if evidence.pinned.any():
        first = np.where(evidence.pinned, _kept_apart(data, first, truncation, rng), first)
    return np.eye(truncation)[first]


def _kept_apart(
    data: Data, wanted: NDArray[np.int64], truncation: int, rng: np.random.Generator
) -> NDArray[np.int64]:
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


def responsibilities(data: Data, found: Variational) -> Floats:
    """q(z) of every row, (n, T)."""
    score = data.family.scorer(found.statistics)
    log_weights = found.sticks.log_weights()
    truncation = len(log_weights)
    resp = np.empty((data.rows.n, truncation))
    unused = np.empty((data.evidence.core.rows.size, truncation))

    def work(start: int, stop: int) -> None:
        for lo, hi, rows in _pieces(data, start, stop, truncation):
            logits = score(rows)
            logits += log_weights
            if data.weights.size:
                logits *= data.weights[lo:hi, None]
            slot = data.slot[lo:hi] if data.slot.size else NO_SLOT
            kernels.soften(logits, np.empty(0), slot, unused)
            resp[lo:hi] = logits

    data.rows.for_each(work)
    core = data.evidence.core
    resp[core.rows] = core.expand(found.node_resp)
    return resp
