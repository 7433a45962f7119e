"""log Ω of the trees of a constraint graph, with subtrees that are alike computed once.

Every node of the prior has the same potentials, π to the power of its rows, and the cost of an edge
does not depend on the cluster. So the belief that a subtree sends up depends on its *shape* only:
how many rows its nodes have, and by which kinds of edges they hang. A spanning forest of a grid of
10⁵ pixels, or of 10⁵ pairs between rows, has many times fewer shapes than nodes.
"""

from __future__ import annotations

import math

import numpy as np

from coterie._typing import Array, FloatArray, IntArray
from coterie.inference import PairwiseModel, exact_plan
from coterie.inference.elimination import log_partition
from coterie.mixture.ppc import _subtree_kernels

__all__ = ["NodeByNode", "Subtrees", "log_omega_of_trees"]

_FEW = 500  # nodes: that many are done as soon as their shapes are told apart


class NodeByNode:
    """log Ω of a forest as a function of log π, by messages in logarithms over all nodes.

    Parameters
    ----------
    forest : PairwiseModel
        A graph without cycles; costs (2E, 1) do not depend on the cluster. Its unary costs are
        ignored.
    exponent : (s,) float64
        How often π counts at each node.
    """

    def __init__(self, forest: PairwiseModel, exponent: FloatArray) -> None:
        self._forest, self._exponent = forest, exponent
        self.plan = exact_plan(forest)

    @property
    def n_steps(self) -> int:
        """How many beliefs and messages an evaluation computes."""
        return 2 * self._forest.n_nodes

    def log_omega(self, log_weights: FloatArray) -> tuple[float, FloatArray]:
        """log Ω at log π (K,), and its gradient in log π (K,): the expected counts."""
        unary = -self._exponent[:, None] * log_weights
        value, marginals = log_partition(self._forest._replace(unary=unary), self.plan)
        return value, self._exponent @ marginals


class Subtrees:
    """`NodeByNode` with subtrees that are alike computed once: faster, where nodes are many."""

    def __init__(self, forest: PairwiseModel, exponent: FloatArray) -> None:
        self._by_node = NodeByNode(forest, exponent)
        self._powers, node_kind = _kinds(exponent)
        same, same_kind = _kinds(forest.same.ravel())
        differ, differ_kind = _kinds(forest.differ.ravel())
        both, kind_of_entry = _kinds(same_kind * differ.size + differ_kind)
        self._same, self._differ = (
            np.exp(-same[both // differ.size]),
            np.exp(-differ[both % differ.size]),
        )
        order, parent, up, _ = self._by_node.plan.forest
        edge_kind = np.append(kind_of_entry, 0)[up]  # of a root: not looked at
        most = self._powers.size + 2 * forest.n_nodes
        left, right = np.zeros(most, dtype=np.int64), np.zeros(most, dtype=np.int64)
        times = np.zeros(most)
        table = np.full(2 ** math.ceil(math.log2(2 * most)), -1, dtype=np.int64)
        count = _subtree_kernels.find_steps(
            order, parent, node_kind, edge_kind, left, right, times, table
        )
        self._steps = left[:count].copy(), right[:count].copy(), times[:count].copy()
        shape = (count, forest.n_labels)
        self._room = np.empty(shape), np.empty(shape), np.empty((self._powers.size, shape[1]))

    @property
    def n_steps(self) -> int:
        """How many beliefs and messages an evaluation computes."""
        return int(self._steps[0].size)

    def log_omega(self, log_weights: FloatArray) -> tuple[float, FloatArray]:
        """As that of `NodeByNode`.

        Where a belief is smaller than doubles keep (large groups of rows, weights near 0), node by
        node in logarithms.
        """
        log_node = self._powers[:, None] * log_weights
        slope = self._room[2]
        value = _subtree_kernels.log_partition_of_steps(
            log_node, *self._steps, self._same, self._differ, *self._room
        )
        if np.isnan(value):
            return self._by_node.log_omega(log_weights)
        return value, self._powers @ slope


def log_omega_of_trees(forest: PairwiseModel, exponent: FloatArray) -> NodeByNode | Subtrees:
    """The way that suits a forest: telling few nodes apart would not pay for its kernels."""
    return (NodeByNode if forest.n_nodes <= _FEW else Subtrees)(forest, exponent)


def _kinds(values: Array) -> tuple[Array, IntArray]:
    """The distinct values, rising, and which of them each value is.

    `np.unique` with its inverse sorts all values with their places; here they are few.
    """
    distinct = np.unique(values)
    return distinct, np.searchsorted(distinct, values)
