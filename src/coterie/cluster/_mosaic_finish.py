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

from coterie.cluster._mosaic_evidence import Evidence
from coterie.cluster._mosaic_field import Ridge
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


def finish(
    ridge: Ridge,
    evidence: Evidence,
    beliefs: Array,
    nodes: Array,
    sharpness: float,
    rate: float,
    *,
    max_rounds: int,
    rng: np.random.Generator,
) -> Finished:
    """Alternate the best field for the labels and better labels for the field until J stays.

    Parameters
    ----------
    beliefs, nodes : (n, K), (s, K)
        Beliefs of rows and of the core's nodes to start from.
    """
    core = evidence.core
    same, differ = evidence.costs(rate)
    constant = core.constant(evidence.pair_cost(rate))
    n_clusters = beliefs.shape[1]
    model = PairwiseModel(
        np.zeros((core.n_nodes, n_clusters)), core.indptr, core.indices, same, differ
    )
    plan = icm_plan(model)
    labels = beliefs.argmax(axis=1).astype(np.int64)
    node_labels = nodes.argmax(axis=1).astype(np.int64)
    free = np.ones(labels.size, dtype=bool)
    free[core.rows] = False
    best: Finished | None = None
    for number in range(1, max_rounds + 1):
        field_weights = ridge.solve(np.eye(n_clusters)[labels])
        values = ridge.field.evaluate(field_weights)
        costs = data_costs(values, ridge.weights, sharpness)
        model = model._replace(unary=core.contract(costs[core.rows]))
        found = _label(evidence, icm, model, node_labels, plan, n_clusters, rng)
        node_labels = found.labels
        labels = values.argmax(axis=1).astype(np.int64)
        labels[core.rows] = core.expand(node_labels)
        rough = 0.5 * sharpness * ridge.penalty * float((field_weights**2).sum())
        own = float(costs[free, labels[free]].sum())
        objective = found.energy + own + rough + constant
        if best is not None and objective >= best.history[-1]:
            return best  # a tie, or the last digits of float32 features
        history = [objective] if best is None else [*best.history, objective]
        settled = best is not None and np.array_equal(labels, best.labels)
        best = Finished(labels, field_weights, history)
        if settled or not keep_going(number, max_rounds, objective):
            break
    assert best is not None
    return best


def _label(
    evidence: Evidence,
    engine: Any,
    model: PairwiseModel,
    start: Array,
    plan: Any,
    n_clusters: int,
    rng: np.random.Generator,
) -> Any:
    try:
        return engine(model, start, random_state=rng, plan=plan)
    except NoFeasibleLabels as error:
        # Raises with the minimal clash of the user's own pairs.
        evidence.constraints.check_feasible(n_clusters, hard_only=True)
        raise InfeasibleConstraints(str(error)) from error
