"""What the fitted model thinks of each of the user's pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coterie.constraints import Constraints, Core, PairTable
from coterie.mixture.ppc.core import Posterior

__all__ = ["pair_posteriors", "suspects"]

FloatArray = NDArray[np.float64]


def pair_posteriors(
    constraints: Constraints, core: Core, resp: FloatArray, posterior: Posterior | None
) -> FloatArray:
    """P(z_i = z_j | X, pairs) of every pair, (m,).

    From the engine for pairs in the graph; 1 for pairs inside a group of hard must-links. Pairs of
    weight 0 are not in the graph: for them the rows count as independent given the rest.
    """
    i, j = constraints.pairs.T
    out = np.einsum("mk,mk->m", resp[i], resp[j])
    if posterior is None:
        return out
    of_edge = np.empty(core.edges.shape[0])
    of_edge[core.edge_of] = posterior.edge_same
    in_graph = core.pair_edge >= 0
    out[in_graph] = of_edge[core.pair_edge[in_graph]]
    node = np.full(constraints.n_samples, -1, dtype=np.int64)
    node[core.rows] = core.node
    out[(node[i] == node[j]) & (node[i] >= 0)] = 1.0
    return np.clip(out, 0.0, 1.0)


def suspects(constraints: Constraints, same: FloatArray, k: int) -> PairTable:
    """The `k` soft pairs most likely wrong, with that probability."""
    soft = np.flatnonzero(~constraints.is_hard)
    wrong = np.where(constraints.kind[soft] > 0, 1.0 - same[soft], same[soft])
    worst = np.argsort(-wrong, kind="stable")[:k]
    chosen = soft[worst]
    i, j = constraints.pairs[chosen].T
    return PairTable(i, j, constraints.kind[chosen], wrong[worst], name="p_wrong")
