"""Can clusters have these sizes while all hard pairs are kept? A witness, or what clashes."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from coterie._typing import FloatArray, IntArray
from coterie.constraints.constraints import Constraints
from coterie.constraints.feasibility import deletion_filter
from coterie.constraints.graph import connected, distinct_edges
from coterie.exceptions import InfeasibleSizes, InvalidParameter, UndecidedFeasibility
from coterie.sparse_indices import with_narrow_indices

__all__ = ["Sizes", "explain_sizes", "fits", "place_nodes", "read_sizes"]

_UNDECIDED, _INFEASIBLE = 1, 2  # HiGHS' status by SciPy's numbers


class Sizes(NamedTuple):
    """Fewest and most rows of each cluster.

    Attributes
    ----------
    low, high : (K,) int64
    by_cluster : (bool, bool)
        Whether min_size and max_size were given one by one, for messages.
    """

    low: IntArray
    high: IntArray
    by_cluster: tuple[bool, bool] = (False, False)


def read_sizes(min_size: Any, max_size: Any, n_clusters: int, n_rows: int) -> Sizes:
    """`min_size` and `max_size`, each None, one number or one for each cluster.

    Raises
    ------
    InfeasibleSizes
        If no sizes within the bounds add up to `n_rows`.
    """
    low = _one_each("min_size", 0 if min_size is None else min_size, n_clusters)
    high = _one_each("max_size", n_rows if max_size is None else max_size, n_clusters)
    sizes = Sizes(low, np.minimum(high, n_rows), (np.ndim(min_size) > 0, np.ndim(max_size) > 0))
    crossed = np.flatnonzero(low > high)
    if crossed.size:
        k = int(crossed[0])
        raise InfeasibleSizes(
            f"min_size {low[k]} of cluster {k} is above its max_size {high[k]}; lower one or "
            "raise the other.",
            bounds=("min_size", "max_size"),
        )
    if low.sum() > n_rows:
        raise InfeasibleSizes(
            f"min_size asks for {low.sum()} rows in {n_clusters} clusters, and there are {n_rows}; "
            "lower min_size or n_clusters.",
            bounds=("min_size",),
        )
    if sizes.high.sum() < n_rows:
        raise InfeasibleSizes(
            f"max_size leaves room for {sizes.high.sum()} rows in {n_clusters} clusters, and there "
            f"are {n_rows}; raise max_size or n_clusters.",
            bounds=("max_size",),
        )
    return sizes


def _one_each(name: str, value: Any, n_clusters: int) -> IntArray:
    given = np.asarray(value)
    if given.dtype.kind not in "iu" or given.ndim > 1 or (given < 0).any():
        raise InvalidParameter(
            f"{name}={value!r} must be a whole number of at least 0, or one for each cluster."
        )
    if given.ndim == 1 and given.size != n_clusters:
        raise InvalidParameter(
            f"{name} has {given.size} numbers, and there are {n_clusters} clusters; give one for "
            "each, or one for all."
        )
    return np.broadcast_to(given.astype(np.int64), (n_clusters,)).copy()


def fits(taken: IntArray, n_free: int, low: IntArray, high: IntArray) -> bool:
    """Whether `n_free` single rows can fill clusters that hold `taken` (K,) rows already."""
    least = np.maximum(low - taken, 0).sum()
    most = (high - taken).sum()
    return bool((taken <= high).all() and least <= n_free <= most)


def place_nodes(
    node_sizes: IntArray,
    edges: IntArray,
    n_free: int,
    sizes: Sizes,
    cost: FloatArray | None,
    time_limit: float,
) -> IntArray | None:
    """Labels (s,) of nodes that fit the sizes, no edge within a cluster; None: there are none.

    A mixed-integer program over x[u, k] and the numbers y[k] of single rows in each cluster,
    Σ_u s_u x[u, k] + y[k] within [low, high] and x[u, k] + x[v, k] ≤ 1, that lowers `cost` (s, K).

    Raises
    ------
    UndecidedFeasibility
        If HiGHS has not found any, nor ruled them out, within `time_limit` seconds.
    """
    s, k = node_sizes.size, sizes.low.size
    x = np.arange(s * k).reshape(s, k)
    free = s * k + np.arange(k)
    first, second = (x[edges[:, side]].ravel() for side in (0, 1))
    n_edges = first.size
    row = [np.repeat(np.arange(s), k), s + np.tile(np.arange(k), s), s + np.arange(k)]
    row += [np.full(k, s + k), *[s + k + 1 + np.arange(n_edges)] * 2]
    column = [x.ravel(), x.ravel(), free, free, first, second]
    value = [
        np.ones(s * k),
        np.repeat(node_sizes, k),
        np.ones(k),
        np.ones(k),
        *np.ones((2, n_edges)),
    ]
    matrix = coo_array(
        (np.concatenate(value), (np.concatenate(row), np.concatenate(column))),
        shape=(s + k + 1 + n_edges, s * k + k),
    ).tocsr()
    answer = milp(
        np.zeros(s * k + k) if cost is None else np.append(_scaled(cost), np.zeros(k)),
        integrality=np.append(np.ones(s * k), np.zeros(k)),
        bounds=Bounds(0.0, np.append(np.ones(s * k), np.full(k, max(n_free, 0)))),
        constraints=LinearConstraint(
            with_narrow_indices(matrix),
            np.concatenate([np.ones(s), sizes.low, [n_free], np.full(n_edges, -np.inf)]),
            np.concatenate([np.ones(s), sizes.high, [n_free], np.ones(n_edges)]),
        ),
        options={"time_limit": max(time_limit, 1e-3), "mip_rel_gap": 0.01},
    )
    if answer.x is not None:
        return np.asarray(answer.x[: s * k].reshape(s, k).argmax(axis=1))
    if answer.status == _INFEASIBLE:
        return None
    raise UndecidedFeasibility(
        f"whether {s} groups of rows can be placed within the sizes was not decided in "
        f"{time_limit:.3g} s; raise time_limit, widen min_size or max_size, or soften pairs."
    )


def _scaled(cost: FloatArray) -> FloatArray:
    """Costs (s, K) from 0 to 1, flat: HiGHS reads very large values as infinite."""
    above = cost - cost.min(axis=1, keepdims=True)
    return np.asarray(above / (above.max(initial=0.0) or 1.0)).ravel()


class _Hard(NamedTuple):
    """Hard pairs as nodes and edges between them."""

    node_sizes: IntArray  # (s,) of nodes with an edge or more than one row
    edges: IntArray  # (E, 2)
    n_free: int


def _contract(constraints: Constraints, pairs: IntArray) -> _Hard:
    """The nodes that the listed pairs make."""
    chosen = np.zeros(constraints.n_pairs, dtype=bool)
    chosen[pairs] = True
    must = constraints.kind > 0
    node_of, n_nodes = connected(constraints.pairs[chosen & must], constraints.n_samples)
    edges, _ = distinct_edges(constraints.pairs, node_of, chosen & ~must, n_nodes)
    rows = np.bincount(node_of, minlength=n_nodes)
    held = rows > 1
    held[edges.ravel()] = True
    nodes = np.flatnonzero(held)
    return _Hard(
        rows[nodes], np.searchsorted(nodes, edges), constraints.n_samples - rows[nodes].sum()
    )


def explain_sizes(constraints: Constraints, sizes: Sizes, time_limit: float) -> InfeasibleSizes:
    """The error that says which bounds and which hard pairs clash, once it is known that some do.

    Raises
    ------
    InfeasibleConstraints
        If the pairs cannot be kept by so many clusters of any size.
    """
    k, n = sizes.low.size, constraints.n_samples
    hard = constraints._take(constraints.is_hard).expanded()
    hard.check_feasible(k, time_limit=time_limit)
    deadline = time.monotonic() + time_limit
    every = np.arange(hard.n_pairs)
    at_least = sizes._replace(high=np.full(k, n))
    at_most = sizes._replace(low=np.zeros(k, dtype=np.int64))
    bounds: tuple[str, ...] = ("min_size", "max_size")
    for some, name in ((at_most, "max_size"), (at_least, "min_size")):
        if _Clash(hard, some, deadline).refute(every) is not None:
            sizes, bounds = some, (name,)
            break
    pairs, proven = deletion_filter(every, _Clash(hard, sizes, deadline))
    conflict = hard._take(pairs)
    return InfeasibleSizes(_words(conflict, sizes, bounds, proven), conflict, bounds)


class _Clash(NamedTuple):
    """Pairs that clash with sizes, for `deletion_filter`."""

    constraints: Constraints
    sizes: Sizes
    deadline: float

    def refute(self, some: IntArray) -> IntArray | None:
        hard = _contract(self.constraints, some)
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise UndecidedFeasibility("out of time")
        found = place_nodes(hard.node_sizes, hard.edges, hard.n_free, self.sizes, None, left)
        return some if found is None else None

    def also_needed(self, elements: IntArray, left_out: int) -> IntArray:
        return np.array([left_out])


def _words(conflict: Constraints, sizes: Sizes, bounds: tuple[str, ...], proven: bool) -> str:
    rows = np.unique(conflict.pairs)
    shown = ", ".join(map(str, rows[:12])) + (", …" if rows.size > 12 else "")
    values = {"min_size": (sizes.low, 0), "max_size": (sizes.high, 1)}
    told = []
    for name in bounds:
        value, at = values[name]
        told.append(f"{name}={value.tolist() if sizes.by_cluster[at] else int(value[0])}")
    smallest = (
        "Remove any one of these pairs, or make it soft"
        if proven
        else "Fewer may suffice, the time limit ended the search for a minimal set: soften some"
    )
    return (
        f"{' and '.join(told)} in {sizes.low.size} clusters clash with "
        f"{conflict.must_link.shape[0]} must-links and {conflict.cannot_link.shape[0]} "
        f"cannot-links among rows {shown}. {smallest}, or widen the "
        "bound. The pairs are in .conflict, the bounds in .bounds"
    )
