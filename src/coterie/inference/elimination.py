"""Exact labels, marginals and log Z: trees by one compiled pass, the rest by elimination."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._typing import FloatArray, IntArray
from coterie.exceptions import TooWide
from coterie.inference._message_kernels import (
    Forest,
    forest_down,
    forest_labels,
    forest_of,
    forest_up,
)
from coterie.inference._tables import BatchTables, Edges, Order, min_fill_order
from coterie.inference.contraction import on_contracted
from coterie.inference.model import (
    Inference,
    NoFeasibleLabels,
    PairwiseModel,
    components,
    entry_rows,
    matching_entries,
    total_energy,
)

__all__ = ["ExactPlan", "eliminate", "exact_plan", "log_partition"]

_TABLES_PER_COMPONENT = 64
_BATCH_ENTRIES = 2**21


class LoopyGroup(NamedTuple):
    """Components with cycles that share one graph: local edges, their order, and where they lie.

    Attributes
    ----------
    nodes : (B, n) int64
    entries : (B, m) int64
        CSR entry of each local edge.
    """

    order: Order
    edges: Edges
    nodes: IntArray
    entries: IntArray


class ExactPlan(NamedTuple):
    """Which components can be solved exactly and how; depends on the graph and K only.

    Attributes
    ----------
    forest : Forest
        The tree components.
    loopy : list of LoopyGroup
    wide : (s,) bool
        Nodes of components too wide for a table of the size allowed.
    component : (s,) int64
    twin : (2E,) int64
    width : int
        Largest width solved exactly.
    """

    forest: Forest
    loopy: list[LoopyGroup]
    wide: NDArray[np.bool_]
    component: IntArray
    twin: IntArray
    width: int


def exact_plan(model: PairwiseModel, *, max_table: int = 2**18) -> ExactPlan:
    """Sort components into trees, loopy ones with K^(width+1) ≤ `max_table`, and wider ones."""
    count, component = components(model)
    rows = entry_rows(model)
    once = np.flatnonzero(rows < model.indices)
    n_edges = np.bincount(component[rows[once]], minlength=count)
    sizes = np.bincount(component, minlength=count)
    tree = (n_edges == sizes - 1)[component] if count else np.zeros(0, dtype=np.bool_)
    forest = forest_of(model, ~tree)
    loopy, wide, width = _loopy_groups(model, component, tree, once, max_table)
    if once.size and tree.any() and (forest.parent >= 0).any():
        width = max(width, 1)
    return ExactPlan(forest, loopy, wide, component, matching_entries(model), width)


def _loopy_groups(
    model: PairwiseModel,
    component: IntArray,
    tree: NDArray[np.bool_],
    once: IntArray,
    max_table: int,
) -> tuple[list[LoopyGroup], NDArray[np.bool_], int]:
    """Components with cycles grouped by graph, nodes too wide, and the largest width kept."""
    nodes = np.flatnonzero(~tree)
    nodes = nodes[np.argsort(component[nodes], kind="stable")]
    rows = entry_rows(model)
    entries = once[~tree[rows[once]]]
    entries = entries[np.argsort(component[rows[entries]], kind="stable")]
    names, starts = np.unique(component[nodes], return_index=True)
    local = np.empty(model.n_nodes, dtype=np.int64)
    local[nodes] = np.arange(nodes.shape[0]) - np.repeat(starts, np.diff(starts, append=nodes.size))
    node_parts = np.split(nodes, starts[1:])
    edge_starts = np.searchsorted(component[rows[entries]], names)
    edge_parts = np.split(entries, edge_starts[1:])
    shapes: dict[tuple[int, bytes], list[int]] = {}
    for c, (members, inside) in enumerate(zip(node_parts, edge_parts, strict=True)):
        ends = np.stack((local[rows[inside]], local[model.indices[inside]]))
        sort = np.lexsort(ends)
        edge_parts[c] = inside[sort]
        shapes.setdefault((members.size, ends[:, sort].tobytes()), []).append(c)
    wide = np.zeros(model.n_nodes, dtype=np.bool_)
    groups: list[LoopyGroup] = []
    for (size, _), which in shapes.items():
        if size == 0:
            continue
        inside = edge_parts[which[0]]
        edges = tuple(
            zip(local[rows[inside]].tolist(), local[model.indices[inside]].tolist(), strict=True)
        )
        members = np.stack([node_parts[c] for c in which])
        order = _affordable_order(size, edges, model.n_labels, max_table)
        if order is None:
            wide[members] = True
        else:
            inner = np.stack([edge_parts[c] for c in which])
            groups.append(LoopyGroup(order, edges, members, inner))
    return groups, wide, max((g.order.width for g in groups), default=0)


def _affordable_order(n: int, edges: Edges, n_labels: int, max_table: int) -> Order | None:
    """A min-fill order whose tables are within the bounds, or None."""
    fits = 0  # members of a clique beyond the first
    while fits < n and float(n_labels) ** (fits + 2) <= max_table:
        fits += 1
    order = min_fill_order(n, edges, fits)
    if order is None:
        return None
    total = sum(float(n_labels) ** len(clique) for clique in order.cliques)
    return order if total <= _TABLES_PER_COMPONENT * max_table else None


def eliminate(
    model: PairwiseModel,
    *,
    marginals: bool = True,
    max_table: int = 2**18,
    plan: ExactPlan | None = None,
) -> Inference:
    """Exact labels of least energy, marginals, P(y_i = y_j) of every edge, and log Z.

    Trees take one compiled pass over the whole forest, O(K) per node. Other components are
    eliminated in min-fill order with tables of K^(width+1) entries, in log space; components of the
    same graph are done together.

    Parameters
    ----------
    marginals : bool
        Whether marginals, `edge_same` and log Z are wanted as well as labels.
    max_table : int
        Entries allowed in one table (and 64 times that in one component).
    plan : ExactPlan, optional
        From `exact_plan` of a model with the same graph and K and no hard must-links.

    Raises
    ------
    TooWide
        If a component needs a larger table.
    NoFeasibleLabels
        If some component has no labelling of finite energy.
    """

    def run(small: PairwiseModel, _: IntArray | None) -> Inference:
        how = exact_plan(small, max_table=max_table) if plan is None else plan
        if how.wide.any():
            first = how.component == how.component[np.argmax(how.wide)]
            raise TooWide(
                f"A component of {int(first.sum())} nodes (the one of node "
                f"{int(np.argmax(how.wide))}) needs tables of more than {max_table} entries with "
                f"{small.n_labels} labels; raise max_table or use method='auto'."
            )
        return solve_exactly(small, how, marginals=marginals)

    if plan is not None:
        return run(model, None)
    return on_contracted(model, None, run)


def solve_exactly(model: PairwiseModel, plan: ExactPlan, *, marginals: bool = True) -> Inference:
    """Exact answers on all but the `wide` components.

    What belongs to wide components is left at 0 in labels, marginals and `edge_same`, is not
    counted in log Z, and makes the energy NaN.
    """
    out = _answer(model, plan, _Answers(model, labels=True, marginals=marginals))
    report: dict[str, Any] = {
        "exact_nodes": int((~plan.wide).sum()),
        "approximate_nodes": int(plan.wide.sum()),
        "largest_width": plan.width,
    }
    value = np.nan if plan.wide.any() else total_energy(model, out.labels)
    if not marginals:
        return Inference(out.labels, None, value, None, 0, True, report)
    report["log_partition"] = "exact"
    return Inference(
        out.labels, out.marginals, value, out.log_partition, 0, True, report, out.edge_same
    )


def log_partition(model: PairwiseModel, plan: ExactPlan) -> tuple[float, FloatArray]:
    """log Z and the marginals (s, K) of a model without wide components; no labels are sought."""
    out = _answer(model, plan, _Answers(model, labels=False, marginals=True))
    return out.log_partition, out.marginals


class _Answers:
    """Arrays being filled, component by component."""

    def __init__(self, model: PairwiseModel, *, labels: bool, marginals: bool) -> None:
        self.wants_labels = labels
        self.wants_marginals = marginals
        self.labels: IntArray = np.zeros(model.n_nodes, dtype=np.int64)
        self.marginals: FloatArray = np.zeros(model.unary.shape if marginals else (0, 0))
        self.edge_same: FloatArray = np.zeros(model.indices.shape[0])
        self.log_partition = 0.0


def _answer(model: PairwiseModel, plan: ExactPlan, out: _Answers) -> _Answers:
    """Fill the answers of all but the wide components."""
    _solve_forest(model, plan, out)
    for group in plan.loopy:
        _solve_group(model, group, out)
        out.edge_same[plan.twin[group.entries]] = out.edge_same[group.entries]
    return out


def _solve_forest(model: PairwiseModel, plan: ExactPlan, out: _Answers) -> None:
    """Fill the answers of the tree components."""
    belief, message = np.empty_like(model.unary), np.empty_like(model.unary)
    forest = plan.forest
    if out.wants_labels:
        lowest = forest_up(model, forest, True, belief, message)
        _check_trees(model, plan, belief, lowest)
        forest_labels(model, forest, belief, out.labels)
    if out.wants_marginals:
        total = forest_up(model, forest, False, belief, message)
        _check_trees(model, plan, belief, total)
        out.log_partition += total
        forest_down(model, forest, belief, message, out.marginals, out.edge_same)
        out.marginals[forest.order] = np.exp(out.marginals[forest.order])


def _check_trees(model: PairwiseModel, plan: ExactPlan, belief: FloatArray, total: float) -> None:
    """Raise if some tree has no labelling of finite energy: its root believes in nothing."""
    if np.isneginf(total):
        order, parent, *_ = plan.forest
        roots = order[parent[order] < 0]
        lost = roots[np.isneginf(belief[roots]).all(axis=1)][0]
        nodes = np.flatnonzero(plan.component == plan.component[lost])
        raise NoFeasibleLabels(nodes, model.n_labels)


def _solve_group(model: PairwiseModel, group: LoopyGroup, out: _Answers) -> None:
    """Fill the answers of components of one shape, as many at a time as memory allows."""
    table = sum(model.n_labels ** len(clique) for clique in group.order.cliques)
    step = max(1, _BATCH_ENTRIES // table)
    for start in range(0, group.nodes.shape[0], step):
        nodes, entries = group.nodes[start : start + step], group.entries[start : start + step]
        shape = (*entries.shape, model.n_labels)
        tables = BatchTables(
            group.order,
            group.edges,
            model.unary[nodes],
            np.broadcast_to(model.same[entries], shape),
            np.broadcast_to(model.differ[entries], shape),
        )
        if out.wants_labels:
            out.labels[nodes], lowest = tables.best_labels()
            _check_group(model, nodes, lowest)
        if out.wants_marginals:
            found = tables.marginals()
            _check_group(model, nodes, found.log_partition)
            out.marginals[nodes] = found.marginals
            out.edge_same[entries] = found.edge_same
            out.log_partition += float(found.log_partition.sum())


def _check_group(model: PairwiseModel, nodes: IntArray, value: FloatArray) -> None:
    """Raise for the first of the components (rows of `nodes`) whose log Z, or −E, is −inf."""
    lost = np.flatnonzero(np.isneginf(value))
    if lost.size:
        raise NoFeasibleLabels(nodes[lost[0]], model.n_labels)
