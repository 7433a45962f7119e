"""The pairwise model as a (mixed-integer) linear program for HiGHS."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from coterie._typing import BoolArray, FloatArray, IntArray
from coterie.inference.cliques import clique_cover
from coterie.inference.model import PairwiseModel, components, entry_rows
from coterie.sparse_indices import with_narrow_indices


class Program(NamedTuple):
    """min cost·v subject to low ≤ A v ≤ high, 0 ≤ v ≤ upper; the first s·K variables are x[i, k].

    ``energy = offset + scale · cost·v``: the costs are shifted and scaled to at most 1, for HiGHS
    reads values beyond 1e20 as infinite.
    """

    cost: FloatArray
    matrix: Any
    low: FloatArray
    high: FloatArray
    upper: FloatArray
    offset: float
    scale: float
    shape: tuple[int, int]


class Solution(NamedTuple):
    """HiGHS' answer: `x` (s, K) or None, the best bound on E, and its status code.

    Status is scipy's: 0 solved, 1 out of time, 2 infeasible.
    """

    x: FloatArray | None
    bound: float
    status: int


class _Rows:
    """Constraint rows in the making."""

    def __init__(self) -> None:
        self.triples: list[tuple[IntArray, IntArray, FloatArray]] = []
        self.low: list[FloatArray] = []
        self.high: list[FloatArray] = []
        self.count = 0

    def add(self, terms: list[tuple[IntArray, float]], low: float, high: float) -> None:
        """One row per place: Σ coefficient · variable[place] within [low, high]."""
        size = terms[0][0].shape[0]
        rows = self.count + np.arange(size)
        self.triples += [(rows, column, np.full(size, value)) for column, value in terms]
        self.low.append(np.full(size, low))
        self.high.append(np.full(size, high))
        self.count += size

    def add_cliques(self, every: IntArray, member: IntArray, clique: IntArray) -> None:
        """Σ_{i in clique} x[i, k] ≤ 1 for every clique and label; `every` (s, K) numbers the x."""
        if not member.size:
            return
        n_labels = every.shape[1]
        size = (int(clique.max()) + 1) * n_labels
        rows = self.count + clique[:, None] * n_labels + np.arange(n_labels)
        self.triples.append((rows.ravel(), every[member].ravel(), np.ones(rows.size)))
        self.low.append(np.full(size, -np.inf))
        self.high.append(np.ones(size))
        self.count += size

    def build(self, n_columns: int) -> tuple[Any, FloatArray, FloatArray]:
        """Sparse matrix and its two sides."""
        row, column, value = (np.concatenate(part) for part in zip(*self.triples, strict=True))
        matrix = coo_array((value, (row, column)), shape=(self.count, n_columns)).tocsr()
        return matrix, np.concatenate(self.low), np.concatenate(self.high)


def build_program(model: PairwiseModel, allowed: BoolArray) -> Program:
    """Kleinberg-Tardos type program over x[i, k] = 1[y_i = k], for the `allowed` (s, K) labels.

    With p[e, k] = 1[y_i = y_j = k] the cost of an edge is linear,
    Σ_k ½ differ_k (x_ik + x_jk) + (same_k − differ_k) p_k. Where same < differ, p ≤ x_i and p ≤ x_j
    (so that the edge costs ½ Σ_k differ_k |x_ik − x_jk| for a must-link); where same > differ,
    p ≥ x_i + x_j − 1. A hard `differ` is x_i = x_j, a hard `same` is x_i + x_j ≤ 1, with no p; for
    nodes that all differ from each other it is Σ x ≤ 1, which bounds far better.
    """
    s, n_labels = model.unary.shape
    usable = allowed & np.isfinite(model.unary)
    floor = np.min(model.unary, axis=1, where=usable, initial=np.inf)
    floor[np.isinf(floor)] = 0.0
    unary = np.where(usable, model.unary - floor[:, None], 0.0)
    rows = entry_rows(model)
    once = np.flatnonzero(rows < model.indices)
    shape = (once.shape[0], n_labels)
    same = np.broadcast_to(model.same[once], shape).ravel()
    differ = np.broadcast_to(model.differ[once], shape).ravel()
    labels = np.tile(np.arange(n_labels), once.shape[0])
    left = np.repeat(rows[once], n_labels) * n_labels + labels
    right = np.repeat(model.indices[once], n_labels) * n_labels + labels

    cost = unary.ravel().copy()
    upper = usable.ravel().astype(np.float64)
    hard_same, hard_differ = np.isinf(same), np.isinf(differ)
    # A hard must-link always costs `same`: half of it at each end.
    half = 0.5 * np.where(hard_differ, np.where(hard_same, 0.0, same), differ)
    np.add.at(cost, left, half)
    np.add.at(cost, right, half)

    constraints = _Rows()
    every = np.arange(s * n_labels).reshape(s, n_labels)
    constraints.add([(every[:, k], 1.0) for k in range(n_labels)], 1.0, 1.0)
    constraints.add([(left[hard_differ], 1.0), (right[hard_differ], -1.0)], 0.0, 0.0)
    apart = np.asarray(np.isinf(model.same).all(axis=1), dtype=np.bool_)
    some = hard_same & ~np.repeat(apart[once], n_labels)
    constraints.add([(left[some], 1.0), (right[some], 1.0)], -np.inf, 1.0)
    constraints.add_cliques(every, *_cliques(model, apart))
    soft = ~hard_same & ~hard_differ & (same != differ)
    gain = same[soft] - differ[soft]
    both = s * n_labels + np.arange(gain.shape[0])
    pull, push = gain < 0, gain > 0
    constraints.add([(both[pull], 1.0), (left[soft][pull], -1.0)], -np.inf, 0.0)
    constraints.add([(both[pull], 1.0), (right[soft][pull], -1.0)], -np.inf, 0.0)
    ends = [(left[soft][push], 1.0), (right[soft][push], 1.0), (both[push], -1.0)]
    constraints.add(ends, -np.inf, 1.0)

    cost = np.concatenate((cost, gain))
    upper = np.concatenate((upper, np.ones(gain.shape[0])))
    scale = float(np.abs(cost).max(initial=0.0)) or 1.0
    matrix, low, high = constraints.build(cost.shape[0])
    return Program(cost / scale, matrix, low, high, upper, float(floor.sum()), scale, (s, n_labels))


def _cliques(model: PairwiseModel, apart: BoolArray) -> tuple[IntArray, IntArray]:
    """Cliques that hold every edge of `apart` (2E,): members and the clique of each."""
    indptr = np.concatenate(([0], np.cumsum(apart)))[model.indptr]
    return clique_cover(indptr, model.indices[apart])


def solve(program: Program, *, integer: bool, time_limit: float | None) -> Solution:
    """Solve with HiGHS; `integer` makes x binary (p then is, too)."""
    n_x = program.shape[0] * program.shape[1]
    kind = np.zeros(program.cost.shape[0], dtype=np.int64)
    kind[:n_x] = 1 if integer else 0
    options: Any = {"mip_rel_gap": 0.0} if integer else {}
    if time_limit is not None:
        options["time_limit"] = max(time_limit, 1e-3)
    answer = milp(
        program.cost,
        integrality=kind,
        bounds=Bounds(0.0, program.upper),
        constraints=LinearConstraint(
            with_narrow_indices(program.matrix), program.low, program.high
        ),
        options=options,
    )
    x = None if answer.x is None else answer.x[:n_x].reshape(program.shape)
    value = answer.mip_dual_bound if integer else answer.fun
    bound = -np.inf if value is None else program.offset + program.scale * value
    return Solution(x, float(bound), int(answer.status))


def contested(model: PairwiseModel, cheapest: IntArray) -> IntArray:
    """Nodes of components whose cheapest labels cost something on an edge or are forbidden."""
    _, component = components(model)
    rows = entry_rows(model)
    a, b = cheapest[rows], cheapest[model.indices]
    entry = np.arange(rows.shape[0])
    one = 0 if model.same.shape[1] == 1 else a
    costly = np.where(a == b, model.same[entry, one] > 0, _differ_positive(model, a, b))
    bad = rows[costly]
    stuck = np.flatnonzero(np.isinf(model.unary[np.arange(model.n_nodes), cheapest]))
    touched = np.unique(component[np.concatenate((bad, stuck))])
    return np.flatnonzero(np.isin(component, touched))


def _differ_positive(model: PairwiseModel, a: IntArray, b: IntArray) -> BoolArray:
    if model.differ.shape[1] == 1:
        return np.asarray(model.differ[:, 0] > 0)
    entry = np.arange(a.shape[0])
    return np.asarray((model.differ[entry, a] > 0) | (model.differ[entry, b] > 0))
