"""Structured mean field: trees of nodes keep their dependence, only trees are independent.

Lu and Leen (2007, §6) name it as what would lessen the bias of naive mean field: a part of the
graph is kept, and exact inference on it stays affordable.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from coterie._typing import FloatArray, IntArray
from coterie.inference._kernels import RandomState
from coterie.inference.contraction import on_contracted
from coterie.inference.elimination import ExactPlan, eliminate, exact_plan
from coterie.inference.icm import icm
from coterie.inference.mean_field import mean_field
from coterie.inference.model import (
    Inference,
    PairwiseModel,
    check_labels,
    entry_rows,
    subgraph,
    total_energy,
)

__all__ = ["TreeClass", "structured_mean_field", "tree_classes", "tree_numbers"]

_LARGE = 1e300  # in the place of infinity, where two are subtracted


def structured_mean_field(
    model: PairwiseModel,
    labels: ArrayLike | None = None,
    *,
    marginals: ArrayLike | None = None,
    random_state: RandomState = None,
    max_sweeps: int = 100,
    tol: float = 1e-6,
    shuffle: bool = True,
    pairs: bool = True,
    classes: Sequence[TreeClass] | None = None,
) -> Inference:
    """Maximise H(q) − E_q[energy] ≤ log Z over q that are trees, independent of each other.

    Nodes are divided into classes with no cycle inside a class (two for a grid). Given the
    others, the best q of a class is found exactly: its trees with
    unary[i, k] + Σ_j E_{q_j}[cost(k, y_j)] over neighbours j of other classes. So the bound never
    falls, and as it begins where `mean_field` ends it is never below mean field's.

    Parameters
    ----------
    labels : (s,), optional
        Where mean field starts.
    marginals : (s, K), optional
        Start in the place of mean field; rows sum to 1.
    max_sweeps, tol : int, float
        Stop when no marginal changed by more than `tol` in a sweep over the classes.
    shuffle, pairs : bool
        As for `mean_field`.
    classes : list of TreeClass, optional
        From `tree_classes`, for a graph without hard must-links met again and again.

    Returns
    -------
    Inference
        ``log_partition`` is the bound, ``report["bounds"]`` its history after each sweep,
        ``report["classes"]`` how many classes there are, ``report["frozen"]`` as for `mean_field`.
        Labels are each node's likeliest, or, where these break a hard edge, those that `icm` finds.
    """
    start = None if labels is None else check_labels(model, labels)
    options: dict[str, Any] = {"random_state": random_state, "shuffle": shuffle}

    def run(small: PairwiseModel, y: IntArray | None) -> Inference:
        begin = mean_field(small, y, marginals=given, max_sweeps=sweeps, tol=tol, **options)
        known = tree_classes(small) if classes is None else classes
        return _ascend(small, known, begin, max_sweeps, tol, pairs)

    given, sweeps = marginals, max_sweeps
    if marginals is not None:
        sweeps = 0  # begin there
    if marginals is not None or classes is not None:
        return run(model, start)
    return on_contracted(model, start, run)


class TreeClass(NamedTuple):
    """Nodes with no cycle among them.

    Attributes
    ----------
    nodes : (c,) int64
    entries : (t,) int64
        CSR entries among them.
    graph : PairwiseModel
        Their graph; its costs are not used.
    plan : ExactPlan
    outside : (u,) int64
        CSR entries from them to other classes.
    """

    nodes: IntArray
    entries: IntArray
    graph: PairwiseModel
    plan: ExactPlan
    outside: IntArray

    def model(self, whole: PairwiseModel, added: FloatArray) -> PairwiseModel:
        """The class in the model, with costs (c, K) added."""
        return self.graph._replace(
            unary=whole.unary[self.nodes] + added,
            same=np.ascontiguousarray(whole.same[self.entries]),
            differ=np.ascontiguousarray(whole.differ[self.entries]),
        )


def _ascend(
    model: PairwiseModel,
    classes: Sequence[TreeClass],
    begin: Inference,
    max_sweeps: int,
    tol: float,
    pairs: bool,
) -> Inference:
    assert begin.marginals is not None
    q = begin.marginals.copy()
    edge_same = np.einsum("ek,ek->e", q[entry_rows(model)], q[model.indices])
    own = np.zeros(len(classes))  # H(q_c) − E[costs of c alone]
    bounds: list[float] = []
    converged = False
    while len(bounds) < max_sweeps and not converged:
        before = q.copy()
        for number, part in enumerate(classes):
            added = _from_outside(model, part, q)
            found = eliminate(part.model(model, added), plan=part.plan)
            assert found.marginals is not None
            assert found.log_partition is not None
            q[part.nodes], edge_same[part.entries] = found.marginals, found.edge_same
            own[number] = found.log_partition + _paid(found.marginals, added)
        bounds.append(float(own.sum()) - _between(model, classes, q))
        converged = bool(np.abs(q - before).max(initial=0.0) <= tol)
    outside = _crossing(classes)
    rows = entry_rows(model)[outside]
    edge_same[outside] = np.einsum("ek,ek->e", q[rows], q[model.indices[outside]])
    y = np.argmax(q, axis=1).astype(np.int64)
    if not np.isfinite(total_energy(model, y)):  # each node's likeliest label breaks a hard edge
        y = icm(model, y, random_state=0).labels
    report = {
        "log_partition": "lower bound",
        "bounds": np.array(bounds),
        "classes": len(classes),
        "frozen": _frozen(model, outside, q),
    }
    return Inference(
        y,
        q,
        total_energy(model, y),
        bounds[-1] if bounds else begin.log_partition,
        len(bounds),
        converged,
        report,
        edge_same if pairs else None,
    )


def _crossing(classes: Sequence[TreeClass]) -> IntArray:
    """CSR entries between classes."""
    return np.concatenate([np.empty(0, dtype=np.int64), *(part.outside for part in classes)])


def _frozen(model: PairwiseModel, outside: IntArray, q: FloatArray) -> int:
    """Nodes of hard edges between classes that have all their weight on one label."""
    hard = np.isinf(model.same[outside]).any(axis=1) | np.isinf(model.differ[outside]).any(axis=1)
    nodes = np.unique(entry_rows(model)[outside[hard]])
    return int(np.count_nonzero(q[nodes].max(axis=1, initial=0.0) == 1.0))


def _paid(q: FloatArray, costs: FloatArray) -> float:
    """Σ q·costs with 0·inf = 0."""
    return float(np.multiply(q, costs, out=np.zeros_like(q), where=q > 0).sum())


def _from_outside(model: PairwiseModel, part: TreeClass, q: FloatArray) -> FloatArray:
    """Σ_j E_{q_j}[cost(k, y_j)] over neighbours j of other classes, (c, K)."""
    out = np.zeros((model.n_nodes, model.n_labels))
    np.add.at(out, entry_rows(model)[part.outside], _expected(model, part.outside, q))
    return out[part.nodes]


def _between(model: PairwiseModel, classes: Sequence[TreeClass], q: FloatArray) -> float:
    """Expected costs of the edges between classes."""
    entries = _crossing(classes)
    here = q[entry_rows(model)[entries]]
    return 0.5 * _paid(here, _expected(model, entries, q))  # each edge is met from both ends


def _expected(model: PairwiseModel, entries: IntArray, q: FloatArray) -> FloatArray:
    """E_{q_j}[cost(k, y_j)] of each entry (i, j), (t, K), with 0·inf = 0.

    Labels k ≠ l cost ½(differ_k + differ_l), labels k = l cost same_k.
    """
    there = q[model.indices[entries]]
    same = np.broadcast_to(model.same[entries], there.shape)
    differ = np.broadcast_to(model.differ[entries], there.shape)
    out = np.zeros_like(there)
    for label in range(there.shape[1]):
        cost = 0.5 * (differ + differ[:, label, None])
        cost[:, label] = same[:, label]
        chance = there[:, label]
        met = chance > 0
        out[met] += chance[met, None] * cost[met]
    return out


def tree_classes(model: PairwiseModel) -> list[TreeClass]:
    """The nodes of a graph in classes without cycles, ready for exact inference."""
    number = tree_numbers(model)
    rows = entry_rows(model)
    crossing = number[rows] != number[model.indices]
    out = []
    for c in range(int(number.max(initial=-1)) + 1):
        nodes = np.flatnonzero(number == c)
        graph, entries = subgraph(model, nodes)
        outside = np.flatnonzero(crossing & (number[rows] == c))
        out.append(TreeClass(nodes, entries, graph, exact_plan(graph), outside))
    return out


def tree_numbers(model: PairwiseModel) -> IntArray:
    """Class (s,) of each node, with no cycle among the nodes of a class.

    Nodes are taken in turn. Each goes to the class where it may (no two of its neighbours there are
    in one tree) with the strongest edges, as what is inside a class is exact; else to a new one.
    """
    same, differ = (np.minimum(cost, _LARGE) for cost in (model.same, model.differ))
    strength = np.abs(same - differ).max(axis=1, initial=0.0).tolist()
    indptr, indices = model.indptr.tolist(), model.indices.tolist()
    number = [-1] * model.n_nodes
    tree = list(range(model.n_nodes))  # towards the root of its tree

    def root(i: int) -> int:
        while tree[i] != i:
            tree[i] = tree[tree[i]]
            i = tree[i]
        return i

    n_classes = 0
    for i in range(model.n_nodes):
        gain = [0.0] * n_classes
        roots: list[list[int]] = [[] for _ in range(n_classes)]
        for e in range(indptr[i], indptr[i + 1]):
            c = number[indices[e]]
            if c >= 0:
                gain[c] += strength[e]
                roots[c].append(root(indices[e]))
        allowed = [c for c in range(n_classes) if len(set(roots[c])) == len(roots[c])]
        if not allowed:
            allowed, n_classes = [n_classes], n_classes + 1
            gain.append(0.0)
            roots.append([])
        best = max(allowed, key=lambda c: gain[c])
        number[i] = best
        for other in roots[best]:
            tree[other] = i
    return np.array(number, dtype=np.int64)
