"""log Ω of components with cycles, with those that look alike counted and not repeated."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coterie._typing import Array, FloatArray, IntArray
from coterie.inference import ExactPlan, PairwiseModel, exact_plan
from coterie.inference.elimination import log_partition
from coterie.inference.model import components, entry_rows, subgraph

__all__ = ["LikeComponents"]


class _Copies(NamedTuple):
    """A model that occurs `times` times, with the exponent of π at each node."""

    times: int
    model: PairwiseModel
    plan: ExactPlan
    exponent: FloatArray  # (s,)


class LikeComponents:
    """log Ω of a graph as a function of log π, one of each kind of component at a time.

    Parameters
    ----------
    graph : PairwiseModel
        Costs (2E, 1) do not depend on the cluster. Its unary costs are ignored.
    exponent : (s,) float64
        How often π counts at each node.
    """

    def __init__(self, graph: PairwiseModel, exponent: FloatArray) -> None:
        self._n_clusters = graph.n_labels
        self._parts = _count_copies(graph, exponent)

    @property
    def n_steps(self) -> int:
        """How many nodes an evaluation looks at."""
        return sum(part.model.n_nodes for part in self._parts)

    def log_omega(self, log_weights: FloatArray) -> tuple[float, FloatArray]:
        """log Ω at log π (K,), and its gradient in log π (K,): the expected counts."""
        value, counts = 0.0, np.zeros(self._n_clusters)
        for part in self._parts:
            unary = -part.exponent[:, None] * log_weights
            log_z, marginals = log_partition(part.model._replace(unary=unary), part.plan)
            value += part.times * log_z
            counts += part.times * (part.exponent @ marginals)
        return value, counts


def _count_copies(graph: PairwiseModel, exponent: FloatArray) -> list[_Copies]:
    """Different components, each once, in models by how often they occur.

    Engines give log Z of a whole model, so a component that occurs c times is put into the model
    of every binary digit of c: at most log₂ n models, however many components there are.
    """
    first, count, component = _distinct_components(graph, exponent)
    occurs = np.zeros(int(component.max()) + 1, dtype=np.int64)
    occurs[first] = count
    out: list[_Copies] = []
    digit = 1
    while digit <= occurs.max():
        nodes = np.flatnonzero(occurs[component] & digit)
        if nodes.size:
            part = subgraph(graph, nodes)[0]
            out.append(_Copies(digit, part, exact_plan(part), exponent[nodes]))
        digit *= 2
    return out


def _as_bytes(table: FloatArray) -> Array:
    """Every row as one value: `np.unique` of rows takes seconds where one has 10⁵ numbers."""
    rows = np.ascontiguousarray(table)
    return rows.view(np.dtype((np.void, rows.shape[1] * rows.itemsize))).ravel()


def _distinct_components(
    graph: PairwiseModel, exponent: FloatArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Numbers of one component of each look, how often that look occurs, and (s,) components.

    Two components look alike if they have the same edges, costs and exponents in the order of
    their nodes; a component met in another order counts as another one, which costs only time.
    """
    n_components, component = components(graph)
    by_component = np.argsort(component, kind="stable")
    size = np.bincount(component, minlength=n_components)
    start = np.cumsum(size) - size
    local = np.empty(graph.n_nodes, dtype=np.int64)
    local[by_component] = np.arange(graph.n_nodes) - np.repeat(start, size)

    rows = entry_rows(graph)
    once = np.flatnonzero(rows < graph.indices)
    once = once[np.lexsort((local[graph.indices[once]], local[rows[once]], component[rows[once]]))]
    n_edges = np.bincount(component[rows[once]], minlength=n_components)
    edge_start = np.cumsum(n_edges) - n_edges
    looks = np.column_stack(
        [local[rows[once]], local[graph.indices[once]], graph.same[once], graph.differ[once]]
    )
    first: list[IntArray] = []
    count: list[IntArray] = []
    for n, e in np.unique(np.column_stack([size, n_edges]), axis=0).tolist():
        alike = np.flatnonzero((size == n) & (n_edges == e))
        nodes = by_component[start[alike, None] + np.arange(n)]
        edges = looks[edge_start[alike, None] + np.arange(e)].reshape(alike.size, -1)
        _, index, occurs = np.unique(
            _as_bytes(np.column_stack([exponent[nodes], edges])),
            return_index=True,
            return_counts=True,
        )
        first.append(alike[index])
        count.append(occurs)
    return np.concatenate(first), np.concatenate(count), component
