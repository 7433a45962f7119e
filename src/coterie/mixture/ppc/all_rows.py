"""What a fitted mixture and the pairs say of all rows, by one pass."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie._typing import FloatArray
from coterie.constraints import Constraints
from coterie.data import Rows, fold, map_blocks
from coterie.mixture.ppc.core import CoreGraph
from coterie.mixture.ppc.em import core_posterior
from coterie.mixture.ppc.gaussians import ONCE, PosteriorTask, RowWeights, free_posteriors
from coterie.mixture.ppc.model import Mixture
from coterie.mixture.ppc.posteriors import CorePosterior, Memory

__all__ = ["Posteriors", "posterior_of_all"]


class Posteriors(NamedTuple):
    """What a mixture and the pairs say of all rows.

    Attributes
    ----------
    resp : (n, K), or None where the rows are not in memory
        Posterior of each row.
    labels : (n,) int32
    totals : (K,)
        Summed posteriors, each row as often as it counts.
    together : (m,)
        P(z_i = z_j) of each pair, if its rows were independent given the rest.
    core : CorePosterior or None
        What inference says of the core.
    paired : (r,), (r, K)
        The rows that pairs speak of, and their posteriors.
    """

    resp: FloatArray | None
    labels: NDArray[np.int32]
    totals: FloatArray
    together: FloatArray
    core: CorePosterior | None
    paired: tuple[NDArray[np.int64], FloatArray]


def posterior_of_all(
    rows: Rows,
    core: CoreGraph,
    mixture: Mixture,
    constraints: Constraints,
    last: Memory | None = None,
    weights: RowWeights = ONCE,
) -> Posteriors:
    """Constrained posteriors of every row, by one pass; `weights` say how often rows count."""
    index = core.core
    listed = np.union1d(index.rows, constraints.pairs.ravel())
    task = PosteriorTask(mixture, rows.in_memory)
    parts = map_blocks(rows, free_posteriors, task, state=weights, listed=listed)
    joined = ("resp", "labels", "listed", "core")
    found = fold(parts, joined, (rows.n if rows.in_memory else 0, rows.n, listed.size, listed.size))
    labels, of_listed = found.labels, found.listed
    posterior = None
    if core.parts:
        at = np.searchsorted(listed, index.rows)
        posterior, _ = core_posterior(core, found.core[at], mixture, last, final=True)
        of_listed[at] = index.expand(posterior.marginals)
        labels[index.rows] = index.expand(posterior.labels)
        if rows.in_memory:
            found.resp[index.rows] = of_listed[at]
    i, j = np.searchsorted(listed, constraints.pairs.T)
    counts = weights.weights[listed] if weights.weights.size else np.ones(listed.size)
    return Posteriors(
        found.resp if rows.in_memory else None,
        labels,
        found.totals + counts @ of_listed,
        np.einsum("mk,mk->m", of_listed[i], of_listed[j]),
        posterior,
        (listed, of_listed),
    )
