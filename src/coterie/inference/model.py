"""The pairwise model every engine works on, its energy, and how it splits and contracts.

E(y) = Σ_i unary[i, y_i]
     + Σ_edges ( same[e, y_i] if y_i = y_j else ½ (differ[e, y_i] + differ[e, y_j]) ),
each edge once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coterie._typing import FloatArray, IntArray
from coterie.constraints.graph import connected
from coterie.exceptions import CoterieError, InvalidParameter
from coterie.inference import _kernels

__all__ = [
    "Inference",
    "NoFeasibleLabels",
    "PairwiseModel",
    "cheapest_labels",
    "components",
    "energy",
    "entry_rows",
    "matching_entries",
    "pairwise_model",
    "subgraph",
]


class NoFeasibleLabels(CoterieError, ValueError):
    """Hard edges and forbidden labels leave no labelling of finite energy.

    Attributes
    ----------
    nodes : (·,) int64
        The nodes of the connected component that cannot be labelled.
    """

    def __init__(self, nodes: IntArray, n_labels: int) -> None:
        some = ", ".join(str(int(i)) for i in nodes[:10]) + (", ..." if nodes.size > 10 else "")
        super().__init__(
            f"No labelling with {n_labels} labels meets the hard edges among the "
            f"{nodes.size} nodes {some}; drop a hard edge or allow more labels."
        )
        self.nodes = nodes


class PairwiseModel(NamedTuple):
    """Costs of labels and of pairs of labels over a symmetric CSR graph.

    Make one with `pairwise_model`, which checks it; the bare constructor (and ``_replace``) checks
    nothing and costs nothing, for loops that change only the unary costs.

    Attributes
    ----------
    unary : (s, K) float64
        Cost of label k at node i. ``+inf`` forbids the label.
    indptr, indices : (s + 1,), (2E,) int64
        Both directions of every edge.
    same, differ : (2E, 1) or (2E, K) float64
        Cost, ≥ 0, of equal and of different labels at the two ends; ``+inf`` is hard.
    """

    unary: FloatArray
    indptr: IntArray
    indices: IntArray
    same: FloatArray
    differ: FloatArray

    @property
    def n_nodes(self) -> int:
        """Number of nodes s."""
        return int(self.unary.shape[0])

    @property
    def n_labels(self) -> int:
        """Number of labels K."""
        return int(self.unary.shape[1])

    @property
    def n_edges(self) -> int:
        """Number of undirected edges E."""
        return int(self.indices.shape[0]) // 2


class Inference(NamedTuple):
    """What an engine found.

    Attributes
    ----------
    labels : (s,) int64
        The labelling found (of the marginals' maxima where the engine computes marginals only).
    marginals : (s, K) float64 or None
        P(y_i = k) ∝ exp(−E), exact or approximate.
    energy : float
        E(labels).
    log_partition : float or None
        log Σ_y exp(−E(y)): exact, a bound or an estimate, as ``report["log_partition"]`` says.
    sweeps : int
        Passes over the nodes (0 for direct methods).
    converged : bool
    report : dict
        What the engine has to say about itself.
    edge_same : (2E,) float64 or None
        P(y_i = y_j) of each CSR entry.
    """

    labels: IntArray
    marginals: FloatArray | None
    energy: float
    log_partition: float | None
    sweeps: int
    converged: bool
    report: dict[str, Any]
    edge_same: FloatArray | None = None


def pairwise_model(
    unary: ArrayLike, indptr: ArrayLike, indices: ArrayLike, same: ArrayLike, differ: ArrayLike
) -> PairwiseModel:
    """Coerce and check the arrays of a `PairwiseModel`.

    Parameters
    ----------
    unary : (s, K)
    indptr, indices : (s + 1,), (2E,)
        CSR graph holding each edge once in each direction, rows in any order, no self-loops.
    same, differ : (2E,), (2E, 1) or (2E, K)
        Equal for the two directions of an edge, ≥ 0.

    Raises
    ------
    InvalidParameter
        Naming the array and what is wrong with it.
    """
    u = _writable(unary, np.float64)
    if u.ndim != 2 or u.shape[1] < 1:
        raise InvalidParameter(f"unary must be (s, K) with K >= 1, got shape {u.shape}.")
    if np.isnan(u).any() or np.isneginf(u).any():
        row = int(np.flatnonzero(np.isnan(u).any(axis=1) | np.isneginf(u).any(axis=1))[0])
        raise InvalidParameter(f"unary has NaN or -inf at node {row}; only +inf is allowed.")
    ptr = _writable(indptr, np.int64)
    ind = _writable(indices, np.int64)
    _check_graph(ptr, ind, u.shape[0])
    s = _check_costs("same", same, ind.shape[0], u.shape[1])
    d = _check_costs("differ", differ, ind.shape[0], u.shape[1])
    model = PairwiseModel(u, ptr, ind, s, d)
    twin = matching_entries(model)
    for name, cost in (("same", s), ("differ", d)):
        uneven = np.flatnonzero((cost[twin] != cost).any(axis=1))
        if uneven.size:
            e = int(uneven[0])
            raise InvalidParameter(
                f"{name} is not the same at entries {e} and {twin[e]}, two directions of one edge."
            )
    return model


def _check_graph(indptr: IntArray, indices: IntArray, n_nodes: int) -> None:
    if indptr.shape != (n_nodes + 1,) or indptr[0] != 0 or (np.diff(indptr) < 0).any():
        raise InvalidParameter(f"indptr must rise from 0 and have {n_nodes + 1} entries.")
    if indices.shape != (int(indptr[-1]),):
        raise InvalidParameter(f"indices must have indptr[-1] = {indptr[-1]} entries.")
    if indices.size and (indices.min() < 0 or indices.max() >= n_nodes):
        raise InvalidParameter(f"indices must lie in 0..{n_nodes - 1}.")
    loops = np.flatnonzero(np.repeat(np.arange(n_nodes), np.diff(indptr)) == indices)
    if loops.size:
        raise InvalidParameter(f"Node {indices[loops[0]]} is its own neighbour.")


def _check_costs(name: str, cost: ArrayLike, n_entries: int, n_labels: int) -> FloatArray:
    c = np.asarray(cost, dtype=np.float64)
    if c.ndim == 1:
        c = c[:, None]
    if c.ndim != 2 or c.shape[0] != n_entries or c.shape[1] not in (1, n_labels):
        raise InvalidParameter(
            f"{name} must be ({n_entries},), ({n_entries}, 1) or ({n_entries}, {n_labels}), "
            f"got shape {np.shape(cost)}."
        )
    if not (c >= 0).all():
        entry = int(np.flatnonzero(~(c >= 0).all(axis=1))[0])
        raise InvalidParameter(f"{name} must be >= 0 and not NaN; entry {entry} is {c[entry]}.")
    return _writable(c, np.float64)


def _writable(values: ArrayLike, dtype: type) -> NDArray[Any]:
    """C-ordered and writable: numba would compile every kernel again for read-only arrays."""
    return np.require(values, dtype=dtype, requirements=["C", "W"])


def matching_entries(model: PairwiseModel) -> IntArray:
    """Position (2E,) of entry (j, i) for each entry (i, j); refuses a lopsided graph.

    An edge given twice is refused too: which of its entries belong together would be unclear.
    """
    rows, columns = entry_rows(model), model.indices
    forward, back = rows * model.n_nodes + columns, columns * model.n_nodes + rows
    by_row, by_column = np.argsort(forward, kind="stable"), np.argsort(back, kind="stable")
    forward, back = forward[by_row], back[by_column]
    odd = forward != back
    odd[1:] |= forward[1:] == forward[:-1]
    if odd.any():
        at = int(np.argmax(odd))
        wrong = by_row[at] if forward[at] <= back[at] else by_column[at]
        raise InvalidParameter(
            f"The graph is not symmetric or repeats an edge (entry {wrong}, between nodes "
            f"{rows[wrong]} and {columns[wrong]}): give each edge once in each direction."
        )
    twin = np.empty(columns.shape[0], dtype=np.int64)
    twin[by_row] = by_column
    return twin


def energy(model: PairwiseModel, labels: ArrayLike) -> float:
    """E(labels); ``inf`` if a hard edge or a forbidden label is used."""
    return total_energy(model, check_labels(model, labels))


def total_energy(model: PairwiseModel, labels: IntArray) -> float:
    """E(labels), for labels that are known to be right."""
    return float(node_energies(model, labels).sum())


def pair_energy(model: PairwiseModel, labels: IntArray) -> float:
    """The edges' part of E(labels), for labels that are known to be right."""
    return float(_energies(model, labels, own=False).sum())


def node_energies(model: PairwiseModel, labels: IntArray) -> FloatArray:
    """What each node (s,) adds to E(labels): its label, and its edges to later nodes."""
    return _energies(model, labels, own=True)


def _energies(model: PairwiseModel, labels: IntArray, own: bool) -> FloatArray:
    found = np.empty(model.n_nodes)
    _kernels.energies(model, labels, own, found)
    return found


def check_labels(model: PairwiseModel, labels: ArrayLike) -> IntArray:
    """A fresh int64 copy of `labels`, refused if it has another length or labels out of range."""
    y = np.array(labels, dtype=np.int64)
    if y.shape != (model.n_nodes,):
        raise InvalidParameter(f"labels must have shape ({model.n_nodes},), got {y.shape}.")
    if y.size and (y.min() < 0 or y.max() >= model.n_labels):
        raise InvalidParameter(f"labels must lie in 0..{model.n_labels - 1}.")
    return y


def cheapest_labels(model: PairwiseModel) -> IntArray:
    """Label (s,) of least unary cost of each node."""
    return model.unary.argmin(axis=1)


def entry_rows(model: PairwiseModel) -> IntArray:
    """Row i (2E,) of each CSR entry (i, j)."""
    return np.repeat(np.arange(model.n_nodes, dtype=np.int64), np.diff(model.indptr))


def components(model: PairwiseModel, keep: NDArray[np.bool_] | None = None) -> tuple[int, IntArray]:
    """Number of connected components and the component (s,) of each node.

    Parameters
    ----------
    keep : (2E,) bool, optional
        Use only these entries.
    """
    if keep is not None and not keep.any():
        return model.n_nodes, np.arange(model.n_nodes)
    ends = np.column_stack((entry_rows(model), model.indices))
    component, count = connected(
        ends[ends[:, 0] < ends[:, 1]] if keep is None else ends[keep], model.n_nodes
    )
    return count, component


def subgraph(model: PairwiseModel, nodes: ArrayLike) -> tuple[PairwiseModel, IntArray]:
    """The model of `nodes` alone, and the positions of its entries in the whole model's CSR.

    Edges that leave `nodes` are dropped, so the energy of a union of components is kept exactly.
    """
    inside = np.asarray(nodes, dtype=np.int64)
    new = np.full(model.n_nodes, -1, dtype=np.int64)
    new[inside] = np.arange(inside.shape[0])
    starts, counts = model.indptr[inside], np.diff(model.indptr)[inside]
    offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    entries = np.repeat(starts, counts) + offsets
    kept = new[model.indices[entries]] >= 0
    per_node = np.bincount(
        np.repeat(np.arange(inside.shape[0]), counts)[kept], minlength=inside.shape[0]
    )
    entries = entries[kept]
    part = PairwiseModel(
        np.ascontiguousarray(model.unary[inside]),
        np.concatenate(([0], np.cumsum(per_node))).astype(np.int64),
        new[model.indices[entries]],
        np.ascontiguousarray(model.same[entries]),
        np.ascontiguousarray(model.differ[entries]),
    )
    return part, entries
