"""The soft stage: beliefs from field and pairs, and the field from beliefs, in turn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.cluster.mosaic import _kernels as kernels
from coterie.cluster.mosaic.evidence import Evidence
from coterie.cluster.mosaic.field import Ridge
from coterie.data import Rows
from coterie.progress import keep_going

Array = NDArray[Any]

_SWEEPS = 4  # along the pairs per round; what was said is kept from round to round
_SILENCE = 1e-3  # a node whose belief has changed by less has nothing to say
_PATIENCE = 5  # rounds without a better score
_RATE_STEPS = 3
_TRUST_ROUNDS = 5  # rounds at the first noise rate, when errors of the start could raise it
_SAME_STRENGTH = 0.05  # pairs are said again when their strength has changed by a larger share
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
    messages : (2E, K) float32
        Of belief propagation; (0, K) with mean field.
    heard : (s, K)
        What each node has heard with mean field.
    told : (s, K)
        What each node believed when it last spoke to its neighbours.
    odds : float
        log-odds of a plain pair when they last spoke.
    alone : (s, K)
        What the field alone believes about each node.
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
    heard: Array
    told: Array
    odds: float
    alone: Array
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
        Noise rate of all rounds; None estimates it on the way.
    known : bool
        Whether that rate is the truth; else it is estimated when the rounds are over.
    """

    def __init__(
        self,
        ridge: Ridge,
        evidence: Evidence,
        weights: Array,
        engine: str,
        rate: float | None,
        known: bool = False,
    ) -> None:
        self.ridge, self.evidence, self.weights = ridge, evidence, weights
        self.engine, self.fixed_rate, self.rate_is_known = engine, rate, known
        self.first_rate = evidence.first_rate() if rate is None else rate
        self.first_chances = evidence.chances(self.first_rate)
        self._held: tuple[float, tuple[Array, ...]] = (np.nan, ())

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
        messages = np.ones((core.indices.size if passing else 0, n_clusters), dtype=np.float32)
        silence = np.zeros_like(nodes)
        return State(
            rows=rows,
            nodes=nodes,
            messages=messages,
            heard=silence,
            told=silence,
            odds=_log_odds(self.first_rate),
            alone=nodes,
            sharpness=_FIRST_SHARPNESS,
            rate=self.first_rate,
        )

    def take_over(self, state: State) -> State:
        """A start from the state of another stage with the same evidence."""
        return replace(state, rounds=0, change=np.inf, score=-np.inf)

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

        Their share is the noise rate of the state, which is to be settled first. A space
        may predict pairs well on average and yet hold clusters that no belief can part.
        """
        if self.fixed_rate is not None:
            return state.score
        odds = _log_odds(self.first_rate)
        return float(state.score - odds * state.rate * self.evidence.plain_weight)

    def settle_rate(self, state: State) -> State:
        """The state with its noise rate estimated, whichever round it comes from."""
        rate = state.rate
        if not self.rate_is_known:
            for _ in range(_RATE_STEPS):
                rate = self.evidence.noise_rate(rate, state.messages, state.nodes)
        return replace(state, rate=rate)

    def round(self, state: State) -> State:
        """One round."""
        ridge = self.ridge
        values = ridge.field.evaluate(ridge.solve(state.rows))
        values = ridge.without_own(values, state.rows)
        sharpness = fit_sharpness(values, state.rows, ridge.weights, state.sharpness)
        new = self.listen(self.look(state, values, sharpness))
        change = float(np.abs(new.rows - state.rows).sum(axis=1).mean())
        return replace(new, change=change)

    def look(self, state: State, values: Array, sharpness: float) -> State:
        """The state after its rows have seen field `values` (n, K): what the field alone says."""
        core = self.evidence.core
        rows = softmax(sharpness, values)
        alone = softmax(sharpness, core.contract(self.weights[core.rows, None] * values[core.rows]))
        score = self.evidence.log_likelihood(alone, self.first_chances) + self._background(rows)
        return replace(state, rows=rows, alone=alone, sharpness=sharpness, score=float(score))

    def listen(self, state: State) -> State:
        """The state after its rows, too, have heard their pairs."""
        core = self.evidence.core
        state = self._believe(state)
        rows = state.rows.copy()
        rows[core.rows] = core.expand(state.nodes)
        rate = state.rate
        if self.fixed_rate is None and state.rounds >= _TRUST_ROUNDS:
            rate = self.evidence.noise_rate(rate, state.messages, state.nodes)
        return replace(state, rows=rows, rate=rate, rounds=state.rounds + 1)

    def hear_out(self, state: State) -> State:
        """The state after it has heard its pairs, and their pairs, and how far to trust them."""
        for _ in range(2 * _TRUST_ROUNDS):
            state = self.listen(state)
        return self.settle_rate(state)

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

    def _believe(self, state: State) -> State:
        """Beliefs of the nodes from what the field and their neighbours say."""
        core = self.evidence.core
        odds = _log_odds(state.rate)
        told, heard = state.told.copy(), state.heard.copy()
        if abs(odds / state.odds - 1.0) > _SAME_STRENGTH:
            told[:] = heard[:] = 0.0  # what was said at another strength is said again
        else:
            odds = state.odds
        nodes, messages = np.empty_like(state.nodes), state.messages.copy()
        strength = self._strength(odds, passing=len(messages) > 0)
        if len(messages):
            together, apart = strength
            kernels.propagate(
                state.alone,
                core.indptr,
                together,
                apart,
                self.evidence.twin,
                _SWEEPS,
                _SILENCE,
                messages,
                told,
                nodes,
            )
        else:
            (pull,) = strength
            graph = core.indptr, core.indices
            kernels.mean_field(state.alone, *graph, pull, _SWEEPS, _SILENCE, heard, told, nodes)
        return replace(state, nodes=nodes, messages=messages, heard=heard, told=told, odds=odds)

    def _strength(self, odds: float, *, passing: bool) -> tuple[Array, ...]:
        held = self._held
        if held[0] != odds:
            rate = 1.0 / (1.0 + np.exp(odds))
            evidence = self.evidence
            held = odds, evidence.chances(rate) if passing else (evidence.pull(rate),)
            self._held = held
        return held[1]


def softmax(scale: float, values: Array) -> NDArray[np.float64]:
    """Each row of scale · values (n, K) as probabilities."""
    out = np.empty_like(values)

    def fill(start: int, stop: int) -> None:
        part = out[start:stop]
        kernels.below_top(scale, values[start:stop], part)
        np.exp(part, out=part)  # NumPy's is faster than a compiled loop's
        kernels.to_shares(part)

    Rows(values).for_each(fill)
    return out


def fit_sharpness(values: Array, targets: Array, weights: Array, start: float) -> float:
    """beta that maximises sum_i w_i sum_k t_ik log softmax(beta v_i)_k, by safeguarded Newton."""
    beta = start
    rows = Rows(values)

    def derivatives(start: int, stop: int) -> Array:
        part = slice(start, stop)
        # In float32, ten times as fast: beta is wanted to 1 %.
        chance = np.empty((stop - start, values.shape[1]), dtype=np.float32)
        kernels.below_top(beta, values[part], chance)
        np.exp(chance, out=chance)
        found = kernels.slope_and_curvature(chance, values[part], targets[part], weights[part])
        return np.array(found)

    for _ in range(5):
        slope, curvature = rows.map_reduce(derivatives, lambda a, b: a + b)
        step = slope / max(curvature, 1e-12)
        new = beta + min(max(step, -0.5 * beta), beta)
        new = min(max(new, _LEAST_SHARPNESS), _MOST_SHARPNESS)
        if abs(new - beta) < 1e-2 * beta:
            return float(new)
        beta = new
    return float(beta)


def _log_odds(rate: float) -> float:
    return float(np.log((1.0 - rate) / rate))
