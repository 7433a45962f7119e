"""The soft stage: beliefs from field and pairs, and the field from beliefs, in turn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.cluster import _mosaic_kernels as kernels
from coterie.cluster._mosaic_evidence import Evidence
from coterie.cluster._mosaic_field import Ridge
from coterie.progress import keep_going

Array = NDArray[Any]

_SWEEPS = 4  # of belief propagation per round; messages are kept from round to round
_DAMPING = 0.2
_PATIENCE = 5  # rounds without a better score
_RATE_STEPS = 3
_TRUST_ROUNDS = 5  # rounds at the first noise rate, when errors of the start could raise it
_MOST_MESSAGES = 20_000_000  # numbers; beyond, pairs are so many that mean field is as good
_FIRST_SHARPNESS, _LEAST_SHARPNESS, _MOST_SHARPNESS = 5.0, 0.1, 50.0
_START_BELIEF = 0.7


@dataclass(frozen=True)
class State:
    """Where a run of the soft stage stands.

    Attributes
    ----------
    rows : (n, K)
        Belief of each row.
    nodes : (s, K)
        Belief of each node of the core.
    messages : (2E, K) or (0, K)
    sharpness : float
        beta: nats per unit of the field.
    rate : float
        Share of plain pairs that are wrong.
    rounds : int
    change : float
        Mean change of a row's belief in the last round.
    score : float
        log P(pairs | field) at the first noise rate, every row's own belief left out of the field:
        how well the field predicts pairs that it has not heard.
    """

    rows: Array
    nodes: Array
    messages: Array
    sharpness: float
    rate: float
    rounds: int = 0
    change: float = np.inf
    score: float = -np.inf


class SoftStage:
    """Rounds of: field from beliefs (ridge), its sharpness, beliefs from field and pairs.

    The belief of row i is P(y_i = k) under exp(-J(y, W)) for the current field, by belief
    propagation along the pairs; in the field a row's own belief is left out, so that a row
    without informative neighbours is not confirmed by itself.

    Parameters
    ----------
    ridge : Ridge
    evidence : Evidence
    weights : (n,)
        How often each row counts.
    engine : "belief_propagation" or "mean_field" or "auto"
    rate : float or None
        Fixed noise rate; None estimates it.
    """

    def __init__(
        self, ridge: Ridge, evidence: Evidence, weights: Array, engine: str, rate: float | None
    ) -> None:
        self.ridge, self.evidence, self.weights = ridge, evidence, weights
        self.engine, self.fixed_rate = engine, rate
        self.first_rate = evidence.first_rate() if rate is None else rate
        self._first_costs = evidence.costs(self.first_rate)
        self._rate, self._held = self.first_rate, self._first_costs

    def start(self, labels: Array, n_clusters: int) -> State:
        """A state that leans towards `labels` (n,)."""
        n = labels.size
        rows = np.full((n, n_clusters), (1.0 - _START_BELIEF) / n_clusters)
        rows[np.arange(n), labels] += _START_BELIEF
        core = self.evidence.core
        nodes = core.contract(rows[core.rows])
        nodes /= nodes.sum(axis=1, keepdims=True)
        rows[core.rows] = core.expand(nodes)
        size = core.indices.size * n_clusters
        passing = self.engine == "belief_propagation" or (
            self.engine == "auto" and size <= _MOST_MESSAGES
        )
        messages = np.ones((core.indices.size if passing else 0, n_clusters))
        return State(rows, nodes, messages, _FIRST_SHARPNESS, self.first_rate)

    def run(self, state: State, rounds: int, tol: float) -> State:
        """Advance until `state.rounds` is `rounds` or beliefs change by less than `tol` a row.

        Returns the state of the best score on the way: rounds that fit the pairs they have heard
        better and the pairs they have not heard worse are taken back.
        """
        best = state
        while state.rounds < rounds and (state.change > tol or state.rounds <= _TRUST_ROUNDS):
            state = self.round(state)
            going = keep_going(state.rounds, rounds, state.score)
            if state.score >= best.score:
                best = state
            elif state.rounds - best.rounds >= _PATIENCE:
                break
            if not going:
                break
        return best

    def merit(self, state: State) -> float:
        """Score less the cost of the pairs that even the beliefs, which have heard them, break.

        A space may predict pairs well on average and yet hold clusters that no belief can part.
        """
        if self.fixed_rate is not None:
            return state.score
        rate = self.settle_rate(state).rate
        odds = np.log((1.0 - self.first_rate) / self.first_rate)
        return float(state.score - odds * rate * self.evidence.plain_weight)

    def settle_rate(self, state: State) -> State:
        """The state with its noise rate estimated, whichever round it comes from."""
        rate = state.rate
        if self.fixed_rate is None:
            for _ in range(_RATE_STEPS):
                rate = self.evidence.noise_rate(rate, state.messages, state.nodes)
        return replace(state, rate=rate)

    def round(self, state: State) -> State:
        """One round."""
        ridge, core = self.ridge, self.evidence.core
        values = ridge.field.evaluate(ridge.solve(state.rows))
        values = ridge.without_own(values, state.rows)
        sharpness = fit_sharpness(values, state.rows, ridge.weights, state.sharpness)
        rows = np.empty_like(state.rows)
        kernels.softmax_rows(sharpness, values, rows)
        logits = sharpness * core.contract(self.weights[core.rows, None] * values[core.rows])
        nodes, messages = self._believe(state, logits)
        rows[core.rows] = core.expand(nodes)
        rate = state.rate
        if self.fixed_rate is None and state.rounds >= _TRUST_ROUNDS:
            rate = self.evidence.noise_rate(rate, messages, nodes)
        score = kernels.log_likelihood(logits, core.indptr, core.indices, *self._first_costs)
        score += self._background(rows)
        change = float(np.abs(rows - state.rows).sum(axis=1).mean())
        return replace(
            state,
            rows=rows,
            nodes=nodes,
            messages=messages,
            sharpness=sharpness,
            rate=rate,
            rounds=state.rounds + 1,
            change=change,
            score=float(score),
        )

    def _background(self, rows: Array) -> float:
        """log-likelihood of the cannot-links nobody gave, where there are only must-links.

        Must-links alone are kept best by one cluster for everything. Random pairs would have
        come with K - 1 cannot-links for each must-link: the score counts them at random rows.
        """
        weight = self.evidence.lone_must_weight
        if not weight:
            return 0.0
        share = self.weights @ rows / self.weights.sum()
        equal = float(share @ share)
        return float(weight * (rows.shape[1] - 1) * np.log(1.0 - equal * (1.0 - self.first_rate)))

    def _believe(self, state: State, logits: Array) -> tuple[Array, Array]:
        core = self.evidence.core
        same, differ = self._costs(state.rate)
        nodes, messages = state.nodes.copy(), state.messages
        if len(messages):
            messages = messages.copy()
            kernels.propagate(
                logits,
                core.indptr,
                same,
                differ,
                self.evidence.twin,
                _DAMPING,
                _SWEEPS,
                messages,
                nodes,
            )
        else:
            kernels.mean_field(logits, core.indptr, core.indices, same, differ, _SWEEPS, nodes)
        return nodes, messages

    def _costs(self, rate: float) -> tuple[Array, Array]:
        if abs(np.log(rate / self._rate)) > 0.01:
            self._rate, self._held = rate, self.evidence.costs(rate)
        return self._held


def fit_sharpness(values: Array, targets: Array, weights: Array, start: float) -> float:
    """beta that maximises sum_i w_i sum_k t_ik log softmax(beta v_i)_k, by safeguarded Newton."""
    beta = start
    for _ in range(5):
        slope, curvature = kernels.slope_and_curvature(beta, values, targets, weights)
        step = slope / max(curvature, 1e-12)
        new = beta + min(max(step, -0.5 * beta), beta)
        new = min(max(new, _LEAST_SHARPNESS), _MOST_SHARPNESS)
        if abs(new - beta) < 1e-2 * beta:
            return float(new)
        beta = new
    return float(beta)
