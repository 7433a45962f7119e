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

from coterie.cluster.mosaic.evidence import Evidence
from coterie.cluster.mosaic.field import Ridge
from coterie.exceptions import InfeasibleConstraints
from coterie.inference import NoFeasibleLabels, PairwiseModel, icm, icm_plan
from coterie.progress import keep_going

Array = NDArray[Any]


class Finished(NamedTuple):
    """Labels (n,), field weights (r, K) and the objective after each accepted step."""

    labels: NDArray[np.int64]
    field_weights: NDArray[np.float64]
    history: list[float]


def data_costs(values: Array, weights: Array, sharpness: float) -> NDArray[np.float64]:
    """beta/2 w_i |e_k - f_i|^2 of every row and cluster, (n, K)."""
    squares = np.einsum("ij,ij->i", values, values)
    return np.asarray(0.5 * sharpness * weights[:, None] * (1.0 + squares[:, None] - 2.0 * values))


class Placer:
    """Labels for the values of a field: free rows by the field, rows in pairs by `icm`.

    Parameters
    ----------
    evidence : Evidence
    weights : (n,)
        How much each row's data fit counts.
    rate : float
        Share of plain pairs that are wrong.
    """

    def __init__(
        self,
        evidence: Evidence,
        weights: Array,
        rate: float,
        n_clusters: int,
        rng: np.random.Generator,
    ) -> None:
        self.evidence, self.weights, self.rng = evidence, weights, rng
        core = evidence.core
        self.constant = core.constant(evidence.pair_cost(rate))
        unary = np.zeros((core.n_nodes, n_clusters))
        self.model = PairwiseModel(unary, core.indptr, core.indices, *evidence.costs(rate))
        self.plan = icm_plan(self.model)
        self.free = np.ones(weights.size, dtype=bool)
        self.free[core.rows] = False

    def place(
        self, values: Array, sharpness: float, nodes: Array
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], float]:
        """Labels (n,) of rows and (s,) of nodes, and their cost: data fit and broken pairs.

        `nodes` (s,) are the labels of the nodes to start from.
        """
        core = self.evidence.core
        costs = data_costs(values, self.weights, sharpness)
        found = self._search(core.contract(costs[core.rows]), nodes)
        labels = values.argmax(axis=1).astype(np.int64)
        labels[core.rows] = core.expand(found.labels)
        own = float(costs[self.free, labels[self.free]].sum())
        return labels, found.labels, found.energy + own + self.constant

    def _search(self, unary: Array, nodes: Array) -> Any:
        model = self.model._replace(unary=unary)
        try:
            return icm(model, nodes, random_state=self.rng, plan=self.plan)
        except NoFeasibleLabels as error:
            # Raises with the minimal clash of the user's own pairs.
            self.evidence.constraints.check_feasible(unary.shape[1], hard_only=True)
            raise InfeasibleConstraints(str(error)) from error


def finish(
    ridge: Ridge, placer: Placer, beliefs: Array, nodes: Array, sharpness: float, max_rounds: int
) -> Finished:
    """Alternate the best field for the labels and better labels for the field until J stays.

    Parameters
    ----------
    beliefs, nodes : (n, K), (s, K)
        Beliefs of rows and of the core's nodes to start from.
    """
    n_clusters = beliefs.shape[1]
    labels = beliefs.argmax(axis=1).astype(np.int64)
    node_labels = nodes.argmax(axis=1).astype(np.int64)
    best: Finished | None = None
    for number in range(1, max_rounds + 1):
        field_weights = ridge.solve(np.eye(n_clusters)[labels])
        values = ridge.field.evaluate(field_weights)
        labels, node_labels, cost = placer.place(values, sharpness, node_labels)
        objective = cost + roughness(field_weights, ridge.penalty, sharpness)
        if best is not None and objective >= best.history[-1]:
            return best  # a tie, or the last digits of float32 features
        history = [objective] if best is None else [*best.history, objective]
        settled = best is not None and np.array_equal(labels, best.labels)
        best = Finished(labels, field_weights, history)
        if settled or not keep_going(number, max_rounds, objective):
            break
    assert best is not None
    return best


def roughness(field_weights: Array, penalty: float, sharpness: float) -> float:
    """beta/2 lambda |W|^2."""
    return 0.5 * sharpness * penalty * float((field_weights**2).sum())
