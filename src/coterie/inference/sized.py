"""Labels of low energy in clusters of bounded sizes: nodes in pairs, and single rows in none.

Single rows are a transport problem and solved exactly for whatever labels the nodes have; its
prices tell the nodes what a place in each cluster is worth. Nodes are searched for locally: at
those prices, and by exchanges that keep the sizes. Nothing returned is worse than the start.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array, csr_array, hstack, vstack

from coterie._typing import FloatArray, IntArray
from coterie.constraints.sizes import Sizes, fits, place_nodes
from coterie.inference._local_search import IcmPlan
from coterie.inference._program import build_program
from coterie.inference._transport_kernels import Places, exchange
from coterie.inference.icm import icm, polish
from coterie.inference.model import (
    NoFeasibleLabels,
    PairwiseModel,
    entry_rows,
    pairwise_model,
    total_energy,
)
from coterie.inference.transport import transport
from coterie.sparse_indices import with_narrow_indices

__all__ = ["SizedLabels", "SizedModel", "label_with_sizes", "prove_sized", "value_of"]

_ROUNDS = 10  # of asking the nodes again at new prices
_SWEEPS = 20  # of exchanges


class SizedModel(NamedTuple):
    """What is labelled.

    Attributes
    ----------
    nodes : PairwiseModel
        Nodes, their costs and pairs.
    rows : (s,) int64
        Rows that each node stands for.
    free : (f, K) float64
        Costs of the rows that are in no pair.
    sizes : Sizes
        Of clusters, in rows.
    """

    nodes: PairwiseModel
    rows: IntArray
    free: FloatArray
    sizes: Sizes

    def taken(self, labels: IntArray) -> IntArray:
        """Rows of the nodes in each cluster, (K,)."""
        k = self.sizes.low.size
        return np.bincount(labels, weights=self.rows, minlength=k).astype(np.int64)

    def has_room(self, labels: IntArray) -> bool:
        """Whether the free rows can fill up the clusters beside nodes of these labels."""
        return fits(self.taken(labels), len(self.free), self.sizes.low, self.sizes.high)


class SizedLabels(NamedTuple):
    """Labels (s,) of the nodes and (f,) of the free rows, prices (K,) and energy."""

    nodes: IntArray
    free: IntArray
    price: FloatArray
    energy: float


def value_of(model: SizedModel, nodes: IntArray) -> SizedLabels:
    """The free rows at their best beside nodes of these labels, for which there is room."""
    taken = model.taken(nodes)
    low, high = np.maximum(model.sizes.low - taken, 0), model.sizes.high - taken
    sent = transport(model.free, low, high)
    return SizedLabels(nodes, sent.labels, sent.price, total_energy(model.nodes, nodes) + sent.cost)


def label_with_sizes(
    model: SizedModel,
    plan: IcmPlan,
    start: IntArray | None,
    seed: int,
    *,
    fresh: bool = True,
    time_limit: float = 10.0,
) -> SizedLabels | None:
    """Labels of low energy, no higher than that of `start` (s,) if there is room for that.

    Parameters
    ----------
    plan : IcmPlan
        For local search in ``model.nodes``.
    fresh : bool
        Search from scratch as well; always so without a start.

    Returns
    -------
    SizedLabels or None
        None if hard pairs and sizes leave no labels.

    Raises
    ------
    UndecidedFeasibility
        If no labels were found, nor ruled out, within `time_limit` seconds.
    """
    if not model.rows.size:
        return value_of(model, np.empty(0, dtype=np.int64))
    best = None
    if start is not None and model.has_room(start):
        first = value_of(model, start)
        best = _improve(model, plan, first, seed) if np.isfinite(first.energy) else None
    if fresh or best is None:
        found = _from_scratch(model, plan, seed, time_limit)
        if found is not None:
            better = _improve(model, plan, found, seed)
            best = better if best is None or better.energy < best.energy else best
    return best


def _from_scratch(
    model: SizedModel, plan: IcmPlan, seed: int, time_limit: float
) -> SizedLabels | None:
    """Nodes labelled as if sizes were none, if there is room for that; else by a program."""
    try:
        labels = icm(model.nodes, plan=plan, random_state=seed, time_limit=time_limit).labels
    except NoFeasibleLabels:
        return None
    if not model.has_room(labels):
        graph = model.nodes
        rows = entry_rows(graph)
        hard = np.isinf(graph.same).all(axis=1) & (rows < graph.indices)
        edges = np.column_stack([rows[hard], graph.indices[hard]])
        placed = place_nodes(
            model.rows, edges, len(model.free), model.sizes, graph.unary, time_limit
        )
        if placed is None:
            return None
        labels = placed
    return value_of(model, labels)


def _improve(model: SizedModel, plan: IcmPlan, found: SizedLabels, seed: int) -> SizedLabels:
    """Nodes searched for at the prices of the places, then exchanged, while that lowers E."""
    for _ in range(_ROUNDS):
        before = found.energy
        priced = model.nodes._replace(unary=model.nodes.unary + model.rows[:, None] * found.price)
        for labels in (
            polish(priced, plan, found.nodes, None, seed)[0],
            _exchanged(model, found, seed),
        ):
            if model.has_room(labels) and not np.array_equal(labels, found.nodes):
                other = value_of(model, labels)
                found = other if other.energy < found.energy else found
        if not found.energy < before:
            break
    return found


def _exchanged(model: SizedModel, found: SizedLabels, seed: int) -> IntArray:
    """Labels (s,) after moves and swaps of nodes that leave the free rows where they are."""
    graph, labels = model.nodes, found.nodes.copy()
    s, k = graph.unary.shape
    finite = [part[np.isfinite(part)] for part in (graph.unary, graph.same, graph.differ)]
    much = 1.0 + 2 * sum(float(np.abs(part).sum()) for part in finite)
    same, differ = (np.where(np.isinf(part), much, part) for part in (graph.same, graph.differ))
    field = np.where(np.isinf(graph.unary), much, graph.unary)
    own, beside = entry_rows(graph), labels[graph.indices]
    for c in range(k):
        column = 0 if same.shape[1] == 1 else c
        other = differ[:, 0] if differ.shape[1] == 1 else (
            differ[:, c] + np.take_along_axis(differ, beside[:, None], axis=1)[:, 0]
        ) / 2  # fmt: skip
        field[:, c] += np.bincount(
            own, weights=np.where(beside == c, same[:, column], other), minlength=s
        )
    free = np.bincount(found.free, minlength=k)
    group = np.unique(model.rows, return_inverse=True)[1].astype(np.int64)
    low, high = model.sizes.low - free, model.sizes.high - free
    places = Places(model.rows, group, model.taken(labels), low, high)
    beside_labels = graph._replace(unary=field, same=same, differ=differ)
    rng = np.random.default_rng(seed)
    for _ in range(_SWEEPS):
        if not exchange(beside_labels, places, labels, rng.permutation(s), -1e-12 * much):
            break
    return labels


def prove_sized(model: SizedModel, found: SizedLabels, deadline: float) -> tuple[SizedLabels, bool]:
    """Labels of least energy by a mixed-integer program; whether they are proven to be that.

    Only nodes are whole numbers: beside them the free rows come out whole by themselves. Without
    nodes `found` is proven already.
    """
    if not model.rows.size:
        return found, True
    s, f, k = model.rows.size, len(model.free), model.sizes.low.size
    graph = model.nodes
    unary = np.concatenate([graph.unary, model.free])
    indptr = np.append(graph.indptr, np.full(f, graph.indptr[-1]))
    whole = pairwise_model(unary, indptr, graph.indices, graph.same, graph.differ)
    program = build_program(whole, np.isfinite(unary))
    weight = np.concatenate([model.rows, np.ones(f, dtype=np.int64)])
    n_x, n_columns = (s + f) * k, program.cost.size
    sums = coo_array(
        (np.repeat(weight, k), (np.tile(np.arange(k), s + f), np.arange(n_x))), (k, n_x)
    )
    sums = hstack([sums, csr_array((k, n_columns - n_x))])
    whole_numbers = np.zeros(n_columns)
    whole_numbers[: s * k] = 1
    options: Any = {
        "mip_rel_gap": 0.0,
        "time_limit": max(deadline - time.monotonic(), 1e-3),
    }
    answer = milp(
        program.cost,
        integrality=whole_numbers,
        bounds=Bounds(0.0, program.upper),
        constraints=LinearConstraint(
            with_narrow_indices(vstack([program.matrix, sums]).tocsr()),
            np.append(program.low, model.sizes.low),
            np.append(program.high, model.sizes.high),
        ),
        options=options,
    )
    if answer.x is None:
        return found, False
    labels = answer.x[: s * k].reshape(s, k).argmax(axis=1)
    if model.has_room(labels):
        other = value_of(model, labels)
        found = other if other.energy < found.energy else found
    return found, answer.status == 0
