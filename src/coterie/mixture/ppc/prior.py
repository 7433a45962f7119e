"""The prior over assignments: log Ω(π), its normaliser, and the cluster weights that maximise
Σ_k N_k log π_k − log Ω(π), the M-step's part for π (PPC eqs. 2.12 and 2.13).

Ω is the partition function of the constraint graph with log π_k in the place of the data, so it
depends on the *shape* of a component and not on its rows: components and subtrees that look alike
are counted, not repeated. Twenty thousand random pairs are a few dozen different components.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

from coterie._typing import BoolArray, FloatArray
from coterie.exceptions import InvalidParameter, UnboundedObjective
from coterie.inference import PairwiseModel
from coterie.inference.forest import forest_entries, keep_entries
from coterie.inference.model import components, entry_rows, subgraph
from coterie.mixture.ppc.like_components import LikeComponents
from coterie.mixture.ppc.subtrees import NodeByNode, Subtrees, log_omega_of_trees

__all__ = [
    "ByGradient",
    "ByGrid",
    "Prior",
    "Weights",
    "WeightsUpdate",
    "at",
    "by_proportions",
    "closed_form",
]

_LEAST = 1e-15  # no cluster's weight falls below this, so that its logarithm stays finite
_GRID_CLUSTERS = 5
# Per row: leaves the objective within about its square, 1e−12 per row, of the maximum. The next
# EM iteration starts from there, so that each needs only two or three evaluations of log Ω.
_SLOPE = 1e-6
_OPEN = 0.02  # share of what the rows know about the weights below which the pairs leave them open
_PARTS = (0.1, 0.25, 0.5, 0.75, 1.0)  # of the way from the shares of the rows to the maximum


class _Edges(NamedTuple):
    """Kinds of edges, each with how often it occurs, and kinds of nodes."""

    times: FloatArray  # (u,)
    exponents: FloatArray  # (u, 2) of its two nodes
    same: FloatArray  # (u,) e^−cost of equal labels
    differ: FloatArray  # (u,) e^−cost of different labels
    node_count: FloatArray  # (v,)
    node_exponent: FloatArray  # (v,)


class Prior:
    """log Ω as a function of log π.

    Parameters
    ----------
    graph : PairwiseModel
        Constraint graph between nodes; costs (2E, 1) do not depend on the cluster. Its unary costs
        are ignored.
    exponent : (s,) float64
        How often π counts at each node: its number of rows (sampling "point"), or 1 ("chunklet").
    wide : (s,) bool
        Nodes of components whose Ω is taken of their strongest spanning forest, an upper bound.
    overlap : bool
        False takes every pair of every component as if it shared no row with another one.
    """

    def __init__(
        self, graph: PairwiseModel, exponent: FloatArray, wide: BoolArray, *, overlap: bool = True
    ) -> None:
        self.n_clusters = graph.n_labels
        self._trees: NodeByNode | Subtrees | None = None
        self._loopy: LikeComponents | None = None
        self._alone: _Edges | None = None
        if not overlap:
            self._alone = _edge_kinds(graph, exponent)
        elif graph.n_nodes:
            narrow = _narrow(graph, wide)
            tree = _in_trees(narrow)
            inside, others = np.flatnonzero(tree), np.flatnonzero(~tree)
            if inside.size:
                trees = subgraph(narrow, inside)[0]
                self._trees = log_omega_of_trees(trees, exponent[inside])
            if others.size:
                self._loopy = LikeComponents(subgraph(narrow, others)[0], exponent[others])
        self.is_constant = bool(graph.indices.size == 0 and (exponent == 1).all())
        # Σ N log π − log Ω is bounded for a graph or a forest in it, not for pairs as if alone.
        self.bounds_objective = overlap

    @property
    def n_steps(self) -> int:
        """How many beliefs of nodes and subtrees an evaluation computes."""
        return sum(part.n_steps for part in (self._trees, self._loopy) if part is not None)

    def log_omega(self, log_weights: FloatArray) -> tuple[float, FloatArray]:
        """log Ω at log π (K,), and its gradient in log π: the expected counts under the prior.

        Exactly, ∂ log Ω/∂ log π_k = Σ_l m_l P_Ω(z_l = k), with m the exponents.
        """
        value, counts = 0.0, np.zeros(self.n_clusters)
        for part in (self._trees, self._loopy):
            if part is not None:
                of_part = part.log_omega(log_weights)
                value, counts = value + of_part[0], counts + of_part[1]
        if self._alone is not None:
            value, counts = _without_overlap(self._alone, log_weights)
        return value, counts


class Weights(NamedTuple):
    """Cluster weights π (K,) and log Ω there."""

    pi: FloatArray
    log_omega: float


class WeightsUpdate(Protocol):
    """From expected counts N (K,) and the weights so far to better weights."""

    def __call__(self, counts: FloatArray, pi: FloatArray) -> Weights: ...


def closed_form(counts: FloatArray) -> FloatArray:
    """π_k = N_k / Σ N, for a prior whose Ω does not depend on π; no weight is exactly zero."""
    floored = np.maximum(counts, _LEAST * counts.sum())
    return np.asarray(floored / floored.sum())


def at(prior: Prior, pi: FloatArray) -> Weights:
    """`pi` with its log Ω."""
    return Weights(pi, 0.0 if prior.is_constant else prior.log_omega(np.log(pi))[0])


class ByGradient:
    """Gradient ascent in softmax coordinates θ.

    With N_free = Σ N − Σ m the number of rows in no pair,
    f(θ) = N·θ − N_free·log Σ e^θ − log Ω(e^θ),
    where log Ω(e^θ), a log-partition function linear in θ inside, is convex: f is concave, so what
    is found is *the* maximum (for exact Ω). ∂f/∂θ_k = (N_k − M_k) − π_k (Σ N − Σ M), with M the
    expected counts under the prior. θ is scaled by √π, which makes the Hessian of the free rows
    near the identity.
    """

    def __init__(self, prior: Prior) -> None:
        self.prior = prior

    def __call__(self, counts: FloatArray, pi: FloatArray) -> Weights:
        if self.prior.is_constant:
            return Weights(closed_form(counts), 0.0)
        total = max(float(counts.sum()), 1.0)
        start, scale = np.log(pi), np.sqrt(np.maximum(pi, 1e-6))

        def loss(phi: FloatArray) -> tuple[float, FloatArray]:
            log_pi = _log_softmax(start + phi / scale)
            omega, expected = self.prior.log_omega(log_pi)
            value = counts @ log_pi - omega
            slope = (counts - expected) - np.exp(log_pi) * (counts - expected).sum()
            return -float(value) / total, -slope / scale / total

        # A step of 40 in θ takes a weight from 1 to 1e−17.
        bounds = [(-40.0 * s, 40.0 * s) for s in scale]
        found = minimize(
            loss,
            np.zeros_like(start),
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"gtol": _SLOPE, "ftol": 1e-15, "maxiter": 50},
        )
        log_pi = _log_softmax(start + found.x / scale)
        if not self.prior.bounds_objective:
            _refuse_collapse(counts, log_pi)
        if log_pi.min() < math.log(_LEAST):
            best = at(self.prior, closed_form(np.exp(log_pi)))
        else:
            best = Weights(np.exp(log_pi), float(counts @ log_pi + total * found.fun))
        return self._near_shares(best, counts, pi)

    def _near_shares(self, best: Weights, counts: FloatArray, pi: FloatArray) -> Weights:
        """`best`, unless the pairs leave the weights open: then close to the shares of the rows.

        Going from the shares to `best` gains g of the objective, and loses ℓ of what the rows by
        themselves say, Σ N log π: g/ℓ is about how much of what the rows know about the weights
        is left when the pairs are given. Hard pairs that leave one way to divide the rows leave
        nothing but the names of the clusters: the maximum lies in a corner of the simplex, for a
        gain of less than log K!. There the weights go from the shares towards `best` only as far
        as the objective does not fall below where it was.
        """
        shares = closed_form(counts)
        toward = np.log(best.pi) - np.log(shares)

        def value(log_pi: FloatArray) -> Weights:
            log_pi = _log_softmax(log_pi)
            return Weights(np.exp(log_pi), self.prior.log_omega(log_pi)[0])

        def objective(weights: Weights) -> float:
            return float(counts @ np.log(weights.pi) - weights.log_omega)

        lost = -float(counts @ toward)
        found = value(np.log(shares))
        if objective(best) - objective(found) >= _OPEN * lost:
            return best
        before = objective(value(np.log(pi)))
        for part in _PARTS:
            if objective(found) >= before:
                return found
            found = value(np.log(shares) + part * toward)
        return best


def by_proportions(counts: FloatArray, pi: FloatArray) -> Weights:
    """π_k = N_k / Σ N and Ω = 1: the pairs are answers, as random as the rows, and not a prior.

    Maximises log P(X, answers) in the place of log P(X | answers), (2.6): Ω(π), up to a constant
    the probability of the answers, is then part of the likelihood and not divided by.
    """
    return Weights(closed_form(counts), 0.0)


def _refuse_collapse(counts: FloatArray, log_pi: FloatArray) -> None:
    """Raise if a cluster that has rows was left without weight: the objective has no maximum."""
    lost = np.flatnonzero((log_pi < math.log(_LEAST)) & (counts >= 1.0))
    if lost.size:
        raise UnboundedObjective(
            f"The weight of cluster {int(lost[0])}, which has {counts[lost[0]]:.4g} rows, falls to "
            "0: with so many pairs that share rows, log Ω as if none did has no lower bound. Use "
            'weights_update="gradient" or "proportions".'
        )


class ByGrid:
    """The paper's search over all π with steps of `resolution` (eq. 2.14), for K ≤ 5.

    Ω does not change when clusters are renumbered, so it is computed for ascending π only; and of
    all orders of one π the best gives the larger weight to the larger count.
    """

    def __init__(self, prior: Prior, resolution: float = 0.01) -> None:
        if prior.n_clusters > _GRID_CLUSTERS:
            raise InvalidParameter(
                f'weights_update="grid" is for at most {_GRID_CLUSTERS} clusters, not '
                f'{prior.n_clusters}: the grid grows as 100^K. Use "gradient".'
            )
        steps = round(1.0 / resolution)
        self.points = np.array(_partitions(steps, prior.n_clusters), dtype=np.float64) / steps
        self.log_omega = np.array([at(prior, point).log_omega for point in self.points])

    def __call__(self, counts: FloatArray, pi: FloatArray) -> Weights:
        order = np.argsort(counts, kind="stable")
        value = np.log(self.points) @ counts[order] - self.log_omega
        best = int(np.argmax(value))
        new = np.empty_like(pi)
        new[order] = self.points[best]
        return Weights(new, float(self.log_omega[best]))


def _partitions(total: int, parts: int, least: int = 1) -> list[tuple[int, ...]]:
    """Ascending tuples of `parts` positive integers that sum to `total`."""
    if parts == 1:
        return [(total,)] if total >= least else []
    return [
        (first, *rest)
        for first in range(least, total // parts + 1)
        for rest in _partitions(total - first, parts - 1, first)
    ]


def _log_softmax(theta: FloatArray) -> FloatArray:
    shifted = theta - theta.max()
    return np.asarray(shifted - math.log(np.exp(shifted).sum()))


# -- log Ω ---------------------------------------------------------------------------------------


def _narrow(graph: PairwiseModel, wide: BoolArray) -> PairwiseModel:
    """`graph` with a spanning forest in the place of the components of `wide` nodes.

    With S some of the pairs and Ω_S their normaliser,

    - Ω_S ≥ Ω, for costs are not negative: log Z − log Ω_S is a lower bound of the penalised
      log-likelihood, and the same function of the mixture for every start;
    - for any distribution q over assignments with counts N, Gibbs' inequality gives
      Σ_k N_k log π_k − log Ω_S(π) ≤ E_q[cost of S] − H(q): bounded wherever q breaks no hard pair.

    Each pair as if alone (`_without_overlap`) has neither property: it counts a row once for every
    pair that it is in. A forest joins every row of a component with as few pairs as that takes.
    """
    if not wide.any():
        return graph
    inside = wide[entry_rows(graph)]
    kept = ~inside
    kept[inside] = forest_entries(keep_entries(graph, inside))
    return keep_entries(graph, kept)


def _in_trees(graph: PairwiseModel) -> BoolArray:
    """Nodes (s,) of components without cycles."""
    n_components, component = components(graph)
    nodes = np.bincount(component, minlength=n_components)
    entries = np.bincount(component[entry_rows(graph)], minlength=n_components)
    return np.asarray((entries == 2 * (nodes - 1))[component])


def _without_overlap(edges: _Edges, log_weights: FloatArray) -> tuple[float, FloatArray]:
    """log Ω and its gradient with every edge on its own (Lu and Leen 2007, §3.1, corrected).

    Σ_l log Σ_k π_k^m_l + Σ_edges log(e^−s P + e^−d (1 − P)), P = Σ_k p_a(k) p_b(k) the probability
    that independent ends p(k) ∝ π_k^m agree: exact where edges share no node.
    """
    node = edges.node_exponent[:, None] * log_weights
    value = float(edges.node_count @ logsumexp(node, axis=1))
    gradient = (edges.node_count * edges.node_exponent) @ softmax(node, axis=1)
    m_a, m_b = edges.exponents.T[:, :, None]
    p_a, p_b = softmax(m_a * log_weights, axis=1), softmax(m_b * log_weights, axis=1)
    both = p_a * p_b
    agree = both.sum(axis=1)
    # Not 1 − agree: near a corner of the simplex nothing would be left of it.
    apart = (p_a * (p_b @ (1.0 - np.eye(p_b.shape[1])))).sum(axis=1)
    factor = edges.same * agree + edges.differ * apart
    value += float(edges.times @ np.log(factor))
    slope = edges.times * (edges.same - edges.differ) / factor
    gradient += slope @ ((m_a + m_b) * both - agree[:, None] * (m_a * p_a + m_b * p_b))
    return value, gradient


def _edge_kinds(graph: PairwiseModel, exponent: FloatArray) -> _Edges:
    rows = entry_rows(graph)
    once = np.flatnonzero(rows < graph.indices)
    ends = np.sort(exponent[np.column_stack([rows[once], graph.indices[once]])], axis=1)
    kinds, count = np.unique(
        np.column_stack([ends, graph.same[once], graph.differ[once]]), axis=0, return_counts=True
    )
    nodes, node_count = np.unique(exponent, return_counts=True)
    return _Edges(
        count.astype(np.float64),
        kinds[:, :2],
        np.exp(-kinds[:, 2]),
        np.exp(-kinds[:, 3]),
        node_count.astype(np.float64),
        nodes,
    )
