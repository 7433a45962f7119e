"""Propagation of pairs along a graph of neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from coterie._typing import FloatArray, IntArray
from coterie.constraints import Constraints
from coterie.exceptions import InvalidData
from coterie.parameters import check_arguments
from coterie.propagation import _kernels
from coterie.propagation.spreading import Lists, Options, spread
from coterie.validation import check_constraints, check_plain_rows

__all__ = ["propagate_graph"]


def propagate_graph(
    graph: Any,
    constraints: Constraints,
    threshold: float | str = 0.1,
    *,
    alpha: float = 0.8,
    reduce: str = "max",
    share_ends: bool = True,
    hard_weight: float = 1.0,
    default_certainty: float = 0.95,
    max_pairs: int = 10_000_000,
    tol: float = 1e-3,
) -> Constraints:
    r"""Carry known pairs over to rows that a walk on the graph joins to their ends.

    A walker steps to a neighbour with probability in proportion to the weight of the edge, and
    before each step goes on with probability `alpha`. Let :math:`f_A(i)` be the probability that
    from i it comes to A; a source (A, B) of weight w gives rows i, j the weight

    .. math:: w f_A(i) f_B(j), \qquad f_A(i) = G_{iA} / G_{AA}, \quad G = (I - \alpha P)^{-1},

    the larger of the two orientations, if :math:`f_A(i) f_B(j)` is at least `threshold`: both ends
    diffuse and their weights multiply. With distances along the data in place of a Gaussian's,
    this holds where dimension is high and clusters have any form.

    :math:`f_A` is found by pushing residuals from A, in time that depends on what is reached and
    not on the number of rows.

    Parameters
    ----------
    graph : sparse matrix of shape (n_samples, n_samples)
        Symmetric, with weights of at least 0, as from `neighbor_graph`.
    constraints : Constraints
    threshold : float in (0, 1] or "auto", default 0.1
        Least :math:`f_A(i) f_B(j)`; "auto" as in `propagate_gaussian`.
    alpha : float in (0, 1), default 0.8
        The nearer to 1, the longer the walks.
    reduce, share_ends, hard_weight, default_certainty, max_pairs
        As in `propagate_gaussian`.
    tol : float, default 1e-3
        Bound on the error of each G, of which none is below 1 at the ends.

    Returns
    -------
    Constraints
        Sources and propagated pairs, one for each two rows and kind, weights in plain pairs.

    Examples
    --------
    >>> from coterie import Constraints
    >>> from coterie.propagation import neighbor_graph, propagate_graph
    >>> graph = neighbor_graph([[0.0], [1.0], [1.5], [7.0], [8.0], [8.5]], n_neighbors=2)
    >>> known = Constraints(6, cannot_link=[(0, 5)])
    >>> propagate_graph(graph, known, threshold=0.5).cannot_link.tolist()
    [[0, 3], [0, 4], [0, 5], [1, 5], [2, 5]]
    """
    check_arguments(propagate_graph, locals())
    options = Options.checked(threshold, reduce, share_ends, hard_weight, max_pairs)
    walks = Walks(graph, alpha, tol)
    known = check_constraints(constraints, walks.n)
    return spread(known, walks, options, default_certainty).constraints


class Walks:
    """Rows whose walks come to an end with enough probability; q = -2 log f."""

    def __init__(self, graph: Any, alpha: float, tol: float) -> None:
        graph = sparse.csr_array(check_plain_rows(graph, name="graph"), dtype=np.float64)
        if graph.shape[0] != graph.shape[1] or (abs(graph - graph.T) > 1e-12).nnz:
            raise InvalidData(
                f"graph of shape {graph.shape} is not symmetric; make it so, for instance with "
                "graph.maximum(graph.T)."
            )
        if graph.nnz and not (np.isfinite(graph.data).all() and graph.data.min() >= 0):
            raise InvalidData("graph has weights that are negative or not finite.")
        self.n = graph.shape[0]
        self._counted: tuple[Any, float, int] = (None, 0.0, 0)  # ends, budget, rows
        self._walk = _kernels.Walk(
            graph.indptr.astype(np.int64),
            graph.indices.astype(np.int64),
            graph.data,
            np.asarray(graph.sum(axis=1)).ravel(),
            float(alpha),
            float(tol * (1 - alpha)),
        )

    def count(self, ends: IntArray, budget: float, most: int) -> int:
        """How many rows come to the ends, or more than `most`."""
        nothing = np.empty(0, dtype=np.int64)
        total = self._run(ends, budget, most, nothing, np.empty(0))[0]
        self._counted = ends, budget, total
        return total

    def lists(self, ends: IntArray, budget: float) -> Lists:
        """The rows that come to each end, most probable first."""
        most = np.iinfo(np.int64).max
        if self._counted[0] is not ends or self._counted[1] != budget:  # it mostly was, just before
            self.count(ends, budget, most)
        total = self._counted[2]
        rows, q = np.empty(total, dtype=np.int64), np.empty(total)
        _, lengths = self._run(ends, budget, most, rows, q)
        order = np.lexsort((rows, q, np.repeat(np.arange(ends.size), lengths)))
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return Lists(indptr, rows[order], q[order])

    def _run(
        self, ends: IntArray, budget: float, most: int, rows: IntArray, q: FloatArray
    ) -> tuple[int, IntArray]:
        lengths = np.zeros(ends.size, dtype=np.int64)
        total = _kernels.walk_lists(self._walk, ends, budget, most, lengths, rows, q)
        return int(total), lengths
