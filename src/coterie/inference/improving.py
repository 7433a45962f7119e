"""The best labels of one component, by a program over the labels that can still matter."""

from __future__ import annotations

import logging
import time

import numpy as np

from coterie._typing import BoolArray, FloatArray, IntArray
from coterie.inference._program import build_program, solve
from coterie.inference.model import PairwiseModel, entry_rows, total_energy

__all__ = ["improve", "possible_labels"]

logger = logging.getLogger(__name__)
_ROUNDING = 1e-9  # of the energy: what sums of costs may be wrong by
_SOLVED, _INFEASIBLE = 0, 2
_LABELS_A_SECOND = 2_000  # of a program; HiGHS is slower unless it is slack


def improve(part: PairwiseModel, start: IntArray, deadline: float) -> tuple[IntArray, float]:
    """Labels no worse than `start`, and a lower bound on the energy (met if they are optimal)."""
    value = total_energy(part, start)
    floor = float(part.unary.min(axis=1).sum())
    allowed = possible_labels(part, start)
    if allowed.sum() == part.n_nodes:
        return start, value
    left = deadline - time.monotonic()
    if left * _LABELS_A_SECOND < allowed.sum():
        return start, floor  # hopeless: HiGHS would be stopped, late, with nothing found
    answer = solve(
        build_program(part, allowed), integer=True, time_limit=None if np.isinf(left) else left
    )
    if answer.status == _INFEASIBLE:  # `start` is among the labels allowed
        raise AssertionError("HiGHS refuses a program that has a solution")
    found = start
    if answer.x is not None:
        found = np.argmax(answer.x, axis=1).astype(np.int64)
    better = total_energy(part, found)
    if not better < value:
        found, better = start, value
    if answer.status == _SOLVED:
        return found, better
    logger.info("HiGHS ran out of time on %d nodes", part.n_nodes)
    return found, min(better, max(floor, answer.bound))


def possible_labels(model: PairwiseModel, labels: IntArray) -> BoolArray:
    """Labels (s, K) that a labelling of lower energy than E(labels) may use, and `labels`.

    With label k at node i no labelling costs less than
    u_ik + Σ_{j ∉ N(i)} min_l u_jl + Σ_{j ∈ N(i)} min_l (u_jl + θ_ij(k, l)), for pair costs are ≥ 0.
    Labels that cost more than E(labels) go; fewer labels raise the bound, so it is repeated.
    """
    value = total_energy(model, labels)
    at_hand = np.zeros(model.unary.shape, dtype=np.bool_)
    at_hand[np.arange(model.n_nodes), labels] = True
    allowed = np.isfinite(model.unary)
    while True:
        unary = np.where(allowed, model.unary, np.inf)
        margin = _ROUNDING * (abs(value) + np.abs(unary.min(axis=1)).sum())
        keep = at_hand | (allowed & (_label_bounds(model, unary) <= value + margin))
        if np.array_equal(keep, allowed):
            return keep
        allowed = keep


def _label_bounds(model: PairwiseModel, unary: FloatArray) -> FloatArray:
    """The bound of `possible_labels` for every node and label, (s, K)."""
    rows, n_labels = entry_rows(model), model.n_labels
    floor = unary.min(axis=1)
    there = unary[model.indices]
    half = np.broadcast_to(0.5 * model.differ, there.shape)
    equal = there + model.same
    other = half + _least_elsewhere(there + half) if n_labels > 1 else np.full_like(equal, np.inf)
    cheapest = np.minimum(equal, other) - floor[model.indices, None]
    bound = unary + (floor.sum() - floor)[:, None]
    np.add.at(bound, rows, cheapest)
    return bound


def _least_elsewhere(costs: FloatArray) -> FloatArray:
    """min over l ≠ k of each row of `costs` (e, K), for every k."""
    first = costs.argmin(axis=1)
    at = np.arange(costs.shape[0])
    least = costs[at, first]
    rest = costs.copy()
    rest[at, first] = np.inf
    out = np.repeat(least[:, None], costs.shape[1], axis=1)
    out[at, first] = rest.min(axis=1)
    return out
