"""Labellings of finite energy, greedily and, where greed fails, exactly."""

from __future__ import annotations

import logging
import time

import numpy as np

from coterie.exceptions import UndecidedFeasibility
from coterie.inference import _feasible_kernels, _kernels
from coterie.inference._program import BoolArray, build_program, solve
from coterie.inference._random import RandomState, draw_seed
from coterie.inference.contraction import on_contracted
from coterie.inference.model import (
    Inference,
    IntArray,
    NoFeasibleLabels,
    PairwiseModel,
    components,
    subgraph,
)

__all__ = ["NoFeasibleLabels", "exact_map", "feasible_start"]

logger = logging.getLogger(__name__)
_FIRST_LABELS = 4
_INFEASIBLE = 2


def feasible_start(
    model: PairwiseModel,
    random_state: RandomState = None,
    *,
    restarts: int = 10,
    time_limit: float = 60.0,
) -> IntArray:
    """Labels (s,) of finite and, greedily, low energy.

    Greedy by saturation (fewest labels left first), hard must-links contracted; components where
    that ends without a label are tried again in other orders, then solved exactly by HiGHS.

    Parameters
    ----------
    restarts : int
        Greedy tries before the exact method.
    time_limit : float
        Seconds for the exact method.

    Raises
    ------
    NoFeasibleLabels
        If there is none, with the nodes of one component that has none.
    UndecidedFeasibility
        If the time limit passed first.
    """

    def run(small: PairwiseModel, _: IntArray | None) -> Inference:
        y = _feasible_start(small, random_state, restarts, time_limit)
        return Inference(y, None, np.nan, None, 0, True, {})

    return on_contracted(model, None, run).labels


def _feasible_start(
    model: PairwiseModel, random_state: RandomState, restarts: int, time_limit: float
) -> IntArray:
    rng = np.random.default_rng(int(draw_seed(random_state)))
    labels = np.full(model.n_nodes, -1, dtype=np.int64)
    todo = np.arange(model.n_nodes, dtype=np.int64)
    # Soft edges do not matter for what is possible: components of hard edges are independent.
    _, component = components(model, _hard_entries(model))
    for attempt in range(restarts):
        labels[todo] = -1
        stuck = _feasible_kernels.saturation_labels(
            *model, todo, draw_seed(rng), attempt > 0, labels
        )
        if stuck == 0:
            return labels
        todo = np.flatnonzero(np.isin(component, np.unique(component[labels < 0])))
    deadline = time.monotonic() + time_limit
    for c in np.unique(component[todo]):
        nodes = np.flatnonzero(component == c)
        logger.info("greedy labelling failed on %d nodes; solving exactly", nodes.size)
        part, _ = subgraph(model, nodes)
        labels[nodes] = _exact_labels(part, nodes, deadline, prove=False)
    return labels


def exact_map(model: PairwiseModel, time_limit: float | None = None) -> Inference:
    """Labels of least energy by mixed-integer programming (HiGHS), component by component.

    Each component is first solved with its nodes' cheapest labels only. Pair costs are ≥ 0, so a
    label that costs more than its node's cheapest by over E(found) − Σ_i min_k unary[i, k] is in no
    optimum; the labels left out that pass this test are let in and the component solved again.

    Raises
    ------
    NoFeasibleLabels, UndecidedFeasibility
    """
    return on_contracted(model, None, lambda small, _: _exact_map(small, time_limit))


def _exact_map(model: PairwiseModel, time_limit: float | None) -> Inference:
    deadline = np.inf if time_limit is None else time.monotonic() + time_limit
    labels = np.argmin(model.unary, axis=1).astype(np.int64)
    _, component = components(model)
    order = np.argsort(component, kind="stable")
    for nodes in np.split(order, np.cumsum(np.bincount(component, minlength=1))[:-1]):
        if not _paid(model, nodes, labels):
            continue  # cheapest labels at no pair cost: nothing is lower
        part, _ = subgraph(model, nodes)
        labels[nodes] = _exact_labels(part, nodes, deadline, prove=True)
    value = float(_kernels.total_energy(*model, labels))
    return Inference(labels, None, value, None, 0, True, {"method": "milp"})


def _hard_entries(model: PairwiseModel) -> BoolArray:
    return np.asarray(
        np.isinf(model.same).any(axis=1) | np.isinf(model.differ).any(axis=1), dtype=np.bool_
    )


def _paid(model: PairwiseModel, nodes: IntArray, labels: IntArray) -> bool:
    """Whether the component pays more than its cheapest unary costs."""
    part, _ = subgraph(model, nodes)
    value = _kernels.total_energy(*part, labels[nodes])
    return not (np.isfinite(value) and value <= part.unary.min(axis=1).sum())


def _exact_labels(
    part: PairwiseModel, nodes: IntArray, deadline: float, *, prove: bool
) -> IntArray:
    """Least-energy labels of one component; without `prove`, any good labels of finite energy."""
    usable = np.isfinite(part.unary)
    if not usable.any(axis=1).all():
        raise NoFeasibleLabels(nodes, part.n_labels)
    rank = np.argsort(np.argsort(part.unary, axis=1, kind="stable"), axis=1)
    width = _FIRST_LABELS
    while True:
        allowed = usable & (rank < width)
        labels = _solve(part, allowed, nodes, deadline)
        if labels is not None:
            break
        if width >= part.n_labels:
            raise NoFeasibleLabels(nodes, part.n_labels)
        width *= 2
    if not prove:
        return labels
    floor = part.unary.min(axis=1)
    slack = (_kernels.total_energy(*part, labels) - floor.sum()) * (1 + 1e-9)
    wider = usable & (part.unary - floor[:, None] <= slack)
    if (wider & ~allowed).any():
        better = _solve(part, wider | allowed, nodes, deadline)
        assert better is not None
        return better
    return labels


def _solve(
    part: PairwiseModel, allowed: BoolArray, nodes: IntArray, deadline: float
) -> IntArray | None:
    """Best labels among `allowed`, None if there are none."""
    limit = None if np.isinf(deadline) else deadline - time.monotonic()
    answer = solve(build_program(part, allowed), integer=True, time_limit=limit)
    if answer.status == _INFEASIBLE:
        return None
    if answer.status != 0 or answer.x is None:
        raise UndecidedFeasibility(
            f"HiGHS did not finish in time on the {nodes.size} nodes from {int(nodes[0])} on; "
            "raise the time limit."
        )
    return np.argmax(answer.x, axis=1).astype(np.int64)
