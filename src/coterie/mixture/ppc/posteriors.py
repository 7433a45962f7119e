"""What inference says of the rows in pairs and of the pairs, and what the next E-step needs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coterie._typing import FloatArray, IntArray
from coterie.constraints import Constraints, Core

__all__ = ["CorePosterior", "Memory", "pair_posteriors"]


class Memory(NamedTuple):
    """Where an E-step goes on from.

    Attributes
    ----------
    marginals : (s, K)
    messages : (2E, K) or None
        Of belief propagation.
    level : int
        How far the number of passes has risen.
    """

    marginals: FloatArray
    messages: FloatArray | None = None
    level: int = 0

    def of(self, nodes: IntArray) -> Memory:
        """Of some nodes."""
        return Memory(self.marginals[nodes], None, self.level)


class CorePosterior(NamedTuple):
    """What inference says of the nodes.

    Attributes
    ----------
    marginals : (s, K)
    log_partition : float
        log Σ_y exp(−E(y)), a lower bound of it or an estimate.
    edge_same : (2E,) or None
        P(y_i = y_j) of each CSR entry; mean field leaves it to the final E-step.
    labels : (s,) int64
    converged : bool
    unsure : int
        Nodes of hard pairs whose marginals may be wrong: frozen in mean field, or different in two
        Gibbs samplers (looked for in the final E-step).
    messages : (2E, K) or None
        Of belief propagation.
    """

    marginals: FloatArray
    log_partition: float
    edge_same: FloatArray | None
    labels: IntArray
    converged: bool
    unsure: int = 0
    messages: FloatArray | None = None


def pair_posteriors(
    constraints: Constraints, core: Core, together: FloatArray, posterior: CorePosterior | None
) -> FloatArray:
    """P(z_i = z_j | X, pairs) of every pair, (m,), from `together` as if rows were independent.

    From the engine for pairs in the graph; 1 for pairs inside a group of hard must-links. Pairs of
    weight 0 are not in the graph: for them the rows count as independent given the rest.
    """
    i, j = constraints.pairs.T
    if posterior is None:
        return together
    out = together.copy()
    of_edge = np.empty(core.edges.shape[0])
    of_edge[core.edge_of] = posterior.edge_same
    in_graph = core.pair_edge >= 0
    out[in_graph] = of_edge[core.pair_edge[in_graph]]
    node = core.node_of_row
    out[(node[i] == node[j]) & (node[i] >= 0)] = 1.0
    return np.clip(out, 0.0, 1.0)
