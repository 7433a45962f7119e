r"""The hard stage: labels and field that lower one objective, every step of the way.

.. math:: J(y, W) = \tfrac{\beta}{2}\Bigl(\sum_i w_i \|e_{y_i} - W^\top z_i\|^2
    + \lambda \|W\|^2\Bigr) + \sum_{\text{broken pairs}} s_{ij}

z_i are the features of row i (its kernel values at the prototypes), W the field, e_k the k-th unit
vector, s_ij the strength of a pair in nats. The first sum is the data fit, the second the
geometric prior (a field that changes between near prototypes is long), the third the evidence.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._typing import Array
from coterie.cluster.mosaic import passes
from coterie.cluster.mosaic.beliefs import MosaicState, ends_together
from coterie.cluster.mosaic.evidence import Evidence, pair_costs
from coterie.cluster.mosaic.field import MosaicField
from coterie.cluster.mosaic.problem import MosaicProblem
from coterie.exceptions import InfeasibleConstraints
from coterie.inference import NoFeasibleLabels, PairwiseModel, icm, icm_plan
from coterie.progress import keep_going

__all__ = ["MosaicFit", "Placer", "data_costs", "finish", "roughness"]


class MosaicFit(NamedTuple):
    """What a fit found.

    Attributes
    ----------
    labels, by_field : (n,) int64
        Clusters, and those that the field alone would give when the fit was found.
    field : MosaicField
    field_weights : (r, K)
        W.
    sharpness, noise_rate : float
    history : list of float
        J after each accepted step.
    together : (E,)
        How probably the ends of each edge of the core are together.
    rounds : int
        Of the soft stage.
    """

    labels: NDArray[np.int64]
    by_field: NDArray[np.int64]
    field: MosaicField
    field_weights: NDArray[np.float64]
    sharpness: float
    noise_rate: float
    history: list[float]
    together: NDArray[np.float64]
    rounds: int

    def has_empty(self) -> bool:
        """Whether a cluster has no row."""
        return bool(np.unique(self.labels).size < self.field_weights.shape[1])


class Placed(NamedTuple):
    """Labels (n,) of rows and (s,) of nodes, and their cost: data fit and broken pairs."""

    labels: NDArray[np.int64]
    nodes: NDArray[np.int64]
    cost: float


def data_costs(values: Array, weights: Array, sharpness: float) -> NDArray[np.float64]:
    """beta/2 w_i |e_k - f_i|^2 of every row and cluster, (n, K)."""
    squares = np.einsum("ij,ij->i", values, values)
    costs = -2.0 * values  # and in place, for there may be thousands of clusters
    costs += 1.0 + squares[:, None]
    costs *= 0.5 * sharpness * weights[:, None]
    return np.asarray(costs)


def roughness(field_weights: Array, penalty: float, sharpness: float) -> float:
    """beta/2 lambda |W|^2."""
    return 0.5 * sharpness * penalty * float((field_weights**2).sum())


class Placer:
    """Labels for the values of a field: free rows by the field, rows in pairs by `icm`.

    Parameters
    ----------
    evidence : Evidence
    weights : (n,)
        How much each row's data fit counts.
    sharpness : float
        Of the field.
    rate : float
        At which pairs are wrong.
    """

    def __init__(
        self,
        evidence: Evidence,
        weights: Array,
        n_clusters: int,
        sharpness: float,
        rate: float,
        rng: np.random.Generator,
    ) -> None:
        self.evidence, self.weights, self.rng = evidence, weights, rng
        self.sharpness, core = sharpness, evidence.core
        self.constant = core.constant(pair_costs(evidence.constraints, rate))
        self.model = PairwiseModel(
            np.broadcast_to(0.0, (core.n_nodes, n_clusters)),
            core.indptr,
            core.indices,
            *evidence.costs(rate),
        )
        self.plan = icm_plan(self.model)
        self.free = np.ones(weights.size, dtype=bool)
        self.free[core.rows] = False

    def place(self, values: Array, nodes: Array) -> Placed:
        """Labels for field `values` (n, K), from labels `nodes` (s,) of the nodes."""
        rows, labels = self.evidence.core.rows, values.argmax(axis=1).astype(np.int64)
        tops, squares = values.max(axis=1), np.einsum("ij,ij->i", values, values)
        return self.place_core(values[rows], nodes, passes.Highest(labels, tops, squares))

    def place_core(self, values: Array, nodes: Array, highest: passes.Highest) -> Placed:
        """The same where values (r, K) are kept of the core's rows only."""
        core, free = self.evidence.core, self.free
        costs = data_costs(values, self.weights[core.rows], self.sharpness)
        found = self._search(core.contract(costs), nodes)
        labels = highest.labels.copy()
        labels[core.rows] = core.expand(found.labels)
        gaps = 1.0 + highest.squares[free] - 2.0 * highest.tops[free]
        own = 0.5 * self.sharpness * float(self.weights[free] @ gaps)
        return Placed(labels, found.labels, found.energy + own + self.constant)

    def _search(self, unary: Array, nodes: Array) -> Any:
        model = self.model._replace(unary=unary)
        try:
            return icm(model, nodes, random_state=self.rng, plan=self.plan)
        except NoFeasibleLabels as error:
            # Raises with the minimal clash of the user's own pairs.
            self.evidence.constraints.check_feasible(unary.shape[1], hard_only=True)
            raise InfeasibleConstraints(str(error)) from error


def finish(problem: MosaicProblem, state: MosaicState, rng: np.random.Generator) -> MosaicFit:
    """Alternate the best field for the labels and better labels for the field until J stays."""
    ridge, eye = problem.ridge, np.eye(state.rows.shape[1])
    k, rate = state.rows.shape[1], state.noise.rate
    placer = Placer(problem.evidence, ridge.weights, k, state.sharpness, rate, rng)
    labels, nodes = state.rows.argmax(axis=1), state.nodes.argmax(axis=1)
    history: list[float] = []
    most = problem.settings.max_iter
    for number in range(1, most + 1):
        new_weights = ridge.solve(eye[labels])
        values = ridge.field.values(new_weights)
        placed = placer.place(values, nodes)
        objective = placed.cost + roughness(new_weights, ridge.penalty, state.sharpness)
        if history and objective >= history[-1]:
            break  # a tie, or the last digits of float32 features
        settled = bool(history) and np.array_equal(labels, placed.labels)
        labels, nodes, field_weights = placed.labels, placed.nodes, new_weights
        by_field = values.argmax(axis=1)
        history.append(objective)
        if settled or not keep_going(number, most, objective):
            break
    return MosaicFit(
        labels=labels,
        by_field=by_field,
        field=ridge.field,
        field_weights=field_weights,
        sharpness=state.sharpness,
        noise_rate=state.noise.rate,
        history=history,
        together=ends_together(problem, state.prior, rate),
        rounds=state.rounds,
    )
