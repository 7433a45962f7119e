"""The soft stage: what is believed about each row, from the field and along the pairs, in turn.

A round is: the field from the beliefs (ridge regression), its sharpness, the prior of each row from
the field, its posterior from the messages along its pairs. `form_beliefs` is the way in.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._typing import Array
from coterie.cluster.mosaic import passes
from coterie.cluster.mosaic.evidence import Evidence
from coterie.cluster.mosaic.noise import Noise
from coterie.cluster.mosaic.problem import MosaicProblem, MosaicSettings
from coterie.data import Rows, fold, map_blocks
from coterie.inference.messages import (
    Messages,
    PairFactors,
    edge_posterior,
    no_messages,
    send_again,
    send_first,
    send_messages,
)
from coterie.progress import keep_going

__all__ = [
    "FIRST_SHARPNESS",
    "SILENCE",
    "MosaicState",
    "ends_together",
    "find_posterior",
    "fit_sharpness",
    "form_beliefs",
    "hear_pairs",
    "judge_field",
    "lean_towards",
    "merit",
    "nodes_and_ends",
    "nothing_said",
    "settle_noise",
    "softmax",
    "start_from",
    "start_over",
]


_NEWTON_STEPS, _NEWTON_TOLERANCE = 5, 1e-2  # the sharpness is wanted to 1 %
_LEAST_SHARPNESS, _MOST_SHARPNESS = 0.1, 1000.0  # nothing is known, everything is
SILENCE = 1e-3  # a node whose posterior has changed by less says nothing: saves most messages
FIRST_SHARPNESS = 5.0  # where the search for it begins


class MosaicState(NamedTuple):
    """What is believed after some rounds.

    Attributes
    ----------
    rows : (n, K)
        Posterior of each row.
    nodes : (s, K)
        Posterior of each node of the core.
    prior : (s, K)
        What the field alone believes about each node.
    sharpness : float
        beta: nats per unit of the field.
    messages : Messages
        What the nodes have told one another, ...
    factors : PairFactors
        ... the strength of the pairs when they did, ...
    odds : float
        ... and the log-odds of a plain pair then.
    noise : Noise
        As it is now believed to be.
    rounds : int
    change : float
        Mean change of a row's posterior in the last round.
    score : float
        log P(pairs | field) at the noise rate of the problem, every row's own belief left out of
        the field: how well the field predicts pairs that it has not heard.
    """

    rows: Array
    nodes: Array
    prior: Array
    sharpness: float
    messages: Messages
    factors: PairFactors
    odds: float
    noise: Noise
    rounds: int = 0
    change: float = np.inf
    score: float = -np.inf


def lean_towards(labels: Array, n_clusters: int, belief: float) -> NDArray[np.float64]:
    """Beliefs (n, K) that give `belief` to the clusters `labels` (n,), the rest to all alike."""
    rows = np.full((labels.size, n_clusters), (1.0 - belief) / n_clusters)
    rows[np.arange(labels.size), labels] += belief
    return rows


def start_from(problem: MosaicProblem, labels: Array, n_clusters: int) -> MosaicState:
    """A state that leans towards `labels` (n,), nothing said yet."""
    core, rows = (
        problem.evidence.core,
        lean_towards(labels, n_clusters, problem.tuning.first_belief),
    )
    nodes = core.contract(rows[core.rows])
    nodes /= nodes.sum(axis=1, keepdims=True)
    rows[core.rows] = core.expand(nodes)
    return MosaicState(
        rows=rows,
        nodes=nodes,
        prior=nodes,
        sharpness=FIRST_SHARPNESS,
        messages=nothing_said(problem.evidence, problem.settings, n_clusters),
        factors=problem.factors,
        odds=problem.noise.odds,
        noise=problem.noise,
    )


def nothing_said(evidence: Evidence, settings: MosaicSettings, n_clusters: int) -> Messages:
    """The messages before any, of the engine that `settings` ask for."""
    mean_field = _by_mean_field(evidence, settings, n_clusters)
    return no_messages(evidence.graph, n_clusters, mean_field=mean_field)


def _by_mean_field(evidence: Evidence, settings: MosaicSettings, n_clusters: int) -> bool:
    """Whether mean field hears the pairs: if asked for, or if messages would be too many."""
    many = evidence.graph.indices.size * n_clusters > settings.tuning.most_numbers
    return settings.inference == "mean_field" or (settings.inference == "auto" and many)


def hear_pairs(problem: MosaicProblem, prior: Array) -> tuple[NDArray[np.float64], Noise]:
    """What nodes with `prior` (s, K) believe after their pairs, and the noise that they see."""
    nodes, messages = _heard(problem.evidence, problem.settings, prior, problem.factors)
    if problem.noise.origin == "given":
        return nodes, problem.noise
    rate = problem.evidence.noise_rate(problem.noise.rate, messages, nodes)
    return nodes, problem.noise._replace(rate=rate)


def ends_together(problem: MosaicProblem, prior: Array, rate: float) -> NDArray[np.float64]:
    """How probably the ends of each edge (E,) are together if pairs are wrong at `rate`.

    Given everything: the pair itself, the others, and the `prior` (s, K) that the field has of
    either end. Judged together: ends that are unsure may still be sure to be the same.
    """
    return nodes_and_ends(problem.evidence, problem.settings, prior, rate)[1]


def nodes_and_ends(
    evidence: Evidence, settings: MosaicSettings, prior: Array, rate: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What nodes with `prior` (s, K) believe after their pairs, and `ends_together`."""
    factors = evidence.factors(rate)
    nodes, messages = _heard(evidence, settings, prior, factors)
    return nodes, edge_posterior(evidence.graph, factors, messages, nodes)


def _heard(
    evidence: Evidence, settings: MosaicSettings, prior: Array, factors: PairFactors
) -> tuple[NDArray[np.float64], Messages]:
    mean_field = _by_mean_field(evidence, settings, prior.shape[1])
    sweeps = settings.tuning.few_steps * settings.tuning.pilot_rounds
    return send_first(
        prior, evidence.graph, factors, mean_field=mean_field, sweeps=sweeps, tol=SILENCE
    )


def start_over(state: MosaicState) -> MosaicState:
    """The state of one problem as a start for another with the same pairs."""
    return state._replace(rounds=0, change=np.inf, score=-np.inf)


def form_beliefs(problem: MosaicProblem, state: MosaicState, rounds: int) -> MosaicState:
    """Advance until `state.rounds` is `rounds`, or until posteriors hardly change.

    Returns the state of the best score on the way: rounds that fit the pairs they have heard
    better and the pairs they have not heard worse are taken back.
    """
    rounds, tol = min(rounds, problem.settings.max_iter), problem.settings.tol
    race, best = problem.tuning.race_rounds, state
    while state.rounds < rounds and (state.change > tol or state.rounds <= race):
        state = _round(problem, state)
        going = keep_going(state.rounds, rounds, state.score)
        if state.score >= best.score:
            best = state
        if not going:
            break
    return best


def _round(problem: MosaicProblem, state: MosaicState) -> MosaicState:
    values = problem.ridge.values_without_own(state.rows)
    sharpness = fit_sharpness(values, state.rows, problem.ridge.weights, state.sharpness)
    new = find_posterior(problem, judge_field(problem, state, values, sharpness))
    return new._replace(change=float(np.abs(new.rows - state.rows).sum(axis=1).mean()))


def judge_field(
    problem: MosaicProblem, state: MosaicState, values: Array, sharpness: float
) -> MosaicState:
    """The state with the priors of a field with `values` (n, K), and how well it predicts pairs."""
    evidence, core = problem.evidence, problem.evidence.core
    rows = softmax(sharpness, values)
    own = core.contract(problem.weights[core.rows, None] * values[core.rows])
    prior = softmax(sharpness, own)
    score = float(evidence.log_likelihoods(prior, problem.factors).sum())
    score += _background(problem, rows)
    return state._replace(rows=rows, prior=prior, sharpness=sharpness, score=score)


def _background(problem: MosaicProblem, rows: Array) -> float:
    """log-likelihood of the cannot-links nobody gave, where there are only must-links.

    Must-links alone are kept best by one cluster for everything. Random pairs would have
    come with K - 1 cannot-links for each must-link: the score counts them at random rows.
    """
    weight = problem.evidence.lone_must_weight
    if not weight:
        return 0.0
    share = problem.weights @ rows / problem.weights.sum()
    equal = float(share @ share)
    chance = 1.0 - equal * (1.0 - problem.noise.rate)
    return float(weight * (rows.shape[1] - 1) * np.log(chance))


def find_posterior(problem: MosaicProblem, state: MosaicState) -> MosaicState:
    """The state after its nodes, too, have heard their pairs."""
    evidence, core, tuning = problem.evidence, problem.evidence.core, problem.tuning
    messages, factors, odds = state.messages, state.factors, state.odds
    if state.noise.odds != odds:
        odds = state.noise.odds
        messages, factors = send_again(messages), evidence.factors(state.noise.rate)
    nodes, messages = send_messages(
        state.prior, evidence.graph, factors, messages, sweeps=tuning.few_steps, tol=SILENCE
    )
    rows = state.rows.copy()
    rows[core.rows] = core.expand(nodes)
    new = state._replace(
        rows=rows, nodes=nodes, messages=messages, factors=factors, odds=odds
    )._replace(rounds=state.rounds + 1)
    if problem.noise.origin == "estimated" and state.rounds >= tuning.race_rounds:
        return _estimate_noise(problem, new)
    return new


def _estimate_noise(problem: MosaicProblem, state: MosaicState) -> MosaicState:
    rate = problem.evidence.noise_rate(state.noise.rate, state.messages, state.nodes)
    return state._replace(noise=state.noise._replace(rate=rate))


def settle_noise(problem: MosaicProblem, state: MosaicState) -> MosaicState:
    """The state with the noise that its beliefs see, whichever round it comes from."""
    return state if problem.noise.origin == "given" else _estimate_noise(problem, state)


def merit(problem: MosaicProblem, state: MosaicState) -> float:
    """Score less the cost of the pairs that even the beliefs, which have heard them, break.

    Their share is the noise of the state, which is to be settled first. A space may predict pairs
    well on average and yet hold clusters that no belief can part.
    """
    if problem.noise.origin != "estimated":
        return state.score
    broken = state.noise.rate * problem.evidence.plain_weight
    return float(state.score - problem.noise.odds * broken)


def softmax(scale: float, values: Array) -> NDArray[np.float64]:
    """Each row of scale · values (n, K) as probabilities."""
    parts = map_blocks(Rows(values), passes.softmax, scale)
    return fold(parts, joined=("values",), lengths=(len(values),)).values


def fit_sharpness(values: Array, beliefs: Array, weights: Array, start: float) -> float:
    """beta that maximises sum_i w_i sum_k t_ik log softmax(beta v_i)_k, by safeguarded Newton."""
    beta, seen = start, passes.Seen(beliefs, weights)
    for _ in range(_NEWTON_STEPS):
        at = fold(map_blocks(Rows(values), passes.derivatives, beta, state=seen))
        step = at.slope / max(at.curvature, 1e-12)
        new = beta + min(max(step, -0.5 * beta), beta)
        new = min(max(new, _LEAST_SHARPNESS), _MOST_SHARPNESS)
        if abs(new - beta) < _NEWTON_TOLERANCE * beta:
            return float(new)
        beta = new
    return float(beta)
