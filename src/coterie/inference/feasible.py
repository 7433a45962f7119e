"""Labellings of finite energy, greedily and, where greed fails, exactly."""

from __future__ import annotations

import logging
import time

import numpy as np
from scipy.optimize import linear_sum_assignment

from coterie._typing import BoolArray, IntArray
from coterie.constraints.coloring import color_graph
from coterie.exceptions import UndecidedFeasibility
from coterie.inference import _feasible_kernels
from coterie.inference._kernels import RandomState, draw_seed
from coterie.inference._program import build_program, solve
from coterie.inference.contraction import on_contracted
from coterie.inference.model import Inference, NoFeasibleLabels, PairwiseModel, components, subgraph

__all__ = ["feasible_start"]

logger = logging.getLogger(__name__)
_FIRST_LABELS = 4
_INFEASIBLE = 2


def feasible_start(
    model: PairwiseModel,
    random_state: RandomState = None,
    *,
    restarts: int = 10,
    time_limit: float = 10.0,
) -> IntArray:
    """Labels (s,) of finite and, greedily, low energy.

    Greedy by saturation (fewest labels left first), hard must-links contracted; components where
    that ends without a label are tried again in other orders, then exactly: a colouring of the
    hard edges is searched for, or ruled out.

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
            model, todo, draw_seed(rng), attempt > 0, labels
        )
        if stuck == 0:
            return labels
        todo = np.flatnonzero(np.isin(component, np.unique(component[labels < 0])))
    deadline = time.monotonic() + time_limit
    for c in np.unique(component[todo]):
        nodes = np.flatnonzero(component == c)
        logger.info("greedy labelling failed on %d nodes; solving exactly", nodes.size)
        part, _ = subgraph(model, nodes)
        labels[nodes] = _exact_labels(part, nodes, deadline)
    return labels


def _hard_entries(model: PairwiseModel) -> BoolArray:
    return np.asarray(
        np.isinf(model.same).any(axis=1) | np.isinf(model.differ).any(axis=1), dtype=np.bool_
    )


def _exact_labels(part: PairwiseModel, nodes: IntArray, deadline: float) -> IntArray:
    """Labels of finite energy for one component.

    They are a start, and what searches from there lowers the energy: to do it here by a program
    took a second a start, changed the end of one fit in five (by 1e-4 of it), and made results
    depend on the clock.
    """
    if _is_coloring(part):
        return _colored(part, nodes, deadline)
    usable = np.isfinite(part.unary)
    if not usable.any(axis=1).all():
        raise NoFeasibleLabels(nodes, part.n_labels)
    rank = np.argsort(np.argsort(part.unary, axis=1, kind="stable"), axis=1)
    width = _FIRST_LABELS
    while True:
        labels = _solve(part, usable & (rank < width), nodes, deadline)
        if labels is not None:
            return labels
        if width >= part.n_labels:
            raise NoFeasibleLabels(nodes, part.n_labels)
        width *= 2


def _is_coloring(part: PairwiseModel) -> bool:
    """Whether every label is allowed and hard edges say only that their ends differ."""
    hard = np.isinf(part.same)
    whole = np.array_equal(hard.any(axis=1), hard.all(axis=1))
    return bool(whole and np.isfinite(part.unary).all() and np.isfinite(part.differ).all())


def _colored(part: PairwiseModel, nodes: IntArray, deadline: float) -> IntArray:
    """A colouring of the hard edges (there is no better way near the limit of what is possible).

    Which colour is which label is free: the cheapest choice in sum.
    """
    hard = np.isinf(part.same).all(axis=1)
    kept = np.concatenate(([0], np.cumsum(hard)))[part.indptr]
    found = color_graph(kept, part.indices[hard], part.n_labels, deadline)
    if found.labels is None:
        assert found.stuck is not None
        raise NoFeasibleLabels(nodes[found.stuck], part.n_labels)
    prices = np.zeros((part.n_labels, part.n_labels))
    np.add.at(prices, found.labels, part.unary)
    return linear_sum_assignment(prices)[1].astype(np.int64)[found.labels]


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
